"""The spring pendulum where it is the only system of its kind: a start in angles, what methods declare to keep in
coordinates that depend on the place, cells of a map of which only some have drag; checks, and its film."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from livens_systems import FOLDER, systems
from place import TOP

from liestep import InputError, simulate, tangent
from liestep.api.command_line import main
from liestep.figures.films.motions import motion_of
from liestep.figures.scenes.space import Scene
from liestep.figures.style import new_figure
from liestep.simulation.runs.files import read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
from liestep.tools.certify.export import many_digits

pytestmark = pytest.mark.slow
_loaded = systems("spring_pendulum")
NAME = "spring_pendulum"
FILE = FOLDER/f"{NAME}.py"
ROUND_OFF = 1e-11  # relative, after 20 steps


def test_no_declaration_contradicts_what_runs_keep():
    done = subprocess.run([sys.executable, TOP/"tests"/"measured_facts.py", FILE, f"{NAME}:spatial:0.5"], check=True,
                          capture_output=True, text=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    rows = json.loads(done.stdout)
    assert {"eml", "mpl", "rattle", "rk4", "vi_livens"} <= {row["integrator"] for row in rows}
    assert not [row for row in rows for fact, shown in (("MOMENTUM", "momentum"), ("ENERGY", "energy"))
                if fact in row["declared"] and row.get(shown, 0.0) > ROUND_OFF]


def test_a_start_in_angles_has_digits():
    _, final, bound = many_digits(NAME, "drag", 0.001, 20)
    run = carry_out(specify(NAME, "rk4", preset="drag", t_end=0.001, steps=64, samples=2))
    assert float(bound) < 1e-17
    for name, numbers in final.items():
        assert [float(x) for x in numbers] == pytest.approx(run.variables[name][1][-1].ravel(), rel=1e-12, abs=1e-12)


def test_a_start_without_derivative_is_refused():
    """The form takes its angles by functions of float64."""
    with pytest.raises(InputError, match="takes a start in float64 only"):
        tangent(NAME, "rk4", step=0.01, t_end=0.01)


def test_work_is_written_with_drag_only():
    free, dragged = (simulate(NAME, "eml", preset="spatial", parameters={"drag": drag}, step=0.01, t_end=0.1)
                     for drag in (0.0, 0.1))
    assert {name for name in set(dragged) - set(free) if not name.endswith("_blocks")} == {"work", "energy_less_work"}
    assert "momentum_error_max" in free.attrs
    assert "momentum_error_max" not in dragged.attrs


def test_series_follow_the_motion():
    runs = [simulate(NAME, name, preset="printed", tolerance=1e-12, t_end=1.0, samples=4) for name in (
        "taylor", "dop853")]
    assert np.abs(runs[0]["position"] - runs[1]["position"]).max() <= 1e-9


def test_every_check_of_systems_holds(capsys):
    assert main(["check-system", str(FILE)]) == 0, capsys.readouterr().out


def test_the_film_shows_the_mass_on_its_spring(tmp_path):
    write(carry_out(specify(NAME, "rk4", t_end=0.5, steps=50)), tmp_path/"swing.nc")
    motion = motion_of(read(tmp_path/"swing.nc"))
    scene = Scene(new_figure(90.0, 90.0, layout=None).add_axes([0.0, 0.0, 1.0, 1.0]), motion.view)
    motion.draw(scene, 50)
    kinds = [kind for _, _, kind, _ in scene.items]
    assert kinds.count("ball") == 2
    assert len(kinds) > 2


def test_the_package_has_no_such_system():
    from liestep.simulation.catalogue import own_systems

    assert NAME not in own_systems()
