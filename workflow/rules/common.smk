# The studies and what belongs to them, checked before any job runs.
import gc
import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path

import psutil

# The same sums in the same order on every machine: libraries of linear algebra use one
# thread. They read these variables when numpy is imported.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

from liestep.workflow.sources import page_source
from liestep.api import pool
from liestep.workflow import lock, seconds
from liestep.workflow.integrity import mend
from liestep.files.records import file_sha256
from liestep.workflow.manifest import MANIFEST, inputs_hash
from liestep.workflow.sources import claim_source, evidence_source, film_source
from liestep.workflow.workflow import Workflow, tell_jobs
from liestep.workflow.products import products_source
from liestep.workflow.patches import narrow, results_of, without_submission_limit
from liestep.errors import InputError
from snakemake.settings.types import DeploymentMethod

# Jobs call the commands of the environment that runs snakemake, also when it was called by its path; they and the pool
# import nothing from the working folder.
os.environ.update(
    PYTHONSAFEPATH="1",
    PATH=os.pathsep.join(
        (str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
    ),
)

RESULTS = results_of(workflow)

try:
    tell_jobs(RESULTS)
    NARROWED = narrow(workflow, config, RESULTS)
    gc.disable()  # plans stay: looking for garbage among them takes a sixth of a start
    WORKFLOW = Workflow(config, results=RESULTS)
    gc.freeze()
    gc.enable()
except InputError as error:
    sys.exit(f"liestep: {error}")

# Damaged products are removed by the main process only, not by its jobs. `verify` must see them as they are; its name
# is looked for on the command line because Snakemake has no targets yet when it reads this file. A dry run removes
# nothing, but what it planned is kept as well.
if workflow.is_main_process and "verify" not in sys.argv:
    try:
        for sentence in mend(WORKFLOW, remove=not workflow.output_settings.dryrun):
            print(f"liestep: {sentence}", file=sys.stderr)
    except OSError as error:
        sys.exit(f"liestep: cannot mend {error.filename or RESULTS}: {error.strerror}")
    WORKFLOW.forget_lost()
    WORKFLOW.plans.save()
    if WORKFLOW.estimate.runs:
        print(f"liestep: to make: {WORKFLOW.estimate}", file=sys.stderr)


# The packages of every job, for those who read or archive the rules. Jobs run in the environment that runs snakemake.
# Snakemake takes braces in the path of this folder for names of wildcards.
CONDA = "../../environment.yml"
if {"{", "}"}.intersection(str(workflow.current_basedir)):
    CONDA = None
if DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method:
    sys.exit(
        "liestep: jobs need liestep itself, which snakemake cannot install for them: leave out --sdm conda, call"
        " the commands at the top of environment.yml in the folder of liestep, and run snakemake in that environment"
    )


# What a job may take at most, by kind: minutes of time and megabytes of memory. Only clusters ask for it; each retry
# asks for as much again. `snakemake --set-resources sweep:runtime=600` changes it for one rule.
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


def end_with_children(number, frame):
    """The terminal has gone: jobs and pool end with this process, however the shell between them was told."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            child.kill()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


onstart:
    try:
        lock.take()
    except InputError as error:
        sys.exit(f"liestep: {error}")
    if workflow.local_exec:
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # not with nohup
            signal.signal(signal.SIGHUP, end_with_children)
        pool.start()
        without_submission_limit(workflow.scheduler)


onsuccess:
    seconds.note(RESULTS, ["snakemake"], os.times().user + os.times().system)
    for sentence in () if NARROWED else WORKFLOW.unjudged:
        print(f"liestep: {sentence}", file=sys.stderr)
    if (RESULTS / MANIFEST).is_file():
        found = file_sha256(RESULTS / MANIFEST)
        print(
            f"liestep: to prove later that nothing was changed, keep elsewhere: verify --against {found}",
            file=sys.stderr,
        )
    if WORKFLOW.reports[0].is_file():
        print(f"liestep: look at {WORKFLOW.reports[0]}", file=sys.stderr)


wildcard_constraints:
    study="|".join(re.escape(products.name) for products in WORKFLOW.studies) or "none",
    batch="[^/]+",
    film="[^/]+",
    problem="[^/]+",
    integrator="[^/]+",
    resolution="[^/]+",


# Functions for parameters take wildcards only: Snakemake does not compare parameters that are made of outputs.
def of_batch(folder, name):
    """What the batch says whose mark in a folder of the study is a job's output."""

    def value(wildcards):
        return getattr(
            WORKFLOW.marks[
                Path(RESULTS, wildcards.study, folder, f"{wildcards.batch}.made")
            ],
            name,
        )

    return value


def priority_of(folder):
    """Longest jobs first: the plan knows their steps."""

    def value(wildcards):
        return WORKFLOW.priority(
            Path(RESULTS, wildcards.study, folder, f"{wildcards.batch}.made")
        )

    return value


def run_of(wildcards):
    """One run."""
    folder = Path(
        RESULTS, wildcards.study, "runs", wildcards.problem, wildcards.integrator
    )
    return WORKFLOW.cells[folder / f"{wildcards.resolution}.nc"]


def film_of(wildcards):
    """One film."""
    return WORKFLOW.films[
        Path(RESULTS, wildcards.study, "animations", f"{wildcards.film}.gif")
    ]


def runs_of(study, path=None):
    """Inputs that stand for the runs of a study, or for one of them by its path: the files, or the marks of their jobs."""
    batches = [
        batch
        for batch in WORKFLOW.batches
        if batch.study == study and (path is None or path in batch.paths)
    ]
    if WORKFLOW.config.granularity == "run":
        return [run for batch in batches for run in batch.paths if path in (None, run)]
    return [batch.mark for batch in batches]


def references_of(study):
    """Inputs that stand for the references of a study: the marks of their jobs."""
    return [batch.mark for batch in WORKFLOW.references if batch.study == study]
