"""Which ids of studies and papers are allowed: they become paths, names of rules and words of commands. Keys of
problems and integrators are `liestep.study.plan.config.Name`."""
import os
import re
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from liestep.errors import InputError, unknown

LETTERS = 60  # most characters of a part of a name; file names are made of several parts
PAPERS, STUDIES, CLAIMS = "papers", "studies", "claims"  # folders
ERRATA = "errata"  # of config a folder, of a paper a file
PART = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_.-]{{0,{LETTERS - 1}}}")
PARTS = 6
REPORT_FOLDER = "report"  # folder of the results with the report's pages
RESERVED = ("logs", REPORT_FOLDER, "selection")  # folders of the results that belong to no study
INNER = ("runs", "references", "figures", "animations", "logs")  # folders of a study's results
PRODUCTS = (".csv", ".md", ".json", ".html", ".nc", ".gz", ".made")  # files of the results, in lower case
ALLOWED = (f"letters, digits, '_', '-' and '.', at most {LETTERS} of them, the first neither '-' nor '.'")


def require_name(what: str, text: str, path: Path | None = None) -> str:
    """The text. Raises InputError when it is no name; `what` says of what, `path` in which file."""
    first, *inner = text.lower().split("/")
    if first in RESERVED:
        raise InputError(f"{f'{path}: ' if path else ''}{what} must not begin with {first}: that folder of the results"
                         " holds other products")
    for part in (first, *inner):
        if (part in INNER and part in inner) or part.endswith(PRODUCTS):
            raise InputError(f"{f'{path}: ' if path else ''}{what} {text[:LETTERS]!r} must not hold {part}: files and"
                             " folders of results are called so")
    if len(inner) < PARTS and all(map(PART.fullmatch, text.split("/"))):
        return text
    shown = text if len(text) <= LETTERS else f"{text[:LETTERS]}..."
    raise InputError(f"{f'{path}: ' if path else ''}{what} {shown!r} must be {ALLOWED}; folders are separated"
                     f" by /, at most {PARTS} parts")


def named_files(folder: Path, what: str) -> list[Path]:
    """All YAML files of a folder and its folders, sorted; hidden ones are none. Raises InputError: a file whose name
    cannot be an id, or differs from another's in upper and lower case only; a folder that cannot be read."""
    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            raise InputError(f"cannot read {error.filename}: {error.strerror}; what is in it would be overlooked")

    paths, names = [], [Path(place, name) for place, folders, files in os.walk(folder, onerror=refuse)
                        for name in (*folders, *files) if name.endswith(".yaml")]
    for path in sorted(names, key=lambda path: path.with_suffix("").as_posix()):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if not any(part.startswith(".") for part in name.split("/")):
            require_name(what, name, folder)
            paths.append(path)
    if same := twins(path.relative_to(folder).as_posix() for path in paths):
        raise InputError(f"{folder}: {same[0]} and {same[1]} differ in upper and lower case only, and are one file on"
                         " many disks; rename one")
    return paths


def study_files(config: Path = Path("config")) -> dict[str, Path]:
    """Id of every study -> its file, sorted: config/studies/NAME.yaml, or papers/ID/studies/NAME.yaml as ID/NAME.
    Raises InputError: a file whose name cannot be an id, a study of one's own with the id of a paper, and what
    `paper_folders` raises."""
    own = Path(config)/STUDIES
    studies = {path.relative_to(own).with_suffix("").as_posix(): path
             for path in named_files(own, "the name of a study")}
    for paper, folder in paper_folders(config).items():
        inside = folder/STUDIES
        if taken := next((path for name, path in studies.items() if name.partition("/")[0] == paper), None):
            raise InputError(f"{taken}: {paper} is the id of the paper in {folder}: put the study into {inside}, or"
                             " into another folder")
        for path in named_files(inside, "the name of a study"):
            studies[f"{paper}/{path.relative_to(inside).with_suffix('').as_posix()}"] = path
    return dict(sorted(studies.items()))


def selected(wanted: str | Iterable[str], known: Collection[str]) -> list[str]:
    """Those of the known ids that are meant by ids, folders, and patterns with * and ?, with commas between them.
    Raises InputError: one of them means no study."""
    found: dict[str, None] = {}
    for text in (wanted if isinstance(wanted, str) else ",".join(wanted)).split(",") if wanted else ():
        name = text.strip().rstrip("/")
        meant = [name] if name in known else [key for key in known if fnmatchcase(key, name)
                                              or key.startswith(f"{name}/")]
        if not meant:
            folders = dict.fromkeys(key.rpartition("/")[0] for key in known if "/" in key)
            raise InputError(unknown("study", name, [*known, *folders]))
        found |= dict.fromkeys(meant)
    return list(found)


def page_of(study: str) -> str:
    """Key of the report's page with a study: its first folder, `studies` for one without."""
    return study.partition("/")[0] if "/" in study else STUDIES


def belonging(paths: Iterable[Path], known: Collection[str]) -> list[str] | None:
    """Studies whose products some files of the results are, named below its folder: the page of a paper is one of all
    its studies. None where a file is made of all studies, or of none."""
    found: dict[str, None] = {}
    for path in paths:
        first, *others = path.parts
        owners = ([name for name in known if page_of(name) == path.stem]
                  if first == REPORT_FOLDER and len(others) == 1 and path.suffix == ".html" else
                  sorted((name for name in known if path.is_relative_to(name)), key=len)[-1:])
        if not owners:
            return None
        found |= dict.fromkeys(owners)
    return list(found) or None


def paper_folders(config: Path) -> dict[str, Path]:
    """Id -> folder of all papers beside a folder of configuration. Raises InputError: `papers` is a file or a link, or
    cannot be read; a folder in it whose name can be no id, that is a link, or in which one leads out of it."""
    top = Path(config).parent/PAPERS
    if top.is_symlink() or (top.exists() and not top.is_dir()):
        raise InputError(f"{top} must be a folder with one folder for each paper, not a"
                         f" {'link' if top.is_symlink() else 'file'}")
    try:
        entries = sorted(top.iterdir()) if top.is_dir() else []
    except OSError as error:
        raise InputError(f"cannot read {top}: {error.strerror}; the papers in it would be overlooked") from None
    papers = {path.name: path for path in entries if path.is_dir() and path.name[0] not in "._"}
    for name, path in papers.items():
        if path.is_symlink():
            raise InputError(f"{path} is a link; a paper is a folder of its own")
        require_paper_id(name, path.parent)
        for link in filter(Path.is_symlink, path.rglob("*")):
            if not link.resolve().is_relative_to(path.resolve()):
                raise InputError(f"{link} is a link that leads out of the folder of the paper {name}")
    return papers


def require_paper_id(name: str, folder: Path) -> None:
    """Raises InputError for a name that cannot be the id of a paper in the folder of papers."""
    if not name.isidentifier():
        raise InputError(f"{folder}: the id {name!r} of a paper must be letters, digits, '_', the first no digit")
    require_name("the id of a paper", name, folder)


def config_of(study: Path) -> Path | None:
    """Folder of the configuration to which the file of a study belongs; None for a file that lies elsewhere."""
    for folder in Path(study).resolve().parents:
        if folder.name == STUDIES:
            return folder.parents[2]/"config" if folder.parent.parent.name == PAPERS else folder.parent
    return None


def twins(names: Iterable[str]) -> tuple[str, str] | None:
    """Two names that differ in upper and lower case only, if there are any."""
    known: dict[str, str] = {}
    return next(((known[name.lower()], name) for name in names if known.setdefault(name.lower(), name) != name), None)
