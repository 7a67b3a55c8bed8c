"""Figures and films as data inside the page, as sharp and as large as the page's limit of size allows."""
import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PIL import Image

from liestep.errors import InputError
from liestep.simulation.runs.execution import film_comment
from liestep.workflow.workflow import Animation

if TYPE_CHECKING:
    from PIL.GifImagePlugin import GifImageFile

# of figures, sharpest first: (largest width in pixels, quality of WebP)
LEVELS = ((1400, 80), (1200, 70), (1000, 60), (800, 50), (560, 40))
# of films, best first: (largest width in pixels, every so many frames)
FILM_LEVELS = ((480, 1), (480, 2), (360, 2), (280, 3), (200, 4), (140, 8))
COLOURS = 64       # of films
SHARE = 1/3        # share of the page's limit of size that films may take


@dataclass(frozen=True)
class Picture:
    """A WebP or GIF file as an address that holds all of it, with its size on the page in pixels."""

    address: str
    width: int
    height: int


def embed(paths: Sequence[Path], budget: int) -> list[Picture]:
    """All figures at the sharpest level at which their addresses have at most `budget` characters together, else at the
    last. Raises InputError: a figure is missing or no PNG file."""
    return _best(lambda *level: [picture(path, *level) for path in paths], LEVELS, budget)


def embed_films(films: Sequence[Animation], budget: int) -> list[Picture]:
    """All films, as `embed`. Raises InputError: a film is missing, no GIF file, or of another run."""
    read = [checked(film) for film in films]
    return _best(lambda *level: [smaller(film, *level) for film in read], FILM_LEVELS, budget)


def _best(make: Callable[[int, int], list[Picture]], levels: Sequence[tuple[int, int]], budget: int) -> list[Picture]:
    pictures: list[Picture] = []
    for level in levels:
        pictures = make(*level)
        if sum(len(item.address) for item in pictures) <= budget:
            break
    return pictures


def _embedded(kind: str, content: bytes, size: tuple[int, int]) -> Picture:
    return Picture(f"data:image/{kind};base64,{base64.b64encode(content).decode()}", *size)


def narrower(pixels: Image.Image, width: int) -> Image.Image:
    """A picture of at most `width` pixels."""
    if pixels.width <= width:
        return pixels
    return pixels.resize((width, round(pixels.height*width/pixels.width)), Image.Resampling.LANCZOS)


def encoded(content: bytes, width: int, quality: int) -> tuple[bytes, tuple[int, int]]:
    """A PNG file as WebP in full colour, at most `width` pixels wide, and its size in pixels."""
    with Image.open(io.BytesIO(content), formats=("PNG",)) as image:
        pixels = narrower(image.convert("RGB"), width)
    out = io.BytesIO()
    pixels.save(out, "WEBP", quality=quality)
    return out.getvalue(), pixels.size


def picture(path: Path, width: int, quality: int) -> Picture:
    """A figure at most `width` pixels wide, as WebP of quality 0 to 100. Raises InputError: missing or no PNG."""
    try:
        return _embedded("webp", *encoded(path.read_bytes(), width, quality))
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except Exception:  # of damaged files, Pillow raises anything
        raise InputError(f"{path} is not a readable PNG file; remove it and draw it again") from None


def checked(film: Animation) -> bytes:
    """Content of a film's file, whose comment names its run."""
    wanted = film_comment(film.cell.spec.sha256, film.cell.spec.source_hash)
    command = f"run `liestep animate {film.cell.path} -o {film.path}`"
    try:
        content = film.path.read_bytes()
        with Image.open(io.BytesIO(content), formats=("GIF",)) as image:
            image.seek(cast("GifImageFile", image).n_frames - 1)
            image.load()  # a truncated file has no last frame
            image.seek(0)
            comment = image.info.get("comment", b"")
    except FileNotFoundError:
        raise InputError(f"{film.path} does not exist; {command}") from None
    except Exception:  # of damaged files, Pillow raises anything
        raise InputError(f"{film.path} is not a readable GIF file; {command} again") from None
    if comment != wanted.encode():
        raise InputError(f"{film.path} is of another state of the study; {command} again")
    return content


def smaller(content: bytes, width: int, every: int) -> Picture:
    """The film at most `width` pixels wide, every so many frames, COLOURS colours; as it is if that is less."""
    with Image.open(io.BytesIO(content)) as image:
        full = image.size
        size = min(width, image.width), round(image.height*min(width, image.width)/image.width)
        frames, times = [], []
        for k in range(cast("GifImageFile", image).n_frames):
            image.seek(k)
            if k % every == 0:
                frames.append(image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
                              .quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE))
                times.append(0)
            times[-1] += image.info["duration"]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0)
    less = size == full and every == 1 and len(content) <= len(out.getvalue())
    return _embedded("gif", content if less else out.getvalue(), size)
