"""A page that shows runs' files: turn the picture, move through the time, two runs beside each other above the error of
their energy. One HTML file that asks the network for nothing; times and energies are the numbers of the files. The page
draws what a film draws (`motions`), with the calls that put a sample into a `Scene` instead of its pixels."""
import base64
import gzip
import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import to_hex
from numpy.typing import ArrayLike

from liestep.errors import InputError
from liestep.figures.films.film import chosen, frame_of, name_of
from liestep.figures.films.motions import motion_of
from liestep.figures.scenes.space import Colour, Colours
from liestep.files.textfiles import write_text_atomically
from liestep.simulation.runs.files import RunFile, read

PAGE = Path(__file__).with_name("viewer.html")
LIMIT = 2_000_000      # bytes of a page
MOST, FEWEST = 240, 15  # frames of a run
MOST_RUNS = 12
DIGITS = 4             # of a place, after the point, in units of the largest extent


class CallsOf:
    """Stands in for a `Scene`: keeps its calls, in space. Whatever is behind a sphere is left to the page."""

    def __init__(self, scale: float):
        self.scale = scale
        self.calls: list[list[str | list | float | None]] = []

    def view(self, points: ArrayLike) -> np.ndarray:
        return np.ones_like(np.asarray(points, dtype=float))

    def _add(self, kind: str, points: ArrayLike, colour: Colours, *looks: float | str | None) -> None:
        shades = to_hex(colour) if isinstance(colour, str | tuple) else [to_hex(shade) for shade in colour]
        self.calls.append([kind, np.round(np.asarray(points, dtype=float)/self.scale, DIGITS).tolist(), shades, *looks])

    def line(self, points: ArrayLike, colour: Colours, width: float = 0.8, *, lift: float = 0.0,
             fade: float | None = None, outline: float = 0.0) -> None:
        self._add("line", points, colour, width, lift/self.scale, fade, outline)

    def balls(self, points: ArrayLike, colour: Colours, size: float, *, lift: float = 0.0,
              edge: Colour | None = "0.15", fade: float | None = None) -> None:
        self._add("balls", np.atleast_2d(points), colour, size, lift/self.scale, fade, to_hex(edge) if edge else None)

    def polygons(self, corners: ArrayLike, colours: Sequence[Colour], *, edge: float = 0.0, lift: float = 0.0,
                 solid: bool = False) -> None:
        self._add("polygons", corners, list(colours), edge, lift/self.scale, None, solid)


def view(sources: Sequence[Path], target: Path) -> int:
    """Write the page, whole or not at all; returns the frames of its longest run. Raises InputError: no file, too many,
    one that cannot be read or drawn, or files too large for a page."""
    if target.suffix != ".html":
        raise InputError(f"{target} must end with .html")
    if not 1 <= len(sources) <= MOST_RUNS:
        raise InputError(f"a page shows from 1 to {MOST_RUNS} runs, not {len(sources)}")
    files = [read(source) for source in sources]
    text, frames = fitting(files, LIMIT)
    if len(text) > LIMIT:
        raise InputError(f"the page of {len(files)} runs would have {len(text)/1e6:.1f} MB with {frames} samples of"
                         f" each; {LIMIT/1e6:g} MB are allowed: take fewer runs or smaller systems")
    write_text_atomically(target, text)
    return min(frames, max(len(file["time"]) for file in files))


def fitting(files: Sequence[RunFile], limit: int) -> tuple[str, int]:
    """Text of the page with as many samples of each run as fit so many bytes, at least the fewest; their number."""
    frames = MOST
    while len(text := page_of(files, frames)) > limit and frames//2 >= FEWEST:
        frames //= 2
    return text, frames


def page_of(files: Sequence[RunFile], frames: int = MOST) -> str:
    """Text of the page with at most so many samples of each run."""
    runs = [_run(file, frames) for file in files]
    title = ", ".join(dict.fromkeys(str(file.attributes["problem"]) for file in files))
    packed = gzip.compress(json.dumps(runs, separators=(",", ":"), allow_nan=False).encode(), mtime=0)
    return (PAGE.read_text("utf-8").replace("@TITLE@", html.escape(title))
            .replace("@RUNS@", base64.b64encode(packed).decode()))


def _run(file: RunFile, frames: int) -> dict[str, Any]:
    motion, samples = motion_of(file), chosen(file, frames)
    (left, right, bottom, top), near, far = frame_of(motion)
    scale = 0.5*(right - left)
    drawn = []
    for k in samples:
        scene: Any = CallsOf(scale)
        motion.draw(scene, int(k))
        drawn.append([json.dumps(call) for call in scene.calls])
    still = set(drawn[0]).intersection(*drawn)  # what stands in every sample stands once
    centre = motion.view.axes.T @ np.array([0.5*(left + right), 0.5*(bottom + top), 0.5*(near + far)])
    energy = file["energy"][samples] if "energy" in file.variables else np.zeros(0)
    return {"name": name_of(file), "sphere": 1.0/scale if motion.sphere else 0.0, "axes": motion.view.axes.tolist(),
            "centre": (centre/scale).tolist(), "time": file["time"][samples].tolist(), "energy": energy.tolist(),
            "still": [json.loads(call) for call in drawn[0] if call in still],
            "frames": [[json.loads(call) for call in calls if call not in still] for calls in drawn],
            "notes": [motion.note(int(k)) if motion.note else "" for k in samples]}
