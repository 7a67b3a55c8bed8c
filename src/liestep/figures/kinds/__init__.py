"""Figures that every study may ask for: functions marked `@drawing(caption)` in this folder; nothing lists them."""
import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from liestep.figures.style import Drawing

# name -> module; files are read and not imported, since what draws is loaded when it draws
GENERIC = {name: f"{__name__}.{path.stem}" for path in sorted(Path(__file__).parent.glob("*.py"))
           for name in re.findall(r"^@drawing\([\s\S]*?^def (\w+)", path.read_text("utf-8"), re.MULTILINE)}


def generic(name: str) -> "Drawing":
    """The function that draws a figure of this folder."""
    return getattr(importlib.import_module(GENERIC[name]), name)
