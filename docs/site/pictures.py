"""One picture for each system, its motion from the default start, drawn by the scenes that films use; and the first
steps with what their code says and draws.

Called as a program of its own with uncompiled steps, because a picture needs few of them and a pair of system and
integrator takes seconds to compile:

    NUMBA_DISABLE_JIT=1 python -m docs.site.pictures FOLDER
"""
import ast
import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from docs.site.source import TOP, notebook, staged
from liestep.figures.films.film import SIDE, frame_of, stage
from liestep.figures.films.motions import motion_of
from liestep.figures.scenes.space import Scene
from liestep.figures.style import MM, RC, new_figure
from liestep.simulation.catalogue import integrator_ids, sheet, system_ids
from liestep.simulation.runs.files import read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import applicable, specify
from liestep.workflow.report.pictures import encoded

STEPS = 24
FEW = 1              # steps of systems with many bodies, whose forces take long without compilation
MANY = 60            # numbers of a state from which on a system has many bodies
PIXELS, QUALITY = 960, 70
LONGEST = 0.5        # s
DRIFT = 0.01         # of the energy: a picture of a motion, not of a step that is too large
NOTEBOOK = "docs/first_steps.ipynb"
PREFERRED = ("vi_sphere", "rk4", "lgvi", "rodrigues", "eml")


def moderate(energy: np.ndarray) -> bool:
    """Whether the energy stays near its start, so that the steps are not too large."""
    return bool(np.ptp(energy) <= DRIFT*max(float(np.abs(energy).max()), 1e-12))


def draw(system: str, target: Path) -> None:
    """Write the picture of a system as a small WebP."""
    facts = sheet(system)
    preset = facts.presets[facts.default]
    parameters = facts.check(preset.parameters)
    size = sum(value.size for value in preset.initial(parameters).values())
    steps = FEW if size > MANY else STEPS
    able = [name for name in (*PREFERRED, *integrator_ids()) if name in integrator_ids() and applicable(system, name)]
    end = preset.t_end*1e-3 if size > MANY else min(preset.t_end, LONGEST)
    while (content := carry_out(specify(system, able[0], steps=steps, t_end=end, samples=steps + 1))
           ).attributes["status"] != "ok" or (size <= MANY and not moderate(content.variables["energy"][1])):
        end /= 4.0
    with tempfile.TemporaryDirectory() as folder, matplotlib.rc_context(RC):
        path = Path(folder)/"run.nc"
        write(content, path)
        file = read(path)
        motion = motion_of(file)
        figure = new_figure(SIDE, SIDE, layout=None)
        axes, _ = stage(figure, file, motion, PIXELS)
        limits, near, far = frame_of(motion)
        scene = Scene(axes, motion.view, fade=0.6, near=near, far=far)
        motion.draw(scene, len(file["time"]) - 1)
        scene.draw(limits=limits)
        figure.savefig(Path(folder)/"large.png", dpi=PIXELS/(SIDE*MM))
        target.write_bytes(encoded((Path(folder)/"large.png").read_bytes(), PIXELS, QUALITY)[0])


def outputs(text: str, target: Path) -> list[str]:
    """What each cell of code of a notebook says and draws, as Markdown; its pictures go to `target`."""
    space: dict[str, Any] = {}
    found = []
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code":
            code, said = ast.parse(source := "".join(cell["source"])), io.StringIO()
            last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
            with contextlib.redirect_stdout(said):
                exec(compile(code, NOTEBOOK, "exec"), space)
                value = eval(ast.unparse(last), space) if last else None
            if isinstance(value, Figure):
                name = f"first_steps_{len(found)}.webp"
                value.savefig(image := io.BytesIO(), dpi=PIXELS/value.get_figwidth())
                (target/name).write_bytes(encoded(image.getvalue(), PIXELS, QUALITY)[0])
                drawn = source.splitlines()[-1].replace('"', "")
                found.append(f"![What {drawn} draws]({target.name}/{name})")
            else:
                said.write(f"{value!r}\n"*(value is not None))
                found.append(f"```text\n{said.getvalue()}```"*bool(said.getvalue()))
    return found


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for name in system_ids():
        draw(name, target/f"{name}.webp")
    text = (TOP/NOTEBOOK).read_text("utf-8")
    (target.parent/staged()[NOTEBOOK]).write_text(notebook(text, outputs(text, target)), "utf-8")
