"""What a wheel holds beside the package: the workflow, where `liestep init` finds it, and the judge and the tables of
the rotation bench. An editable installation uses them where they are."""
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKED = "liestep/workflow/packed"
PLACES = {**{f"rotation_bench/{name}": f"liestep/study/tables/{name}"  # rules of tables, and their text
             for name in ("liestep_judge.py", "liestep_tables.py")},
          "workflow/profiles": f"{PACKED}/profiles",  # at the top stands a link to them
          **{name: f"{PACKED}/{name}" for name in ("Snakefile", "environment.yml", "workflow", "config")}}


class WithWorkflow(BuildHookInterface):
    """Adds the files to a wheel that is no editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build_data["force_include"].update(PLACES)
