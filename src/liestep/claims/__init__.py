"""Claims and errata of papers: their files, criteria and verdicts."""
