"""Figures as data inside the page, as sharp as the page's limit of size allows."""
import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from liestep.errors import InputError

# (largest width in pixels, colours), sharpest first
LEVELS = ((1800, 256), (1400, 256), (1100, 128), (800, 64), (560, 32))


@dataclass(frozen=True)
class Picture:
    """A PNG file as an address that holds all of it, with its size on the page in pixels."""

    address: str
    width: int
    height: int


def embed(paths: Sequence[Path], budget: int) -> list[Picture]:
    """All figures at the sharpest level at which their addresses have at most `budget` characters
    together, else at the last.

    Raises:
        InputError: a figure is missing or no PNG file.
    """
    for width, colours in LEVELS:
        found = [picture(path, width, colours) for path in paths]
        if sum(len(item.address) for item in found) <= budget:
            break
    return found


def picture(path: Path, width: int, colours: int) -> Picture:
    """One figure, at most `width` pixels wide, with at most `colours` colours unless the file itself is smaller.

    Raises:
        InputError: missing or no PNG file.
    """
    try:
        content = path.read_bytes()
        with Image.open(io.BytesIO(content), formats=("PNG",)) as image:
            size, pixels = image.size, image.convert("RGB")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except Exception:  # of damaged files, Pillow raises anything
        raise InputError(f"{path} is not a readable PNG file; remove it and draw it again") from None
    if pixels.width > width:
        pixels = pixels.resize((width, round(pixels.height*width/pixels.width)), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    # zlib's level 9 would save 5 % of the size and cost half as much again of all time
    pixels.quantize(colours, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(out, "PNG", compress_level=6)
    if size[0] > width or len(out.getvalue()) < len(content):
        content = out.getvalue()
        size = pixels.size
    return Picture(f"data:image/png;base64,{base64.b64encode(content).decode()}", *size)
