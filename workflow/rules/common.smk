# The studies and what belongs to them, checked before any job runs.
import os
import sys
from pathlib import Path

# The same sums in the same order on every machine: libraries of linear algebra use one thread. Said before they are loaded.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

from liestep.report.sources import page_source
from liestep.pipeline.jobs import rule_name
from liestep.pipeline import lock
from liestep.pipeline.manifest import inputs_hash, remove_damaged
from liestep.pipeline.products import products_source
from liestep.pipeline.workflow import ERRATA_SOURCES, Workflow, source
from liestep.errors import InputError

# Jobs call the commands of the environment that runs snakemake, also when it was called by its path.
os.environ.update(PATH=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))))

try:
    WORKFLOW = Workflow(config)
except InputError as error:
    sys.exit(f"liestep: {error}")

# Only the process that people start looks after the files, and not if it is asked what is wrong: Snakemake learns its targets after
# it has read this file. If it is asked what it would do, no product is removed.
if workflow.is_main_process and "verify" not in sys.argv:
    for sentence in () if workflow.output_settings.dryrun else remove_damaged(WORKFLOW):
        print(f"liestep: {sentence}", file=sys.stderr)
    WORKFLOW.forget_lost()


# What a job may take at most, by kind: minutes of time and megabytes of memory. Only clusters ask for it; each retry asks for as much
# again. `snakemake --set-resources RULE:runtime=600` changes it for one rule.
NEEDS = {
    "runs": (120, 2000),
    "references": (120, 2000),
    "times": (240, 2000),
    "tables": (60, 4000),
    "figures": (60, 4000),
}


def needs(kind):
    """Resources of a rule."""
    minutes, megabytes = NEEDS[kind]
    return {
        "runtime": lambda wildcards, attempt: attempt * minutes,
        "mem_mb": lambda wildcards, attempt: attempt * megabytes,
    }


onstart:
    try:
        lock.take()
    except InputError as error:
        sys.exit(f"liestep: {error}")


def runs_of(study, path=None):
    """What stands for the runs of a study, or for one of them by its path, as inputs: they themselves, or lists of them."""
    batches = [batch for batch in WORKFLOW.batches if batch.study == study and (path is None or path in batch.paths)]
    if WORKFLOW.config.granularity == "run":
        return [run for batch in batches for run in batch.paths if path in (None, run)]
    return [batch.listing for batch in batches]


def references_of(study):
    """What stands for the references of a study as inputs: lists of them."""
    return [batch.listing for batch in WORKFLOW.references if batch.study == study]
