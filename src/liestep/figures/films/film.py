"""A run's file as GIF, WebP or MP4 through matplotlib's writers. The same file gives the same bytes of pictures."""
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from PIL import Image

from liestep.errors import InputError
from liestep.figures.films.motions import FilmScene, motion_of
from liestep.figures.scenes.space import Scene, sphere_body, triad
from liestep.figures.style import MM, RC, new_figure
from liestep.files.textfiles import replacing
from liestep.simulation.runs.execution import film_comment
from liestep.simulation.runs.files import RunFile, read

KINDS = (".gif", ".webp", ".mp4")
FRAMES, FPS, WIDTH = 120, 20, 480  # WIDTH and height in pixels
SIDE = 90.0                        # mm, for the sizes of text and lines
MARGIN, QUALITY = 0.05, 30        # QUALITY of WebP, from 0 to 100


def animate(source: Path | RunFile, target: Path, frames: int = FRAMES, fps: int = FPS, width: int = WIDTH) -> int:
    """Draw at most `frames` equally spaced samples of a run, and write the film, whole or not at all; returns how many.
    Raises InputError: the file cannot be read or drawn, MP4 without ffmpeg, or a folder that cannot be written."""
    target = Path(target)
    if target.suffix.lower() not in KINDS:
        raise InputError(f"{target} must end with {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    for name, value, least, most in (("frames", frames, 2, 10_000), ("fps", fps, 1, 50), ("width", width, 100, 4000)):
        if not least <= value <= most:
            raise InputError(f"{name} must be from {least} to {most}, not {value}")
    if target.suffix.lower() == ".mp4" and not FFMpegWriter.isAvailable():
        raise InputError(f"cannot write {target}: MP4 needs the program ffmpeg, which is not installed; write a .gif")
    file = source if isinstance(source, RunFile) else read(source)
    motion, samples = motion_of(file), chosen(file, frames)
    comment = film_comment(file.attributes["run_sha256"], file.attributes["source_hash"])
    # matplotlib chooses the writer by the suffix
    with replacing(target, target.suffix) as temporary, matplotlib.rc_context(RC):
        _film(file, motion, samples, writer_for(target, fps, comment), temporary, width)
    return len(samples)


def chosen(file: RunFile, frames: int) -> np.ndarray:
    """Numbers of the samples that are shown, both ends included: as many as there are up to `frames`."""
    return np.unique(np.linspace(0, len(file["time"]) - 1, frames).round().astype(int))


class PictureWriter(PillowWriter):
    """GIF or WebP with a comment that names the run: its specification and sources."""

    _frames: list[Image.Image]

    def __init__(self, fps: int, comment: str):
        super().__init__(fps=fps)
        self.comment = comment

    def finish(self) -> None:
        first, *others = self._frames
        named: dict[str, Any] = {"comment": self.comment.encode()}
        if Path(self.outfile).suffix.lower() == ".webp":
            named = {"xmp": self.comment.encode(), "quality": QUALITY, "method": 6}
        first.save(self.outfile, save_all=True, append_images=others, duration=int(1000/self.fps), loop=0, **named)


def writer_for(target: Path, fps: int, comment: str) -> AbstractMovieWriter:
    if target.suffix.lower() != ".mp4":
        return PictureWriter(fps, comment)
    repeatable = ["-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
    return FFMpegWriter(fps=fps, codec="libx264", extra_args=["-pix_fmt", "yuv420p", *repeatable])


def _film(file: RunFile, motion: FilmScene, samples: np.ndarray, writer: AbstractMovieWriter, path: Path,
          width: int) -> None:
    figure = new_figure(SIDE, SIDE, layout=None)
    dpi = 2*round(width/2)/(SIDE*MM)  # an even number of pixels, as video formats ask for
    axes, clock = stage(figure, file, motion, width)
    limits, near, far = frame_of(motion)
    with writer.saving(figure, str(path), dpi):
        for k in samples:
            for artist in list(axes.collections):
                artist.remove()
            scene = Scene(axes, motion.view, fade=0.6, near=near, far=far)
            motion.draw(scene, int(k))
            scene.draw(limits=limits)
            clock.set_text("\n".join([f"t = {file['time'][k]:.3f} s", *([motion.note(int(k))] if motion.note else [])]))
            writer.grab_frame()


def frame_of(motion: FilmScene) -> tuple[tuple[float, float, float, float], float, float]:
    """Limits of a square picture that holds everything, and the range of depths: the same in every frame."""
    seen = motion.view(motion.reach)
    low, high = seen.min(axis=0), seen.max(axis=0)
    centre, half = 0.5*(low + high), (0.5 + MARGIN)*max(float((high - low)[:2].max()), 1e-300)
    return (centre[0] - half, centre[0] + half, centre[1] - half, centre[1] + half), float(high[2]), float(low[2])


def stage(figure: Figure, file: RunFile, motion: FilmScene, width: int) -> tuple[Axes, Text]:
    """What all frames share: axes with the three directions of space, the run's name, the text for the time. Letters
    have 15 pixels, more in films wider than WIDTH; a name that does not fit has two lines, below the directions."""
    points = 8.0*max(WIDTH/width, 1.0)
    side, halo = min(0.025*points, 0.28), [withStroke(linewidth=2.0, foreground="white")]
    axes = figure.add_axes((0.02, 0.04, 0.96, 0.9))
    if motion.sphere:
        sphere_body(axes)
    name = figure.text(0.98, 0.015, name_of(file), ha="right", fontsize=points, color="0.35", path_effects=halo)
    if name.get_window_extent().width > 0.96*figure.bbox.width:
        name.set_text(name_of(file).replace(" by ", "\nby "))
    above = name.get_window_extent().height/figure.bbox.height*("\n" in name.get_text())
    triad(axes, motion.view, (-0.01, above, side, side), points=points)
    return axes, figure.text(0.02, 0.985, "", va="top", fontsize=points, path_effects=halo)


def method_of(attributes: Mapping[str, Any]) -> str:
    """Method of a run with its step or tolerance, from the attributes of its file."""
    from liestep.figures.marks import label_of_method

    size = next((f", {symbol} = {float(attributes[key]):.4g}{unit}"
                 for key, symbol, unit in (("step", "h", " s"), ("tolerance", "tol", "")) if key in attributes), "")
    return f"{label_of_method(attributes['integrator'], {})}{size}"


def name_of(file: RunFile) -> str:
    """System, method and step; a reference has no method."""
    told, title = file.attributes, str(file.attributes["title"])
    return f"{title.partition(' by ')[0]} by {method_of(told)}" if "integrator" in told else title
