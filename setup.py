"""What pyproject.toml cannot say: a wheel holds the workflow of this folder as well, where `liestep init` finds it, and
the bench also where the link src/liestep/bench is lost, as in copies by programs that know no links."""
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

WORKFLOW = ("Snakefile", "environment.yml", "workflow", "profiles", "config")


class WithWorkflow(build_py):
    """Puts it below liestep/workflow/packed; an editable installation uses it where it is."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        bench = Path(self.build_lib)/"liestep"/"bench"
        if not bench.is_dir():
            shutil.copytree("bench", bench, ignore=shutil.ignore_patterns("__pycache__"))
        packed = Path(self.build_lib)/"liestep"/"workflow"/"packed"
        shutil.rmtree(packed, ignore_errors=True)  # what an earlier build has left
        for name in WORKFLOW:
            source, target = Path(name), packed/name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copyfile(source, target)


setup(cmdclass={"build_py": WithWorkflow})
