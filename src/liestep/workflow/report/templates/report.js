"use strict";
(() => {
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // Five significant digits, like %.5g.
  const short = (value) => {
    if (value === null || value === undefined) return "";
    if (typeof value !== "number") return typeof value === "object" ? JSON.stringify(value) : String(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
    const [digits, power] = value.toExponential(4).split("e");
    return power < -4 || power > 4 ? `${digits.replace(/\.?0+$/, "")}e${power[0]}${power.slice(1).padStart(2, "0")}` : String(Number(value.toPrecision(5)));
  };

  // ---- sorting: numbers by value, texts by letters and numbers inside them, missing last
  const key = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.v ?? cell.textContent.trim();
    return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
  };
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });
  const sort = (button) => {
    const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
    const descending = head.ariaSort === "ascending";
    body.querySelectorAll("tr.more").forEach((row) => row.remove());
    body.querySelectorAll(".open").forEach((opener) => { opener.ariaExpanded = "false"; });
    const rows = [...body.rows].map((row) => [key(row, head.cellIndex), row]);
    rows.sort(([a], [b]) => {
      if (a === "" || b === "") return (a === "") - (b === "");
      return descending ? compare(b, a) : compare(a, b);
    });
    body.append(...rows.map(([, row]) => row));
    for (const other of head.parentElement.cells) other.ariaSort = "none";
    head.ariaSort = descending ? "descending" : "ascending";
  };

  // ---- tables that are made when they are opened
  const title = ([text, units]) => units ? `${text} (${units})` : text;
  const heading = (names, titles, numeric) => make("thead", {}, make("tr", {}, ...names.map((name, k) => make("th", {
    scope: "col", ariaSort: "none", className: numeric[k] ? "number" : "", title: name,
  }, make("button", { type: "button", className: "sort", textContent: title(titles[k]) })))));
  const address = (folder, path) => `${folder}/${path.split("/").map(encodeURIComponent).join("/")}`;

  // What the table shows, in the order that it has now; names of the CSV file, numbers as they are on the page.
  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = (details) => {
    const data = contents(details), rows = [...details.querySelectorAll("tbody tr[data-row]")].map((row) => data.rows[row.dataset.row]);
    return [data.columns, ...rows].map((row) => `${row.map(quoted).join(",")}\n`).join("");
  };
  const download = (details) => {
    const link = make("a", { href: URL.createObjectURL(new Blob([csv(details)], { type: "text/csv" })), download: `${details.id.replaceAll("/", ".")}.csv` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const cell = (value, name) => {
    const found = make("td", { className: typeof value === "number" ? "number" : "text" });
    if (typeof value === "number") found.dataset.v = value;
    if (name === "status") found.append(make("span", { className: `badge ${value === "ok" ? "good" : "bad"}`, textContent: value }));
    else found.textContent = short(value);
    if (found.textContent.length < 30) found.classList.add("short");
    return found;
  };

  const shared = (entry, row) => entry.values[entry.of ? entry.of[row] : 0];
  const facts = (entries, className) => make("dl", { className: `facts ${className}` }, ...entries.map(([name, value]) =>
    make("div", {}, make("dt", { textContent: name }), make("dd", {}, value))));
  const here = (page, folder) => page ? [["in the browser", make("a", { href: `${folder}/${page}`, textContent: "run it here" })]] : [];
  const provenance = (data, row, folder) => {
    const file = data.rows[row][data.columns.indexOf("path")];
    const numbers = data.columns.map((name, k) => [title(data.headings[k]), data.rows[row][k]]).filter(([, value]) => value !== null);
    const specification = Object.entries(data.specification).map(([name, entry]) => `${name}: ${JSON.stringify(shared(entry, row))}`);
    return make("div", {},
      facts([["file", make("a", { href: address(folder, file), textContent: file })], ...here(shared(data.here, row), folder),
        ["hash of the sources", make("code", { textContent: shared(data.source_hash, row) })],
        ["specification", make("code", { className: "lines", textContent: specification.join("\n") })]], ""),
      facts(numbers.map(([name, value]) => [name, short(value)]), "columns"));
  };
  const toggle = (button, data, folder) => {
    const row = button.closest("tr"), open = button.ariaExpanded !== "true";
    button.ariaExpanded = String(open);
    if (open) row.after(make("tr", { className: "more" }, make("td", { colSpan: row.cells.length }, provenance(data, Number(row.dataset.row), folder))));
    else row.nextElementSibling.remove();
  };

  const contents = (details) => JSON.parse(details.querySelector("script").textContent);
  const fill = (details) => {
    const place = details.querySelector(".scroll");
    if (place.firstChild) return;
    const data = contents(details), runs = details.dataset.kind === "runs";
    const names = runs ? data.shown : data.columns, at = names.map((name) => data.columns.indexOf(name));
    const numeric = at.map((k) => data.rows.some((row) => typeof row[k] === "number"));
    const keys = ["problem", "integrator", "resolution"].map((name) => data.columns.indexOf(name));
    const body = make("tbody");
    data.rows.forEach((values, number) => {
      const row = make("tr", {}, ...at.map((k, place) => cell(values[k], names[place])));
      row.dataset.row = number;
      if (runs) {
        row.dataset.run = keys.map((k) => values[k]).join("/");
        const first = row.cells[0], label = first.textContent;
        const button = make("button", { type: "button", className: "open", textContent: label, ariaExpanded: "false" });
        button.addEventListener("click", () => toggle(button, data, details.dataset.folder));
        first.dataset.v = label;
        first.replaceChildren(button);
      }
      body.append(row);
    });
    const caption = make("caption", { textContent: details.querySelector("summary").textContent.trim() });
    const button = make("button", { type: "button", className: "download", textContent: "Download these rows" });
    button.addEventListener("click", () => download(details));
    place.before(make("p", { className: "files" }, button, make("a", { href: details.dataset.file, textContent: "CSV with all digits" })));
    place.append(make("table", {}, caption, heading(names, at.map((k) => data.headings[k]), numeric), body));
  };
  document.querySelectorAll("details.lazy").forEach((details) => details.addEventListener("toggle", () => details.open && fill(details)));

  // ---- addresses inside the page open what they lead to
  const reveal = (id, run) => {
    const target = id && (document.getElementById(id) ?? document.getElementById(decodeURIComponent(id)));
    if (!target) return;
    for (let part = target; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") part.open = true;
      if (part.hidden) show(part.closest("section"), "");
    }
    if (target.classList.contains("lazy")) fill(target);
    document.querySelectorAll("tr.found").forEach((row) => row.classList.remove("found"));
    const rows = run ? [...target.querySelectorAll("tr[data-run]")].filter((row) => `${row.dataset.run}/`.startsWith(`${run}/`)) : [];
    rows.forEach((row) => row.classList.add("found"));
    (rows[0] ?? target).scrollIntoView({ block: rows.length ? "center" : "start" });
  };
  let chosen = {};  // the last link that was followed: the browser tells of a new address after the click
  const follow = () => reveal(location.hash.slice(1), location.hash === chosen.hash ? chosen.run : undefined);
  addEventListener("hashchange", follow);

  // ---- claims of one verdict
  const show = (section, verdict) => {
    section.querySelectorAll(".filter").forEach((button) => { button.ariaPressed = String(button.dataset.verdict === verdict); });
    section.querySelectorAll("tr[data-verdict]").forEach((row) => { row.hidden = verdict !== "" && row.dataset.verdict !== verdict; });
  };

  // ---- figures in full size
  const large = document.getElementById("large");
  const full = (wanted) => {
    large.querySelector(".size").ariaPressed = String(wanted);
    large.classList.toggle("full", wanted);
  };
  const enlarge = (button) => {
    full(false);
    large.querySelector("img").src = button.querySelector("img").src;
    large.querySelector("img").alt = button.querySelector("img").alt;
    large.querySelector("p").textContent = button.querySelector("img").alt;
    large.showModal();
  };

  document.addEventListener("click", (event) => {
    const part = event.target.closest("button.sort, button.filter, button.zoom, button.size, dialog img, a[href^='#'], dialog");
    if (!part) return;
    if (part.matches(".sort")) sort(part);
    else if (part.matches(".filter")) show(part.closest("section"), part.dataset.verdict);
    else if (part.matches(".zoom")) enlarge(part);
    else if (part.matches(".size, dialog img")) full(!large.classList.contains("full"));
    else if (part.matches("dialog")) { if (event.target === large) large.close(); }
    else {
      chosen = { hash: part.hash, run: part.dataset.run };
      if (location.hash === part.hash) follow();
    }
  });

  // ---- search in all pages: every word must occur; titles first
  const MOST = 60;
  const form = document.getElementById("search"), field = form.querySelector("input"), found = document.getElementById("found");
  const known = JSON.parse(document.getElementById("entries").textContent).map(([kind, title, text, page, id]) => ({
    kind, title, text, page, address: page === form.dataset.here ? `#${id}` : `${form.dataset.folder}${page}.html#${id}`,
    where: `${kind} ${title} ${page}`.toLowerCase(), all: `${kind} ${title} ${page} ${text}`.toLowerCase(),
  }));
  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0;
    if (found.hidden) return found.replaceChildren();
    const hits = known.filter((entry) => words.every((word) => entry.all.includes(word)));
    const weight = (entry) => words.filter((word) => !entry.where.includes(word)).length;
    hits.sort((a, b) => weight(a) - weight(b));
    found.replaceChildren(
      make("h2", { textContent: `${hits.length} ${hits.length === 1 ? "place" : "places"} with “${field.value.trim()}”${hits.length > MOST ? `, the first ${MOST} of them` : ""}` }),
      make("ol", {}, ...hits.slice(0, MOST).map((entry) => make("li", {}, make("a", { href: entry.address, textContent: entry.title }),
        make("span", { className: "source", textContent: ` ${entry.kind} · ${entry.page}` }), make("p", { textContent: entry.text })))));
    if (found.getBoundingClientRect().top < 0 || found.getBoundingClientRect().top > innerHeight) found.scrollIntoView();
  };
  form.hidden = false;
  field.addEventListener("input", search);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.matches("input") && !large.open) { event.preventDefault(); field.focus(); }
    if (event.key === "Escape" && event.target === field) { field.value = ""; search(); }
  });
  if (matchMedia("(max-width: 62rem)").matches) document.querySelector("nav details").open = false;
  if (location.hash) reveal(location.hash.slice(1));
})();
