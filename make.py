"""Make the environment, then one quick study, all results, the tests, or a quick check.

    python3 make.py quick                            one study in a minute: a page with films, a figure and verdicts
    python3 make.py results [options of snakemake]
    python3 make.py test [options of pytest]         the tests of every day; with --all those for a release, too
    python3 make.py paper ID                         one of papers alone: its studies, verdicts, page
    python3 make.py check                            style, types and the quick tests
    python3 make.py site                             the documentation as HTML pages in the folder site
    python3 make.py other_codes                      other codes judged beside each other: docs/other_codes.md
    python3 make.py matrix                           the check with each Python from 3.11 to 3.14 that is installed
    python3 make.py release [--dry-run]              sdist, wheel, site, each checked, in the folder dist
    python3 make.py metadata                         CITATION.cff and what else is made from docs/publication.yaml
    python3 make.py sbom                             sbom.json: all packages with hashes and licences, which it checks
    python3 make.py environment

Needs Linux and Python 3.11 or newer, nothing else. The environment is the folder .venv, or LIESTEP_ENVIRONMENT: exactly
the packages of requirements.lock, checked by their hashes, and this package in editable form. It is made again when the
lock changes.
"""
import csv
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

TOP = Path(__file__).resolve().parent
LOCK, PROJECT = TOP/"requirements.lock", TOP/"pyproject.toml"
ENVIRONMENT = TOP/os.environ.get("LIESTEP_ENVIRONMENT", ".venv")
STAMP = ENVIRONMENT/"made-from.txt"  # written last: an interrupted installation has none
OLDEST = (3, 11)
MATRIX = ("3.11", "3.12", "3.13", "3.14")
# machine code of the tests; never stale, because code is found by the hash of its sources
CACHE = os.environ.get("LIESTEP_TEST_CACHE") or str(TOP/".cache"/"machine-code")
TESTS = ("python", "-m", "pytest", "-n", "auto", "--dist", "worksteal")
# tests start many programs: without the bytecode of the package each compiles its sources for 2 s
KEEP_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
KEEP_CODE = {"LIESTEP_TEST_CACHE": CACHE, **KEEP_BYTECODE}
PIP = ("-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-build-isolation")


def wanted_stamp() -> str:
    """What the environment depends on: lock, project file, Python, and the folder (scripts hold absolute paths)."""
    parts = (LOCK.read_bytes(), PROJECT.read_bytes(), sys.version.encode(), str(TOP).encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def locked_entry(name: str) -> str:
    """One package of the lock with its hashes, as one line."""
    joined = LOCK.read_text().replace("\\\n", " ")
    return next(line for line in joined.splitlines() if line.startswith(f"{name}=="))


def make_environment() -> None:
    """Make .venv unless it is up to date. Nothing is built with packages that the lock does not pin."""
    if STAMP.is_file() and STAMP.read_text() == wanted_stamp():
        return
    print(f"making {ENVIRONMENT} from {LOCK.name} (about 1 GB, once)", flush=True)
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    if subprocess.call([sys.executable, "-m", "venv", str(ENVIRONMENT)]) != 0:
        sys.exit("make.py: python -m venv failed: install your system's package for it, for example"
                 " python3-venv, and try again")
    python = str(ENVIRONMENT/"bin"/"python")
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder)/"setuptools.txt"  # builds those few packages that have no wheel, and this one
        first.write_text(locked_entry("setuptools"))
        for arguments in (("--require-hashes", "-r", str(first)), ("--require-hashes", "-r", str(LOCK)),
                          ("--no-deps", "-e", str(TOP))):
            if subprocess.call([python, *PIP, *arguments]) != 0:
                sys.exit("make.py: the packages were not installed, see above; nothing is lost, try again")
    STAMP.write_text(wanted_stamp())


def call(program: str, *arguments: str, **variables: str) -> int:
    """Run a program of the environment in the top folder, as if the environment were activated."""
    path = os.pathsep.join((str(ENVIRONMENT/"bin"), os.environ.get("PATH", os.defpath)))
    return subprocess.call([str(ENVIRONMENT/"bin"/program), *arguments], cwd=TOP,
                           env={**os.environ, "PATH": path, **variables})


def paper(name: str = "") -> int:
    """All studies of papers/NAME; ends with the verdicts and the page."""
    known = sorted(path.parent.name for path in (TOP/"papers").glob("*/studies"))
    if name not in known:
        sys.exit(f"make.py: paper is one of {', '.join(known)}, not {name!r}")
    return judged(TOP/"results"/"selection", name, "--config", f"studies={name}")


def judged(results: Path, page: str, *options: str) -> int:
    """Call snakemake; says where it ends well how many statements have which verdict, and where the page is."""
    code = call("snakemake", *options, **KEEP_BYTECODE)
    if code == 0:
        with (results/"claims.csv").open(newline="") as file:
            found = Counter(row["verdict"] for row in csv.DictReader(file))
        print("statements:", ", ".join(f"{number} {verdict}" for verdict, number in found.items()))
        print(f"the page: {results/'report'/f'{page}.html'}")
    return code


def quick() -> int:
    """The study of config/quick, in a folder of its own below results; its page ends with what to try."""
    origin, folder = TOP/"config"/"quick", TOP/"results"/"quick"
    for source in origin.rglob("*.yaml"):
        target = folder/"config"/source.relative_to(origin)
        if not target.is_file() or target.read_bytes() != source.read_bytes():  # else Snakemake would plan anew
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    return judged(folder/"results", "quick", "-s", str(TOP/"Snakefile"), "--directory", str(folder), "--quiet", "rules")


def environment() -> int:
    """Says how the commands of the environment are called."""
    folder = ENVIRONMENT/"bin"
    print(f"call {folder/'liestep'}, or `. {folder/'activate'}` and then liestep and snakemake by their names")
    return 0


def check() -> int:
    """Everything that is quick; all of it also if a part fails. Returns 0 if nothing failed."""
    failed = [name for name, program, variables in (
        ("style", ("ruff", "check"), {}), ("types", ("mypy",), {}),
        ("tests", (*TESTS, "-q", "--quick", "--durations=5", "--durations-min=5"), KEEP_CODE),
    ) if call(*program, **variables) != 0]
    print("make.py check:", f"{', '.join(failed)} failed" if failed else "style, types and quick tests pass")
    return 1 if failed else 0


def matrix() -> int:
    """The check with each Python that is installed, in an environment of its own; 0 if nothing failed."""
    codes = {}
    for version in MATRIX:
        python = shutil.which(f"python{version}")
        if python:
            codes[version] = subprocess.call([python, str(TOP/"make.py"), "check"], env={
                **os.environ, "LIESTEP_ENVIRONMENT": f".cache/python{version}"})
    for version in MATRIX:
        said = "is not installed" if version not in codes else "failed" if codes[version] else "passes"
        print(f"make.py matrix: Python {version} {said}")
    return int(any(codes.values()) or not codes)


def main(arguments: list[str]) -> int:
    if sys.version_info < OLDEST:
        sys.exit(f"make.py: Python {OLDEST[0]}.{OLDEST[1]} or newer is needed, this is {sys.version.split()[0]}")
    commands = {"quick": quick, "paper": paper,
                "results": lambda *options: call("snakemake", *options),
                "test": lambda *options: call(*TESTS, *options, **KEEP_CODE),
                "check": check, "site": lambda: call("python", "-m", "docs.site", "build", **KEEP_BYTECODE),
                "other_codes": lambda: call("python", "-m", "rotation_bench.other_codes"),
                "release": lambda *options: call("python", str(TOP/".ci"/"release.py"), *options),
                "metadata": lambda: call("python", str(TOP/".ci"/"metadata.py")),
                "sbom": lambda: call("python", str(TOP/".ci"/"sbom.py")), "environment": environment}
    if arguments == ["matrix"]:
        return matrix()
    if not arguments or arguments[0] not in commands:
        sys.exit(f"make.py: say what to make: {', '.join((*commands, 'matrix'))}")
    if arguments[1:] and arguments[0] not in ("paper", "results", "test", "release"):
        sys.exit(f"make.py: {arguments[0]} takes no options")
    make_environment()
    return commands[arguments[0]](*arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
