"""Numbers that others can cite and test against: the start of every preset and its certified end
state with an error bound.

The bound of a field is three times the largest disagreement of two independent engines up to that time (largest
distance over bodies), because both can err to one side: against an engine of 64-bit mantissas that made neither, errors
were 1.0 and 2.1 times the disagreement (heavy top, four bodies). It is an estimate of the error, not a proof, and at
least a few units of round-off. End states are taken where the disagreement is at most TRUSTED of the field's scale:
chaotic presets end before their t_end.

In many digits they come from the extrapolated midpoint rule of the certificates, step after step, in numbers of some
more digits. A second run in other steps and with more digits says how many are right."""
import json
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from liestep.compile.status import IntegrationError
from liestep.errors import InputError, unknown
from liestep.files.textfiles import TableRow, write_text_atomically
from liestep.mechanics.contracts.formulated import StateField
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import ranked, sheet, system_ids
from liestep.simulation.references.reference import ReferenceSpecification, kept_reference, specify_reference
from liestep.simulation.runs.files import RunFile, read_attribute
from liestep.simulation.runs.specification import start_of
from liestep.simulation.runs.specified import RunSpecification
from liestep.study.tables.liestep_tables import csv_text
from liestep.tools.certify.judgement import Problem
from liestep.tools.certify.number import Number, numbers
from liestep.tools.certify.steps import Case, Step, flow, largest, on_manifold, step_of

PROVEN = Path(__file__).with_name("preset_bounds.json")
TRUSTED = 1e-9   # of the scale of a field
MARGIN = 3.0     # of bounds over disagreements
ROUND_OFF = 8*float(np.finfo(float).eps)
SAMPLES = 51


def export(folder: Path, problem: str | None = None, preset: str | None = None,
           digits: int | None = None) -> Iterator[str]:
    """Write references.csv and references.json; yields a line about each preset when it is done. References are kept in
    the folder as <problem>.<preset>.nc and used again while they are up to date. With `digits` starts and end states
    are decimal numbers of so many digits, at t_end, and no file is kept. Raises InputError: unknown names, or the
    folder cannot be written."""
    chosen = [(name, key, Path(folder)/f"{name}.{key}.nc")
              for name in ([problem] if problem else system_ids()) for key in _presets(name, preset)]
    for _, _, path in chosen:
        if path.exists() and read_attribute(path, "run_sha256") is None:  # it is not overwritten
            raise InputError(f"{path} exists and is not a file of liestep, or is damaged; remove it or choose"
                             " another folder")
    entries = []
    for name, key, path in chosen:
        spec = specify_reference(name, preset=key, samples=SAMPLES)
        try:
            found = end_of(spec, path) if digits is None else exact_end(spec.run, key, digits)
        except InputError as error:
            found = {"status": f"no end state: {error}"}
        entries.append(_about(name, key, spec.run.canonical()) | found)
        yield f"{name} {key}: {found['status']}"
    rows = [row for item in entries for row in _rows(item)]
    write_text_atomically(Path(folder)/"references.csv", csv_text(list(rows[0]), rows))
    about = __doc__.split("\n\n")[1].replace("\n", " ").strip() if digits is None else BOUND
    text = json.dumps({"error_bound": about, "trusted": TRUSTED, "references": entries}, indent=1)
    write_text_atomically(Path(folder)/"references.json", text + "\n")


def _presets(problem: str, preset: str | None) -> list[str]:
    known = sheet(problem).presets
    if preset is not None and preset not in known:
        raise InputError(unknown(f"preset of {problem}", preset, known))
    return [preset] if preset else list(known)


def _about(problem: str, preset: str, shared: Mapping[str, Any]) -> dict[str, Any]:
    facts, fields = sheet(problem), Problem(problem, preset).fields
    return {"problem": problem, "preset": preset, "citation": facts.presets[preset].citation,
            "equations": facts.equations, "parameters": shared["parameters"], "initial": shared["initial"],
            "fields": {name: {"units": field.units, "meaning": field.long_name,
                              "columns": list(_columns(field, np.shape(shared["initial"][name])))}
                       for name, field in fields.items()}}


def _columns(field: StateField, shape: tuple[int, ...]) -> Iterator[str]:
    """Names of the numbers of a field as in files that are judged: letters along xyz and wxyz, else whole numbers."""
    for index in np.ndindex(shape):
        yield "_".join((field.name, *(dim[k] if dim in ("xyz", "wxyz") else str(k)
                                      for dim, k in zip(field.dims, index, strict=True))))


def exact_end(run: RunSpecification, preset: str, digits: int) -> dict[str, Any]:
    """Start and end of a preset as decimal numbers, which are no float64."""
    initial, final, bound = many_digits(run.problem, preset, run.t_end, digits)
    found = {"parameters": run.canonical()["parameters"], "initial": initial, "t_end": run.t_end, "final": final}
    known = json.loads(PROVEN.read_text("utf-8")).get(f"{run.problem} {preset}", {})
    proven = known and all(found[key] == value for key, value in known.items() if key != "bound")
    return found | {"error_bound": dict.fromkeys(final, known["bound"] if proven else bound),
                    "status": f"{digits} digits, {'proven' if proven else 'estimated'} bound"}


def end_of(spec: ReferenceSpecification, path: Path) -> dict[str, Any]:
    """End of a preset: numbers as floats, whose JSON text reads back as the same float64."""
    reference = kept_reference(path, spec)
    last, bounds = certified(reference, list(spec.run.initial))
    if last == 0:
        raise InputError(f"the engines disagree by more than {TRUSTED:g} before t = {reference['time'][1]:g}")
    short = ("" if last == SAMPLES - 1 else f", the engines disagree by more than {TRUSTED:g} before t ="
             f" {reference['time'][last + 1]:g}")
    return {"t_end": float(reference["time"][last]),
        "final": {name: reference[name][last].tolist() for name in spec.run.initial}, "error_bound": bounds,
        "energy": float(reference["energy"][last]), "engines": reference.attributes["engines"],
        "status": f"certified at t = {reference['time'][last]:g}{short}"}


def certified(reference: RunFile, names: list[str]) -> tuple[int, dict[str, float]]:
    """Last sample up to which the engines agree to TRUSTED of every field's scale, and the bound of each field until
    then."""
    gaps = {name: np.maximum.accumulate(reference[f"disagreement_{name}"]) for name in names}
    last = min(int(np.count_nonzero(gap <= TRUSTED)) - 1 for gap in gaps.values())
    return (last, {name: float(max(MARGIN*gap[last], ROUND_OFF)*reference.attributes[f"scale_{name}"])
                   for name, gap in gaps.items()})


def _rows(item: dict[str, Any]) -> Iterator[TableRow]:
    """One row per number of the state, 17 significant digits or those asked for."""
    for name, field in item["fields"].items():
        final = np.ravel(item["final"][name]) if "final" in item else [None]*len(field["columns"])
        for column, first, last in zip(field["columns"], np.ravel(item["initial"][name]), final, strict=True):
            yield {"problem": item["problem"], "preset": item["preset"], "column": column, "units": field["units"],
                   "initial": _number(first), "t_end": item.get("t_end"), "final": _number(last),
                   "error_bound": item.get("error_bound", {}).get(name), "status": item["status"]}


def _number(value: float | str | None) -> str | None:
    return value if value is None or isinstance(value, str) else f"{value:.16e}"


SPARE, MORE = 20, 10  # digits that a run has beyond those asked for, and the second run beyond those
PARTS = (3, 4)        # of the whole time: the first steps that the two runs try; one that fails is halved
HALVINGS = 14         # of these
EXTRAPOLATED = 18     # columns of the extrapolation
TIMES = 10            # of the bound over the difference of the two runs
NUMBERS_OF_STATE = 100  # numbers of a state; more take hours
FEWEST, MOST = 17, 60
BOUND = ("Of every number of the end, from the printed start and parameters. Estimated: ten times the difference of two"
         " runs in other steps and digits. Proven: by interval arithmetic (rotation_bench/prove_presets.py).")


Decimals = dict[str, list[str]]  # numbers by field


def many_digits(problem: str, preset: str, t_end: float, digits: int) -> tuple[Decimals, Decimals, str]:
    """(start, end, bound of the end) of a preset up to t_end in so many decimal digits; the start has ten more, so that
    rounding it does not count. Its directions and attitudes, which are float64, are first put on their manifold to all
    digits.

    Raises:
        InputError: the equations are not smooth or hold numbers of 16 digits, the state is too large, or the number of
            digits is not allowed.
    """
    if not FEWEST <= digits <= MOST:
        raise InputError(f"digits must be from {FEWEST} to {MOST}, not {digits}")
    known, start = sheet(problem), start_of(problem, preset=preset)
    count = sum(values.size for values in start.initial.values())
    if count > NUMBERS_OF_STATE:
        raise InputError(f"a state of {count} numbers; many digits are for at most {NUMBERS_OF_STATE}")
    fields = [_field(Case(problem, problem, preset), digits + more) for more in (SPARE, SPARE + MORE)]
    ends = [_end(field, Fraction(t_end), Fraction(t_end)/parts) for field, parts in zip(fields, PARTS, strict=True)]
    kind = numbers(digits + SPARE)
    rough = formulate(known, start.parameters, start.initial, "vector_field", {})
    with kind.floats_are_data():
        exact = on_manifold(rough.fields, start.initial, digits + SPARE)
        rows = formulate(known, start.parameters, exact, "vector_field", {}).to_fields
        last = rows(np.array(ends[0], dtype=object)[None])
    gap = max(abs(float(coarse - fine)) for coarse, fine in zip(ends[0].flat, ends[1].flat, strict=True))
    size = float(largest(ends[0]))
    return (_decimals(exact, start.initial, kind, digits + MORE), _decimals(last, start.initial, kind, digits),
            f"{TIMES*gap + size*10.0**-digits:.1e}")


def _decimals(found: Mapping[str, np.ndarray], names: Iterable[str], kind: type[Number], digits: int) -> Decimals:
    return {name: [kind.context.nstr(kind.of(x), digits, strip_zeros=False) for x in found[name].flat]
            for name in names}


def _field(case: Case, digits: int) -> Step:
    try:
        return step_of(case, ranked("shown", "vector_field")[0], {}, digits)
    except (TypeError, AttributeError):
        raise InputError("its equations are made by functions of float64, not of many digits") from None


def _end(field: Step, t_end: Fraction, step: Fraction) -> np.ndarray:
    """The state at t_end in steps that start at `step`."""
    kind, done, least = numbers(field.digits), Fraction(0), step/2**HALVINGS
    while done < t_end:
        size = min(step, t_end - done)
        try:
            extrapolated = flow(field, kind.of(size), kind.of(done), EXTRAPOLATED)
            reached = extrapolated.reached
        except IntegrationError:
            reached = False
        if reached:
            field, done = field._replace(start=extrapolated.state), done + size
        elif step <= least:
            raise InputError(f"no {field.digits} digits at t = {float(done):g}: the equations are not smooth, or not in"
                             " so many digits")
        else:
            step /= 2
    return field.start

