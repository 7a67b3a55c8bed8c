"""Observed orders from both sides, by the study's own estimator, where no claim of livens2025 has them: the closed loop
while its load grows, the spring pendulum out of any plane, systems on spheres, and compositions with joints."""
from functools import cache

import pytest
from checks import estimate, states
from livens_systems import systems

from liestep.simulation.catalogue import method, sheet
from liestep.simulation.runs.specification import specify
from liestep.study.tables.order import order_verdict

pytestmark = pytest.mark.slow
_loaded = systems("eml_ggl", "jointed_bars", "spring_pendulum")
LOOP, SPRING, BODY = (("rigid_loop", "livens2025"), ("spring_pendulum", "spatial"), ("free_rigid_body", "livens2025"))
SPHERES = (("sphere_nbody", "four_bodies"), ("spherical_pendulum_chain", "paper_scaled"), ("spring_pendula", "paper"))
CHAIN = ("rigid_chain", "four_bars")
ACCURATE = {CHAIN: ("rk4", 20000), LOOP: ("rk4", 8000), SPRING: ("rk4", 16000), BODY: ("rk4", 16000)}
T_END = {CHAIN: 0.4, LOOP: 0.5, SPRING: 1.0, BODY: 0.5}  # the load of the loop has a kink at 0.5
COUNTS = [20*2**k for k in range(7)]
DIRECTORS, CARTESIAN = {"coordinates": "directors"}, {"coordinates": "cartesian"}
CASES = (
    *((LOOP, name, {}) for name in ("eml", "eml_p", "mpl", "emh", "mph", "rattle", "vi_livens", "eml_ggl")),
    (LOOP, "eml", DIRECTORS), (LOOP, "mpl", DIRECTORS),
    *((SPRING, name, options) for name, options in (("eml", CARTESIAN), ("mpl", CARTESIAN), ("rattle", {}))),
    *((BODY, "mph", {"variant": variant}) for variant in "bax"), (BODY, "eml_p", {}),
    *((problem, name, {}) for problem in SPHERES for name in ("eml", "mpl", "rattle")))


@cache
def accurate(problem):
    name, steps = ACCURATE.get(problem, ("vi_sphere weights=kl8", 2000))
    return states(problem, name, steps, T_END.get(problem, 1.0))


def verdict(problem, name, options, expected):
    """(whether the observed order is the expected one and that which is declared, why not)"""
    spec = specify(problem[0], name, preset=problem[1], steps=1, options=options)
    assert method(name).order_of(spec.options, sheet(problem[0]), spec.parameters) == expected
    found = estimate(problem, name, accurate(problem), COUNTS, T_END.get(problem, 1.0), **options)
    passed, sentence = order_verdict(found, expected)
    return passed, f"{sentence}; {found.reason}"


@pytest.mark.parametrize(("problem", "name", "options"), CASES,
                         ids=["-".join((problem[0], name, *options.values())) for problem, name, options in CASES])
def test_observed_order_is_two(problem, name, options):
    passed, why = verdict(problem, name, options, 2)
    assert passed, why


@pytest.mark.parametrize(("name", "options", "order"), [
    ("eml", {"weights": "kl6"}, 2), ("eml", {"weights": "s4", **DIRECTORS}, 2), ("emh", {"weights": "s4"}, 2),
    ("emh", {"weights": "kl6"}, 2), ("rattle", {"weights": "s4"}, 4), ("vi_livens", {"weights": "s4"}, 4)])
def test_compositions_between_joints_leave_momenta_at_order_two(name, options, order):
    """Unless the scheme projects the momenta: their part along the constraints changes its sign in each step."""
    passed, why = verdict(CHAIN, name, options, order)
    assert passed, why


@pytest.mark.parametrize(("name", "weights"), [("eml", "s4"), ("emh", "kl6")])
def test_compositions_between_joints_have_positions_of_order_four(name, weights):
    ends = [states(CHAIN, name, steps, 0.4, weights=weights)["position"][-1] for steps in (40, 80)]
    errors = [abs(end - accurate(CHAIN)["position"][-1]).max() for end in ends]
    assert errors[0]/errors[1] == pytest.approx(16.0, rel=0.05)
