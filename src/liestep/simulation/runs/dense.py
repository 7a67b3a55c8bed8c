"""States of a run between the ends of its steps: of methods with fixed steps by one step of the method itself, which
keeps the manifold and has its order; of adaptive ones by their interpolant."""
import json
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from liestep.compile.interpreted import brief_loop
from liestep.compile.partial import interpolated_steps, partial_steps
from liestep.compile.status import IntegrationError, Status
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import Formulated
from liestep.simulation.catalogue import integrator_ids, method, sheet
from liestep.simulation.machine_code.straight import for_loop
from liestep.simulation.runs.execution import Outcome, build
from liestep.simulation.runs.specification import RunSpecification, applicable, specify

ROWS = "rows"  # variable of a data set with the nodes: rows of the state at every step
POINTS_OF_FIXED, POINTS_OF_ADAPTIVE = 5, 17  # in each step where events are looked for, both ends included
NODE = 8.0*2.0**-52  # a time within this of a node, relative to its size or that of the step, is the node


class Between:
    """States of a run between its nodes: nodes (N + 1, m, d) at `times` (N + 1,), for a run with fixed steps by default
    k h."""

    def __init__(self, spec: RunSpecification, nodes: np.ndarray, times: np.ndarray | None = None):
        self.spec, self.adaptive = spec, spec.steps is None
        self.before: tuple[float, Mapping[str, np.ndarray]] | None = None  # what is counted up to the first node
        self.extend(nodes, times)

    @cached_property
    def _made(self) -> tuple[Formulated, tuple[Any, Any], Any, Callable]:
        """What states within steps need: the problem, (integrator, problem) for a loop, its scratch, the loop."""
        formulated, integrator = build(self.spec)
        work = integrator.workspace(formulated.problem, formulated.start)
        problem, integrator = for_loop(formulated, integrator, self.spec.steps or 0)
        return formulated, (integrator, problem), work, brief_loop(
            interpolated_steps if self.adaptive else partial_steps, integrator, problem, work)

    @property
    def formulated(self) -> Formulated:
        return self._made[0]

    def extend(self, nodes: np.ndarray, times: np.ndarray | None) -> None:
        """The same run with more nodes."""
        self.nodes = nodes
        if times is None:
            assert self.spec.step is not None
            times = self.spec.t_start + np.arange(len(nodes))*self.spec.step
        self.times = times
        self.lengths = np.diff(times) if self.adaptive else np.full(len(nodes) - 1, self.spec.step)
        self._integrals: np.ndarray | None = None
        self.shown: dict[str, np.ndarray] = {}  # of the nodes, as far as it was asked for
        self.outcome: Outcome | None = None  # once the run has ended

    @property
    def points(self) -> int:
        return POINTS_OF_ADAPTIVE if self.adaptive else POINTS_OF_FIXED

    def inside(self, steps: slice, shares: np.ndarray, whole: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(rows, observables), (n, k, m, d) and (n, k, K), at shares (k,) of some steps, a share of 0 alone also of the
        last node. whole: of adaptive methods by a step that ends there, not by the interpolant. Raises InputError: a
        share that is not 0, and a method that needs earlier steps; IntegrationError: a step failed."""
        if shares.any():
            require_partial_steps(self.spec)
        times, nodes = self.times[steps], np.ascontiguousarray(self.nodes[steps])
        own = self.lengths[steps]
        lengths = np.zeros(len(times))
        lengths[:len(own)] = own
        states = np.empty((len(times), len(shares), *nodes.shape[1:]))
        values = np.zeros((len(times), len(shares), self.formulated.width))
        more = (whole, self.spec.duration) if self.adaptive else ()
        _, parts, work, loop = self._made
        status = loop(*parts, times, nodes, lengths, shares, states, values, work, *more)
        if status != Status.OK:
            raise IntegrationError(Status(status), float(times[0]), f"{self.spec.integrator}, partial step: ")
        self._integrate(steps, shares[None, :]*lengths[:, None], values)
        return states, values

    def _integrate(self, steps: slice, after: np.ndarray, values: np.ndarray) -> None:
        """Integrals over time in place of their integrands, by the rule of the recorder."""
        columns = [k for part in self.formulated.observables if part.integral
                   for k in range(part.columns.start, part.columns.stop)]
        if not columns:
            return
        if self._integrals is None:
            self._integrals = np.zeros((0, 2, len(columns)))  # while the integrands at the nodes are asked for
            at = self.inside(slice(None), np.zeros(1))[1][:, 0, columns]
            grown = 0.5*np.diff(self.times)[:, None]*(at[:-1] + at[1:])
            self._integrals = np.stack((at, np.concatenate([np.zeros((1, len(columns))), np.cumsum(grown, 0)])), 1)
        if len(self._integrals):
            there = self._integrals[steps]
            values[..., columns] = there[:, None, 1] + 0.5*after[..., None]*(there[:, None, 0] + values[..., columns])

    def seen(self, steps: slice, shares: np.ndarray, whole: bool = False) -> dict[str, np.ndarray]:
        """Fields, observables and what is counted from one time to the next, by their names, at growing shares of some
        steps, all in one row."""
        rows, values = self.inside(steps, shares, whole)
        found = self.fields(rows.reshape(-1, *rows.shape[2:]), values.reshape(-1, values.shape[-1]))
        if not self.formulated.shown:
            return found
        lengths = np.append(self.lengths, 0.0)[:len(self.times)]
        times = (self.times[steps, None] + lengths[steps, None]*shares).ravel()
        return found | self.formulated.showing(times, found, self._counted(steps.start))

    def counted(self, times: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
        """What is counted from one time to the next, of times (k,) with their rows."""
        fields = self.formulated.to_fields(rows)
        every = [self.formulated.showing(times[k:k + 1], {name: values[k:k + 1] for name, values in fields.items()},
                                         self._counted(self._place(float(time))[0])) for k, time in enumerate(times)]
        return {part.name: np.concatenate([one[part.name] for one in every]) for part in self.formulated.shown}

    def _counted(self, n: int) -> tuple[float, Mapping[str, np.ndarray]] | None:
        """(time, what is counted) at node n."""
        known = len(next(iter(self.shown.values()), ()))
        if n >= known:
            before = self._counted(known - 1) if known else self.before
            new = self.formulated.showing(self.times[known:n + 1], self.formulated.to_fields(self.nodes[known:n + 1]),
                                          before)
            self.shown = {name: np.concatenate([self.shown[name], values]) if known else values
                          for name, values in new.items()}
        return float(self.times[n]), {name: values[n] for name, values in self.shown.items()}

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(rows, observables) at times (k,) within the run; those within one step are made together."""
        states, values = np.empty((len(times), *self.nodes.shape[1:])), np.empty((len(times), self.formulated.width))
        places = [self._place(float(time)) for time in times]
        for n, group in groupby(range(len(times)), key=lambda k: places[k][0]):
            own = list(group)
            found = self.inside(slice(n, n + 1), np.array([places[k][1] for k in own]))
            states[own], values[own] = found[0][0], found[1][0]
        return states, values

    def _place(self, time: float) -> tuple[int, float]:
        """The step in which a time lies, and the share of it."""
        sign = self.spec.direction
        n = int(np.clip(np.searchsorted(sign*self.times, sign*time, side="right") - 1, 0, len(self.times) - 1))
        near = min((n, min(n + 1, len(self.times) - 1)), key=lambda k: abs(time - self.times[k]))
        if abs(time - self.times[near]) <= NODE*abs(time):
            return near, 0.0
        return n, (time - self.times[n])/self.lengths[n]

    def fields(self, rows: np.ndarray, values: np.ndarray, times: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """State fields and observables of times, by their names; rows (time, m, d), values (time, columns). Of given
        times also what is counted from one to the next."""
        found = dict(self.formulated.to_fields(rows))
        if times is not None:
            found |= self.formulated.showing(times, found)
        return found | {part.name: part.shaped(values[:, part.columns]) for part in self.formulated.observables}


def require_nodes(spec: RunSpecification) -> None:
    """Raises InputError for methods whose runs do not keep their nodes in data sets."""
    if spec.method.adaptive:
        raise InputError(f"{spec.integrator} is adaptive and keeps no nodes: its samples come from its own interpolant,"
                         " ask for more of them with samples=, or for your own with times=")
    require_partial_steps(spec)


def require_partial_steps(spec: RunSpecification) -> None:
    """Raises InputError for methods that cannot make a step of another length within a run."""
    declared = spec.method
    if declared.history:
        able = [name for name in integrator_ids() if applicable(spec.problem, name, spec.parameters)
                and not (method(name).history or method(name).adaptive)]
        raise InputError(f"{spec.integrator} has no dense output and no events: {declared.history}, which a partial"
                         f" step would spoil; integrators that have: {', '.join(able)}")


def specification_of(attributes: Mapping[str, Any]) -> RunSpecification:
    """The specification that a data set says it was made from."""
    found = json.loads(attributes["specification"])
    facts, declared = sheet(found["problem"]), method(found["integrator"])
    known = {*facts.forms[declared.on(facts).formulation].options, *declared.options}
    return specify(found["problem"], found["integrator"], steps=found["steps"], t_end=found["t_end"],
                   t_start=found.get("t_start", 0.0), parameters=found["parameters"], initial=found["initial"],
                   options={name: value for name, value in found["options"].items() if name in known})
