"""The commands that make a film of a run and a page of runs. Light to import."""
import argparse
from collections.abc import Callable
from pathlib import Path

from liestep.errors import InputError


def command_animate(arguments: argparse.Namespace) -> None:
    from liestep.figures.films.film import animate

    target = arguments.output or arguments.file.with_suffix(".gif")
    if not target.parent.is_dir() and not target.absolute().is_relative_to(arguments.results.absolute()):
        raise InputError(f"cannot write {target}: there is no folder {target.parent}")
    count = animate(arguments.file, target, arguments.frames, arguments.fps, arguments.width)
    print(f"{target}: {count} frames")


def command_view(arguments: argparse.Namespace) -> None:
    from liestep.figures.films.viewer import view

    frames = view(arguments.files, arguments.output)
    print(f"{arguments.output}: {len(arguments.files)} runs, up to {frames} samples of each; open it in a browser")


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command; `add(name, function, help, example)`: an argparse parser; of jobs without an example."""
    film = add("animate", command_animate,
               "film of a run's file, as GIF, WebP or, where ffmpeg is installed, MP4; every frame is a stored sample",
               "animate pendulum.nc -o pendulum.gif")
    film.add_argument("file", type=Path, help="NetCDF file of a run or a reference")
    film.add_argument("-o", "--output", type=Path, metavar="FILE",
                      help="name that ends with .gif, .webp or .mp4 (default: FILE with .gif)")
    film.add_argument("--frames", type=int, default=120, help="at most so many samples, equally spaced (default 120)")
    film.add_argument("--fps", type=int, default=20, help="frames in a second (default 20)")
    film.add_argument("--width", type=int, default=480, help="width and height in pixels (default 480)")
    page = add("view", command_view,
               "page that shows runs in a browser: turn, move through time, two beside each other with their energy",
               "view rk4.nc vi_sphere.nc -o motion.html")
    page.add_argument("files", type=Path, nargs="+", metavar="file", help="NetCDF files of runs or references")
    page.add_argument("-o", "--output", type=Path, metavar="FILE", default=Path("motion.html"),
                      help="name that ends with .html (default motion.html)")
