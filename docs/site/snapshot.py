"""The snapshot of the last full run: verdicts, errata and every figure as a small WebP, kept in docs/snapshot for those
who have not run anything. Each file is tied to the manifest of the run that made it.

snapshot.json holds the hash of the manifest; for each figure its study, the hash that the manifest has of the figure
as it was made, and that of the small file beside it; the texts of the pages that say which integrator to take
(which.md of studies); the hashes of the study, claims and errata files of that run.
"""
import csv
import hashlib
import io
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from liestep.errors import InputError
from liestep.files.textfiles import write_text_atomically
from liestep.study.tables.liestep_tables import csv_rows
from liestep.workflow.report.pictures import encoded
from liestep.workflow.workflow import require_config

INDEX = "snapshot.json"
TABLES = ("claims.csv", "errata.csv")
CLAIM = ("paper", "claim", "asserted_by", "group", "group_type", "statement", "verdict", "best", "quantity", "printed",
         "ours", "units", "bound", "studies", "runs", "figure", "evidence")
ERRATUM = ("paper", "erratum", "place", "printed", "correct", "evidence", "confirmed")
COLUMNS = {"claims.csv": CLAIM, "errata.csv": ERRATUM}
WIDTH, QUALITIES = 1200, (66, 50, 44, 38, 32)  # sharp where 600 pixels of a page are 1200 of a screen
MOST, PICTURES = 8_000_000, 7_400_000  # bytes of all files together
# files of studies, claims and errata; of papers that a full run leaves out there are none in the snapshot
WRITTEN = re.compile(r"(?:config|papers/\w+)/(?:studies|claims|errata)(?:/.+)?\.yaml")
APART = tuple(f"papers/{name}/" for name in require_config(Path(__file__).parents[2]/"config"/"config.yaml")["apart"])


@dataclass(frozen=True)
class Shown:
    """A figure of the snapshot."""

    study: str
    name: str
    file: str
    caption: str
    product: str   # hash of the figure as the run made it
    sha256: str    # hash of the small file


def sha256(path: Path) -> str:
    """Of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def take(results: Path, target: Path) -> str:
    """Make the snapshot of a results folder whose manifest is complete; returns one line about it.

    Raises:
        InputError: no manifest, or a product that is not what the manifest says: an older or changed file.
    """
    manifest = _manifest(results)
    products: Mapping[str, Mapping[str, Any]] = manifest["products"]
    names = sorted(name for name in products if "/figures/" in name and name.endswith(".png"))
    part = target.with_name(f".{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    figures, pictures = [], _fitting({name: _checked(results, products, name) for name in names})
    for name in names:
        study, _, file = name.partition("/figures/")
        small = _small(name)
        (part/small).parent.mkdir(parents=True, exist_ok=True)
        (part/small).write_bytes(pictures[name])
        caption = _checked(results, products, name.removesuffix("png") + "caption.txt").decode("utf-8").strip()
        figures.append(Shown(study, file.removesuffix(".png"), small, caption, products[name]["sha256"],
                             sha256(part/small)))
    tables = {}
    for table in TABLES:
        if table in products:
            write_text_atomically(part/table, _columns(_checked(results, products, table).decode("utf-8"), table))
            tables[table] = {"product": products[table]["sha256"], "sha256": sha256(part/table)}
    for page in sorted(name for name in products if _is_page(name)):
        tables[page] = {"product": products[page]["sha256"],
                        "text": _checked(results, products, page).decode("utf-8")}
    index = {"manifest": manifest["sha256"], "studies": manifest["studies"], "inputs": _judged(manifest["inputs"]),
             "tables": tables, "figures": [vars(figure) for figure in figures]}
    write_text_atomically(part/INDEX, json.dumps(index, indent=1, ensure_ascii=False) + "\n")
    size = sum(path.stat().st_size for path in part.rglob("*") if path.is_file())
    if size > MOST:
        raise InputError(f"the snapshot of {results} has {size/1e6:.1f} MB; at most {MOST/1e6:g} MB may be kept")
    shutil.rmtree(target, ignore_errors=True)
    part.rename(target)
    return f"{target}: {len(figures)} figures of {len({figure.study for figure in figures})} studies, {size/1e6:.1f} MB"


def _fitting(figures: Mapping[str, bytes]) -> dict[str, bytes]:
    """All figures, small, of the best quality with which they have at most PICTURES bytes together, or the last."""
    found: dict[str, bytes] = {}
    for quality in QUALITIES:
        found = {name: encoded(content, WIDTH, quality)[0] for name, content in figures.items()}
        if sum(map(len, found.values())) <= PICTURES:
            break
    return found


def _manifest(results: Path) -> dict[str, Any]:
    path = results/"manifest.json"
    try:
        content = json.loads(path.read_text("utf-8"))
        content["products"], content["inputs"], content["sha256"], content["studies"]
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; make all results first: python3 make.py results") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{path} is not a manifest; run `liestep job manifest`") from None
    return content


def _checked(results: Path, products: Mapping[str, Mapping[str, Any]], name: str) -> bytes:
    """Content of a product that is what the manifest says."""
    try:
        content = (results/name).read_bytes()
    except OSError:
        raise InputError(f"{results/name} cannot be read, but the manifest lists it; call snakemake") from None
    if name not in products or hashlib.sha256(content).hexdigest() != products[name]["sha256"]:
        raise InputError(f"{results/name} is not the file that the manifest lists; call snakemake and try again")
    return content


def _judged(inputs: Mapping[str, str]) -> dict[str, str]:
    """Files of studies, claims and errata."""
    return {name: value for name, value in sorted(inputs.items()) if WRITTEN.fullmatch(name)}


def _columns(text: str, table: str) -> str:
    """The columns of a table that the site shows."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS[table], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(csv.DictReader(io.StringIO(text)))
    return out.getvalue()


class Snapshot:
    """What is kept in a folder.

    Raises:
        InputError: a file is missing, of another snapshot, or not listed.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        try:
            index = json.loads((folder/INDEX).read_text("utf-8"))
        except (OSError, ValueError):
            raise InputError(f"{folder/INDEX} is missing or damaged; run `python -m docs.site snapshot`") from None
        self.manifest: str = index["manifest"]
        self.inputs: dict[str, str] = index["inputs"]
        self.figures = [Shown(**entry) for entry in index["figures"]]
        self.tables: dict[str, dict[str, str]] = index["tables"]
        listed = {figure.file: figure.sha256 for figure in self.figures}
        listed |= {name: entry["sha256"] for name, entry in self.tables.items() if not _is_page(name)}
        for name, known in listed.items():
            if not (folder/name).is_file() or sha256(folder/name) != known:
                raise InputError(f"{folder/name} is not of the run with manifest {self.manifest[:12]}: a page would"
                                 " show a figure or table of another run; run `python -m docs.site snapshot`")
        for name, entry in self.tables.items():
            if _is_page(name) and hashlib.sha256(entry["text"].encode()).hexdigest() != entry["product"]:
                raise InputError(f"the text of {name} in {folder/INDEX} is not of the run with manifest"
                                 f" {self.manifest[:12]}; run `python -m docs.site snapshot`")
        found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {INDEX}
        for name in sorted(found - set(listed)):
            raise InputError(f"{folder/name} is of no run that {INDEX} lists; run `python -m docs.site snapshot`")

    def of(self, study: str) -> list[Shown]:
        """Figures of a study."""
        return [figure for figure in self.figures if figure.study == study]

    @property
    def pages(self) -> dict[str, str]:
        """Study -> text of its page on which integrator to take."""
        return {name.rpartition("/")[0]: entry["text"] for name, entry in self.tables.items() if _is_page(name)}

    def rows(self, table: str) -> list[dict[str, str]]:
        """Rows of claims.csv or errata.csv."""
        if table not in self.tables:
            return []
        return csv_rows((self.folder/table).read_text("utf-8"))

    def against(self, results: Path) -> None:
        """Raises InputError unless every figure and table is of the manifest of a results folder."""
        manifest = _manifest(results)
        if manifest["sha256"] != self.manifest:
            listed = {f"{figure.study}/figures/{figure.name}.png": figure.product for figure in self.figures}
            listed |= {name: entry["product"] for name, entry in self.tables.items()}
            changed = sorted(name for name in {*listed, *_shown_products(manifest)}
                             if listed.get(name) != manifest["products"].get(name, {}).get("sha256"))
            if changed:
                raise InputError(f"{self.folder} shows {len(changed)} figures and tables of an older manifest, for"
                                 f" example {changed[0]}; run `python -m docs.site snapshot`")

    def changed(self, top: Path) -> Iterator[str]:
        """Studies, claims and errata files that are not those of the run: changed, new or gone since."""
        today = {name: path for folder in (top/"config", top/"papers") for path in sorted(folder.rglob("*.yaml"))
                 if WRITTEN.fullmatch(name := path.relative_to(top).as_posix()) and not name.startswith(APART)}
        for name in sorted({*today, *self.inputs}):
            if name not in today or name not in self.inputs or sha256(today[name]) != self.inputs[name]:
                yield name


def _small(name: str) -> str:
    """Name in the snapshot of a figure of the results."""
    return f"{name.replace('/figures/', '/').removesuffix('png')}webp"


def _is_page(name: str) -> bool:
    return name.endswith("/which.md")


def _shown_products(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Names of what a snapshot of a manifest shows."""
    for name in manifest["products"]:
        if name in TABLES or _is_page(name) or ("/figures/" in name and name.endswith(".png")):
            yield name
