"""Dense output: the state at t_n + s h is one step of length s h from node n, of the method itself.

It keeps the manifold and has the order of the method. Methods that need earlier steps have none.
"""
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from liestep.catalogue import integrator_ids, method, sheet
from liestep.core.cache import loop_for
from liestep.core.partial import partial_step
from liestep.core.status import IntegrationError, Status
from liestep.errors import InputError
from liestep.runs.execution import build
from liestep.runs.specification import RunSpecification, applicable, specify

ROWS = "rows"  # variable of a data set with the nodes: rows of the state at every step


class Between:
    """States of a run with fixed steps between its nodes.

    Raises:
        InputError: the method is adaptive or needs earlier steps.
    """

    def __init__(self, spec: RunSpecification, nodes: np.ndarray):
        require_partial_steps(spec)
        assert spec.step is not None
        self.spec, self.nodes, self.h = spec, nodes, spec.step
        self.formulated, self._integrator = build(spec)
        self._work = self._integrator.workspace(self.formulated.problem, self.formulated.start)
        self._values = np.zeros(self.formulated.width)
        self._loop = loop_for(partial_step, self._integrator, self.formulated.problem, self._work)

    def after(self, node: int, length: float) -> tuple[np.ndarray, np.ndarray]:
        """(rows, observables) after a step of this length from a node.

        Raises:
            IntegrationError: the step failed.
        """
        y = np.ascontiguousarray(self.nodes[node]).copy()
        status = self._loop(self._integrator, self.formulated.problem, node*self.h, y, length, self._work, self._values)
        if status != Status.OK:
            raise IntegrationError(Status(status), node*self.h, f"{self.spec.integrator}, partial step: ")
        return y, self._values.copy()

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """(rows, observables) at a time within the run."""
        node = min(int(time/self.h), len(self.nodes) - 1)
        if time < node*self.h:  # rounding of the quotient
            node -= 1
        return self.after(node, time - node*self.h)

    def fields(self, rows: np.ndarray, values: np.ndarray) -> dict[str, np.ndarray]:
        """State fields and observables of times, by their names; rows (time, m, d), values (time, columns)."""
        found = dict(self.formulated.to_fields(rows))
        return found | {part.name: part.shaped(values[:, part.columns]) for part in self.formulated.observables}


def require_partial_steps(spec: RunSpecification) -> None:
    """Raises InputError for methods that cannot make a step of another length within a run."""
    declared = method(spec.integrator)
    if declared.adaptive:
        raise InputError(f"{spec.integrator} is adaptive and keeps no nodes: its samples come from its own interpolant,"
                         " ask for more of them with samples=")
    if declared.history is not None:
        able = [name for name in integrator_ids() if applicable(spec.problem, name, spec.parameters)
                and not (method(name).history is not None or method(name).adaptive)]
        raise InputError(f"{spec.integrator} has no dense output and no events: {declared.history}, which a partial"
                         f" step would spoil; integrators that have: {', '.join(able)}")


def specification_of(attributes: Mapping[str, Any]) -> RunSpecification:
    """The specification that a data set says it was made from."""
    found = json.loads(attributes["specification"])
    return specify(found["problem"], found["integrator"], steps=found["steps"], t_end=found["t_end"],
                   parameters=found["parameters"], initial=found["initial"],
                   options={name: value for name, value in found["options"].items()
                            if name in sheet(found["problem"]).forms[method(found["integrator"]).on(
                                sheet(found["problem"])).formulation].options
                            or name in method(found["integrator"]).options})
