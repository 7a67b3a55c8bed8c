"""The chain of bodies, the system of several bodies without a loop: accelerations against a dense solve, starts, sizes,
bits of plain Python, one loop with other mechanisms; checks, and its film."""
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from chain_loaded import _loaded, body_chain  # noqa: F401
from mechanism_cases import dense, mixed_rates

import liestep
from liestep.api.command_line import main
from liestep.errors import InputError
from liestep.figures.films.motions import motion_of
from liestep.figures.scenes.space import Scene
from liestep.figures.style import new_figure
from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.multibody.family import residuals
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.files import read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify, start_of
from liestep.tools.certify.export import many_digits

pytestmark = pytest.mark.slow
NAME = "body_chain"
BITS = """
import hashlib
import sys
import liestep
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specification import specify
liestep.load_plugin(sys.argv[1])
for name, preset in (("rkmk", "chain_10"), ("cf4", "chain_10"), ("bliedf", "double_pendulum")):
    outcome = run_once(specify("body_chain", name, preset=preset, steps=5, t_end=0.005))
    print(hashlib.sha256(outcome.outputs.states.tobytes() + outcome.outputs.series.tobytes()).hexdigest())
"""


@pytest.mark.parametrize("preset", ["double_pendulum_offset", "chain_10"])
@pytest.mark.parametrize("twist", ["mixed", "body", "spatial"])
def test_accelerations_are_those_of_a_dense_solve(preset, twist):
    start = start_of(NAME, preset=preset)
    rates, multipliers = dense(sheet(NAME).build(start.parameters), start.initial)
    form = formulate(sheet(NAME), start.parameters, start.initial, "lie_action", {"twist": twist})
    out = np.zeros((form.problem.algebra_rows(), 3))
    assert plain(form.problem).algebra(0.0, form.start, out)
    scale = max(1.0, np.abs(rates).max(), np.abs(multipliers).max())
    assert np.abs(mixed_rates(start.initial, twist, out) - rates).max() < 2e-8*scale
    assert np.abs(form.to_fields(form.start[None])["multiplier"][0] - multipliers).max() < 2e-8*scale


def test_a_start_off_a_joint_is_refused_and_the_nearest_one_offered():
    start = start_of(NAME)
    for field, said in (("position", "the start is off joint 0 (spherical, body 0 to the ground) by 0.1"),
                        ("velocity", "the velocity of the start breaks joint 0 (spherical")):
        off = {**start.initial, field: start.initial[field] + np.array([[0.0, 0.1, 0.0], [0.0, 0.0, 0.0]])}
        with pytest.raises(InputError, match=re.escape(said)):
            specify(NAME, "rkmk", steps=10, initial=off)
        fit = liestep.consistent_start(NAME, initial=off)
        assert max(np.abs(part).max() for part in residuals(sheet(NAME).build(start.parameters), fit)) < 1e-13
    with pytest.raises(InputError, match=r"systems with joints: .*body_chain"):
        liestep.consistent_start("heavy_top")
    with pytest.raises(InputError, match="size 1"):
        specify(NAME, "rkmk", steps=10, parameters={"mass": [1.0]})


@pytest.mark.parametrize("action", ["se3", "so3_r3"])
def test_a_pair_on_every_action_follows_the_vector_field(action):
    runs = [liestep.simulate(NAME, "rkmk853", preset="double_pendulum", tolerance=1e-11, t_end=0.2, samples=3,
                             options={"action": action}),
            liestep.simulate(NAME, "dop853", preset="double_pendulum", tolerance=1e-12, t_end=0.2, samples=3)]
    for name in ("attitude", "position", "body_rate"):
        assert np.abs(runs[0][name] - runs[1][name]).max() < 1e-8


def test_machine_code_gives_the_bits_of_plain_python_in_every_process():
    def printed(**environment):
        return subprocess.run([sys.executable, "-c", BITS, body_chain.__file__], check=True, capture_output=True,
                              text=True, env=os.environ | environment).stdout

    assert printed() == printed(NUMBA_DISABLE_JIT="1")


def test_two_rods_have_digits():
    _, final, bound = many_digits(NAME, "chain_2", 0.001, 20)
    run = carry_out(specify(NAME, "rk4", preset="chain_2", t_end=0.001, steps=64, samples=2))
    assert float(bound) < 1e-17
    for name, numbers in final.items():
        assert [float(x) for x in numbers] == pytest.approx(run.variables[name][1][-1].ravel(), rel=1e-12, abs=1e-12)


def test_every_check_of_systems_holds(capsys):
    assert main(["check-system", body_chain.__file__]) == 0, capsys.readouterr().out


def test_the_film_shows_both_bodies(tmp_path):
    write(carry_out(specify(NAME, "rk4", t_end=0.1, steps=20)), tmp_path/"swing.nc")
    motion = motion_of(read(tmp_path/"swing.nc"))
    scene = Scene(new_figure(90.0, 90.0, layout=None).add_axes([0.0, 0.0, 1.0, 1.0]), motion.view)
    motion.draw(scene, 20)
    assert len(scene.items) > 4
    assert motion.note is not None


def test_the_package_has_no_such_system():
    from liestep.simulation.catalogue import own_systems

    assert NAME not in own_systems()
