"""Snakemake's limit on submissions is off on one machine, where it only costs time."""
from types import SimpleNamespace

import pytest
from place import TOP

from liestep.workflow.patches import without_submission_limit


def limited(text: str) -> SimpleNamespace:
    """A scheduler with --max-jobs-per-timespan TEXT."""
    from snakemake.scheduling.job_scheduler import JobRateLimiter
    from snakemake.settings.types import MaxJobsPerTimespan

    return SimpleNamespace(job_rate_limiter=JobRateLimiter(MaxJobsPerTimespan.parse_choice(text)))


def test_default_limit_is_turned_off_before_the_first_job():
    from snakemake.cli import get_argument_parser  # half a second

    scheduler = limited(get_argument_parser().get_default("max_jobs_per_timespan"))
    without_submission_limit(scheduler)
    assert scheduler.job_rate_limiter is None
    start = (TOP/"workflow"/"rules"/"common.smk").read_text().partition("onstart:")[2]
    assert "if workflow.local_exec:" in start
    assert "without_submission_limit(workflow.scheduler)" in start


@pytest.mark.parametrize("text", ["50/1m", "100/1m"])
def test_limits_of_users_stay(text):
    scheduler = limited(text)
    without_submission_limit(scheduler)
    assert scheduler.job_rate_limiter is not None
