"""What liestep changes inside Snakemake and multiprocessing, which have no option for it. One more change must come
first, in workflow/Snakefile: Snakemake puts the folder of a Snakefile at the top of `sys.path`."""
import io
import sys
from collections.abc import MutableMapping
from contextlib import redirect_stderr, suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from liestep.workflow.workflow import CONFIG, asked_for

DEFAULT_LIMIT = (100, 1)  # of Snakemake's --max-jobs-per-timespan: jobs, seconds


def results_of(workflow: Any) -> Path:
    """The folder of results. Where another workflow gives this one a prefix, results stand below it, and files that
    people write where they are: Snakemake, whose prefix is for both, is told that there is none."""
    modifier = workflow.modifier.path_modifier
    prefix, modifier.prefix = modifier.prefix, None
    return Path(prefix or "", "results")


def narrow(workflow: Any, config: MutableMapping[str, Any], results: Path) -> bool:
    """Where files of some studies are asked for, and no studies by `--config`, plan these alone; whether. Snakemake
    has no targets yet when it reads the workflow: its own parser looks at the command line once more. Jobs on clusters
    are told the same."""
    settings = workflow.config_settings
    if not workflow.is_main_process or "studies" in settings.overwrite_config:
        return False
    with suppress(Exception, SystemExit), redirect_stderr(io.StringIO()):  # an API call has another command line
        from snakemake.cli import parse_args

        studies = asked_for(parse_args(sys.argv[1:])[1].targets, CONFIG, results)
        if studies:
            config["studies"] = studies
            settings.config_args = [*(settings.config_args or ()), f"studies={','.join(studies)}"]
            return True
    return False


def without_submission_limit(scheduler: Any) -> None:
    """Turn off Snakemake's limit on submissions, which is for clusters, unless a user has set another one. Where jobs
    wait for a free processor the limit makes the scheduler look for work again each second, and once more per second
    for each job that has ended: with 250 jobs a quarter of a processor's time. The option has no value for "none", and
    Snakemake would wait at its end for the timer of a longer time."""
    limit = scheduler.job_rate_limiter
    if limit is not None and (limit.max_jobs, limit.timespan) == DEFAULT_LIMIT:
        scheduler.job_rate_limiter = None


def without_main_module() -> None:
    """Forks of multiprocessing's server load the file of the main module anew, for each job; they do not load that of
    `python -m snakemake`."""
    sys.modules["__main__"].__spec__ = ModuleSpec("snakemake.__main__", None)
