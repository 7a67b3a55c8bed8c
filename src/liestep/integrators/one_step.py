"""What methods of many families share: steps that remember nothing, sums of stages, why a system is refused, and
symmetric compositions of any symmetric one-step method: Phi_{c_s h} o ... o Phi_{c_1 h}."""
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import hands_on, kernel
from liestep.compile.roles import Stepper, Work
from liestep.compile.rows import axpy, put, row, scale
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.integrators.weights import SCHEMES, composition_weights
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import Component
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.sheet import Option, Options, Parameters, Sheet
from liestep.mechanics.formulations import formulate


class OneStep:
    """Methods of one-step methods that remember nothing of the last step."""

    def start(self, problem: Component, t: float, y: np.ndarray, h: float, work: Work) -> Status:
        return Status.OK


@kernel
def combine(weights: np.ndarray, h: float, k: np.ndarray, count: int, out: np.ndarray) -> None:
    """out = h (weights_0 k_0 + ... ) over the first `count` >= 1 of k (s, d, 3)."""
    for i in range(out.shape[0]):
        total = scale(h*weights[0], row(k[0], i))
        for r in range(1, count):
            if weights[r] != 0.0:
                total = axpy(h*weights[r], row(k[r], i), total)
        put(out, i, total)


def first_formulated(sheet: Sheet, parameters: Parameters, formulation: str, options: Options) -> Formulated | None:
    """A system at its first start that goes with these parameters."""
    for preset in sheet.presets.values():
        with suppress(InputError, LookupError, TypeError, ValueError):  # a start of other parameters
            start = sheet.check_initial(parameters, preset.initial(parameters))
            return formulate(sheet, parameters, start, formulation, options)
    return None


def refused(combination: Callable[[Options, Sheet, Parameters], None], formulation: str,
            prefers: tuple[Options, ...], parameters: Parameters, sheet: Sheet) -> str | None:
    """`Method.requires`: why a system is refused with the options that a method prefers; None where it is not."""
    try:
        combination(sheet.forms[formulation].preferred(parameters, {}, prefers), sheet, parameters)
    except InputError as error:
        return str(error)
    return None


OrderFor = Callable[[Options, Sheet, Parameters], int]
COMPOSED = ("one", "y4", "s4", "y6", "kl6", "kl8")
WEIGHTS = Option("one", "symmetric composition of the step", COMPOSED)


def newton_options(iterations: int) -> dict[str, Option]:
    """Options of Newton's method for the increment of a step."""
    return {"tolerance": Option(1e-15, "error left in the increment of a step, as Newton's last two changes show it,"
                                " relative to the increment"),
            "iterations": Option(iterations, "Newton iterations, at most")}


def order_of_weights(options: Options, sheet: Sheet, parameters: Parameters) -> int:
    """`Method.order_for` of compositions of a step of order 2."""
    return SCHEMES[options.get("weights", "one")].order


def weighted(*names: str, **declared: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """`Method.calls` of compositions by these weights; weights=fields: with further ones."""
    return {f"weights={name}": {"order": SCHEMES[name].order, "citation": SCHEMES[name].source,
                                **declared.get(name, {})} for name in (*names, *declared)}


@hands_on("inner", Stepper, "workspace", "start")
class Composition(NamedTuple):
    """Order of the weights, symmetric, symplectic and momentum preserving if the inner step is. The weights are data:
    all compositions of one inner step share one specialisation, the plain step (weight 1) included. Negative substeps
    are fine, the inner map with -h is the inverse. The end gradient of a substep starts the next one."""

    inner: Any
    weights: np.ndarray  # (s,)

    def step(self, problem: Component, t: float, y: np.ndarray, h: float, work: Work) -> Status:
        for i in range(self.weights.shape[0]):
            status = self.inner.step(problem, t, y, self.weights[i]*h, work)
            if status != Status.OK:
                return status
            t += self.weights[i]*h
        return Status.OK


def composed(inner: Callable[[Options], Any], symmetric: bool = True, order_for: OrderFor = order_of_weights,
             **declared: Any) -> Method:
    """A method of order 2 with compositions by its option `weights`, if it has one; `inner` makes the component of a
    step from checked options."""
    def build(chosen: Options, tolerance: float | None, t_end: float) -> Composition:
        return Composition(inner(chosen), composition_weights(chosen.get("weights", "one")))

    return Method(order=2, symmetric=symmetric, order_for=order_for, build=build, **declared)
