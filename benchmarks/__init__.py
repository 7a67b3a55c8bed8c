"""Speed of the compiled core beside C, numpy and scipy: `python -m benchmarks` from the top of the repository."""
