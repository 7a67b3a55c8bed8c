"""Exported references: start and end states of presets with error bounds."""
import json
import subprocess
import sys

import numpy as np
import pandas
from commands import contents

from liestep.api.command_line import main
from liestep.simulation.catalogue import sheet
from rotation_bench.judgement import layout_of, problem_of


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
