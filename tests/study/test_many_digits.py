"""Exported start and end states; of many digits beside the closed form of a body with two equal moments in mpmath."""
import json
import subprocess
import sys
from pathlib import Path

import mpmath
import numpy as np
import pandas
import pytest
from commands import contents

from liestep.api.command_line import main
from liestep.errors import InputError
from liestep.simulation.catalogue import sheet
from liestep.simulation.references.reference import specify_reference
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
from liestep.tools.certify.export import PROVEN, exact_end, many_digits
from rotation_bench.judgement import layout_of, problem_of

sys.path.insert(0, str(Path(__file__).parents[2]/"rotation_bench"))
import prove_presets

DIGITS = 30


def turned(vector, angle):
    """exp(angle hat(vector)) of a unit vector."""
    x, y, z = vector
    hat = mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return mpmath.eye(3) + mpmath.sin(angle)*hat + (1 - mpmath.cos(angle))*hat*hat


def test_symmetric_body_turns_as_its_closed_form_says(tmp_path):
    """R(t) = exp(t L/J_1) R(0) exp(t (1/J_3 - 1/J_1) L_3 e_3), L the spatial and L_3 the body's momentum about e_3
    (Goldstein, Poole and Safko 2002, 5.6)."""
    assert main(["export-reference", "--problem", "free_rigid_body", "--preset", "symmetric", "--digits", str(DIGITS),
                 "-o", str(tmp_path)]) == 0
    entry, = json.loads((tmp_path/"references.json").read_text())["references"]
    with mpmath.workdps(DIGITS + 20):
        number = mpmath.mpf
        moments = [number(x) for x in entry["parameters"]["inertia"]]
        assert moments[0] == moments[1] != moments[2]
        first = mpmath.matrix(3, 3)
        for k, x in enumerate(entry["initial"]["attitude"]):
            first[k//3, k % 3] = number(x)
        momentum = mpmath.matrix([number(x) for x in entry["initial"]["angular_momentum"]])
        own, size, t = (first.T*momentum)[2], mpmath.norm(momentum), number(entry["t_end"])
        wanted = (turned([x/size for x in momentum], t*size/moments[0])*first
                  * turned([0, 0, 1], t*own*(1/moments[2] - 1/moments[0])))
        gap = max(abs(number(x) - wanted[k//3, k % 3]) for k, x in enumerate(entry["final"]["attitude"]))
        assert gap < float(entry["error_bound"]["attitude"]) < 1e-28
    assert entry["status"] == "30 digits, proven bound"


def test_six_presets_have_a_proven_bound():
    """One is proven anew, but not at another time; one that has none says so."""
    stored = json.loads(PROVEN.read_text())
    entry = stored["penning_trap ideal"] | {"problem": "penning_trap"}
    assert prove_presets.proven(entry) == entry["bound"]
    assert float(prove_presets.proven(entry | {"t_end": entry["t_end"]/8})) > 0.1
    assert len(stored) >= 6
    assert all(float(entry["bound"]) <= 1e-20 for entry in stored.values())
    run = specify_reference("spherical_pendulum_chain", preset="orders").run
    assert exact_end(run, "orders", 17)["status"] == "17 digits, estimated bound"


PRESETS = [("four_bar", "tilted"), ("jointed_body", "revolute")]


@pytest.mark.parametrize(("problem", "preset"), PRESETS)
def test_systems_of_each_kind_have_digits(problem, preset):
    """Several bodies, joints, and a matrix that is scratch; beside our own float64 run."""
    t_end = 0.001
    _, final, bound = many_digits(problem, preset, t_end, 20)
    run = carry_out(specify(problem, "rk4", preset=preset, t_end=t_end, steps=64, samples=2))
    assert float(bound) < 1e-17
    for name, numbers in final.items():
        assert [float(x) for x in numbers] == pytest.approx(run.variables[name][1][-1].ravel(), rel=1e-12, abs=1e-12)


def test_what_has_no_digits_is_refused():
    for preset, digits, said in (("symmetric", 12, "from 17 to 60"), ("symmetric", 200, "from 17 to 60")):
        with pytest.raises(InputError, match=said):
            many_digits("free_rigid_body", preset, 1.0, digits)
    with pytest.raises(InputError, match="at most 100"):
        many_digits("lennard_jones_sphere", "level1", 1.0, DIGITS)


def test_export_reads_back_as_the_same_numbers(tmp_path, capsys):
    """CSV and JSON hold the start bit for bit, and both end states lie within the bound of a
    finer, other computation."""
    arguments = ["export-reference", "--problem", "free_rigid_body", "--preset", "symmetric", "-o", str(tmp_path)]
    assert main(arguments) == 0
    assert capsys.readouterr().out == "free_rigid_body symmetric: certified at t = 10\n"
    entry, = json.loads((tmp_path/"references.json").read_text())["references"]
    preset = sheet("free_rigid_body").presets["symmetric"]
    parameters = sheet("free_rigid_body").check(preset.parameters)
    start = preset.initial(parameters)
    table = pandas.read_csv(tmp_path/"references.csv").set_index("column")
    for name, values in start.items():
        assert np.array_equal(np.array(entry["initial"][name]), values)
        columns = layout_of(problem_of("free_rigid_body")).columns(name)
        assert np.array_equal(table.loc[columns, "initial"].to_numpy(), values.ravel())
        assert np.array_equal(table.loc[columns, "final"].to_numpy(), np.ravel(entry["final"][name]))
    rows = sheet("free_rigid_body").exact(parameters, start, np.array([0.0, 10.0]))
    gap = np.abs(np.array(entry["final"]["angular_momentum"]) - rows[-1, 3]).max()
    assert gap <= entry["error_bound"]["angular_momentum"]
    assert 0.0 < entry["error_bound"]["attitude"] < 1e-9
    before = contents(tmp_path)
    assert main(arguments) == 0
    assert contents(tmp_path) == before


def test_commands_are_light():
    """Declaring the commands imports neither netCDF4 nor pandas."""
    code = "import sys, liestep.tools.commands; sys.exit('pandas' in sys.modules or 'netCDF4' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
