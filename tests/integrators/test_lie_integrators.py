"""L0, L3 and L4 for Lie group methods: exact coefficients, orders of every method, scheme and truncation, and
their negative controls."""
import json
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import factorial
from pathlib import Path

import numpy as np
import pytest
from checks import BODIES, FLOOR, NAMES, PENDULUM, T_END, Flow, estimate, exact, generic_state, states
from mpmath import bernoulli
from system_cases import SPHERES
from test_orders import compiled

import liestep
from liestep import simulate
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.integrators.commutator_free import (
    CF4,
    CF32A,
    CF32B,
    CF43,
    CG3,
    START,
    CommutatorFree,
    Exponential,
    ExponentialScheme,
)
from liestep.integrators.rkmk import series
from liestep.integrators.tableaux import TABLEAUX, Tableau, classical_order
from liestep.simulation.catalogue import integrator_calls, method, sheet
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specification import applicable, specify, start_of
from liestep.study.tables.order import observed_order, order_verdict

SCHEMES = (CF4, CF43, CF32A, CF32B, CG3)
EMBEDDED = "rk2_heun"  # leaves the spheres
CHAIN = "spherical_pendulum_chain"
# lie_taylor traces kernels, of which there are none where compiling is switched off; test_lie_taylor.py has it
LIE = [name for name in integrator_calls() if method(name).formulation == "lie_action" and name != "lie_taylor"
       and applicable(CHAIN, name, start_of(CHAIN).parameters)]
SPRINGS = ("spring_pendula", "paper")
Q = np.array([[0.36, 0.48, 0.8], [0.6, 0.64, 0.48]])
DOUBLE = {"parameters": {"mass": [1.0, 1.0], "length": [1.0, 1.0], "gravity": [0.0, 0.0, -9.81]},
          # figures 6 and 7
          "initial": {"q": Q, "omega": np.cross(Q, [[0.2, 0.9, 0.5], [0.7, 0.1, 0.6]])}, "t_end": 5.0}


def only(scheme, number):
    """The fixed-step scheme of the state `number` of a pair."""
    return replace(scheme, exponentials=scheme.exponentials[:number + 1], result=number, lower=START)


def commuting(scheme):
    """(stages, stages) Runge-Kutta matrix where everything commutes."""
    given = (scheme.total(number) for number, entry in enumerate(scheme.exponentials) if entry.stage)
    return ((Fraction(0),)*scheme.stages, *given)


def abelian(scheme, number):
    """The Runge-Kutta method that a scheme is where everything commutes."""
    a = commuting(scheme)
    return Tableau(scheme.name, 1, "", a, scheme.total(number), tuple(map(sum, a)))


def area(scheme, number):
    """sum over pairs of exponentials, i before j, of (sum_r b_jr c_r)(sum_r b_ir) - (sum_r b_jr)(sum_r b_ir
    c_r): 1/6 from order 3 on."""
    times = [sum(row) for row in commuting(scheme)]
    chain = []
    while number != START:
        entry = scheme.exponentials[number]
        chain.insert(0, (sum(entry.weights), sum(w*c for w, c in zip(entry.weights, times, strict=False))))
        number = entry.base
    return sum(late[1]*early[0] - late[0]*early[1] for j, late in enumerate(chain) for early in chain[:j])


def swapped(scheme):
    """CF4 with its two final exponentials in the wrong order."""
    first, last = scheme.exponentials[3:]
    return replace(scheme, exponentials=(*scheme.exponentials[:3], replace(last, base=START), replace(first, base=3)))


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_exact_conditions_of_exponential_schemes(scheme):
    assert classical_order(abelian(scheme, scheme.result), 6) == scheme.order
    assert area(scheme, scheme.result) == Fraction(1, 6)
    if scheme.lower != START:
        assert classical_order(abelian(scheme, scheme.lower), 6) == scheme.lower_order
        assert (area(scheme, scheme.lower) == Fraction(1, 6)) == (scheme.lower_order >= 3)
    first = scheme.exponentials[0]
    with pytest.raises(ValueError, match="do not add up"):
        replace(scheme,
                exponentials=(replace(first, weights=(first.weights[0] + 1,)), *scheme.exponentials[1:]), result=0)
    with pytest.raises(ValueError, match="comes later"):
        ExponentialScheme("x", 1, "", (Exponential(START, (Fraction(1, 2),)*2),), result=0)


def test_swapped_cf4_is_classical_but_fails_the_condition_with_a_commutator():
    assert classical_order(abelian(swapped(CF4), 4), 6) == 4
    assert area(swapped(CF4), 4) == Fraction(-1, 6)


def test_classical_orders_of_the_known_tableaux():
    for tableau in TABLEAUX.values():
        if tableau.order <= 5:
            assert classical_order(tableau, 6) == tableau.order
    assert classical_order(TABLEAUX["dop853"], 8) == 8


def test_series_of_dexpinv():
    assert series(4) == [1, Fraction(-1, 2), Fraction(1, 12), 0, Fraction(-1, 720)]
    assert series(3) == series(2)
    found = series(40)
    assert [float(x) for x in found] == pytest.approx([float(bernoulli(j))/factorial(j) for j in range(41)], rel=1e-14)


@cache
def accurate(problem, t_end):
    return states(problem, "vi_sphere weights=kl8", 1000, t_end)


FINE = [20, 40, 60, 90, 130, 190, 280]
DENSE = [20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 900, 1200, 1800, 2600]


@pytest.mark.parametrize(("problem", "name", "t_end", "counts"), [
    (PENDULUM, "rkmk4_2comm", 1.0, DENSE),
    (SPRINGS, "rkmk tableau=dormand_prince5", 1.0, FINE)], ids=["rkmk4_2comm", "rkmk tableau=dormand_prince5"])
def test_observed_order_where_the_common_problems_show_none(problem, name, t_end, counts):
    passed, sentence = order_verdict(estimate(problem, name, accurate(problem, t_end), counts, t_end),
                                     method(name).order)
    assert passed, sentence


def order_of(name, **options):
    """Order in theory with these options."""
    run = specify("sphere_nbody", name, steps=10, options=options)
    return method(name).order_of(run.options, sheet(run.problem), run.parameters)


@pytest.mark.parametrize(("name", "commutators", "order", "counts"), [
    ("rkmk", 0, 2, [40*2**k for k in range(8)]), ("rkmk", 1, 3, [40*2**k for k in range(7)]),
    ("rkmk", 2, 4, [40*2**k for k in range(6)]), ("rkmk tableau=dormand_prince5", 0, 2, [40*2**k for k in range(8)]),
    ("rkmk tableau=dormand_prince5", 1, 3, [40*2**k for k in range(7)]), ("rkmk tableau=dormand_prince5", 2, 5, FINE)])
@pytest.mark.parametrize(("problem", "t_end"), [(SPRINGS, 1.0), (PENDULUM, 2.0)], ids=["springs", "pendulum"])
def test_order_with_few_commutators(problem, t_end, name, commutators, order, counts):
    options = {"dexpinv": commutators}
    assert order_of(name, **options) == order
    passed, sentence = order_verdict(estimate(problem, name, accurate(problem, t_end), counts, t_end, **options), order)
    assert passed, sentence


@pytest.mark.parametrize(("commutators", "order"), [(0, 2), (1, 3), (2, 5), (3, 5), (4, 7)])
def test_truncation_alone_has_the_order_claimed(commutators, order):
    """One step of order 8 with and without truncation: the difference is the truncation's local error."""
    options = {"tableau": "dop853", "dexpinv": commutators}
    assert order_of("rkmk", **options) == order
    cut, whole = Flow(SPRINGS, "rkmk", options=options), Flow(SPRINGS, "rkmk", options={"tableau": "dop853"})
    y = generic_state(SPRINGS)
    gaps = [np.abs(cut(y, h) - whole(y, h)).max() for h in 0.2*2.0**(-0.5*np.arange(18))]
    slopes = [np.log2(a/b) for a, b in zip(gaps, gaps[2:], strict=False) if b > 5e-14]
    assert slopes[-1] == pytest.approx(order + 1, abs=0.2)


def test_many_commutators_are_exact():
    y = generic_state(PENDULUM)
    cut, whole = (Flow(PENDULUM, "rkmk tableau=dormand_prince5", options={"dexpinv": kind})(y, 0.1,
                                                                                            10) for kind in (30,
                                                                                                             "exact"))
    assert np.abs(cut - whole).max() <= 1e-13


def convergence(problem, scheme, order, counts):
    """Verdict on a scheme run with fixed steps; errors are those of the last state."""
    flow, y = Flow(problem, "cf4"), generic_state(problem)
    flow.component = CommutatorFree(*scheme.arrays())
    true = exact(problem, y, T_END, 1000)
    errors = [np.abs(flow(y, T_END/n, n) - true).max() for n in counts]
    return order_verdict(observed_order([T_END/n for n in counts], errors, floor=FLOOR, theory=order), order)


@pytest.mark.parametrize("problem", [BODIES, PENDULUM], ids=NAMES.get)
@pytest.mark.parametrize(("scheme", "order"), [
    (only(CF32A, 2), 3), (only(CF32A, 3), 2), (only(CF32B, 2), 3), (only(CF32B, 3), 2), (only(CF43, 4), 4),
    (only(CF43, 7), 3), (swapped(CF4), 2)],
                         ids=["cf32a", "cf32a lower", "cf32b", "cf32b lower", "cf43", "cf43 lower", "swapped cf4"])
def test_orders_of_both_methods_of_pairs_and_of_swapped_cf4(problem, scheme, order):
    passed, sentence = convergence(problem, scheme, order, DENSE)
    assert passed, sentence


@pytest.mark.parametrize("name", LIE)
def test_methods_stay_on_the_manifold_at_the_step_of_the_paper(name):
    size = {"tolerance": 1e-6, "samples": 1000} if method(name).adaptive else {"steps": 999}
    data = simulate(CHAIN, name, **DOUBLE, **size)
    assert np.abs(1.0 - (data.q*data.q).sum("xyz")).max() <= 2e-14
    assert np.abs((data.q*data.omega).sum("xyz")).max() <= 1e-14*max(1.0, np.sqrt((data.omega**2).sum("xyz")).max())


def test_one_specialisation_serves_all_tableaux_one_all_truncations_and_one_all_schemes():
    declared = {"name": "ralston", "order": 2, "a": [[], ["2/3"]], "b": [0.25, 0.75]}
    families = [
        [Flow(BODIES, name) for name in ("rkmk tableau=euler", "rkmk tableau=heun", "rkmk tableau=kutta3", "rkmk",
                                         "rkmk tableau=dormand_prince5")]
        + [Flow(BODIES, "rkmk", options={"tableau": declared})],
        [Flow(BODIES, "rkmk", options={"dexpinv": k}) for k in (0, 1, 2, 7)]
        + [Flow(BODIES, "rkmk tableau=dormand_prince5", options={"dexpinv": 2})],
        [Flow(BODIES, name) for name in ("cf4", "cg3")]]
    found = [{compiled(flow) for flow in flows} for flows in families]
    assert [[count for _, count in loops] for loops in found] == [[1], [1], [1]]
    assert len(set.union(*found)) == 3


@pytest.mark.parametrize("name", ["rkmk tableau=kutta3", "cf4"])
def test_isotropy_changes_the_error_and_neither_order_nor_manifold(name):
    found = {}
    for options in ({}, {"alpha": 3.0}, {"beta": -2.0}):
        result = estimate(PENDULUM, name, accurate(PENDULUM, T_END), DENSE, **options)
        passed, sentence = order_verdict(result, method(name).order)
        assert passed, sentence
        y = Flow(PENDULUM, name, options=options)(generic_state(PENDULUM), 0.05, 40)
        assert np.abs(1.0 - np.sum(y[:2]**2, axis=1)).max() <= 1e-14
        found[tuple(options)] = y
    assert np.abs(found["alpha",] - found[()]).max() > 1e-8


def spec(integrator="rkmk", **options):
    return specify(CHAIN, integrator, steps=10, options=options)


RK4 = {"name": "classical", "order": 4, "a": [[], [0.5], [0, "1/2"], [0, 0, 1]], "b": ["1/6", "1/3", "2/6", "1/6"]}


@pytest.mark.parametrize(("general", "named"), [("rkmk", "rkmk"), ("runge_kutta", "rk4")])
def test_declared_tableau_is_the_known_one_bit_by_bit(general, named):
    assert np.array_equal(Flow(PENDULUM, general, options={"tableau": RK4})(generic_state(PENDULUM), 0.1, 10),
                          Flow(PENDULUM, named)(generic_state(PENDULUM), 0.1, 10))
    assert order_of(general, tableau=RK4 | {"order": 3}) == 3


def test_spelling_of_a_tableau_does_not_change_the_run():
    other = {"b": ["1/6", "2/6", "1/3", "2/12"], "a": [[0, 0, 0, 0], ["1/2", 0, 0, 0], [0, 0.5], [0, 0, "1.0"]],
             "order": 4, "name": "classical"}
    assert spec(tableau=RK4).sha256 == spec(tableau=other).sha256 != spec(tableau="rk4").sha256
    assert spec(tableau=RK4).options["tableau"]["b"] == ["1/6", "1/3", "1/3", "1/6"]


@pytest.mark.parametrize(("change", "expected"), [
    ({"order": 5}, "claims order 5 and has order 4"), ({"order": 0}, "from 1 to 10"), ({"order": True}, "from 1 to 10"),
    ({"b": ["1/6", "1/3", "1/3", "1/3"]}, "do not add up to 1"), ({"b": [1]}, "a must have 1 rows"),
    ({"b": "1/6"}, "b must be a list"), ({"a": [[], [1, 1], [0, 1], [0, 0, 1]]}, "not explicit"),
    ({"a": 3}, "list of rows"), ({"b": ["x", 1, 1, 1]}, "not a number"), ({"b": ["1/0", 1, 1, 1]}, "not a number"),
    ({"b": [float("nan"), 1, 1, 1]}, "not a number"), ({"c": [0, 1]}, "unknown key")])
def test_wrong_tableau_is_refused_with_a_sentence(change, expected):
    with pytest.raises(InputError, match=expected):
        spec(tableau=RK4 | change)


@pytest.mark.parametrize(("options", "expected"), [
    ({"tableau": "rk5"}, "unknown tableau"), ({"tableau": {"name": "x"}}, "order is missing"),
    ({"dexpinv": -1}, "whole numbers from 0"), ({"dexpinv": 1.5}, "allowed are exact"),
    ({"dexpinv": "two"}, "allowed are exact"), ({"alpha": float("inf")}, "must be a number"),
    ({"alpha": "x"}, "must be a number"), ({"action": 3}, "option action is 3; allowed are tangent_spheres"),
    ({"action": "rotations"}, "rotations")])
def test_wrong_option_is_refused_with_a_sentence(options, expected):
    with pytest.raises(InputError, match=expected):
        spec(**options)


def short_runs():
    """[system, method, status, steps, largest |1 - q.q|] of two steps, t_end/1000 long, from a preset of
    every system on spheres."""
    found = []
    for problem in SPHERES:
        preset = "level1" if problem == "lennard_jones_sphere" else sheet(problem).default
        t_end = 2e-3*sheet(problem).presets[preset].t_end
        for name in (*LIE, EMBEDDED):
            size = {"tolerance": 1e-6, "outputs": 2} if method(name).adaptive else {"steps": 2}
            outcome = run_once(specify(problem, name, preset=preset, t_end=t_end, **size))
            q = outcome.formulated.to_fields(outcome.outputs.states)["q"]
            found.append([problem, name, Status(outcome.status).name, outcome.steps,
                          float(np.abs(1.0 - (q*q).sum(axis=-1)).max())])
    return found


def test_every_lie_method_runs_on_every_system_on_spheres():
    """Without code of its own. In plain Python: it gives the same bits and needs no compilation of each pair."""
    paths = os.pathsep.join((str(Path(liestep.__file__).parents[1]), str(Path(__file__).parents[1]),
                             str(Path(__file__).parent)))
    done = subprocess.run(
        [sys.executable, "-c", "import json, test_lie_integrators as t; print(json.dumps(t.short_runs()))"],
        capture_output=True, text=True, check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths})
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == len(SPHERES)*(len(LIE) + 1)
    for problem, name, status, steps, defect in found:
        least = 1 if name == "rkmk853" else 2  # steps: of order 8 one may reach the end
        assert (status, steps >= least) == ("OK", True), (problem, name)
        assert (defect <= 1e-14) == (name != EMBEDDED), (problem, name, defect)
