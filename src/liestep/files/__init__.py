"""Files that are whole or absent: atomic replacement, texts and tables."""
from pathlib import Path

PACKAGE = Path(__file__).parents[1]  # the folder of all source of liestep
