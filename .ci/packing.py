"""What a wheel holds beside the package: the workflow, where `liestep init` finds it, and the judge of the rotation
bench. An editable installation uses them where they are."""
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKED = "liestep/workflow/packed"
JUDGE = "rotation_bench/liestep_judge.py"  # whose rules are those of the tables
PLACES = {JUDGE: "liestep/study/tables/liestep_judge.py",
          "workflow/profiles": f"{PACKED}/profiles",  # at the top stands a link to them
          **{name: f"{PACKED}/{name}" for name in ("Snakefile", "environment.yml", "workflow", "config")}}


class WithWorkflow(BuildHookInterface):
    """Adds the files to a wheel that is no editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build_data["force_include"].update(PLACES)
