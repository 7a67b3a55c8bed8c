"""Every column of every table is described, and what is described is a column; pages name all that there is."""
import re

import pytest
from place import TOP

from liestep.api.command_line import carry_out
from liestep.mechanics.contracts.formulations import PROTOCOLS
from liestep.study.tables.columns import ENDS, KNOWN, about
from liestep.workflow.schemas import columns_of_tables


def test_every_column_has_a_unit_times_and_a_meaning():
    used = set()
    for table, columns in columns_of_tables():
        for column in columns:
            unit, times, meaning = about(column)
            assert meaning, (table, column)
            assert unit or not times or times == "end", (table, column)
            used |= {column, column.removesuffix("_accepted"), column.removesuffix("_accepted")[:-2]}
    assert KNOWN.keys() - {"warning"} <= used  # only of runs with one
    assert len(ENDS) == 5


def test_a_command_says_it(capsys):
    assert carry_out(["describe", "metrics"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "floor (1, common samples of run and reference): below it an error says nothing" in said
    assert "momentum_error_max_x_accepted (kg m2/s, accepted steps)" in said
    assert carry_out(["describe", "tables", "horizon"]) == 0
    assert capsys.readouterr().out.startswith("horizons:\n  horizon (s, samples): first time at which a member")
    assert carry_out(["describe", "metrics", "flor"]) == 2
    assert "did you mean floor?" in capsys.readouterr().err


def test_an_unknown_column_has_no_meaning():
    with pytest.raises(KeyError):
        about("energy_errors")


def test_the_page_for_authors_of_integrators_names_every_formulation_and_methods_that_it_has():
    rows = [line.split("|")[1:3] for line in (TOP/"docs"/"own_integrator.md").read_text().splitlines()
            if line.startswith("| `")]
    named = {name: set(re.findall(r"`(\w+)`", methods)) for names, methods in rows
             for name in re.findall(r"`(\w+)`", names) if name in PROTOCOLS}
    assert named.keys() == PROTOCOLS.keys()
    for name, methods in named.items():
        assert methods <= {*dir(PROTOCOLS[name])}, name
