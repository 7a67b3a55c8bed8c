"""Public Python functions, the command line, and the pool that does the workflow's jobs."""
