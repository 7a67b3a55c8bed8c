"""Make a shard of a map: its cells one after the other, with the same compiled loop, and one file of all. Ensembles
whose members are reduced are made likewise. Files of shards are read as those of their cells, or as one file."""
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from liestep.compile import counters
from liestep.compile.status import Status
from liestep.compile.translation import without_folders
from liestep.errors import InputError, PluginError
from liestep.simulation.runs.batch import Batch
from liestep.simulation.runs.content import (
    Content,
    Variable,
    largest_momentum_error,
    message_of,
    origin,
    series,
    statistics,
    times,
)
from liestep.simulation.runs.execution import Outcome, not_run, slope_weights
from liestep.simulation.runs.files import RunFile
from liestep.simulation.runs.maps import ShardSpecification, first_of
from liestep.simulation.runs.members import in_groups, members, told_of, warnings_of
from liestep.simulation.runs.specified import RunSpecification

CELL, MEMBER = "cell", "member"  # dimensions
REFUSED = -1  # status of a cell whose parameters make no system
BETWEEN = "\n"  # texts of cells that are not all the same
START, END, LOW, HIGH, SLOPE = "start", "end", "low", "high", "slope"  # suffixes of an observable that is reduced
COUNTS = ("steps", *counters.NAMES, "statistics_points", "samples")


class CellArrays:
    """Arrays of all cells of a shard, or members of an ensemble, by name, NaN where one has no value: which observables
    there are may depend on the parameters."""

    def __init__(self, spec: RunSpecification, prototype: Outcome):
        self.spec, self.prototype, self.usual = spec, prototype, prototype.formulated.attributes
        self.lead = CELL if isinstance(spec, ShardSpecification) else MEMBER
        self.number = spec.trajectories
        self.content = Content()
        self.status = np.full(self.number, REFUSED, dtype=np.int64)
        self.counts = {name: np.zeros(self.number, dtype=np.int64) for name in COUNTS}
        self.words: dict[str, list[str]] = {}
        self.messages: dict[int, str] = {}
        self.warned: dict[int, str] = {}

    def add(self, numbers: Sequence[int], batch: Batch) -> None:
        """The results of the cells with these numbers."""
        spec, finished, formulated = self.spec, batch.finished, batch.formulated
        place = slice(numbers.start, numbers.stop) if isinstance(numbers, range) else [*numbers]
        summary = statistics(batch)
        scalars: dict[str, Any] = {"time_reached": batch.time_reached, **summary,
                                   **largest_momentum_error(formulated, summary)}
        for name, told in formulated.attributes.items():
            if isinstance(told, str):  # the usual one for cells that are refused
                row = self.words.setdefault(name, [usual := str(self.usual.get(name, ""))]*self.number)
                for cell in numbers if told != usual else ():
                    row[cell] = told
            else:
                scalars[name] = batch.scale if name == "momentum_scale" else np.full(len(finished), told)
        made = (reductions(batch, spec.t_end) if spec.reduced
                else series(spec, batch, int(batch.samples.max())))
        short = np.flatnonzero(batch.samples < batch.samples.max()).tolist()
        for variable in (*made, *((name, (), values, "s" if name == "time_reached" else "1",
                                   f"{name} of each {self.lead}") for name, values in scalars.items())):
            self.content.put((self.lead, self.number), place, variable, spec.samples, finished)
            for one in short if "time" in variable[1] else ():  # what is read of no sample may be a number
                self.content.variables[variable[0]][1][numbers[one], batch.samples[one]:] = np.nan
        self.status[place] = batch.status
        for name, value in {"steps": batch.steps, **dict(zip(counters.NAMES, batch.counters.T, strict=True)),
                            "samples": batch.samples, "statistics_points": batch.outputs.filled[:, 1]}.items():
            self.counts[name][place] = value
        self.warned |= {first_of(spec) + numbers[row]: text for row, text in warnings_of(
            batch, summary, lambda row: spec.cell(numbers[row]) if isinstance(spec, ShardSpecification) else spec)}
        for one in np.flatnonzero(~finished).tolist():
            self.messages[numbers[one]] = message_of(batch.member(one), spec)

    def refuse(self, number: int, sentence: str, status: int = REFUSED) -> None:
        """A cell that cannot be made."""
        self.status[number] = status
        self.messages[number] = sentence

    def collected(self) -> Content:
        spec = self.spec
        content = Content(whole=self.content.whole)
        if not spec.reduced:
            content.add("time", ("time",), times(spec, self.prototype, spec.samples), "s", "time")
        for name, values, units, long_name in self.coordinates():
            content.add(name, (self.lead,), np.ascontiguousarray(values), units, long_name)
        endings = ", ".join(f"{value} {name_of(value)}" for value in sorted({0, *self.status.tolist()}))
        content.add("status", (self.lead,), self.status, "1", f"how each {self.lead} ended: {endings}")
        for name, counted in self.counts.items():
            content.add(name, (self.lead,), counted, "1", f"{name} of each {self.lead}")
        content.variables |= self.content.variables
        if self.warned and self.lead == CELL and not spec.reduced:
            self.words["warning"] = [self.warned.get(first_of(spec) + k, "") for k in range(self.number)]
            self.warned = {}
        content.attributes = origin(spec) | self._ending() | told_of(self.warned, self.lead, self.number) | {
            name: each[0] if len(set(each)) == 1 else BETWEEN.join(each) for name, each in self.words.items()}
        return content

    def coordinates(self) -> Iterator[tuple[str, np.ndarray, str, str]]:
        """Parameters of the cells, or angles of starts on a grid: name, values, units, meaning."""
        spec = self.spec
        if isinstance(spec, ShardSpecification):
            for name, variable, values in zip(spec.map.names, spec.map.variables, spec.points.T, strict=True):
                units = spec.sheet.parameters[name.partition(".")[0]].units
                yield variable, values, units, f"parameter {name}"
        elif spec.ensemble is not None:
            yield from spec.ensemble.coordinates()

    def _ending(self) -> dict[str, Any]:
        """How the shard ended: as the first of its cells that did not come to its end."""
        spec, first = self.spec, first_of(self.spec)
        ending = {f"{self.lead}s": self.number, f"first_{self.lead}": first, "statistics_every": spec.statistics_every,
                 "coordinates": " ".join(name for name, *_ in self.coordinates())}
        if spec.reduced:
            ending["reduced"] = 1
        if not self.messages:
            return {"status": "ok", "message": Status.OK.sentence, **ending}
        number, sentence = min(self.messages.items())
        message = (f"{len(self.messages)} of {self.number} {self.lead}s did not come to their end; {self.lead}"
                   f" {first + number}: {sentence}")
        return {"status": name_of(int(self.status[number])), "message": message, **ending}


def name_of(status: int) -> str:
    """The word for how a cell ended."""
    return "refused" if status == REFUSED else Status(status).name.lower()


def carry_out_shard(spec: RunSpecification) -> Content:
    """Run all cells of a shard of a map, or all members of an ensemble that is reduced, one after the other. Raises
    InputError: not one of its cells can be made; the sentence is that of the first."""
    cells, refused = CellArrays(spec, not_run(spec)), {}
    for numbers, run in in_groups(
            spec, cells.prototype.formulated, spec.count, lambda number: (spec.cell(number),), spec.reduced
            ) if isinstance(spec, ShardSpecification) else members(spec):
        try:
            cells.add(numbers, run())
        except PluginError as error:  # code that cannot be compiled is that of all cells
            for rest in range(numbers[0], cells.number):
                cells.refuse(rest, without_folders(str(error)), Status.NOT_COMPILED)
            break
        except InputError as error:
            refused[numbers[0]] = error
            for number in numbers:
                cells.refuse(number, without_folders(str(error)))
    if refused and (cells.status == REFUSED).all():
        raise refused[min(refused)]
    return cells.collected()


def cells_of(file: RunFile, spec: ShardSpecification) -> Iterator[RunFile]:
    """The file of a shard as files of single runs: attributes and variables of each cell."""
    own = {name: values for name, values in file.variables.items() if name != "time"}
    scalars = [name for name, values in own.items() if values.ndim == 1]
    messages = str(file.attributes["message"])
    for number in range(spec.count):
        samples, status = int(own["samples"][number]), int(own["status"][number])
        numbers = {name: own[name][number].item() for name in scalars}
        attributes = {**file.attributes, **{name: value for name, value in numbers.items() if value == value}}
        attributes["status"] = name_of(status)
        attributes["message"] = (Status(status).sentence if status >= 0 else "its parameters make no system") if (
            f"cell {spec.first + number}: " not in messages) else messages.partition(": ")[2]
        for name, told in attributes.items():
            if isinstance(told, str) and told.count(BETWEEN) == spec.count - 1 > 0:
                attributes[name] = told.split(BETWEEN)[number]
        if attributes.get("warning") == "":
            del attributes["warning"]
        variables = {name: values[number, :samples] for name, values in own.items()
                     if values.ndim > 1 and not np.isnan(values[number, :samples]).any()}
        yield RunFile(file.path, attributes, {"time": file["time"][:samples], **variables})


def reductions(batch: Batch, t_end: float) -> Iterator[Variable]:
    """What is kept of trajectories without its samples: last state, extrema and drift slope of its observables, from
    what is kept inside the loop. What belongs to the end is NaN for one that stopped early; extrema are those of the
    steps that it made. low and high are the extrema of the deviation (of an invariant from its start, else from zero)
    over all counted points and accepted steps; slope, if there is one, is that of `slope_weights` in units per second.
    """
    recorder, formulated, finished = batch.outputs, batch.formulated, batch.finished[:, None]
    last = formulated.to_fields(recorder.states[:, -1])  # NaN until the end is reached
    for part in formulated.fields:
        yield f"{part.name}_{END}", part.dims, last[part.name], part.units, f"{part.long_name} at the end"
    start = np.where(batch.samples[:, None] > 0, recorder.series[:, 0], np.nan)
    weights, size = slope_weights(recorder.points, recorder.every, t_end)
    if len(batch.reduced):
        low, high, slope = np.moveaxis(batch.reduced, 1, 0)
    else:
        low = np.min([one.block_low.min(axis=1) for one in batch.recorders()], axis=0)
        high = np.max([one.block_high.max(axis=1) for one in batch.recorders()], axis=0)
        terms = weights[:, None]*(recorder.block_sum/np.maximum(recorder.block_count, 1)[..., None])
        slope = np.add.reduce([*np.moveaxis(terms, 1, 0)])/size  # in their order, as `loops.reduce_blocks`
    first = start - recorder.baseline
    arrays = {START: start, END: np.where(finished, recorder.series[:, -1], np.nan), LOW: np.minimum(first, low),
              HIGH: np.maximum(first, high)} | ({} if np.isnan(size) else {SLOPE: np.where(finished, slope, np.nan)})
    meaning = {START: "at the start", END: "at the end", LOW: "smallest deviation", HIGH: "largest deviation",
               SLOPE: "slope of the deviation"}
    for observable in formulated.observables:
        for suffix, values in arrays.items():
            units = f"{observable.units} s-1" if suffix == SLOPE else observable.units
            yield (f"{observable.name}_{suffix}", observable.dimensions,
                   observable.shaped(values[:, observable.columns]), units,
                   f"{observable.long_name}: {meaning[suffix]}")


def joined(files: Sequence[RunFile]) -> RunFile:
    """Members of all files in their order, with the attributes of the first file that stopped early, else of the first;
    samples up to the shortest."""
    first = files[0]
    attributes = next((file.attributes for file in files if file.failed), first.attributes)
    samples = min(len(file["time"]) for file in files) if "time" in first.variables else None  # None: all numbers
    return RunFile(first.path, dict(attributes), {
        name: first[name][:samples] if name == "time" else np.concatenate(
            [file[name][:, :samples] if file[name].ndim > 1 else file[name] for file in files])
        for name in first.variables if all(name in file.variables for file in files)})


def aggregated(file: RunFile) -> RunFile:
    """What is reduced, as one run: the largest of what is a maximum and the mean of other numbers, over what came to
    its end; the time that all have reached; how many came to their end."""
    status = file["status"]
    done = status == Status.OK
    attributes = dict(file.attributes) | {"trajectories": len(status), "trajectories_ok": int(done.sum())}
    for name, values in file.variables.items():
        if values.ndim != 1 or name == "status" or name.startswith(("parameter_", "turn_")):
            continue
        if name == "steps":
            attributes[name] = round(float(values.mean()))
        elif name == "time_reached":
            attributes[name] = float(np.nanmin(values)) if np.isfinite(values).any() else 0.0
        elif np.isfinite(values[done]).any():
            over = np.nanmax if "_max" in name else np.nanmean
            attributes[name] = float(over(values[done]))
    return RunFile(file.path, attributes, {})
