"""Units of length, mass and time are free: runs in other units are the same runs."""
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import liestep
from liestep.extend import GROUND, Body, revolute
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.simulation import made
from liestep.simulation.runs.specification import specify, start_of

BASE = {"m": (1, 0, 0), "kg": (0, 1, 0), "s": (0, 0, 1), "N": (1, 1, -2), "J": (2, 1, -2), "rad": (0, 0, 0),
        "1": (0, 0, 0), "A": (0, 0, 0), "T": (0, 1, -2), "C": (0, 0, 1), "V": (2, 1, -3), "H": (2, 1, -2)}
UNITS = [(1e-9, 1e-3, 1e6), (1e-3, 1e6, 1e9), (1e6, 1e9, 1e-9), (1e9, 1e-9, 1e-3)]


def factor(units, scales):
    """What a number of these units is multiplied by."""
    found = 1.0
    for base, power in re.findall(r"([A-Za-z]+|1)(-?\d+)?(?: |$)", units):
        found *= np.prod([scale**(exponent*int(power or 1))
                          for scale, exponent in zip(scales, BASE[base], strict=True)])
    return found


def run(problem, method, scales, preset, step, steps, **how):
    """Fields in the units of the preset, how it ended, and whether it has a warning."""
    known, start = sheet(problem), start_of(problem, preset=preset)
    parameters = {name: np.asarray(value)*factor(known.parameters[name].units, scales)
                  if np.asarray(value).dtype.kind in "if" else value for name, value in start.parameters.items()}
    fields = {part.name: part.units for part in formulate_standard(known, start.parameters, start.initial).fields
              if part.name in start.initial}
    initial = {name: value*factor(fields[name], scales) for name, value in start.initial.items()}
    size = {"steps": steps} if steps else {"tolerance": step}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = liestep.simulate(problem, method, parameters=parameters, initial=initial, samples=3, on_failure="return",
                                t_end=(steps or 1)*(step if steps else 0.3)*scales[2], **size, **how)
    return ({name: data[name].values/factor(units, scales) for name, units in fields.items()},
            data.attrs["status"], "warning" in data.attrs)


CASES = [("free_rigid_body", "dmv", None, 0.1, 4, {}), ("free_rigid_body", "em_rotation", None, 0.1, 4, {}),
         ("heavy_top", "dop853", None, 1e-8, 0, {}), ("heavy_top", "rkmk", None, 0.1, 4, {}),
         ("heavy_top", "vi_livens", None, 0.001, 4, {}), ("penning_trap", "boris", None, 1e-3, 4, {}),
         ("spherical_pendulum_chain", "vi_sphere", None, 0.01, 4, {}),
         ("four_bar", "generalized_alpha", "tilted", 0.005, 4, {}),
         ("four_bar", "rkmk", "tilted", 0.005, 4, {"options": {"stabilisation": "projection"}})]


@pytest.mark.parametrize(("problem", "method", "preset", "step", "steps", "how"), CASES)
def test_other_units_give_the_same_run(problem, method, preset, step, steps, how):
    fields, status, warned = run(problem, method, (1.0, 1.0, 1.0), preset, step, steps, **how)
    for scales in UNITS:
        found, ended, told = run(problem, method, scales, preset, step, steps, **how)
        assert (ended, told) == (status, warned)
        for name, values in fields.items():
            assert np.abs(found[name] - values).max() <= 1e-9*np.abs(values).max(), (scales, name)


def rods(unit):
    """Two rods in a plane, lengths in any unit."""
    Z, half = np.array([0.0, 0.0, 1.0]), 0.2*unit
    axes, moments = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], np.array([0.02, 0.001, 0.02])*unit*unit
    return liestep.system("rods_in_units", gravity=[0, -9.81*unit, 0],
                          bodies=[Body(1.0, moments, x=[k*half, 0, 0], R=axes) for k in (1, 3)],
                          joints=[revolute(GROUND, np.zeros(3), Z, 0, [0, half, 0], Z),
                                  revolute(0, [0, -half, 0], Z, 1, [0, half, 0], Z)])


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_joint_warns_beside_the_length_of_its_mechanism(unit):
    """The centres of the rods are 0.4 apart: joints off by 1.28 are off by 320 %, those off by 4e-7 by nothing."""
    with pytest.warns(UserWarning, match=r"joints are off by up to .* % of .*'stabilisation': '"):
        far = rods(unit).simulate("rkmk", step=0.1, t_end=4.0, samples=3)
    assert f" {100.0*far.attrs['joint_error_max']/(0.4*unit):.3g} % of " in far.attrs["warning"]
    assert "warning" not in rods(unit).simulate("rkmk", step=0.005, t_end=0.1, samples=3).attrs


def test_a_body_whose_reference_point_is_the_joint_does_not_warn_of_round_off():
    """Its place is zero all the time, and no length to measure 4e-14 m against: the arm to the centre of mass is."""
    data = liestep.simulate("heavy_top", "rkmk", preset="bruels_cardona", step=0.001, t_end=0.05,
                    options={"action": "so3_r3", "reference_point": "joint"})
    assert 0.0 < data.attrs["joint_error_max"] < 1e-12
    assert "warning" not in data.attrs


def test_energy_warns_beside_kinetic_and_potential_energy():
    """A circle about the origin with energy zero: T = 1/2 is what it is measured against, in every unit."""
    well = liestep.system("zero_energy", hamiltonian=lambda q, momentum: 0.5*(momentum @ momentum + q @ q) - 1.0,
                          start={"q": [1.0, 0.0], "momentum": [0.0, 1.0]})
    assert "warning" not in well.simulate("rk4", step=0.01, t_end=1.0).attrs
    with pytest.warns(UserWarning, match=r"energy is off by up to .*largest kinetic or potential energy"):
        off = well.simulate("rk4", step=1.0, t_end=20.0)
    kinetic = 0.5*np.sum(off["momentum"].values**2, axis=-1)
    size = max(kinetic.max(), np.abs(off["energy"].values - kinetic).max())
    assert f"{100.0*off.attrs['energy_error_max']/size:.3g} %" in off.attrs["warning"]


def test_attitudes_and_members_warn():
    """R^T R of steps of 0.1 s; of members of an ensemble the first one is named."""
    how = {"step": 0.1, "t_end": 6.0, "initial": {"angular_momentum": [1.0, 4.0, 2.0]}}
    with pytest.warns(UserWarning, match=r"orthogonality_error .* is up to .* % of 1 \(warned of above 1 %\)"):
        liestep.simulate("free_rigid_body", "rk4", **how)
    with pytest.warns(UserWarning, match=r"2 of 2 members have a warning; member 0: .*orthogonality_error"):
        made(specify("free_rigid_body", "rk4", ensemble={"members": 2, "amplitude": 1e-6, "seed": 0}, **how))


LEFT = [  # file, text: what has a unit, and why it stays
    ("integrators/livens.py", "PRINTED = 1e-9", "the stopping rule of a paper, an option"),
    ("integrators/_linked_bodies.py", "FAINT = 1e-100", "corrections that would become denormal numbers"),
    ("integrators/embedded.py", "Option(1e-6, \"absolute tolerance", "atol of another program's ode45, an option"),
    ("integrators/embedded.py", "else 1.0  # Hairer's numbers are seconds", "with an absolute atol only"),
    ("mechanics/systems/lennard_jones_sphere.py", "SELF = 1e-30", "on a sphere of 1 m"),
    ("tools/inspect/check_system.py", "STEP, TURN = 1e-4, 1e-3", "differences of states at which a system is tried"),
    ("figures/scenes/looks.py", "lift=1e-3", "order of drawing, in pictures of metres"),
    ("plain/robots.py", "1e-9)", "least cell of a mesh; files of robots are in metres"),
    ("geometry/quaternion.py", "from 1e-150 to 1e150", "what double precision can square"),
]


@pytest.mark.parametrize(("file", "text", "reason"), LEFT)
def test_what_still_has_a_unit_is_listed(file, text, reason):
    assert text in (Path(liestep.__file__).parent/file).read_text(encoding="utf-8"), reason
    assert len(LEFT) <= 12
