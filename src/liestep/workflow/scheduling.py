"""What Snakemake's scheduler does not need on one machine."""
from typing import Any

DEFAULT_LIMIT = (100, 1)  # of Snakemake's --max-jobs-per-timespan: jobs, seconds


def without_submission_limit(scheduler: Any) -> None:
    """Turn off Snakemake's limit on submissions, which is for clusters, unless a user has set another one. Where jobs
    wait for a free processor the limit makes the scheduler look for work again each second, and once more per second
    for each job that has ended: with 250 jobs a quarter of a processor's time."""
    limit = scheduler.job_rate_limiter
    if limit is not None and (limit.max_jobs, limit.timespan) == DEFAULT_LIMIT:
        scheduler.job_rate_limiter = None
