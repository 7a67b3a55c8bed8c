"""The wheel in an environment of its own, without a network: of the packages of this environment only those that an
installation brings."""
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from place import TOP

PROJECT = tomllib.loads((TOP/"pyproject.toml").read_text())["project"]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(*extras: str) -> dict[str, Distribution]:
    """Distributions that an installation with these extras brings beside liestep, by name: what liestep asks for, and
    what these ask for."""
    found, seen = {}, set()
    left = [*PROJECT["dependencies"], *(text for extra in extras for text in PROJECT["optional-dependencies"][extra])]
    while left:
        item = Requirement(left.pop())
        name = canonical(item.name)
        if name == "liestep":
            left += [text for extra in item.extras for text in PROJECT["optional-dependencies"][extra]]
        for extra in {"", *item.extras}:
            if name != "liestep" and (name, extra) not in seen:
                seen.add((name, extra))
                found[name] = distribution(name)
                left += [text for text in found[name].requires or () if _is_needed(Requirement(text), extra)]
    return found


def _is_needed(item: Requirement, extra: str) -> bool:
    return item.marker is None or item.marker.evaluate({"extra": extra})


def build_wheel(folder: Path) -> None:
    """Put the wheel into a folder."""
    source = folder/"source"  # a build leaves its folder there
    source.mkdir()
    for name in ("src", ".ci", "workflow", "config", "profiles", "Snakefile", "environment.yml", "pyproject.toml",
                 "README.md", "LICENSE"):
        subprocess.run(["cp", "-rL", TOP/name, source], check=True)
    (source/"rotation_bench").mkdir()
    for name in ("liestep_judge.py", "liestep_tables.py"):
        shutil.copy(TOP/"rotation_bench"/name, source/"rotation_bench")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder,
                    source], check=True)


class Installed:
    """An environment below a folder with the wheel that `once` makes for all and what its extras bring."""

    def __init__(self, folder: Path, once: Callable[[str, Callable[[Path], object]], Path], *extras: str):
        self.folder, self.programs = folder, folder/"empty"/"bin"
        self.python = self.programs/"python"
        wheel, = once("wheel", build_wheel).glob("*.whl")
        venv.create(folder/"empty")  # pip works on it from outside: to put one into it takes 3 s
        self.site = Path(self.call(self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        for one in needed(*extras).values():
            for name in {path.parts[0] for path in one.files} - {"..", "__pycache__"}:
                if not (self.site/name).exists():  # a folder may be of several distributions
                    os.symlink(one.locate_file(name), self.site/name)
            self._copy_programs(one)
        pip = (sys.executable, "-m", "pip", "--python", self.python, "--disable-pip-version-check")
        self.call(*pip, "install", "-q", "--no-index", wheel)
        self.call(*pip, "check")

    def _copy_programs(self, one: Distribution) -> None:
        for entry in one.entry_points:
            if entry.group == "console_scripts":
                (self.programs/entry.name).write_text(f"#!{self.python}\nimport sys\nfrom {entry.module} import"
                                                      f" {entry.attr}\nsys.exit({entry.attr}())\n")
                (self.programs/entry.name).chmod(0o755)

    def call(self, *command: object, folder: Path | None = None, **variables: str) -> str:
        """What a program prints, as if the environment were activated; it must end well. Machine code is that of the
        session, as the sources are."""
        done = subprocess.run(list(map(str, command)), cwd=folder or self.folder, capture_output=True, text=True, env={
            **os.environ, "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": "", **variables})
        assert done.returncode == 0, done.stderr
        return done.stdout
