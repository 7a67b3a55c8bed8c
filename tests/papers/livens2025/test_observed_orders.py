"""Observed orders from both sides, by the study's own estimator, where no claim of livens2025 has them: the closed loop
while its load grows, the spring pendulum out of any plane, and systems on spheres."""
from functools import cache

import pytest
from checks import estimate, states

from liestep.analysis.order import order_verdict

pytestmark = pytest.mark.slow
LOOP, SPRING, BODY = (("rigid_loop", "livens2025"), ("spring_pendulum", "spatial"), ("free_rigid_body", "livens2025"))
SPHERES = (("sphere_nbody", "four_bodies"), ("spherical_pendulum_chain", "paper_scaled"), ("spring_pendula", "paper"))
ACCURATE = {LOOP: ("rk4", 8000), SPRING: ("rk4", 16000), BODY: ("rk4", 16000)}
T_END = {LOOP: 0.5, SPRING: 1.0, BODY: 0.5}  # the load of the loop has a kink at 0.5
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
    name, steps = ACCURATE.get(problem, ("vi_sphere_kl8", 2000))
    return states(problem, name, steps, T_END.get(problem, 1.0))


@pytest.mark.parametrize(("problem", "name", "options"), CASES,
                         ids=["-".join((problem[0], name, *options.values())) for problem, name, options in CASES])
def test_observed_order_is_two(problem, name, options):
    found = estimate(problem, name, accurate(problem), COUNTS, T_END.get(problem, 1.0), **options)
    passed, sentence = order_verdict(found, 2)
    assert passed, f"{sentence}; {found.reason}"
