"""The folder that Sphinx reads: pages of the repository with their links, and pages that are made from what the package
declares."""
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from liestep.errors import InputError
from rotation_bench.other_codes import judging, page

TOP = Path(__file__).resolve().parents[2]
PLACES = {"docs/site/index.md": "index.md", "README.md": "readme.md", ".github/CONTRIBUTING.md": "contributing.md",
          "config/README.md": "studies.md", "results/README.md": "results.md",
          "docs/first_steps.ipynb": "first_steps.md"}
MADE = re.compile(r"(?P<claims>papers/\w+/README\.md|docs/snapshot/claims\.csv)|docs/snapshot/errata\.csv")  # pages
BESIDE = re.compile(r"\[([^\[\]]+)\]\((?:docs/)?run_it_here\.html\)")  # Sphinx knows no file beside the first page
PAGES = {judging.TABLE: page.text, judging.CODES: page.engines}  # stored file of other codes -> how a page shows it
LANGUAGES = {".yaml": "yaml", ".py": "python", ".txt": "text"}
OTHERS = "OTHER PAGES"  # in the contents of the first page
PICTURES = (".png", ".webp")
NO_PAGES = ("docs/snapshot/", "docs/site/", "docs/paper/")
FILES = r"(?:examples/[\w.]+|stored/(?:table|codes)\.csv|questions/\w+\.txt|benchmarks/standard\.md)"
SHOWN = re.compile(rf"^\[[^\]]+\]\((?P<target>[^)\s]*{FILES})\)$", re.MULTILINE)
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
UNNAMED = re.compile(r"\[[\w./]+\.md\](?=\([^)#]+\.md\))")  # named after its file: the title takes its place
FENCE = re.compile(r"^(```.*?^```[ ]*$)", re.MULTILINE | re.DOTALL)


def staged(top: Path = TOP) -> dict[str, str]:
    """File of the repository -> its place in the folder that Sphinx reads."""
    found = dict(PLACES)
    for path in sorted((top/"docs").rglob("*")):
        name = path.relative_to(top).as_posix()
        if path.suffix in (".md", *PICTURES) and not name.startswith(NO_PAGES):
            found[name] = name.removeprefix("docs/")
    return found


def stage(target: Path, top: Path = TOP) -> None:
    """Copy all pages and their pictures.

    Raises:
        InputError: a link leads to nothing.
    """
    places = staged(top)
    for name, place in places.items():
        path = target/place
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(PICTURES):
            shutil.copyfile(top/name, path)
        else:
            text = (top/name).read_text("utf-8")
            text = notebook(text) if name.endswith(".ipynb") else text
            text = text.replace("# liestep\n", "# About liestep\n", 1) if name == "README.md" else text
            # links of the first page lead to pages that are made; Sphinx finds those that lead to nothing
            first = place == "index.md"
            path.write_text(first_page(text, places) if first else rewritten(text, name, places, top), "utf-8")


def first_page(text: str, places: Mapping[str, str]) -> str:
    """The first page with those pages of docs/ in its contents that it does not name itself."""
    named = set(re.findall(r"^(?:.*<)?([\w/]+)>?$", text, re.MULTILINE))
    pages = [place.removesuffix(".md") for place in places.values() if place.endswith(".md") and "/" not in place]
    return text.replace(OTHERS, "\n".join(page for page in pages if page not in {*named, "index"}))


def rewritten(text: str, name: str, places: Mapping[str, str], top: Path = TOP) -> str:
    """A page whose links lead to pages of the site; files that are no page are named instead.

    Raises:
        InputError: a link leads to nothing.
    """
    here, place = Path(name).parent, Path(places[name]).parent

    def link(match: re.Match) -> str:
        target, _, fragment = match["target"].partition("#")
        if not target or "://" in target:
            return match[0]
        file = Path(os.path.normpath(here/target)).as_posix()
        if file in places:
            address = Path(os.path.relpath(places[file], place)).as_posix()
            return f"]({address}{f'#{fragment}' if fragment else ''})"
        if made := MADE.fullmatch(file):
            return f"]({Path(os.path.relpath('claims.md' if made['claims'] else 'errata.md', place)).as_posix()})"
        if not (top/file).exists():
            raise InputError(f"{name}: the link to {match['target']} leads to nothing")
        return f"] (`{file}`)"

    parts = FENCE.split(BESIDE.sub(r'<a href="run_it_here.html">\1</a>', shown(text, top/here)))
    found = "".join(part if k % 2 else UNNAMED.sub("[]", LINK.sub(link, part)) for k, part in enumerate(parts))
    return re.sub(r"(?<!!)\[([^\[\]]+)\] \(`([^`]+)`\)",
                  lambda match: f"`{match[2]}`" if match[1].strip("`") in match[2]
                  else f"{match[1]} (`{match[2]}`)", found)


def shown(text: str, folder: Path) -> str:
    """A page as it is read: a paragraph that is a link alone, to an example, to a table that is made or to what a
    question printed, is what it leads to; so nothing stands in a page that a file holds.

    Raises:
        InputError: a link leads to nothing.
    """
    def content(match: re.Match) -> str:
        path = folder/match["target"]
        if path.suffix == ".csv":
            return PAGES[path.name](judging.stored_rows(path.parent)).strip()
        try:
            text = path.read_text("utf-8").strip()
            return text if path.suffix == ".md" else f"```{LANGUAGES[path.suffix]}\n{text}\n```"
        except OSError:
            raise InputError(f"the example {path} cannot be read") from None

    return SHOWN.sub(content, text)


def notebook(text: str, outputs: Iterable[str] = ()) -> str:
    """A notebook as a page: its texts, its code and, below each cell of code, its output as Markdown."""
    parts, left = [], iter(outputs)
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"]).strip()
        parts += [source] if cell["cell_type"] == "markdown" else [f"```python\n{source}\n```", next(left, "")]
    return "\n\n".join(filter(None, parts)) + "\n"


def escaped(text: str) -> str:
    """A text whose signs stand for themselves in Markdown."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def cell(text: str) -> str:
    """The same in a table."""
    return escaped(" ".join(text.split()))
