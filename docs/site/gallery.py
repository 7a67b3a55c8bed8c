"""Pages made from the snapshot: figures of the last full run with the study files that made them, verdicts, errata."""
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

import yaml

from docs.site.formulas import inline
from docs.site.papers import OWN, called
from docs.site.snapshot import Snapshot
from docs.site.source import TOP, escaped
from liestep.claims.claimfile import VERDICTS, claim_files, load_claims
from liestep.claims.counting import cards as headlines
from liestep.study.plan.names import study_files
from liestep.workflow.report.verdicts import EVIDENCE, MEANINGS

PRINTED = re.compile(r"\bfigure\d")  # names of figures that a paper prints
CHANGED = "The study file has changed since this run."


def write_gallery(target: Path, snapshot: Snapshot, top: Path = TOP) -> None:
    """A page for each paper, an index, and the figures."""
    target.mkdir(parents=True, exist_ok=True)
    changed, files = set(snapshot.changed(top)), study_files(top/"config")
    papers: dict[str, list[str]] = {}
    for study in sorted({figure.study for figure in snapshot.figures}):
        papers.setdefault(study.partition("/")[0], []).append(study)
    thumbnails = []
    for paper, studies in sorted(papers.items(), key=lambda item: (called(item[0]) in OWN.values(), item[0])):
        parts = [f"# Figures: {called(paper)}\n", f"`{paper}`\n"]
        thumbnails.append(f"## {called(paper)}\n\n`{paper}`\n\n" + raw('<div class="claims">'))
        for study in studies:
            file = files.get(study)
            text = file.read_text("utf-8") if file else ""
            name = file.relative_to(top).as_posix() if file else study
            title = yaml.safe_load(text)["title"] if text else study
            parts.append(f"## {escaped(title)}\n\n`{study}`\n")
            drawn = sorted(snapshot.of(study), key=lambda figure: not PRINTED.search(figure.name))
            figure = drawn[0]
            thumbnails.append(raw("<article>") + f"[![figure {figure.name}]({figure.file})"
                              f" {escaped(title)}](#{label(study, figure.name)})\n\n" + raw("</article>"))
            if name in changed:
                parts.append(f":::{{warning}}\n{CHANGED}\n:::\n")
            for figure in drawn:
                source = snapshot.folder/figure.file
                (target/figure.file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target/figure.file)
                says, of_runs, settings = figure.caption.partition(" Runs of ")
                parts.append(f"({label(study, figure.name)})=")
                parts.append(f":::{{figure}} {figure.file}\n:target: {figure.file}\n:alt: {escaped(says)}\n\n"
                             f"**{escaped(figure.name)}** {escaped(says)}\n:::\n")
                if settings:
                    parts.append(f"<details><summary>Settings</summary>\n\n{escaped(of_runs + settings)}\n\n"
                                 "</details>\n")
            if text:
                parts.append(f"<details><summary>The study file {name}</summary>\n\n"
                             f"```yaml\n{text}```\n\n</details>\n")
        (target/f"{paper}.md").write_text("\n".join([*parts, about(snapshot)]), "utf-8")
        thumbnails.append(raw("</div>"))
    (target/"index.md").write_text("# Gallery\n\nThe first figure of each study of the last full run; it leads to the"
                                   " others and their file.\n\n" + "\n".join(thumbnails) + f"\n{about(snapshot)}"
                                   + "\n```{toctree}\n:hidden:\n\n" + "\n".join(papers) + "\n```\n", "utf-8")


def about(snapshot: Snapshot) -> str:
    """Which run the page shows: its last words."""
    return (f"Pictures are reduced copies from the run with manifest `{snapshot.manifest[:16]}`; the workflow makes the"
            " full ones as PDF and PNG.\n")


def write_verdicts(target: Path, snapshot: Snapshot, top: Path = TOP) -> None:
    """Claims and errata."""
    changed = set(snapshot.changed(top))
    for kind, title in (("claims", "Claims of the papers and their verdicts"), ("errata", "Errata of the papers")):
        rows = snapshot.rows(f"{kind}.csv")
        parts = [f"# {title}\n", *([raw(legend())] if kind == "claims" else [])]
        of_papers = {paper: [row for row in rows if row["paper"] == paper] for paper in (row["paper"] for row in rows)}
        opening = {paper: list(first(paper, own, snapshot, top)) if kind == "claims" else []
                   for paper, own in of_papers.items()}
        for paper, own in sorted(of_papers.items(), key=lambda item: not opening[item[0]]):
            parts.append(f"## {called(paper)}\n\n`{paper}`\n")
            if any(name.startswith((f"papers/{paper}/{kind}", f"config/{kind}/{paper}")) for name in changed):
                parts.append(f":::{{warning}}\nThe {kind} files have changed since this run.\n:::\n")
            parts += opening[paper]
            if kind == "errata":
                parts += map(erratum, own)
            elif len(own) > 8:
                parts.append(raw(f"<details><summary>All {len(own)} claims</summary>{cards(own)}</details>"))
            else:
                parts.append(raw(cards(own)))
        (target/f"{kind}.md").write_text("\n".join([*parts, about(snapshot)]), "utf-8")


def write_which(target: Path, snapshot: Snapshot) -> None:
    """The pages that say which integrator to take, one for each study that has the table, and an index."""
    target.mkdir(parents=True, exist_ok=True)
    names = []
    for study, text in snapshot.pages.items():
        names.append(study.replace("/", "_"))
        title, _, rest = text.partition("\n")
        first, *others = re.split(r"^## (.*)\n", rest, flags=re.MULTILINE)
        files = [figure.file for figure in snapshot.figures if (figure.study, figure.name) == (study, "cross.winners")]
        map_of = "".join(f"\n![winners by problem, error and what is kept](../gallery/{file})\n" for file in files)
        parts = [f"\n## {name[0].upper()}{name[1:]}\n\n<details><summary>Tables</summary>\n\n{table.strip()}\n\n"
                 "</details>\n" for name, table in zip(others[::2], others[1::2], strict=True)]
        (target/f"{names[-1]}.md").write_text(f"{title}\n{first}{map_of}{''.join(parts)}\n{about(snapshot)}", "utf-8")
    listed = "\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```\n" if names else ""
    (target/"index.md").write_text((
        "# Which integrator for which problem?\n\nThe cheapest method for each problem, error, horizon and conserved"
        f" quantity, from all integrators of the last full run.\n{listed}"), "utf-8")


def first(paper: str, rows: list[dict[str, str]], snapshot: Snapshot, top: Path = TOP) -> Iterator[str]:
    """The headlines of today's claims files with the verdicts and figures of the snapshot, as far as it has them."""
    files = claim_files(top/"config").get(paper, ())
    errata = [row for row in snapshot.rows("errata.csv") if row["paper"] == paper]
    pictures = {(figure.study, figure.name): figure.file for figure in snapshot.figures}
    part = ""
    for card in headlines(load_claims(files), rows, errata) if files else ():
        numbers = "".join(f"<dt>{name}</dt><dd>{escape(shown(value))} {escape(unit)}</dd>"
                          for name, value, unit in card.numbers)
        end = "</div>\n"*bool(part)
        start = f'{end}<h3>{card.part}</h3>\n<div class="claims">\n' if card.part != part else ""
        part = card.part
        yield raw(f"{start}<article>{badge(card.verdict)}<p>{escape(card.says)}</p>"
                  f"<dl>{numbers}</dl>" + f"<blockquote>{escape(card.quote)}</blockquote>"*bool(card.quote))
        if picture := pictures.get(card.figure):
            yield (f"[![figure {card.figure[1]} of {card.figure[0]}](gallery/{picture})]"
                   f"(#{label(*card.figure)})\n")
        yield raw(f"<code>{escape(card.target)}</code></article>")
    if part:
        yield raw("</div>")


def raw(html: str) -> str:
    """HTML in a page of Markdown."""
    return f"```{{raw}} html\n{html}\n```\n"


def label(study: str, figure: str) -> str:
    """Name by which a page leads to a figure."""
    return re.sub(r"\W", "-", f"figure-{study}-{figure}").replace("_", "-").lower()


def badge(verdict: str, text: str = "") -> str:
    """A verdict with its sign and colour; its meaning when the pointer rests on it."""
    sign, kind, meaning = {**MEANINGS, **EVIDENCE}[verdict]
    return f'<span class="verdict {kind}" title="{escape(meaning)}">{sign} {text or verdict}</span>'


def legend() -> str:
    """What the words of verdicts mean."""
    return f'<div class="claims">{"".join(f"<p>{badge(word)} {said}</p>" for word, said in VERDICTS.items())}</div>'


def cards(rows: list[dict[str, str]]) -> str:
    """Counts of the verdicts, then a card for each claim; colour, sign and word say the verdict."""
    counts = Counter(row["verdict"] for row in rows)
    found = [f'<p>{" ".join(badge(name, f"{counts[name]} {name}") for name in MEANINGS if counts[name])}</p>']
    for row in rows:
        unit = f" {escape(row['units'].removeprefix('1'))}"
        numbers = "".join(f"<dt>{label}</dt><dd>{escape(shown(row[name]))}{unit*(name in ('ours', 'printed'))}</dd>"
                          for label, name in (("measured", "quantity"), ("ours", "ours"), ("bound", "bound"),
                                              ("printed", "printed"), ("study", "studies"), ("figure", "figure"),
                                              ("evidence", "evidence")) if row[name])
        found.append(f'<article>{badge(row["verdict"])}<p>{escape(row["statement"])}</p>'
                     f'<dl>{numbers}</dl><code>{escape(row["claim"])}</code></article>')
    return f'<div class="claims">{"".join(found)}</div>'


def erratum(row: Mapping[str, str]) -> str:
    """An erratum of the snapshot as Markdown, with formulas: what is printed, what is right, and what shows it."""
    said = "confirmed" if row["confirmed"] == "true" else "evidence"
    evidence = f"\n\n*{said}:* {inline(row['evidence'])}"*bool(row["evidence"])
    return (f"### Erratum {row['erratum']}, {escaped(row['place'])}\n\n*printed:* {inline(row['printed'])}\n\n"
            f"*right:* {inline(row['correct'])}{evidence}\n")


def shown(text: str) -> str:
    """A number with five digits, any other text as it is."""
    try:
        return f"{float(text):.5g}"
    except ValueError:
        return text
