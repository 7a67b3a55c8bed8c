"""States of a run between its nodes: of methods with fixed steps by one step of the method itself, which keeps the
manifold and has its order; of adaptive ones by their interpolant. Runs with all their nodes."""
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby

import numpy as np

from liestep.compile.endings import interpolated_steps, partial_steps
from liestep.compile.interpreted import brief_loop
from liestep.compile.roles import Component, Integrator, Work
from liestep.compile.status import IntegrationError, Status
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import Formulated
from liestep.simulation.catalogue import integrator_ids, method
from liestep.simulation.runs.content import Content, collected
from liestep.simulation.runs.estimate import memory, readable, require_memory
from liestep.simulation.runs.execution import Outcome, build, for_loop, gap_of, run_once
from liestep.simulation.runs.specification import applicable
from liestep.simulation.runs.specified import RunSpecification

ROWS = "rows"  # variable of a data set with the nodes: rows of the state at every step
NODE = 8.0*2.0**-52  # a time within this of a node, relative to its size or that of the step, is the node


class Between:
    """States of a run between its nodes: nodes (N + 1, m, d) at `times` (N + 1,), for a run with fixed steps by default
    k h."""

    def __init__(self, spec: RunSpecification, nodes: np.ndarray, times: np.ndarray | None = None):
        self.spec, self.adaptive = spec, spec.steps is None
        self._every = np.empty(0) if self.adaptive else spec.times_of(np.arange((spec.steps or 0) + 1))
        self.extend(nodes, times)

    @cached_property
    def _made(self) -> tuple[Formulated, tuple[Integrator, Component], Work, Callable]:
        """What states within steps need: the problem, (integrator, problem) for a loop, its scratch, the loop."""
        formulated, integrator = build(self.spec)
        work = integrator.workspace(formulated.problem, formulated.start)
        loop = interpolated_steps if self.adaptive else partial_steps
        problem, integrator = for_loop(formulated, integrator, self.spec.steps or 0, loop, work)
        return formulated, (integrator, problem), work, brief_loop(loop, integrator, problem, work)

    @property
    def formulated(self) -> Formulated:
        return self._made[0]

    def extend(self, nodes: np.ndarray, times: np.ndarray | None) -> None:
        """The same run with more nodes."""
        self.nodes, self.times = nodes, self._every[:len(nodes)] if times is None else times
        if self.adaptive:  # steps may be too short to be seen in the time, where a number is zero but for round-off
            if not (lengths := np.diff(self.times)).all():
                later = np.append(True, lengths != 0.0)
                self.nodes, self.times, lengths = nodes[later], self.times[later], lengths[lengths != 0.0]
            self._spans = np.append(lengths, 0.0)  # the last node begins no step
        else:
            self._spans = np.broadcast_to(np.float64(self.spec.step or 0.0), len(self.nodes))
        self.lengths = self._spans[:-1]
        self._integrals: np.ndarray | None = None
        self.shown: dict[str, np.ndarray] = {}  # of the nodes, as far as it was asked for
        self.outcome: Outcome | None = None  # once the run has ended

    def inside(self, steps: slice | np.ndarray, shares: np.ndarray,
               whole: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(rows, observables), (n, k, m, d) and (n, k, K), at shares (k,) of some steps, a share of 0 alone also of the
        last node. whole: of adaptive methods by a step that ends there, not by the interpolant. Raises InputError: a
        share that is not 0, and a method that needs earlier steps; IntegrationError: a step failed."""
        if shares.any():
            require_partial_steps(self.spec)
        times, nodes = self.times[steps], np.ascontiguousarray(self.nodes[steps])
        lengths = np.ascontiguousarray(self._spans[steps])
        states = np.empty((len(times), len(shares), *nodes.shape[1:]))
        values = np.zeros((len(times), len(shares), self.formulated.width))
        more = (whole, self.spec.duration) if self.adaptive else ()
        _, parts, work, loop = self._made
        if self.spec.stops:
            gap = self.spec.direction*gap_of(self.spec, self.formulated)  # as `Legs`
            times, lengths = times + gap, lengths - 2.0*gap*(lengths != 0.0)
        status = loop(*parts, times, nodes, lengths, shares, states, values, work, *more)
        if status != Status.OK:
            raise IntegrationError(Status(status), float(times[0]), f"{self.spec.integrator}, partial step: ")
        self._integrate(steps, shares[None, :]*lengths[:, None], values)
        return states, values

    def _integrate(self, steps: slice | np.ndarray, after: np.ndarray, values: np.ndarray) -> None:
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

    def seen(self, steps: slice | np.ndarray, shares: np.ndarray, whole: bool = False) -> dict[str, np.ndarray]:
        """Fields, observables and what is counted from one time to the next, by their names, at growing shares of some
        steps, all in one row."""
        rows, values = self.inside(steps, shares, whole)
        fields = self.fields(rows.reshape(-1, *rows.shape[2:]), values.reshape(-1, values.shape[-1]))
        if not self.formulated.shown:
            return fields
        times = self.times_of(steps, shares)
        return fields | self.formulated.showing(times, fields, self._counted(
            steps.start if isinstance(steps, slice) else int(steps[0])))

    def times_of(self, steps: slice | np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Times of shares of some steps, all in one row."""
        return (self.times[steps][:, None] + self._spans[steps][:, None]*shares).ravel()

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
            before = self._counted(known - 1) if known else self.spec.shown_before
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
            inner = self.inside(slice(n, n + 1), np.array([places[k][1] for k in own]))
            states[own], values[own] = inner[0][0], inner[1][0]
        return states, values

    def _place(self, time: float) -> tuple[int, float]:
        """The step in which a time lies, and the share of it."""
        sign = self.spec.direction
        n = int(np.clip(np.searchsorted(sign*self.times, sign*time, side="right") - 1, 0, len(self.times) - 1))
        near = min((n, min(n + 1, len(self.times) - 1)), key=lambda k: abs(time - self.times[k]))
        if abs(time - self.times[near]) <= NODE*abs(time):
            return near, 0.0
        return n, (time - self.times[n])/self.lengths[n]

    def fields(self, rows: np.ndarray, values: np.ndarray) -> dict[str, np.ndarray]:
        """State fields and observables of times, by their names; rows (time, m, d), values (time, columns)."""
        return self.formulated.to_fields(rows) | {
            part.name: part.shaped(values[:, part.columns]) for part in self.formulated.observables}


def require_partial_steps(spec: RunSpecification) -> None:
    """Raises InputError for methods that cannot make a step of another length within a run."""
    declared = spec.method
    if declared.history:
        able = [name for name in integrator_ids() if applicable(spec.problem, name, spec.parameters)
                and not (method(name).history or method(name).adaptive)]
        raise InputError(f"{spec.integrator} has no dense output and no events: {declared.history}, which a partial"
                         f" step would spoil; integrators that have: {', '.join(able)}")


def require_within(times: np.ndarray, begin: float, end: float) -> None:
    """Raises InputError: times outside of a run."""
    outside = times[~((times >= min(begin, end)) & (times <= max(begin, end)))]
    if outside.size:
        raise InputError(f"t = {float(outside[0])!r} is outside of the run, which is from {begin:g} to {end!r}")


def nodes_of(spec: RunSpecification, watches: Sequence[Callable[[Between], bool]] = (), interpreted: bool = True
             ) -> Between:
    """The run with all its nodes, or those up to the step after which one watch (`Search.watch`) has seen enough."""
    if spec.steps is not None:
        spec = replace(spec, samples=spec.steps + 1)
        require_memory(spec, "dense output, times and events keep every step")
    kept: list[Between] = []

    def keep(nodes: np.ndarray, times: np.ndarray | None) -> bool:
        if nodes.nbytes > memory():
            raise InputError(f"every step is kept, and {len(nodes)} of them need {readable(nodes.nbytes)} of memory:"
                             " take a shorter run or a larger tolerance")
        if not kept:
            kept.append(Between(spec, nodes, times))
        else:
            kept[0].extend(nodes, times)
        return max([watch(kept[0]) for watch in watches], default=False)

    plain = spec if spec.times is spec.until is None else replace(spec, times=None, until=None)
    kept[0].outcome = run_once(plain, watch=keep, interpreted=interpreted)
    return kept[0]


def with_nodes(spec: RunSpecification) -> Content:
    """The content of a run with all its nodes: the rows of the state at every step. Raises InputError: an adaptive
    method, one that needs earlier steps, or more nodes than fit the memory."""
    if spec.method.adaptive:
        raise InputError(f"{spec.integrator} is adaptive and keeps no nodes: its samples come from its own interpolant,"
                         " ask for more of them with samples=, or for your own with times=")
    require_partial_steps(spec)
    if spec.replicas > 1 or spec.exponents:
        raise InputError("dense output is for single runs; leave out replicas and exponents")
    content = collected(spec, [run_once(spec)])
    content.add(ROWS, ("node", "row", "column"), nodes_of(spec).nodes, "1", "rows of the state at every step")
    return content
