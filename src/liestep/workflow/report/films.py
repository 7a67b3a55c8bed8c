"""Films as data inside the page, as large as their share of the page's limit allows."""
import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from PIL import Image

from liestep.errors import InputError
from liestep.simulation.runs.execution import film_comment
from liestep.workflow.jobs import Animation
from liestep.workflow.report.pictures import Picture

if TYPE_CHECKING:
    from PIL.GifImagePlugin import GifImageFile

# (largest width in pixels, every so many frames), best first
LEVELS = ((480, 1), (480, 2), (360, 2), (280, 3), (200, 4), (140, 8))
COLOURS = 64
SHARE = 1/3        # share of the page's limit of size that films may take


def embed_films(films: Sequence[Animation], budget: int) -> list[Picture]:
    """All films at the best level at which their addresses have at most `budget` characters together, else at the last.

    Raises:
        InputError: a film is missing, no GIF file, or of another run.
    """
    contents = [checked(film) for film in films]
    found: list[Picture] = []
    for width, every in LEVELS:
        found = [smaller(content, width, every) for content in contents]
        if sum(len(item.address) for item in found) <= budget:
            break
    return found


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
    """The film at most `width` pixels wide, with every so many of its frames and COLOURS colours;
    as it is if that is less."""
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
    return _picture(content if less else out.getvalue(), size)


def _picture(content: bytes, size: tuple[int, int]) -> Picture:
    return Picture(f"data:image/gif;base64,{base64.b64encode(content).decode()}", *size)
