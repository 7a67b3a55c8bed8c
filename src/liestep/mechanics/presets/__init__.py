"""Data of the replicated papers: one file for each, `PRESETS`: id of a system -> name -> preset."""
