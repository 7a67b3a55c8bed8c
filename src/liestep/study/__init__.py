"""Study files and their tables."""
