"""Text for people about one system or one integrator, made from what its file declares."""
import sys
import textwrap
from dataclasses import replace

import numpy as np

from liestep.compile.straight.symbols import MOST_NODES, Untraceable
from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.sheet import Checked, Options, Parameter, Parameters, Preset, Sheet
from liestep.mechanics.formulations import formulate, formulate_standard
from liestep.simulation import catalogue
from liestep.simulation.machine_code.straight import action_routines, code_in_words, routines
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import applicable, complete_options, specify

WIDTH = 120
TOLERANCE, LEAST_STEPS = 1e-6, 100  # of a method that is only looked at
SHOWN_VALUES = 4  # most values of an array that are shown one by one


def describe(name: str, integrator: str | None = None) -> str:
    """Fact sheet of a system or an integrator; of a system with an integrator, which code their runs get, and why.
    Raises InputError: neither; names the closest id. Why the integrator cannot run on the system."""
    if integrator is not None:
        return _pair(name, integrator)
    for known, shown in ((catalogue.system_entry, _system), (catalogue.integrator_entry, _integrator)):
        try:
            known(name)
        except InputError:
            continue
        return shown(name)
    raise InputError(unknown("problem or integrator", name, (*catalogue.system_ids(), *catalogue.integrator_ids())))


def _system(name: str) -> str:
    facts = catalogue.sheet(name)
    able = [key for key in catalogue.integrator_ids() if applicable(name, key)]
    preset, parameters = _first(facts)
    formulated = formulate_standard(facts, parameters, preset.initial(parameters))
    state = [f"{field.name} in {field.units}: {field.long_name}"
             for field in formulated.fields if field.name in facts.state_shapes(parameters)]
    work = any(observable.name == "work" for observable in formulated.observables)
    return "\n".join([
        f"{name}: {facts.title}", "", (sys.modules[catalogue.system_entry(name).module].__doc__ or "").strip(), "",
        _entry("Equations", facts.equations), _entry("Source", facts.citation), _entry("State", "; ".join(state)),
        *[_entry("Energy", "energy less work: total energy less the work of the forces, which is conserved")]*work,
        "", "Parameters", *_columns([_parameter(key, rule) for key, rule in facts.parameters.items()]),
        "", "Presets (the first one is the default)",
        *(line for key, preset in facts.presets.items() for line in _preset(key, preset, facts)), "",
        "Options of its formulations (default first)", *_columns(_form_options(facts)), "",
        _entry("Integrators", ", ".join(able)), *_code(facts)])


def _first(facts: Sheet) -> tuple[Preset, Parameters]:
    preset = facts.presets[facts.default]
    return preset, facts.check(preset.parameters)


def _pair(name: str, integrator: str) -> str:
    """Which code the runs of a pair get, at the first preset."""
    facts = catalogue.sheet(name)
    size = {"tolerance": TOLERANCE} if catalogue.method(integrator).adaptive else {"steps": LEAST_STEPS}
    spec = specify(name, integrator, t_end=facts.presets[facts.default].t_end, samples=2, **size)
    formulated, component = build(spec)
    options = ", ".join(f"{key} {value}" for key, value in spec.options.items()) or "none"
    return "\n".join([f"{name} with {integrator}", "", f"Formulation: {formulated.formulation}",
                      _entry("Options", options), _entry("Code", code_in_words(formulated, component)),
                      *_code(facts, integrator)])


def _series_in_words(facts: Sheet, declared: Method, made: Formulated, options: Options) -> str:
    assert declared.traced is not None
    traced = declared.traced(made.problem, made.start.shape)
    own = facts.forms[declared.formulation].options
    chosen = ", ".join(f"{key} {value}" for key, value in options.items() if key in own)
    code = "straight-line code" if len(traced.nodes) <= MOST_NODES else "loops over a tape"
    return (f"{code}, {len(traced.nodes) - len(traced.inputs)} operations and {len(traced.guards)} guards in one"
            f" evaluation{f' ({chosen})' if chosen else ''}")


def _routines_in_words(facts: Sheet, declared: Method, made: Formulated, options: Options) -> str:
    component = declared.made(made, options, TOLERANCE, _first(facts)[0].t_end)
    code, wanted = ((action_routines, "algebra") if declared.formulation == "lie_action" else (routines, "rhs"))
    made_of = code(made.problem, made.start, made.width, component)
    return f"straight-line code, {made_of[wanted].operations} operations in one evaluation"


def _code(facts: Sheet, only: str = "") -> list[str]:
    """Which code the equations of motion and their Taylor series have, or why there is none, by the methods that
    declare it (`Method.code`), series first; of one integrator its series alone."""
    found, (preset, parameters) = [], _first(facts)
    told = [catalogue.method(name).on(facts) for name in catalogue.own_integrators()
            if catalogue.method(name).code and (not only or (name == only and catalogue.method(name).traced))]
    for declared in sorted(told, key=lambda item: (item.traced is None, item.formulation != "vector_field")):
        if declared.formulation not in facts.forms:
            continue
        title, without, words = ((declared.code, "none", _series_in_words) if declared.traced else
                                 (declared.code, "loops", _routines_in_words))
        try:
            options = complete_options(declared, facts, parameters, {})
            made = formulate(facts, parameters, preset.initial(parameters), declared.formulation, options)
            found.append(_entry(title, words(facts, declared, made, options)))
        except (InputError, Untraceable) as error:
            found.append(_entry(title, f"{without}: {error}"))
    return found


def _form_options(facts: Sheet) -> list[tuple[str, ...]]:
    """Options of all forms, with their defaults at the first preset."""
    _, parameters = _first(facts)
    found: list[tuple[str, ...]] = []
    for formulation, form in facts.forms.items():
        defaults: dict[str, float | str] = {}
        for key, option in form.options.items():
            defaults[key] = option.default_at(parameters, defaults)
            needs = "" if option.needs is None else f"; with {option.needs[0]} {' or '.join(option.needs[1])}"
            found.append((formulation, key, replace(option, default=defaults[key]).allowed, option.doc + needs))
    return found or [("none", "")]


def _parameter(name: str, rule: Parameter) -> tuple[str, ...]:
    allowed = " or ".join(rule.choices) if rule.choices else {"index": "whole numbers from 0"}.get(rule.rule, rule.rule)
    shape = ("text" if rule.choices else "scalar") if not rule.shape else f"[{', '.join(map(str, rule.shape))}]"
    return name, shape, rule.units, allowed, rule.doc


def _preset(name: str, preset: Preset, facts: Sheet) -> list[str]:
    parameters = facts.check(preset.parameters)
    kept = [axis for axis, flag in zip("xyz", facts.conserved_momentum(parameters), strict=True) if flag]
    values = ", ".join(f"{key} = {_short(value)}" for key, value in parameters.items())
    told = (preset.doc, f"source: {preset.citation}",
            f"t_end = {preset.t_end:g} s, conserved momentum: {', '.join(kept) or 'none'}", values)
    return [f"  {name} ({preset.kind})", *(line for text in told for line in textwrap.wrap(
        text, WIDTH, initial_indent="    ", subsequent_indent="    ", break_long_words=False))]


def _integrator(name: str) -> str:
    facts = catalogue.method(name)
    able = [key for key in catalogue.system_ids() if applicable(key, name)]
    options: list[tuple[str, ...]] = [(key, option.allowed, option.doc) for key, option in facts.options.items()]
    return "\n".join([f"{name}: {facts.summary}", "",
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


def _short(value: Checked) -> str:
    """A parameter's value; of a long array its shape and range."""
    if not isinstance(value, np.ndarray):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if value.size <= SHOWN_VALUES:
        return "[" + ", ".join(f"{item:g}" for item in value.ravel()) + "]"
    low, high = float(value.min()), float(value.max())
    return f"{value.shape} {low:g}" + (f" to {high:g}" if high > low else "")


def _entry(title: str, text: str) -> str:
    return textwrap.fill(f"{title}: {text}", WIDTH, subsequent_indent="  ", break_long_words=False)


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows as aligned columns; the last column is wrapped."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        head = "  " + "".join(f"{cell:{width}}  " for cell, width in zip(row[:-1], widths, strict=True))
        lines += textwrap.wrap(row[-1], WIDTH, initial_indent=head, subsequent_indent=" "*len(head),
                               break_long_words=False)
    return lines
