"""The documentation site: made from docs/, docstrings, sheets of systems and the snapshot of the last full run."""
