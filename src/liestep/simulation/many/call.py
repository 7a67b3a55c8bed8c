"""Many runs from Python: from arrays of starts and parameters to a data set with the dimension `member`."""
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from liestep.compile.roles import Integrator
from liestep.compile.status import Status
from liestep.errors import InputError, names_in, number_or_nan, unknown
from liestep.files.terminal import progress_bar
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.manifold import DRIFTED, MANIFOLD_TOLERANCE, drifting
from liestep.mechanics.contracts.sheet import Fields, Noted, Options, Parameters, Preset, real_array
from liestep.mechanics.contracts.varied import Varied
from liestep.simulation.catalogue import Identified, integrator_entry, system_entry
from liestep.simulation.endings.events import Event, Zero
from liestep.simulation.many.blocks import FEWEST
from liestep.simulation.runs.batch import Batch
from liestep.simulation.runs.batches import Repeated
from liestep.simulation.runs.content import Content, largest_momentum_error, origin, series, statistics
from liestep.simulation.runs.estimate import DENSE, IMPLICIT, OBSERVABLES, estimate, memory, readable
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.members import in_groups
from liestep.simulation.runs.numbers import mapping, whole
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.own_names import own_names
from liestep.simulation.runs.simulation import add_own_names, to_dataset
from liestep.simulation.runs.specification import DEFAULT_SAMPLES, specify_again
from liestep.simulation.runs.specified import RunSpecification

if TYPE_CHECKING:
    import xarray

END, SAMPLES, STATISTICS = "end", "samples", "statistics"
KEPT = {"least": "smallest value over all steps", "largest": "largest value over all steps",
        "mean": "mean over all steps, the start among them"}
PATIENCE = 60.0   # s of steps
AT_ONCE = 4_000_000  # numbers of the records of members that are held at a time
MEMBER = "member"


def ensemble(problem: str | Identified, method: str, *, starts: Fields | None = None,
             parameters: Parameters | None = None, step: float | None = None, tolerance: float | None = None,
             t_end: float | None = None, preset: str | None = None, keep: str | Sequence[str] = "end",
             times: Sequence[float] | None = None, until: Zero | Event | None = None, t_start: float | None = None,
             threads: int | None = None, progress: bool = False, memory: int | None = None,
             options: Options | None = None, control: Callable | None = None,
             sample: float | None = None) -> "xarray.Dataset":
    """Make many runs at once, one for each member of the arrays that are given. Every member has the bits of a run by
    `simulate`, however many there are, in whatever order, and whatever `threads` is.

    Args:
        problem: a system or its id, see `list_systems()`.
        method: id of an integrator, see `list_integrators(problem)`.
        starts: state fields, each an array (member, ...) of what `simulate` takes as `initial`, or one value for all
            (default: those of the preset).
        parameters: by name, one value for all, or an array with the dimension of members first (default: those of the
            preset).
        step: of methods with fixed steps, in s, positive; must divide the length of the run.
        tolerance: of adaptive methods, relative; each member has steps of its own.
        t_end: end time in s (default: t_start and the duration of the preset).
        preset: of named parameters, start and t_end (default: the system's).
        keep: "end": the last states. "samples": states and observables at equally spaced times, at most 1001, or at
            `times`. "statistics": what `simulate` has as attributes, such as `energy_error_max`. Names of observables:
            the least, largest and mean value of each over all steps.
        times: own output times in s, with keep="samples" (default: none).
        until: end each member where a function of its state is zero, as for `simulate` (default: none).
        t_start: start time in s (default: 0).
        threads: how many share the work (default: 1).
        progress: show a bar.
        memory: bytes that the call may take (default: those of the machine).
        options: of the integrator and of the system's form, as for `simulate` (default: none).
        control: as for `simulate`, of one member after the other; what it remembers its method `start` sets anew.
        sample: as for `simulate`.

    Returns:
        Data set with the dimension `member`: the state fields at the end, or what `keep` asks for, in the units of
        `simulate`; `status`, whose attribute flag_meanings has the words, `time_reached` in s, and `steps`. A member
        that stopped early is NaN and raises nothing.

    Raises:
        InputError: a wrong argument, in one sentence that names the member; or more memory than there may be.
        KeyboardInterrupt: Ctrl-C; what was done is lost.

    Example:
        start = np.random.default_rng(0).normal([0, 0, 1], 0.1, (1000, 3))
        ends = liestep.ensemble("free_rigid_body", "rk4", starts={"angular_momentum": start}, step=0.01, t_end=1.0)
    """
    asked = MemberRequest(str(problem), method, preset, mapping("starts", starts), mapping("parameters", parameters),
                  {"step": step, "tolerance": tolerance, "t_end": t_end, "t_start": t_start, "until": until,
                   "times": times, "options": options, "control": control, "sample": sample}, keep)
    number = 1 if threads is None else min(whole("threads", threads), 4*(os.cpu_count() or 1))
    asked.require_memory(memory)
    with progress_bar(f"{method} on {problem}, {asked.count} members", progress) as shown:
        try:
            return to_dataset(asked.collected(number, shown))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"interrupted: the {asked.count} members are lost") from None


def members_from(text: str, problem: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Starts and parameters of members from a command line. Raises InputError: it is neither FILE.npz nor
    NAME=FROM:TO:COUNT."""
    if text.endswith(".npz"):
        try:
            with np.load(text) as file:
                arrays = dict(file)
        except (OSError, ValueError) as error:
            raise InputError(f"--members {text}: {error}") from None
        known = system_entry(problem).item.parameters
        return ({name: values for name, values in arrays.items() if name not in known},
                {name: values for name, values in arrays.items() if name in known})
    name, _, span = text.partition("=")
    numbers = [number_or_nan(part) for part in span.split(":")]
    if len(numbers) != 3 or not np.isfinite(numbers).all():
        raise InputError(f"--members {text[:60]!r} must be NAME=FROM:TO:COUNT, for example mass=1:2:100, or FILE.npz")
    return {}, {name: np.linspace(numbers[0], numbers[1], whole("--members count", numbers[2]))}


@dataclass
class MemberRequest:
    """A checked request. Raises InputError."""

    problem: str
    method: str
    preset: str | None
    starts: Fields
    parameters: Parameters
    more: Mapping[str, Any]
    keep: str | Sequence[str]

    def __post_init__(self) -> None:
        self.system = system_entry(self.problem)
        self.varied, self.shared = self._parameters()
        self.moved, self.placed = self._starts()
        counts = {name: len(values) for name, values in (*self.moved.items(), *self.varied.items())}
        if not counts:
            raise InputError("nothing differs between members: give an array (member, ...) in starts or in parameters")
        if len(set(counts.values())) > 1:
            raise InputError("arrays have different numbers of members: "
                             + ", ".join(f"{name} {count}" for name, count in counts.items()))
        self.count = next(iter(counts.values()))
        if not self.count:
            raise InputError(f"{next(iter(counts))} has no member; at least one is needed")
        self.asked = dict(self.more)
        if self.keep != SAMPLES and self.more["times"] is None and (self.keep != STATISTICS or not self.more["until"]):
            self.asked["samples"] = 2
            if integrator_entry(self.method).item.adaptive:
                self.asked["outputs"] = DEFAULT_SAMPLES if self.keep == STATISTICS else 2
        self.spec = self.member(0)
        for name in self.named:
            words = [END, SAMPLES, STATISTICS]*isinstance(self.keep, str)  # a list is of observables
            if name not in (known := [*words, *(part.name for part in self.built[0].observables)]):
                raise InputError(unknown("keep", name, known))
        if self.spec.times is not None and self.keep != SAMPLES:
            raise InputError("times are those of samples: give keep='samples' with them")
        if self.spec.until is not None and self.keep not in (END, STATISTICS):
            raise InputError("members end at different times by until: give keep='end' or 'statistics' with it")

    @property
    def named(self) -> list[str]:
        """Observables that are kept by their names."""
        return [] if self.keep in (END, SAMPLES, STATISTICS) else list(names_in("keep", self.keep))

    @property
    def _preset(self) -> Preset:
        """The default one if the name is wrong, which is told later."""
        facts = self.system.item
        return facts.presets[self.preset if isinstance(self.preset, str) and self.preset in facts.presets else
                             facts.default]

    def _parameters(self) -> tuple[dict[str, np.ndarray], dict[str, ArrayLike]]:
        """Those with a value for each member, and the others."""
        facts = self.system.item
        varied: dict[str, np.ndarray] = {}
        shared: dict[str, ArrayLike] = {}
        for name, given in self.parameters.items():
            usual = self._preset.parameters.get(name)
            if usual is None and name in facts.parameters:
                usual = facts.parameters[name].default
            try:
                many = usual is not None and np.ndim(given) == np.ndim(usual) + 1
            except ValueError:
                raise InputError(f"parameter {name}: rows of different lengths, which would change a shape") from None
            if many and name in facts.parameters:
                varied[name] = np.asarray(given) if isinstance(usual, str) else real_array(f"parameter {name}", given)
            else:
                shared[name] = given
        return varied, shared

    def _starts(self) -> tuple[dict[str, np.ndarray], dict[str, ArrayLike]]:
        """Fields with a value for each member, and the others."""
        facts, first = self.system.item, {name: values[0] for name, values in self.varied.items() if len(values)}
        parameters = facts.check({**self._preset.parameters, **self.shared, **first})
        shapes = facts.state_shapes(parameters)
        own = own_names(facts, parameters)
        shapes = {**shapes, **{name: shapes[one.field] for name, one in own.items() if one.field in shapes}}
        moved, shared = {}, {}
        for name, given in self.starts.items():
            if name not in shapes:
                raise InputError(unknown("initial state field", name, shapes))
            values = real_array(f"starts {name}", given)
            if values.ndim == len(shapes[name]) and shapes[name][:1] == (1,) and len(values) > 1:
                values = values[:, None]  # the dimension of the only body may be left out
            if values.ndim == len(shapes[name]) + 1:
                moved[name] = values
            else:
                shared[name] = given
        return moved, shared

    @property
    def drift(self) -> float:
        """How far starts may be off their manifold."""
        return MANIFOLD_TOLERANCE if self.more["t_start"] is None else DRIFTED

    def member(self, number: int | slice) -> RunSpecification:
        """The run of a member, or those of a slice. Raises InputError, which names it."""
        own, moved = ({name: Varied(values[number]) if isinstance(number, slice) else values[number]
                       for name, values in part.items()} for part in (self.varied, self.moved))
        try:
            spec = specify_again(self.problem, integrator=self.method, preset=self.preset, initial=self.placed | moved,
                                 parameters=self.shared | own, **self.asked)
        except InputError as error:
            raise InputError(f"member {number}: {error}" if number or self.count > 1 else str(error)) from None
        if number and {name: np.shape(value) for name, value in spec.initial.items()} != {
                name: np.shape(value) for name, value in self.spec.initial.items()}:
            raise InputError(f"member {number}: {', '.join(self.varied)} give the state another shape than that of"
                             " member 0")
        if spec.steps is None or self.keep != END or spec.until or "statistics_every" in self.asked:
            return spec
        self.asked["statistics_every"] = spec.steps
        return self.member(number)

    @property
    def fewest(self) -> int | None:
        """Members for whom code of lanes is made; None, as in studies, where that takes up to a minute and their steps
        alone no longer: of equations in all unknowns, and of methods of several steps."""
        declared = self.spec.method.on(self.system.item)
        slow = declared.formulation in (*IMPLICIT, DENSE) or declared.fewest_steps > 1
        return None if slow and self.count*estimate(self.spec).seconds < PATIENCE else FEWEST

    @cached_property
    def built(self) -> tuple[Formulated, Integrator]:
        """Problem and integrator of the first member."""
        return build(self.spec)

    def require_memory(self, most: float | None) -> None:
        """Raises InputError: the result and the records of members at a time take more."""
        spec = self.spec
        numbers = sum(prod(np.shape(values)) for values in spec.initial.values())
        each = 8*(3*numbers + 4 + (3*OBSERVABLES if self.keep != END else 0)
                  + (2*spec.samples*(numbers + OBSERVABLES) if self.keep == SAMPLES else 0))
        needed, there = self.count*each, memory() if most is None else whole("memory", most)
        if needed > there:
            raise InputError(f"keep={self.keep!r} of {self.count} members needs {readable(needed)} of memory, of which"
                             f" there are {readable(there)}: take fewer members at a time, or keep less")

    def batches(self, threads: int) -> Iterator[tuple[Sequence[int], Callable[[], Batch]]]:
        """Numbers of members, and what runs them."""
        spec, blocks = self.spec, bool(self.named)
        repeated = Repeated(spec)
        derived = {*self.moved} - {*spec.initial} or (self.moved and self._preset.kept)  # fields follow from others
        if self.varied or derived or not repeated.possible:
            yield from in_groups(spec, repeated.formulated, self.count, lambda number: (self.member(number),), blocks,
                                 self.fewest, threads)
            return
        width = repeated.formulated.width
        records = spec.samples*(repeated.formulated.start.size + width) + 8*width + (300*width if blocks else 0)
        room = max(64, AT_ONCE//records)
        for first in range(0, self.count, room):
            numbers = range(first, min(first + room, self.count))
            yield numbers, partial(self._repeated, repeated, numbers, threads)

    def _repeated(self, repeated: Repeated, numbers: Sequence[int], threads: int) -> Batch:
        states: dict[str, np.ndarray] = {
            name: np.ascontiguousarray(self.moved[name][numbers[0]:numbers[-1] + 1], dtype=np.float64)
            if name in self.moved else np.broadcast_to(values, (len(numbers), *np.shape(values)))
            for name, values in self.spec.initial.items()}
        system, seen = self.system.item, Noted(self.spec.initial, frozenset(self.moved))
        finite = np.all([np.isfinite(values).all(axis=tuple(range(1, values.ndim))) for values in states.values()],
                        axis=0)
        with drifting(self.drift):
            system.manifold(self.spec.parameters, seen)  # of member 0, which was checked
        each = seen.asked
        if each and system.stacked and finite.all():
            with suppress(InputError):  # unless all are on the manifold without any drift
                system.manifold(self.spec.parameters, states)
                each = False
        with drifting(self.drift):
            for k in range(len(numbers)) if each else np.flatnonzero(~finite)[:1].tolist():
                try:
                    system.check_initial(self.spec.parameters, {name: values[k] for name, values in states.items()})
                except InputError as error:
                    raise InputError(f"member {numbers[k]}: {error}") from None
        return repeated.run(states, blocks=bool(self.named), ends=self.keep == END, threads=threads, fewest=self.fewest)

    def collected(self, threads: int, shown: Callable[[float], None] | None) -> Content:
        """The content of the data set."""
        content, lead = Content(), (MEMBER, self.count)
        status, reached = np.zeros(self.count, np.int8), np.zeros(self.count)
        steps = np.zeros(self.count, np.int64)
        if self.spec.ending:
            self._single(content, status, reached, steps, shown)
        else:
            for numbers, run in self.batches(threads):
                batch, place = run(), slice(numbers.start, numbers.stop) if isinstance(numbers, range) else [*numbers]
                status[place], reached[place], steps[place] = batch.status, batch.time_reached, batch.steps
                for name, dims, values, units, meaning in self._kept(batch):
                    if not batch.finished.all():
                        values = np.where(batch.finished.reshape(-1, *[1]*(values.ndim - 1)), values, np.nan)
                    content.put(lead, place, (name, dims, values, units, meaning), self.spec.samples)
                if shown:
                    shown((numbers[-1] + 1)/self.count)
        if self.keep == SAMPLES:
            at = self.spec.times_of(np.arange(self.spec.samples)*((self.spec.outputs - 1)//(self.spec.samples - 1)))
            content.add("time", ("time",), at if self.spec.times is None else self.spec.times, "s", "time")
        add_own_names(self.spec, content, content.variables["time"][1] if self.keep == SAMPLES else reached,
                      (self.member(k).parameters for k in range(self.count)) if self.varied else ())
        content.add("status", (MEMBER,), status, "1", "how each member ended")
        flags: dict[str, Any] = content.variables["status"][2]
        flags |= {"flag_values": np.array([int(one) for one in Status], np.int8),
                  "flag_meanings": " ".join(one.name.lower() for one in Status)}
        content.add("time_reached", (MEMBER,), reached, "s", "time that each member reached")
        content.add("steps", (MEMBER,), steps, "1", "steps of each member")
        for name, values in self.varied.items():
            content.add(f"parameter_{name}", (MEMBER, *(f"{name}_{k}" for k in range(1, values.ndim))), values,
                        self.system.item.parameters[name].units, f"parameter {name}")
        failed = int((status != Status.OK).sum())
        content.attributes = {name: value for name, value in origin(self.spec).items() if name not in (
            "specification", "run_sha256", "history", "format")} | {
                "members": self.count, "members_failed": failed}
        return content

    def _kept(self, batch: Batch) -> Iterator[tuple[str, tuple[str, ...], np.ndarray, str, str]]:
        """Variables of a batch: names, dimensions, values, units, meaning."""
        formulated, outputs = batch.formulated, batch.outputs
        if self.keep == SAMPLES:
            yield from series(self.spec, batch, self.spec.samples)
            return
        last = formulated.to_fields(outputs.states[:, -1])
        for part in formulated.fields:
            yield part.name, part.dims, last[part.name], part.units, f"{part.long_name} at the end"
        if self.keep == STATISTICS:
            found = statistics(batch)
            for name, values in {**found, **largest_momentum_error(formulated, found)}.items():
                yield name, (), values, "1", f"{name} of each member"
        seen = batch.accepted or outputs
        for observable in formulated.observables:
            if observable.name not in self.named:
                continue
            at, start, base = observable.columns, outputs.series[:, 0], outputs.baseline
            count = np.maximum(seen.block_count.sum(axis=-1), 1)[:, None] + 1
            found = {"least": np.minimum(start, base + seen.block_low.min(axis=1)),
                     "largest": np.maximum(start, base + seen.block_high.max(axis=1)),
                     "mean": base + (start - base + seen.block_sum.sum(axis=1))/count}
            for name, values in found.items():
                yield (f"{observable.name}_{name}", observable.dimensions, observable.shaped(values[:, at]),
                       observable.units, f"{observable.long_name}: {KEPT[name]}")

    def _single(self, content: Content, status: np.ndarray, reached: np.ndarray, steps: np.ndarray,
                shown: Callable[[float], None] | None) -> None:
        """Runs with times of their own, up to an event, or with control, one after the other."""
        fields, lead = {part.name for part in self.built[0].fields}, (MEMBER, self.count)
        for number in range(self.count):
            made = carry_out(self.member(number))
            about, place = made.attributes, np.array([number])
            status[number] = Status.__members__.get(str(about["status"]).upper(), Status.OK)
            reached[number], steps[number] = about["time_reached"], about["steps"]
            finished = status[number] == Status.OK
            numbers = {"event_time": about["event_time"]} if "event_time" in about else {}
            if self.keep == STATISTICS:
                numbers |= {name: value for name, value in about.items()
                            if "_error_" in name and isinstance(value, float)}
            for name, value in numbers.items():
                content.put(lead, place, (name, (), np.array([value if finished else np.nan]),
                                          "s" if name == "event_time" else "1", f"{name} of each member"))
            for name, (dims, values, words) in made.variables.items():
                if dims[:1] != ("time",) or name == "time" or (self.keep != SAMPLES and name not in fields):
                    continue
                samples = self.keep == SAMPLES
                kept = values[None] if samples else values[-1:] if len(values) else np.zeros((1, *values.shape[1:]))
                content.put(lead, place, (name, dims if samples else dims[1:], kept if finished else kept*np.nan,
                                          words["units"], words["long_name"] + ("" if samples else " at the end")),
                            self.spec.samples if self.spec.times is None else len(self.spec.times))
            if shown:
                shown((number + 1)/self.count)
