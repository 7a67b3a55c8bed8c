"""Identities of the shipped steps to 50 digits: solvers of one map, adjoints, and which methods are symmetric."""
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from liestep.mechanics.contracts.sheet import Options
from liestep.simulation.catalogue import integrator_calls, method
from liestep.tools.certify.number import numbers
from liestep.tools.certify.orders import CASES, PENDULA, VARIANTS, Variant, cases_of
from liestep.tools.certify.steps import Case, largest, step_of

DIGITS = 60
STEP = Fraction(1, 50)
HOLDS = -50.0   # logarithm of the largest difference of an identity that holds
FAILS = -30.0   # and of the smallest one of an identity that does not

CHAIN, BODIES, TOP, PENDULUM = CASES[0], CASES[1], CASES[3], PENDULA[1]
SAME_MAPS: tuple[tuple[Case, tuple[str, Options], tuple[str, Options]], ...] = (
    *((CHAIN, ("vi_sphere", {"solver": "multipliers"}), ("vi_sphere", other)) for other in (
        {"solver": "newton"}, {"solver": "fixed_point"}, {"form": "paper"}, {"solver": "newton", "form": "paper"})),
    (BODIES, ("vi_sphere", {"solver": "explicit"}), ("vi_sphere", {"solver": "multipliers"})),
    (BODIES, ("vi_sphere", {"solver": "explicit"}), ("vi_sphere", {"solver": "explicit", "form": "paper"})),
    (TOP, ("slgi", {}), ("slgi_kk", {})),
    (TOP, ("mpl", {}), ("mph", {})),
    *((TOP, ("eml", {}), ("eml", {"solver": solver})) for solver in ("full", "null_space")),
    (BODIES, ("vi_sphere", {"solver": "explicit"}), ("rattle", {})),
    (PENDULUM, ("lgvi", {}), ("rodrigues", {"drift": "exact"})),
    (TOP, ("lgvi", {}), ("dmv", {"order": 2, "splitting": "strang"})),
    (TOP, ("lgvi", {"weights": "y4"}), ("dmv", {"order": 2, "splitting": "y4"})),
    (PENDULUM, ("campello", {}), ("rodrigues", {"kick": "whole"})),
    *((PENDULUM, ("rodrigues", {}), ("rodrigues", {"chart": chart}))
      for chart in ("alpha", "modified")),
)
ADJOINTS: tuple[tuple[Case, str, Options, Options], ...] = (
    (TOP, "slgi", {"theta": 0.25}, {"theta": 0.75}), (TOP, "slgi", {"theta": 0.0}, {"theta": 1.0}))


class Identity(NamedTuple):
    """A difference of states that vanishes if `expected`; `size` is the logarithm of its largest component."""

    text: str
    case: str
    size: float
    expected: bool

    @property
    def passed(self) -> bool:
        return self.size <= HOLDS if self.expected else self.size >= FAILS


def _name(integrator: str, options: Options) -> str:
    return " ".join((integrator, *(f"{key}={value}" for key, value in options.items())))


def difference(case: Case, one: tuple[str, Options], other: tuple[str, Options]) -> float:
    """Logarithm of the largest difference of two methods after a step, over the rows that both have."""
    h = numbers(DIGITS).of(STEP)
    steps = [step_of(case, name, options, DIGITS) for name, options in (one, other)]
    a, b = (step.standard(step(h)) for step in steps)
    rows = min(len(a), len(b))
    return largest(a[:rows] - b[:rows]).exponent10()


def return_gap(case: Case, integrator: str, options: Options, back: Options) -> float:
    """Logarithm of how far a step h, and a step -h with the options `back`, end from the start."""
    h = numbers(DIGITS).of(STEP)
    there, again = (step_of(case, integrator, chosen, DIGITS) for chosen in (options, back))
    return largest(there.standard(again(-h, there(h))) - there.standard(there.start)).exponent10()


def identities() -> Iterator[Identity]:
    for case, one, other in SAME_MAPS:
        yield Identity(f"{_name(*one)} = {_name(*other)}", case.name, difference(case, one, other), True)
    for case, name, options, back in ADJOINTS:
        yield Identity(f"{_name(name, back)} is the adjoint of {_name(name, options)}", case.name,
                       return_gap(case, name, options, back), True)
    for name in integrator_calls():
        if not method(name).adaptive:
            for options, problem in VARIANTS.get(name, (Variant({}),)):
                yield from _symmetry(name, options, problem)


def _symmetry(name: str, options: Options, problem: str) -> Iterator[Identity]:
    """A method is declared symmetric if and only if it is its own adjoint, on the first case that it can run on."""
    able = cases_of(name, [case for case in (CHAIN, TOP) if problem in ("", case.problem)])
    if not able:
        return  # a method of mechanisms only
    case = able[0]
    symmetric = step_of(case, name, options, DIGITS).symmetric
    yield Identity(f"{_name(name, options)} is {'' if symmetric else 'not '}symmetric", case.name,
                   return_gap(case, name, options, options), symmetric)
