"""Make a shard of a map: its cells one after the other, with the same compiled loop, and one file of all."""
from collections.abc import Iterator
from typing import Any

import numpy as np

from liestep.catalogue import sheet
from liestep.core import counters
from liestep.core.status import Status
from liestep.core.translation import without_folders
from liestep.errors import InputError, PluginError
from liestep.runs.content import Content, described, largest_momentum_error, message_of, origin, statistics, times
from liestep.runs.execution import Outcome, not_run, run_once
from liestep.runs.files import RunFile
from liestep.runs.maps import ShardSpecification

CELL = "cell"
REFUSED = -1  # status of a cell whose parameters make no system
BETWEEN = "\n"  # texts of cells that are not all the same
COUNTS = ("steps", *counters.NAMES, "statistics_points", "samples")


class Cells:
    """Arrays of all cells of a shard by name, NaN where a cell has no value: which observables there are may depend on
    the parameters."""

    def __init__(self, spec: ShardSpecification, prototype: Outcome):
        self.spec, self.prototype = spec, prototype
        self.content = Content()
        self.status = np.full(spec.count, REFUSED, dtype=np.int64)
        self.counts = {name: np.zeros(spec.count, dtype=np.int64) for name in COUNTS}
        self.words: dict[str, list[str]] = {}
        self.messages: dict[int, str] = {}

    def add(self, number: int, outcome: Outcome) -> None:
        """The result of a cell."""
        samples, formulated, finished = outcome.samples, outcome.formulated, outcome.status == Status.OK
        fields = formulated.to_fields(outcome.outputs.states[:samples])
        for part in formulated.fields:
            self._put(part.name, (CELL, "time", *part.dims), number, fields[part.name], part.units, part.long_name,
                      finished)
        series = outcome.outputs.series[:samples]
        for seen in formulated.observables:
            self._put(seen.name, (CELL, "time", *seen.dimensions), number, seen.shaped(series[:, seen.columns]),
                      seen.units, described(seen), finished)
        self.status[number] = outcome.status
        counted = {"steps": outcome.steps, **outcome.counters, "samples": samples,
                   "statistics_points": int(outcome.outputs.filled[1])}
        for name, value in counted.items():
            self.counts[name][number] = value
        found = statistics(outcome)
        scalars: dict[str, float] = {"time_reached": outcome.time_reached, **found,
                                     **largest_momentum_error(outcome, found)}
        usual = self.prototype.formulated.attributes  # for cells that are refused
        for name, told in formulated.attributes.items():
            if isinstance(told, str):
                self.words.setdefault(name, [usual.get(name, "")]*self.spec.count)[number] = told
            else:
                scalars[name] = told
        for name, scalar in scalars.items():
            self._put(name, (CELL,), number, scalar, "s" if name == "time_reached" else "1", f"{name} of each cell",
                      finished)
        if not finished:
            self.messages[number] = message_of(outcome, self.spec.options)

    def _put(self, name: str, dims: tuple[str, ...], number: int, values: Any, units: str, long_name: str,
             finished: bool) -> None:
        """The values of one variable of a cell: of one that is not finished, up to its last sample."""
        if name not in self.content.variables:
            shape = (self.spec.samples, *np.shape(values)[1:]) if "time" in dims else ()
            self.content.add(name, dims, np.full((self.spec.count, *shape), np.nan), units, long_name)
            self.content.whole[name] = np.zeros(self.spec.count, dtype=bool)
        array = self.content.variables[name][1]
        if "time" in dims:
            array[number, :len(values)] = values
        else:
            array[number] = values
        self.content.whole[name][number] = finished

    def refuse(self, number: int, sentence: str, status: int = REFUSED) -> None:
        """A cell that cannot be made."""
        self.status[number] = status
        self.messages[number] = sentence

    def collected(self) -> Content:
        """All of it, as the file says it."""
        spec = self.spec
        content = Content(whole=self.content.whole)
        content.add("time", ("time",), times(spec, self.prototype, spec.samples), "s", "time")
        for name, variable, values in zip(spec.map.names, spec.map.variables, spec.points.T, strict=True):
            units = sheet(spec.problem).parameters[name.partition(".")[0]].units
            content.add(variable, (CELL,), np.ascontiguousarray(values), units, f"parameter {name}")
        endings = ", ".join(f"{value} {name_of(value)}" for value in sorted({0, *self.status.tolist()}))
        content.add("status", (CELL,), self.status, "1", f"how each cell ended: {endings}")
        for name, counted in self.counts.items():
            content.add(name, (CELL,), counted, "1", f"{name} of each cell")
        content.variables |= self.content.variables
        content.attributes = origin(spec) | self._ending() | {
            name: each[0] if len(set(each)) == 1 else BETWEEN.join(each) for name, each in self.words.items()}
        return content

    def _ending(self) -> dict[str, Any]:
        """How the shard ended: as the first of its cells that did not come to its end."""
        spec = self.spec
        found = {"cells": spec.count, "first_cell": spec.first, "statistics_every": spec.statistics_every,
                 "coordinates": " ".join(spec.map.variables)}
        if not self.messages:
            return {"status": "ok", "message": Status.OK.sentence, **found}
        number, sentence = next(iter(self.messages.items()))
        message = (f"{len(self.messages)} of {spec.count} cells did not come to their end; cell {spec.first + number}:"
                   f" {sentence}")
        return {"status": name_of(int(self.status[number])), "message": message, **found}


def name_of(status: int) -> str:
    """The word for how a cell ended."""
    return "refused" if status == REFUSED else Status(status).name.lower()


def carry_out_shard(spec: ShardSpecification) -> Content:
    """Run all cells of a shard.

    Raises:
        InputError: not one of its cells can be made; the sentence is that of the first.
    """
    cells, first = Cells(spec, not_run(spec)), None
    for number in range(spec.count):
        try:
            cells.add(number, run_once(spec.cell(number)))
        except PluginError as error:  # code that cannot be compiled is that of all cells
            for rest in range(number, spec.count):
                cells.refuse(rest, without_folders(str(error)), Status.NOT_COMPILED)
            break
        except InputError as error:
            first = first or error
            cells.refuse(number, without_folders(str(error)))
    if first is not None and (cells.status == REFUSED).all():
        raise first
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
        variables = {name: values[number, :samples] for name, values in own.items()
                     if values.ndim > 1 and not np.isnan(values[number, :samples]).any()}
        yield RunFile(file.path, attributes, {"time": file["time"][:samples], **variables})
