"""Rules of parameters: bodies that exist, whole numbers of any sign, arrays without entries, stated exceptions."""
from dataclasses import replace

import numpy as np
import pytest

from liestep.errors import InputError
from liestep.mechanics.contracts.sheet import Parameter, Preset
from liestep.simulation.catalogue import sheet, system_ids
from liestep.simulation.runs.specification import specify

BROKEN = [2.0, 1.0, 2.0/3.0]  # no body has these: 2 > 1 + 2/3
TURN = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]


def turned(*moments):
    matrix = TURN @ np.diag(moments) @ TURN.T
    return 0.5*(matrix + matrix.T)


def check(rule, value, **more):
    return rule.check("inertia", value, {}, **more)


MOMENTS = Parameter("kg m2", "moments", (3,), "moments")
MATRIX = Parameter("kg m2", "matrix", (3, 3), "inertia")
BODIES = Parameter("kg m2", "moments of each body", ("n", 3), "moments")
MATRICES = Parameter("kg m2", "matrix of each body", ("n", 3, 3), "inertia")
PAIRS = Parameter("1", "pairs", ("m", 2), "integer", empty=True)


@pytest.mark.parametrize(("rule", "value"), [
    (MOMENTS, [1.0, 1.0, 1.0]), (MOMENTS, [0.1, 0.2, 0.3]), (MOMENTS, [1.0, 2.0, 1.0]), (MOMENTS, [1e-9, 1.0, 1.0]),
    (BODIES, [[1.0, 1.0, 1.5], [3.0, 2.0, 2.0]]), (MATRIX, turned(1.5, 1.0, 0.6)), (MATRIX, turned(1.0, 2.0, 3.0)),
    (MATRICES, [turned(1.0, 1.0, 1.0), turned(1.0, 1.5, 2.4)]),
])
def test_bodies_that_exist_pass(rule, value):
    """Flat bodies too, whose moments obey I_3 = I_1 + I_2 up to rounding."""
    assert np.array_equal(check(rule, value), value)


@pytest.mark.parametrize(("rule", "value", "sentence"), [
    (MOMENTS, BROKEN, r"parameter inertia is of no body: its largest principal moment 2 is above the sum of the other"
     r" two, 0\.666666667 \+ 1"),
    (MOMENTS, [1.0, 1.0, 2.0 + 1e-9], "of no body"),
    (MOMENTS, [1.0, 0.0, 1.0], "parameter inertia must be positive"),
    (MOMENTS, [1.0, -1.0, 1.0], "parameter inertia must be positive"),
    (MOMENTS, [1.0, np.nan, 1.0], "must be finite numbers"),
    (MOMENTS, [1.0, 1.0], r"of shape \(3\) with size 3"),
    (BODIES, [[1.0, 1.0, 1.0], BROKEN], "parameter inertia of body 1 is of no body"),
    (MATRIX, turned(*BROKEN), "parameter inertia is of no body: its largest principal moment 2"),
    (MATRIX, np.eye(3) + np.diag([1e-6, 0.0], 1), "symmetric matrix; two entries differ by"),
    (MATRIX, turned(1.0, 1.0, -0.1), "must be positive definite; its smallest principal moment is -0.1"),
    (MATRIX, np.zeros((3, 3)), "must be positive definite"),
    (MATRIX, [1.0, 1.0, 1.0], r"of shape \(3, 3\)"),
    (MATRICES, [turned(1.0, 1.0, 1.0), turned(*BROKEN)], "parameter inertia of body 1 is of no body"),
])
def test_bodies_that_do_not_exist_are_refused(rule, value, sentence):
    with pytest.raises(InputError, match=sentence) as error:
        check(rule, value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("system", "wrong"), [
    ("free_rigid_body", BROKEN), ("heavy_top", BROKEN)])
def test_every_system_with_moments_of_inertia_refuses_those_of_no_body(system, wrong):
    with pytest.raises(InputError, match="is of no body"):
        specify(system, "rk4", steps=10, parameters={"inertia": wrong})


def test_no_system_takes_moments_of_inertia_as_just_positive_numbers():
    named = {(name, key): rule for name in system_ids() for key, rule in sheet(name).parameters.items()
             if "moments of inertia" in rule.doc or "inertia matri" in rule.doc}
    assert named
    assert {pair: rule.rule for pair, rule in named.items() if rule.rule not in ("moments", "inertia")} == {}


def test_a_stated_exception_of_a_preset_holds_for_its_own_numbers_only():
    facts = sheet("free_rigid_body")
    base = next(iter(facts.presets.values()))
    printed = Preset("as printed", "a paper", "printed", {"inertia": BROKEN}, base.initial, 1.0,
                     exceptions={"inertia": "the paper prints moments that no body has"})
    told = replace(facts, presets={"printed": printed})
    assert np.array_equal(told.check(printed.parameters)["inertia"], BROKEN)
    assert np.array_equal(told.check({"inertia": np.array(BROKEN)})["inertia"], BROKEN)  # read from a run's file
    for other in ([2.0, 1.0, 0.5], [2.0, 1.0, 0.66667]):
        with pytest.raises(InputError, match="is of no body"):
            told.check({"inertia": other})
    silent = replace(facts, presets={"printed": replace(printed, exceptions={})})
    with pytest.raises(InputError, match="is of no body"):
        silent.check(printed.parameters)
    negative = replace(printed, parameters={"inertia": [2.0, 1.0, -0.5]})
    with pytest.raises(InputError, match="must be positive"):  # an exception is from the triangle inequality only
        replace(facts, presets={"printed": negative}).check(negative.parameters)


@pytest.mark.parametrize("name", system_ids())
def test_exceptions_of_presets_are_sentences_about_printed_data(name):
    for key, preset in sheet(name).presets.items():
        for parameter, reason in preset.exceptions.items():
            assert parameter in sheet(name).parameters, key
            assert preset.kind == "printed", key  # own presets are bodies that exist
            assert len(reason.split()) > 4, key


def test_whole_numbers_of_any_sign():
    rule = Parameter("1", "frame of each body, -1 for the ground", ("n",), "integer")
    found = rule.check("parent", [-1, 0, 1.0], {})
    assert found.dtype == np.int64
    assert list(found) == [-1, 0, 1]
    single = Parameter("1", "frame", (), "integer")
    assert single.check("parent", -1.0, {}) == -1
    assert isinstance(single.check("parent", -1.0, {}), int)
    for wrong in ([0.5], [-2.0**31], [2.0**31]):
        with pytest.raises(InputError, match="must be integers between -2\\^31 and 2\\^31"):
            rule.check("parent", wrong, {})


def test_arrays_without_entries_where_they_are_declared():
    sizes = {}
    for empty in ([], np.zeros((0, 2))):
        found = PAIRS.check("pairs", empty, sizes)
        assert found.shape == (0, 2)
        assert found.dtype == np.int64
    assert sizes == {"m": 0}
    with pytest.raises(InputError, match=r"with size 0, not of shape \(1, 2\)"):  # sizes must agree
        PAIRS.check("pairs", [[0, 1]], sizes)
    with pytest.raises(InputError, match=r"must be of shape \(m, 2\) with size 2, not of shape \(0, 3\)"):
        PAIRS.check("pairs", np.zeros((0, 3)), {})
    with pytest.raises(InputError, match="parameter pairs must not be empty"):
        replace(PAIRS, empty=False).check("pairs", np.zeros((0, 2)), {})
