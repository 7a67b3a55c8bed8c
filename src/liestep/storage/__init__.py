"""Files that are whole or absent: atomic replacement, texts and tables."""
