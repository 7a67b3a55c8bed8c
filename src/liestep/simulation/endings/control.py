"""Runs whose parameters a function sets, `simulate(control=..., sample=...)`: it is called at given instants, as it is,
by machine code that holds what it gives until the next one (zero-order hold)."""
import ctypes
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import isfinite
from weakref import ref

import numpy as np

from liestep.compile.cache import loop_for
from liestep.compile.counters import Counter, counts
from liestep.compile.endings import Unread, advance_held, advance_held_adaptive
from liestep.compile.pieces import Pieces
from liestep.compile.roles import Integrator
from liestep.compile.status import Status
from liestep.compile.tracing import on_own_arrays
from liestep.compile.trees import leaves
from liestep.errors import InputError, require_plain, unknown
from liestep.mechanics.contracts.formulated import Formulated, Sight
from liestep.mechanics.contracts.sheet import Fields, Parameters, State
from liestep.mechanics.formulations.probed import plain
from liestep.simulation.endings.between import require_partial_steps
from liestep.simulation.endings.events import answer
from liestep.simulation.runs.content import Content, collected, times
from liestep.simulation.runs.execution import Outcome, Progress, Recorder, build, recorders
from liestep.simulation.runs.own_names import Named, own_names
from liestep.simulation.runs.specification import STEP_TOLERANCE
from liestep.simulation.runs.specified import RunSpecification

MARKS = (0.3718, 0.0137), (1.9143, 0.0091)  # values of parameters that are recognised in components


class StateView(Mapping[str, np.ndarray]):
    """The state that the function sees. Pieces of what machine code has read are made, and forces of joints are solved
    for, when they are asked for."""

    def __init__(self, found: dict[str, np.ndarray], sight: Sight, names: list[str],
                 rest: Callable[[], dict[str, np.ndarray]]):
        self.found, self.pieces, self.names, self.rest = found, sight.pieces, names, rest
        self.numbers = sight.numbers.copy()

    def __getitem__(self, name: str) -> np.ndarray:
        found = self.found
        if name not in found:
            if name in self.pieces:
                found[name] = self.pieces[name](self.numbers)
            elif name in self.names:
                found |= {**self.rest(), **found}
        return found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


Target = tuple[np.ndarray, int, int]  # array, place in it, number of the parameter


class Controlled:
    """The function with what it sets: arrays in the components of a run, and the places in them."""

    def __init__(self, spec: RunSpecification):
        assert spec.control is not None
        self.spec, self.function, self.error = spec, spec.control.function, ""
        self.sample = spec.control.sample
        spec.control.begin()
        self.y = build(spec)[0].start.copy()  # advanced in place
        self.reader = build(spec)[0]  # of its own, with what is held
        self.sight = self.reader.sight or Sight(Unread(), np.zeros(0), {})
        if self.sight.recount and spec.shown_before:
            self.sight.recount(*spec.shown_before)
        on_own_arrays(self.sight.component).read(spec.t_start, self.y)
        self.names = [part.name for part in (*self.reader.fields, *self.reader.shown)]
        self.own = own_names(spec.sheet, spec.parameters)
        self.given: list[dict[str, list[float]]] = []  # at each instant
        self.before = spec.shown_before
        self.t = spec.t_start  # of the last instant
        first = self._given()
        for name in first:
            if name not in spec.parameters:
                raise InputError(f"control: {unknown('parameter', name, spec.parameters)}")
        self.shapes = {name: np.shape(spec.parameters[name]) for name in first}
        self.formulated, self.integrator, self.targets = self._built()
        if hasattr(self.integrator, "makes_series"):
            raise InputError(f"{spec.integrator} makes a series of the equations with the numbers of the start, and"
                             " takes no control: take dop853 or rkmk853")
        self._set(first)
        self.call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double)(self._ask)  # by machine code, with the time
        self.address = int(ctypes.cast(self.call, ctypes.c_void_p).value or 0)

    def __str__(self) -> str:
        return f"control at t = {self.t!r}"

    def _built(self) -> tuple[Formulated, Integrator, dict[str, list[Target]]]:
        """The components of the run with arrays of their own; for each parameter the arrays that hold it, there and in
        those of the reader, the places in them and which of its numbers these are. Raises InputError: it is not held as
        it is."""
        spec, own = self.spec, {name: np.array(self.spec.parameters[name], dtype=float) for name in self.shapes}
        one, two = ({name: (start + 0.1*k + step*np.arange(value.size)).reshape(value.shape)
                     for k, (name, value) in enumerate(own.items())} for start, step in MARKS)
        made = [build(replace(spec, parameters={**spec.parameters, **{
            name: value if value.ndim else float(value) for name, value in values.items()}}))
            for values in (one, two, own, {name: value.copy() for name, value in own.items()})]
        (formulated, integrator), (self.reader, _) = made[2:]
        targets: dict[str, list[Target]] = {name: [] for name in own}
        rest: list[tuple[np.ndarray, np.ndarray]] = []
        for a, b, leaf, same in zip(*([part for part in leaves(pair) if isinstance(part, np.ndarray | float)]
                                        for pair in ((found.problem, method) for found, method in made)), strict=True):
            changed = np.flatnonzero(np.ravel(a) != np.ravel(b))
            for name in targets if changed.size else ():
                at = [(place, k) for place in changed.tolist() for k in range(own[name].size)
                      if (np.ravel(a)[place], np.ravel(b)[place]) == (one[name].flat[k], two[name].flat[k])]
                changed = np.setdiff1d(changed, [place for place, _ in at])
                if at and not isinstance(leaf, np.ndarray):
                    raise InputError(f"control sets {name}, which is a single number in the code of {spec.problem}:"
                                     f" give it as an array, {name}=[...], and read p.{name}[0]")
                if at:
                    places = [place for place, _ in at]
                    targets[name] += [(held.reshape(-1), *where) for held in (leaf, same) for where in at]
                    a.flat[places] = b.flat[places]
            if changed.size:
                rest.append((a, b))
        if rest:  # scratch is equal once the first component, which now holds the second one's values, is evaluated
            for found, _ in made[:2]:
                problem = on_own_arrays(found.problem)
                if hasattr(problem, "rhs"):
                    problem.rhs(0.0, found.start.copy(), np.zeros_like(found.start))
                elif hasattr(problem, "algebra"):
                    problem.algebra(0.0, found.start.copy(), np.zeros((problem.algebra_rows(), 3)))
                found.to_fields(found.start[None].copy())
            if not all(np.array_equal(a, b, equal_nan=True) for a, b in rest):
                raise InputError(f"control cannot set {', '.join(own)} of {spec.problem}: the code holds numbers that"
                                 " are computed from it; a parameter that forces or torques read as it is can be set")
        if unread := [name for name, found in targets.items() if not found]:
            raise InputError(f"control sets {unread[0]}, which no equation of {spec.problem} reads")
        return formulated, integrator, targets

    def _all(self) -> dict[str, np.ndarray]:
        return {name: values[0] for name, values in self.reader.to_fields(self.y[None].copy()).items()}

    def _state(self) -> State:
        """A `StateView`, where numbers are made when they are asked for, or all numbers."""
        if self.sight.pieces:
            return StateView({}, self.sight, self.names, self._all)
        if not self.reader.bare:
            return self._all()
        fields = self.reader.bare(self.y[None].copy())
        shown = self.reader.showing(np.array([self.t]), fields, self.before)
        self.before = self.t, {name: values[0].copy() for name, values in shown.items()}
        first = {name: values[0] for name, values in (fields | shown).items()}
        return StateView(first, self.sight, self.names, self._all)

    def _given(self) -> Fields:
        state = self._state()
        alive = ref(state) if isinstance(state, StateView) else lambda: None
        given = answer(self, self.function, Named(state, self.own, self.t), self.t)
        del state
        if (kept := alive()) is not None:
            dict(kept)  # whoever keeps it has the forces of now
        if not isinstance(given, Mapping) or not (given or self.given):
            raise InputError(f"{self} gives {given!r}; it must give a mapping of parameters to values")
        return given

    def _set(self, given: Fields) -> None:
        if given.keys() != self.shapes.keys():
            raise InputError(f"{self} gives {', '.join(given) or 'nothing'}; it must give {', '.join(self.shapes)}"
                             " as at the start")
        new: dict[str, list[float]] = {}
        for name, shape in self.shapes.items():
            value = given[name]
            require_plain(f"{self}: {name}", value)
            try:
                values = value if isinstance(value, np.ndarray) and value.dtype == float else np.multiply(
                    value, 1.0, dtype=float)  # a text is no number
            except (TypeError, ValueError):
                raise InputError(f"{self}: {name} is {value!r}, which is no number") from None
            if values.shape != shape:
                raise InputError(f"{self}: {name} has the shape {values.shape}; it must have {shape}")
            flat = values.ravel().tolist()
            if not isfinite(sum(flat)) and not all(map(isfinite, flat)):
                raise InputError(f"{self}: {name} is not finite: {values.tolist()}")
            new[name] = flat
        self.given.append(new)
        self._put(new)

    def _put(self, values: Mapping[str, list[float]]) -> None:
        for name, flat in values.items():
            for leaf, place, k in self.targets[name]:
                leaf[place] = flat[k]

    @property
    def parameters(self) -> Parameters:
        """Those of the run, with what is held now."""
        return {**self.spec.parameters, **{name: np.reshape(self.given[-1][name], shape)
                                           for name, shape in self.shapes.items()}}

    def ask(self, t: float, y: np.ndarray, before: tuple[float, Mapping[str, np.ndarray]] | None) -> None:
        """Call the function at a state. before: time, and what was counted up to it."""
        self.y[:], self.before = y, before
        if self.sight.recount and before:
            self.sight.recount(*before)
        on_own_arrays(self.sight.component).read(t, self.y)
        if self._ask(t):
            raise InputError(self.error)

    def fields(self, times: np.ndarray, given: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Fields of samples with what was held until then; given: numbers of what is held behind them."""
        at = np.abs(times - self.spec.t_start) <= (given + STEP_TOLERANCE)*self.sample
        samples = []
        for number, row in zip(np.maximum(given - at, 0).tolist(), rows, strict=False):
            self._put(self.given[number])
            samples.append(self.reader.to_fields(row[None]))
        return {name: np.concatenate([one[name] for one in samples]) for name in samples[0]}

    def add_given(self, content: Content, given: np.ndarray) -> None:
        """What it gave at samples as variables."""
        for name, shape in self.shapes.items():
            about = self.spec.sheet.parameters[name]
            values = np.reshape([self.given[number][name] for number in given.tolist()], (-1, *shape))
            content.add(name if name not in content.variables else f"control_{name}", ("time", *(
                f"{name}_{k}" for k in range(len(shape)))), values, about.units,
                f"what the control gives from there on: {about.doc}")

    def _ask(self, t: float) -> int:
        try:
            self.t = t
            self._set(self._given())
        except InputError as error:
            self.error = str(error)
            return 1
        return 0


def run(spec: RunSpecification, progress: Progress | None = None) -> Content:
    """The content of the file of a run with a control. Adaptive methods end a step at each of its instants, which are
    the points of their samples and statistics.

    Raises:
        InputError: what the function gives is wrong, at a time, or what such runs do not have.
    """
    if spec.ensemble or spec.replicas > 1 or spec.exponents or spec.log_steps:
        raise InputError("control is for single runs and members of liestep.ensemble; leave out ensemble, replicas,"
                         " exponents and log_steps")
    require_partial_steps(spec)
    held = Controlled(spec)
    formulated, baseline = held.formulated, np.zeros(held.formulated.width)
    plain(formulated.problem).observe(held.y.copy(), baseline)
    baseline[~formulated.invariant_columns] = 0.0
    formulated.problem.counters[:] = 0
    outcome = _carried_out(held, baseline, progress)
    if held.error:
        raise InputError(held.error)
    every = abs(outcome.outputs.stride*(spec.step/held.sample if spec.step else 1.0))
    given = np.minimum(np.floor(np.arange(outcome.samples)*every + STEP_TOLERANCE), len(held.given) - 1).astype(int)
    if held.reader.bare:
        at = times(spec, outcome, outcome.samples)
        outcome = replace(outcome, formulated=replace(formulated, to_fields=partial(held.fields, at, given)))
    content = collected(spec, [outcome])
    held.add_given(content, given)
    return content


def _carried_out(held: Controlled, baseline: np.ndarray, progress: Progress | None) -> Outcome:
    spec, y, problem, integrator = held.spec, held.y, held.formulated.problem, held.integrator
    outputs, accepted = recorders(spec, held.formulated, baseline)
    made: tuple[Recorder | None, ...]  # `every` and `clock` are arguments of one of the loops only
    read, work, points = held.sight.component, integrator.workspace(problem, y), outputs.points
    if spec.step is None:
        function: Callable = advance_held_adaptive
        made, h, every, clock = (outputs, accepted), spec.duration/points, [], [spec.t_start, spec.direction]
    else:
        function, made, h, clock = advance_held, (outputs,), spec.step, list(spec.grid)
        ratio = held.sample/abs(h)
        every = [max(1, round(ratio))]
        if abs(ratio - every[0]) > STEP_TOLERANCE*every[0]:
            raise InputError(f"sample {held.sample!r} is no whole number of steps of {abs(h)!r}; the nearest is"
                             f" {every[0]*abs(h)!r}")
    loop = loop_for(function, integrator, problem, *made, read, work)
    status, done, time = Status.OK, 0, [0.0]
    with Pieces(y.size) as pieces:
        while status == Status.OK and done < points:
            status, done, *time = loop(integrator, problem, *made, y, h, done, min(done + pieces.steps, points), *every,
                                       held.address, read, work, *clock)
            pieces.ended()
            if progress:
                progress(done/points)
    reached, steps = (done*h, int(done)) if accepted is None else (
        spec.direction*time[0], int(problem.counters[Counter.STEPS_ACCEPTED]))
    return Outcome(held.formulated, outputs, accepted, held.formulated.ending(Status(status), y),
                   spec.t_start + reached, steps, counts(problem.counters))
