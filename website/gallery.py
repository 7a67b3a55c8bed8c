"""Pages made from the snapshot: figures of the last full run with the study files that made them, verdicts, errata."""
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

import yaml

from liestep.workflow.report.verdicts import MEANINGS
from website.snapshot import CLAIM, ERRATUM, Snapshot
from website.source import TOP, escaped

CHANGED = "The study file has changed since this run."


def write_gallery(target: Path, snapshot: Snapshot, top: Path = TOP) -> None:
    """A page for each paper, an index, and the figures."""
    target.mkdir(parents=True, exist_ok=True)
    changed = set(snapshot.changed(top))
    papers: dict[str, list[str]] = {}
    for study in sorted({figure.study for figure in snapshot.figures}):
        papers.setdefault(study.partition("/")[0], []).append(study)
    for paper, studies in papers.items():
        parts = [f"# Figures of {paper}\n", about(snapshot)]
        for study in studies:
            file = top/"config"/"studies"/f"{study}.yaml"
            text = file.read_text("utf-8") if file.is_file() else ""
            title = yaml.safe_load(text)["title"] if text else study
            parts.append(f"## {escaped(title)}\n\n`{study}`\n")
            if f"config/studies/{study}.yaml" in changed:
                parts.append(f":::{{warning}}\n{CHANGED}\n:::\n")
            for figure in snapshot.of(study):
                source = snapshot.folder/figure.file
                (target/figure.file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target/figure.file)
                says, of_runs, settings = figure.caption.partition(" Runs of ")
                parts.append(f":::{{figure}} {figure.file}\n:alt: {escaped(says)}\n\n**{escaped(figure.name)}**"
                             f" {escaped(says)}\n:::\n")
                if settings:
                    parts.append(f"<details><summary>Settings</summary>\n\n{escaped(of_runs + settings)}\n\n"
                                 "</details>\n")
            if text:
                parts.append(f"<details><summary>The study file config/studies/{study}.yaml</summary>\n\n"
                             f"```yaml\n{text}```\n\n</details>\n")
        (target/f"{paper}.md").write_text("\n".join(parts), "utf-8")
    first = {figure.study.partition("/")[0]: figure for figure in reversed(snapshot.figures)}
    thumbnails = "\n".join(f"[![{paper}: {figure.name}]({figure.file}){{w=240px}}]({paper}.md)"
                           for paper, figure in sorted(first.items()))
    (target/"index.md").write_text("# Gallery\n\nEvery figure of the last full run, with the file that makes it.\n\n"
                                   f"{thumbnails}\n\n{about(snapshot)}\n```{{toctree}}\n:maxdepth: 2\n\n"
                                   + "\n".join(papers) + "\n```\n", "utf-8")


def about(snapshot: Snapshot) -> str:
    """Which run the page shows."""
    return (f"Pictures are reduced copies from the run with manifest `{snapshot.manifest[:16]}`; the workflow makes the"
            " full ones as PDF and PNG.\n")


def write_verdicts(target: Path, snapshot: Snapshot, top: Path = TOP) -> None:
    """Claims and errata."""
    changed = set(snapshot.changed(top))
    for kind, columns, title in (("claims", CLAIM, "Claims of the papers and their verdicts"),
                                 ("errata", ERRATUM, "Errata of the papers")):
        rows = snapshot.rows(f"{kind}.csv")
        parts = [f"# {title}\n", about(snapshot)]
        for paper in dict.fromkeys(row["paper"] for row in rows):
            own = [row for row in rows if row["paper"] == paper]
            parts.append(f"## {escaped(paper)}\n")
            if any(name.startswith((f"config/{kind}/{paper}/", f"config/{kind}/{paper}.yaml")) for name in changed):
                parts.append(f":::{{warning}}\nThe {kind} files have changed since this run.\n:::\n")
            html = cards(own) if kind == "claims" else html_table([name for name in columns if name != "paper"], own)
            parts.append("```{raw} html\n" + html + "\n```\n")
        (target/f"{kind}.md").write_text("\n".join(parts), "utf-8")


def write_which(target: Path, snapshot: Snapshot) -> None:
    """The pages that say which integrator to take, one for each study that has the table, and an index."""
    target.mkdir(parents=True, exist_ok=True)
    names = []
    for study, text in snapshot.pages.items():
        names.append(study.replace("/", "_"))
        title, _, rest = text.partition("\n")
        (target/f"{names[-1]}.md").write_text(f"{title}\n\n{about(snapshot)}{rest}", "utf-8")
    listed = "\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```\n" if names else ""
    (target/"index.md").write_text((
        "# Which integrator for which problem?\n\nThe cheapest method for each problem, error, horizon and thing to"
        f" keep, from all integrators of the last full run.\n{listed}"), "utf-8")


def cards(rows: list[dict[str, str]]) -> str:
    """Counts of the verdicts, then a card for each claim; colour, sign and word say the verdict."""
    def badge(verdict: str, text: str) -> str:
        sign, kind, _ = MEANINGS[verdict]
        return f'<span class="verdict {kind}">{sign} {text}</span>'

    counts = Counter(row["verdict"] for row in rows)
    found = [f'<p>{" ".join(badge(name, f"{counts[name]} {name}") for name in MEANINGS if counts[name])}</p>']
    for row in rows:
        numbers = "".join(f"<dt>{name}</dt><dd>{escape(shown(row[name]))}</dd>"
                          for name in ("printed", "ours", "criterion") if row[name])
        found.append(f'<article>{badge(row["verdict"], row["verdict"])}<p>{escape(row["statement"])}</p>'
                     f'<dl>{numbers}</dl><code>{escape(row["claim"])}</code></article>')
    return f'<div class="claims">{"".join(found)}</div>'


def html_table(columns: Iterable[str], rows: Iterable[Mapping[str, str]]) -> str:
    """A table whose texts stand for themselves."""
    names = list(columns)
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(shown(row[name]))}</td>" for name in names) + "</tr>" for row in rows)
    return ('<div class="wide" tabindex="0"><table><thead><tr>'
            f"{head}</tr></thead><tbody>{body}</tbody></table></div>")


def shown(text: str) -> str:
    """A number with five digits, any other text as it is."""
    try:
        return f"{float(text):.5g}"
    except ValueError:
        return text
