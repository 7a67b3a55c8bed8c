"""Text for people about one system or one integrator, made from what its file declares."""
import sys
import textwrap
from dataclasses import replace
from typing import Any

import numpy as np

from liestep.compile.straight.symbols import MOST_NODES, Untraceable
from liestep.errors import InputError, unknown
from liestep.integrators import lie_taylor, taylor
from liestep.mechanics.contracts.option import Option
from liestep.mechanics.contracts.parameters import Parameter, Preset
from liestep.mechanics.contracts.sheet import Sheet
from liestep.mechanics.formulations import formulate, formulate_standard
from liestep.simulation.catalogue import (
    integrator_calls,
    integrator_ids,
    method,
    refuse_renamed,
    sheet,
    system_entry,
    system_ids,
)
from liestep.simulation.machine_code.straight import action_routines, code_in_words, routines
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import applicable, complete_options, specify

WIDTH = 120
TOLERANCE, LEAST_STEPS = 1e-6, 100  # of a method that is only looked at
LONGEST = 4  # most values of an array that are shown one by one


def describe(name: str, integrator: str | None = None) -> str:
    """Fact sheet of a system or an integrator; of a system with an integrator, which code their runs get, and why.

    Raises:
        InputError: neither; names the closest id. Why the integrator cannot run on the system.
    """
    if integrator is not None:
        return _pair(name, integrator)
    if name in system_ids():
        return _system(name)
    if name in integrator_calls():
        return _integrator(name)
    refuse_renamed(name)
    raise InputError(unknown("problem or integrator", name, (*system_ids(), *integrator_ids())))


def _system(name: str) -> str:
    facts = sheet(name)
    able = [key for key in integrator_ids() if applicable(name, key)]
    return "\n".join([
        f"{name}: {facts.title}", "", (sys.modules[system_entry(name).module].__doc__ or "").strip(), "",
        _entry("Equations", facts.equations), _entry("Source", facts.citation),
        _entry("State", "; ".join(_state(facts))), *_work(facts),
        "", "Parameters", *_columns([_parameter(key, rule) for key, rule in facts.parameters.items()]),
        "", "Presets (the first one is the default)",
        *(line for key, preset in facts.presets.items() for line in _preset(key, preset, facts)), "",
        "Options of its formulations (default first)", *_columns(_form_options(facts)), "",
        _entry("Integrators", ", ".join(able)), *_series(facts), *_code(facts)])


def _pair(name: str, integrator: str) -> str:
    """Which code the runs of a pair get, at the first preset."""
    facts = sheet(name)
    size = {"tolerance": TOLERANCE} if method(integrator).adaptive else {"steps": LEAST_STEPS}
    spec = specify(name, integrator, t_end=facts.presets[facts.default].t_end, samples=2, **size)
    formulated, component = build(spec)
    options = ", ".join(f"{key} {value}" for key, value in spec.options.items()) or "none"
    return "\n".join([f"{name} with {integrator}", "", f"Formulation: {formulated.formulation}",
                      _entry("Options", options), _entry("Code", code_in_words(formulated, component)),
                      *_series(facts, integrator)])


# title, integrator, its series
SERIES = (("Taylor series", "taylor", taylor.SERIES),
          ("Taylor series in the algebra", "lie_taylor", lie_taylor.SERIES))


def _series(facts: Sheet, only: str | None = None) -> list[str]:
    """What Taylor series of the vector field and in the algebra take, or why there are none; of one integrator."""
    preset, found = facts.presets[facts.default], []
    parameters = facts.check(preset.parameters)
    for title, name, series in SERIES:
        formulation = method(name).formulation
        if formulation not in facts.forms or only not in (None, name):
            continue
        try:
            options = complete_options(method(name), facts, parameters, {})
            made = formulate(facts, parameters, preset.initial(parameters), formulation, options)
            traced = series.traced(made.problem, made.start.shape)
        except (InputError, Untraceable) as error:
            found.append(_entry(title, f"none: {error}"))
            continue
        own = facts.forms[formulation].options
        chosen = ", ".join(f"{key} {value}" for key, value in options.items() if key in own)
        code = "straight-line code" if len(traced.nodes) <= MOST_NODES else "loops over a tape"
        found.append(_entry(title, f"{code}, {len(traced.nodes) - len(traced.inputs)} operations and"
                            f" {len(traced.guards)} guards in one evaluation{f' ({chosen})' if chosen else ''}"))
    return found


CODE = (("Stages of dop853", "dop853", routines, "rhs"), ("Map to the algebra", "rkmk853", action_routines, "algebra"))


def _code(facts: Sheet) -> list[str]:
    """Which code the equations of motion have."""
    preset, found = facts.presets[facts.default], []
    parameters = facts.check(preset.parameters)
    for title, name, routines_of, wanted in CODE:
        declared = method(name).on(facts)
        if declared.formulation not in facts.forms:
            continue
        try:
            options = complete_options(declared, facts, parameters, {})
            motion = formulate(facts, parameters, preset.initial(parameters), declared.formulation, options)
            code = routines_of(motion.problem, motion.start, motion.width,
                               declared.made(motion, options, TOLERANCE, preset.t_end))
            found.append(_entry(title, f"straight-line code, {code[wanted].operations} operations in one evaluation"))
        except (InputError, Untraceable) as error:
            found.append(_entry(title, f"loops: {error}"))
    return found


def _form_options(facts: Sheet) -> list[tuple[str, ...]]:
    """Options of all forms, with their defaults at the first preset."""
    parameters = facts.check(next(iter(facts.presets.values())).parameters)
    found: list[tuple[str, ...]] = []
    for formulation, form in facts.forms.items():
        defaults: dict[str, Any] = {}
        for key, option in form.options.items():
            defaults[key] = option.default_at(parameters, defaults)
            needs = "" if option.needs is None else f"; with {option.needs[0]} {' or '.join(option.needs[1])}"
            name, allowed, doc = _option(key, replace(option, default=defaults[key]))
            found.append((formulation, name, allowed, doc + needs))
    return found or [("none", "")]


def _parameter(name: str, rule: Parameter) -> tuple[str, ...]:
    allowed = " or ".join(rule.choices) if rule.choices else {"index": "whole numbers from 0"}.get(rule.rule, rule.rule)
    shape = ("text" if rule.choices else "scalar") if not rule.shape else f"[{', '.join(map(str, rule.shape))}]"
    return name, shape, rule.units, allowed, rule.doc


def _state(facts: Sheet) -> list[str]:
    """Name, shape, units and meaning of every field of the state."""
    preset = facts.presets[facts.default]
    parameters = facts.check(preset.parameters)
    found = formulate_standard(facts, parameters, preset.initial(parameters))
    return [f"{part.name} in {part.units}: {part.long_name}"
            for part in found.fields if part.name in facts.state_shapes(parameters)]


def _work(facts: Sheet) -> list[str]:
    """What the energy of a system with forces is."""
    preset = facts.presets[facts.default]
    parameters = facts.check(preset.parameters)
    found = formulate_standard(facts, parameters, preset.initial(parameters)).observables
    if not any(part.name == "work" for part in found):
        return []
    return [_entry("Energy", "energy less work: total energy less the work of the forces, which is conserved")]


def _preset(name: str, preset: Preset, facts: Sheet) -> list[str]:
    parameters = facts.check(preset.parameters)
    kept = [axis for axis, flag in zip("xyz", facts.conserved_momentum(parameters), strict=True) if flag]
    values = ", ".join(f"{key} = {_short(value)}" for key, value in parameters.items())
    return [f"  {name} ({preset.kind})", *_wrapped(preset.doc, 4), *_wrapped(f"source: {preset.citation}", 4),
            *_wrapped(f"t_end = {preset.t_end:g} s, conserved momentum: {', '.join(kept) or 'none'}", 4),
            *_wrapped(values, 4)]


def _integrator(name: str) -> str:
    facts = method(name)
    able = [key for key in system_ids() if applicable(key, name)]
    options = [_option(key, option) for key, option in facts.options.items()]
    return "\n".join([
        f"{name}: {facts.summary}", "",
        f"Order: {facts.order}{', symmetric' if facts.symmetric else ''}",
        f"Steps: {'adaptive, give a tolerance' if facts.adaptive else 'fixed, give a step'}",
        _entry("Conserves", facts.sentence),
        *([_entry("Forces of time and velocity", facts.forces)] if facts.forces is not None else []),
        _entry("Source", facts.citation or "none"),
        *([_entry("Calls with names of their own", ", ".join(f"{name} {call}" for call in facts.calls))] if facts.calls
          else []),
        *(["", "Options (default first)", *_columns(options)] if options else ["Options: none of its own"]),
        f"Options of the formulation {facts.formulation}: see `liestep describe` of a problem",
        "", _entry("Problems", ", ".join(able))])


def _option(name: str, option: Option) -> tuple[str, ...]:
    return name, option.allowed, option.doc


def _short(value: Any) -> str:
    """A parameter's value; of a long array its shape and range."""
    if not isinstance(value, np.ndarray):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if value.size <= LONGEST:
        return "[" + ", ".join(f"{item:g}" for item in value.ravel()) + "]"
    low, high = float(value.min()), float(value.max())
    return f"{value.shape} {low:g}" + (f" to {high:g}" if high > low else "")


def _entry(title: str, text: str) -> str:
    return textwrap.fill(f"{title}: {text}", WIDTH, subsequent_indent="  ", break_long_words=False)


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=" "*indent, subsequent_indent=" "*indent, break_long_words=False)


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows as aligned columns; the last column is wrapped."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        head = "  " + "".join(f"{cell:{width}}  " for cell, width in zip(row[:-1], widths, strict=True))
        lines += textwrap.wrap(row[-1], WIDTH, initial_indent=head, subsequent_indent=" "*len(head),
                               break_long_words=False)
    return lines
