# The studies and what belongs to them, checked before any job runs.
import os
import sys
from pathlib import Path

from liestep.report.commands import page_source
from liestep.study.jobs import rule_name
from liestep.study.workflow import ERRATA_SOURCES, Workflow, source
from liestep.systems.sheet import InputError

# Jobs call the commands of the environment that runs snakemake, also when it was called by its path.
os.environ.update(PATH=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))))

try:
    WORKFLOW = Workflow(config)
except InputError as error:
    sys.exit(f"liestep: {error}")


def runs_of(study):
    """Runs of a study as inputs: outputs of their rules, which spares Snakemake a search for the rule that makes each file."""
    batches = [batch for batch in WORKFLOW.batches if batch.study == study]
    if WORKFLOW.config.granularity == "run":
        return [path for batch in batches for path in batch.runs]
    return [getattr(rules, batch.rule).output for batch in batches]
