"""A film of each standard problem, in docs/films: `python -m benchmarks.films`, 5 minutes, or with names of films only
these. Bodies are drawn as the boxes of their masses and inertias; problems of plain functions as moving points."""
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import liestep
from benchmarks.standard import TESTSETS, TOP
from liestep.figures.films import film, motions
from liestep.figures.scenes import looks
from liestep.figures.scenes.space import Scene, View
from liestep.figures.style import RC
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.runs.execution import film_comment
from liestep.simulation.runs.files import RunFile, read

FOLDER, PAGE = TOP/"docs"/"films", TOP/"docs"/"standard.md"  # the page says what each film shows
FRAMES, FPS, WIDTH = 20, 8, 240
# film: system, end in s, further arguments
FILMS: dict[str, tuple[str, float, dict[str, Any]]] = {
    "pleiades": ("ivp_pleiades", 3.0, {}), "fekete": ("ivp_fekete", 12.0, {}), "car_axis": ("ivp_car_axis", 3.0, {}),
    "squeezer": ("andrews_squeezer", 0.03, {}), "pendulum": ("iftomm_pendulum", 2.0, {}),
    "windows": ("iftomm_windows_10", 3.0, {"integrator": "rkmk", "step": 0.001, "options": {
        "stabilisation": "projection"}}),
    "bricard": ("iftomm_bricard", 3.0, {}), "governor": ("iftomm_governor", 1.0, {}),
    "arm": ("six_axis_arm", 0.5, {}), "satellite": ("satellite_panels", 8.0, {}),
    "top": ("jointed_body", 0.5, {"preset": "bruels_cardona"})}


def stars(file: RunFile) -> motions.FilmScene:
    """Seven masses in a plane, with their paths; areas are their masses."""
    y = file["y"]
    places = np.stack([y[:, :7], y[:, 7:14], 0.0*y[:, :7]], axis=-1)

    def draw(scene: Scene, k: int) -> None:
        for i, colour in enumerate(looks.body_colours(7)):
            motions.trail(scene, places[:, i], colour, k)
            scene.balls([places[k, i]], colour, 3.5*float(np.sqrt(i + 1)))

    return motions.FilmScene(View(-90.0, 89.9), draw, places.reshape(-1, 3))


def car(file: RunFile) -> motions.FilmScene:
    """Two masses, held by a rod, on springs to the ends of the axis, of which the right one is on the wheel."""
    y, high = file["y"], 0.1*np.sin(10.0*file["time"])
    masses = np.stack([y[:, [0, 2]], 0.0*y[:, :2], y[:, [1, 3]]], axis=-1)
    ends = np.stack([0.0*masses[:, 0], np.stack([np.sqrt(1.0 - high*high), 0.0*high, high], axis=-1)], axis=1)

    def draw(scene: Scene, k: int) -> None:
        scene.line(ends[k], looks.METAL, 2.0, outline=0.5, fade=0.0)
        scene.line(masses[k], looks.METAL, 1.2, fade=0.0)
        for i, colour in enumerate(looks.body_colours(2)):
            scene.line(looks.coil(ends[k, i], masses[k, i]), looks.SPRING, 0.9, fade=0.0)
            motions.trail(scene, masses[:, i], colour, k)
            scene.balls([masses[k, i]], colour, 8.0, lift=0.1, fade=0.0)

    return motions.FilmScene(View(-90.0, 1.0), draw, np.concatenate([masses, ends]).reshape(-1, 3))


DRAWN = {"ivp_pleiades": stars, "ivp_car_axis": car}


def filmed(source: Path, target: Path, system: str) -> None:
    """Write the film of a run, as `liestep animate` does."""
    if system not in DRAWN:
        film.animate(source, target, FRAMES, FPS, WIDTH)
        return
    file = read(source)
    comment = film_comment(file.attributes["run_sha256"], file.attributes["source_hash"])
    with matplotlib.rc_context(RC):
        film._film(file, DRAWN[system](file), film.chosen(file, FRAMES), film.writer_for(target, FPS, comment), target,
                   WIDTH)


def make(films: Mapping[str, tuple[str, float, dict[str, Any]]], folder: Path = FOLDER) -> None:
    """Run each problem and write its film, name.webp."""
    folder.mkdir(exist_ok=True)
    for name in ("testset_problems", "mechanisms", "windows"):
        load_plugin(TESTSETS/f"{name}.py")
    shown = {name: title for title, name in re.findall(r"!\[(.+?)\]\(films/(\w+)\.webp\)", PAGE.read_text("utf-8"))}
    for name, (system, t_end, given) in films.items():
        size = {} if "step" in given else {"tolerance": 1e-9}
        with tempfile.TemporaryDirectory() as room:
            run = liestep.simulate(system, **{"integrator": "dop853", "t_end": t_end, "samples": FRAMES + 1, **size,
                                              **given})
            run.attrs["title"] = shown[name]
            run.liestep.save(Path(room)/"run.nc")
            filmed(Path(room)/"run.nc", folder/f"{name}.webp", system)
        print(name, (folder/f"{name}.webp").stat().st_size, flush=True)


if __name__ == "__main__":
    make({name: FILMS[name] for name in sys.argv[1:] or FILMS})
