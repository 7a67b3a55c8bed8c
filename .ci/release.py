"""Everything that a release consists of, below dist and nowhere else. `python3 make.py release [--dry-run]` calls it in
the environment.

From the last commit, not from the working folder: sdist and wheel, checked by twine, check-wheel-contents and pyroma,
the wheel installed in an empty environment where the README's examples run, and from there one of machine code; the
workflow's format; bill of materials, site, snapshot; of a complete run in `results` its digest. A release is
refused, in one sentence each, where the tag is not the version, the tree is dirty, a person's value is unfilled, a
package of an extra is missing, or the snapshot is of another run. A dry run says what would be refused, builds and
checks the packages, and makes nothing that takes minutes.
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import metadata
from packaging.requirements import Requirement

TOP = Path(__file__).resolve().parents[1]
DIST = TOP/"dist"
SOURCE, TOOLS, EMPTY = DIST/"source", DIST/"tools", DIST/"empty"
RESULTS = TOP/"results"
PYROMA = 9  # of 10


def said(*words: str) -> str:
    """What git says in the top folder."""
    return subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True, check=False).stdout.strip()


def refusals() -> Iterator[str]:
    """One sentence for each reason against a release."""
    wanted = f"v{metadata.project()['version']}"
    tags = said("tag", "--points-at", "HEAD").split()
    if wanted not in tags:
        yield (f"the tag of this commit is {', '.join(tags) or 'missing'}, the version in pyproject.toml wants"
               f" {wanted}: git tag -a {wanted}")
    dirty = said("status", "--porcelain").splitlines()
    if dirty:
        yield f"the tree is dirty: {len(dirty)} files are not committed, for example {dirty[0][2:].strip()}"
    if open_places := list(metadata.unfilled()):
        yield f"a person must fill in {', '.join(open_places)} of {metadata.SOURCE}, then call python3 make.py metadata"
    if differing := metadata.stale():
        yield f"{', '.join(differing)} are not what {metadata.SOURCE} says: call python3 make.py metadata"
    for extra, texts in metadata.project()["optional-dependencies"].items():
        lost = [item.name for item in map(Requirement, texts) if not there(item)]
        if lost:
            yield f"the extra {extra} is missing {', '.join(lost)} here: call python3 make.py environment"
    yield from snapshot_complaint()


def snapshot_complaint() -> list[str]:
    """What the site says of a snapshot that is not of the run in `results`, or older than a study."""
    done = subprocess.run([sys.executable, "-m", "docs.site", "check"], cwd=TOP, capture_output=True, text=True)
    return [] if done.returncode == 0 else done.stderr.strip().splitlines()[-1:]


def there(item: Requirement) -> bool:
    """Whether a package is installed in a version that is asked for."""
    try:
        return item.specifier.contains(distribution(item.name).version, prereleases=True)
    except PackageNotFoundError:
        return False


def run(*words: str | Path, folder: Path | None = None, **variables: str) -> str:
    """Call a program; its output. Ends the release with its last line where it fails."""
    done = subprocess.run([str(word) for word in words], cwd=folder or DIST, capture_output=True, text=True,
                          env={**os.environ, **variables})
    if done.returncode != 0:
        print(done.stdout + done.stderr, file=sys.stderr)
        sys.exit(f"release: {Path(words[0]).name} failed, see above: {' '.join(map(str, words[1:4]))}")
    return done.stdout + done.stderr


def clone() -> None:
    """The last commit, alone, in dist/source."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    run("git", "clone", "-q", "--no-local", "--depth", "1", TOP.as_uri(), SOURCE)
    shutil.rmtree(SOURCE/".git")


def install(folder: Path, *arguments: str | Path) -> Path:
    """A new environment with packages; its programs."""
    run(sys.executable, "-m", "venv", folder)
    run(folder/"bin"/"python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *arguments)
    return folder/"bin"


def packages() -> Path:
    """sdist and wheel, checked; the wheel."""
    tools = install(TOOLS, "-r", SOURCE/".ci"/"release-tools.txt")
    run(tools/"snakefmt", "--check", "Snakefile", "workflow", folder=SOURCE)
    rating = re.search(r"Final rating: (\d+)/10", run(tools/"pyroma", SOURCE))
    if rating is None or int(rating[1]) < PYROMA:
        sys.exit(f"release: pyroma gives {rating[1] if rating else 'no rating'}, {PYROMA} of 10 are needed")
    run(tools/"python", "-m", "build", "--no-isolation", "--outdir", DIST, SOURCE)
    (wheel,), (archive,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run(tools/"twine", "check", "--strict", wheel, archive)
    run(tools/"check-wheel-contents", "--ignore", "W002", wheel)  # profiles is a link here, which a wheel cannot hold
    print(f"{wheel.name}, {archive.name}: built and checked, pyroma {rating[1]} of 10")
    return wheel


def examples(wheel: Path) -> None:
    """The README's Python where nothing but the wheel is installed."""
    python = install(EMPTY, wheel)/"python"
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE/"README.md").read_text("utf-8"), re.DOTALL)
    for block in blocks:
        run(python, "-P", "-c", block, LIESTEP_CACHE=str(EMPTY/"cache"))
    print(f"README.md: {len(blocks)} examples run in an empty environment")


def machine_code() -> None:
    """The wheel of machine code, made where nothing but the package is installed."""
    print(run(EMPTY/"bin"/"python", SOURCE/".ci"/"machine_code.py", DIST).strip())


def records() -> None:
    """Bill of materials, site, snapshot, descriptions."""
    run(sys.executable, SOURCE/".ci"/"sbom.py", DIST/"sbom.json")
    run(sys.executable, "-m", "docs.site", "build", "--to", DIST/"site", folder=SOURCE, PYTHONPATH=f"{SOURCE}/src")
    shutil.make_archive(str(DIST/"snapshot"), "zip", SOURCE/"docs"/"snapshot")
    for name, text in metadata.of_a_release().items():
        (DIST/name).write_text(text, "utf-8")
    print(f"sbom.json, site, snapshot.zip, {', '.join(metadata.of_a_release())}: made")


def complete_run() -> None:
    """The hash of the manifest of a complete run, if there is one."""
    manifest = RESULTS/"manifest.json"
    if not manifest.is_file():
        print("no complete run in results: no digest; python3 make.py results makes one")
        return
    run("liestep", "verify", folder=TOP)
    digest = hashlib.sha256(manifest.read_bytes()).hexdigest()
    (DIST/"run.sha256").write_text(f"{digest}  results/manifest.json\n", "utf-8")
    print(f"run.sha256: of the run with manifest {digest}")


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--dry-run"]):
        sys.exit("release: takes no option but --dry-run")
    found = list(refusals())
    for sentence in found:
        print(f"release: {'would be refused' if arguments else 'refused'}: {sentence}", file=sys.stderr)
    if found and not arguments:
        return 1
    clone()
    wheel = packages()
    if not arguments:
        examples(wheel)
        machine_code()
        records()
        complete_run()
    for folder in (SOURCE, TOOLS, EMPTY):
        shutil.rmtree(folder, ignore_errors=True)
    for path in sorted(each for each in DIST.iterdir() if each.is_file()):
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  dist/{path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
