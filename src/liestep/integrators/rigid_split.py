"""Splitting of rigid bodies into kicks by torques and forces and free motion; the free motion is a component.

The kinetic energy is quadratic in the momenta and the potential depends on attitudes and positions only, so that
coefficients of Runge-Kutta-Nystroem kind keep their order with a free motion of at least that order. Compositions of
the symmetric step kick, free motion, kick have their order with any symmetric free motion.
"""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.precision import above_round_off
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.integrators._free_exact import exact_flow
from liestep.integrators._free_flows import BodyMidpoint, LieMidpoint, MoserVeselov
from liestep.integrators.kicks import kick, move
from liestep.integrators.weights import NYSTROEM_SCHEMES, SPLITTING_ORDERS, drifts_and_kicks
from liestep.mechanics.contracts.formulations import RigidBodies
from liestep.mechanics.contracts.keeping import FREE, VARIATIONAL, Facts, Keeps, Where
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.option import Option, whole_number
from liestep.mechanics.contracts.sheet import Options, Sheet


class RigidSplit(NamedTuple):
    """Symmetric, one evaluation of the forces for each kick; the last kick of a step and the first of the next share
    one. Keeps orthogonality and momenta of symmetries of space; what else is kept depends on the free motion.

    Returns what the free motion does, or NOT_EVALUABLE.
    """

    free: Any
    drifts: np.ndarray  # (s,)
    kicks: np.ndarray   # (s + 1,), a kick first; no forces are taken where it is 0

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Any:
        return np.zeros((2*problem.bodies(), 3), y.dtype), self.free.workspace(problem, y)

    def start(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        if self.kicks[0] == 0.0 or problem.forces(y, work[0]):
            return Status.OK
        return Status.NOT_EVALUABLE

    def step(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        forces, free = work
        if self.kicks[0] != 0.0:
            kick(problem, self.kicks[0]*h, forces, y)
        for k in range(self.drifts.shape[0]):
            for i in range(problem.bodies()):
                status = self.free.flow(problem, i, self.drifts[k]*h, y, free)
                if status != Status.OK:
                    return status
            move(problem, self.drifts[k]*h, y)
            if self.kicks[k + 1] != 0.0:
                if not problem.forces(y, forces):
                    return Status.NOT_EVALUABLE
                kick(problem, self.kicks[k + 1]*h, forces, y)
        return Status.OK


ORDERS = (2, 4, 6, 8, 10)
SOLVER = {"tolerance": Option(1e-15, "error left in the free motion of a step, relative to its size"),
          "iterations": Option(60, "iterations of a body in a free motion, at most")}


def splitting(default: str) -> dict[str, Option]:
    """The option that names drifts and kicks."""
    return {"splitting": Option(default, "coefficients: compositions of kick, drift, kick, or of Runge-Kutta-Nystroem"
                                " kind with 6 (rkn4), 11 (rkn6) or 14 (rkn6a) kicks", tuple(SPLITTING_ORDERS))}


def order_of_splitting(options: Options, *_: Any) -> int:
    """`Method.order_for`: the order of the option `splitting`."""
    return SPLITTING_ORDERS[options["splitting"]]


def _fitting(order: Callable[[Options], int], remedy: str) -> Callable[[Options], dict[str, Any]]:
    """`Method.resolve`: refuses coefficients of Runge-Kutta-Nystroem kind for a free motion of lower order."""
    def resolve(options: Options) -> dict[str, Any]:
        chosen, have = options["splitting"], order(options)
        if chosen in NYSTROEM_SCHEMES and SPLITTING_ORDERS[chosen] > have:
            allowed = ", ".join(name for name, own in SPLITTING_ORDERS.items()
                                if name not in NYSTROEM_SCHEMES or own <= have)
            raise InputError(f"option splitting is {chosen}, which needs a free motion of order"
                             f" {SPLITTING_ORDERS[chosen]}, and here it has order {have}; allowed are"
                             f" {allowed}{remedy}")
        return dict(options)

    return resolve


def _method(summary: str, default: str, free: Callable[[Options], Any], order: Callable[[Options], int],
            conserves: Facts, citation: str, options: Mapping[str, Option], remedy: str = "") -> Method:
    def build(chosen: Options, tolerance: float | None, t_end: float) -> RigidSplit:
        return RigidSplit(free(chosen), *drifts_and_kicks(chosen["splitting"]))

    return Method(summary=summary, order=SPLITTING_ORDERS[default], formulation="rigid_bodies", symmetric=True,
                  options={**splitting(default), **options}, resolve=_fitting(order, remedy), conserves=conserves,
                  order_for=order_of_splitting, citation=citation, build=build)


def _of_order_2(options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> bool:
    return bool(options["order"] == 2)


EVERY = max(SPLITTING_ORDERS.values())

METHODS = {
    "exact_split": _method(
        "order 6, or 2 to 8 by splitting; explicit, exact free motion by elliptic functions for steps of any angle",
        "rkn6a", lambda options: exact_flow(), lambda options: EVERY,
        (*VARIATIONAL, FREE),
        "Celledoni, Fasso, Saefstroem and Zanna 2008; Blanes and Moan 2002", {}),
    "dmv": _method(
        "order 6, or 2 to 8 by splitting; free motion by the discrete Moser-Veselov map, preprocessed to order 10",
        "rkn6a", lambda options: MoserVeselov(options["order"], options["tolerance"], options["iterations"]),
        lambda options: options["order"],
        (Keeps.MANIFOLD, Keeps.MOMENTUM, FREE, *(Where(fact, "for order 2 (then strang is lgvi) only", _of_order_2)
                                                 for fact in (Keeps.SYMPLECTIC, Keeps.BOUNDED))),
        "Hairer and Vilmart 2006; Blanes and Moan 2002",
        {"order": whole_number("order", 10, ORDERS, "order of the free motion"), **SOLVER},
        ", or a higher order of the free motion"),
    "body_midpoint": _method(
        "order 2, or 4 to 8 by splitting; free motion by the midpoint rule for the body momentum and the Cayley map",
        "strang", lambda options: BodyMidpoint(options["tolerance"], options["iterations"]), lambda options: 2,
        (Keeps.MANIFOLD, Keeps.MOMENTUM, FREE),
        "Austin, Krishnaprasad and Wang 1993", SOLVER),
    "lie_midpoint": _method(
        "order 2, or 4 to 8 by splitting; free motion by the Lie midpoint rule",
        "strang", lambda options: LieMidpoint(options["tolerance"], options["iterations"], above_round_off(3)),
        lambda options: 2, (Keeps.MANIFOLD, Keeps.MOMENTUM), "Krysl 2005", SOLVER),
}
