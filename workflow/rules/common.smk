# The studies and what belongs to them, checked before any job runs.
import os
import sys
from pathlib import Path

from liestep.report.commands import page_source
from liestep.study.jobs import rule_name
from liestep.study import lock
from liestep.study.manifest import inputs_hash, remove_damaged
from liestep.study.workflow import ERRATA_SOURCES, Workflow, source
from liestep.systems.sheet import InputError

# Jobs call the commands of the environment that runs snakemake, also when it was called by its path.
os.environ.update(PATH=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))))
# The same sums in the same order on every machine: libraries of linear algebra use one thread.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

try:
    WORKFLOW = Workflow(config)
except InputError as error:
    sys.exit(f"liestep: {error}")

# Only the process that people start looks after the files, and not if it is asked what it would do, or what is wrong: Snakemake
# learns its targets after it has read this file.
if workflow.is_main_process and not workflow.output_settings.dryrun and "verify" not in sys.argv:
    for sentence in remove_damaged(WORKFLOW):
        print(f"liestep: {sentence}", file=sys.stderr)


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


def runs_of(study):
    """Runs of a study as inputs: outputs of their rules, which spares Snakemake a search for the rule that makes each file."""
    batches = [batch for batch in WORKFLOW.batches if batch.study == study]
    if WORKFLOW.config.granularity == "run":
        return [path for batch in batches for path in batch.runs]
    return [getattr(rules, batch.rule).output for batch in batches]
