"""First try of a plugin's systems and integrators, in plain Python: a mistake shows the user's own line."""
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from liestep.catalogue import own_systems, sheet
from liestep.contracts.method import Method
from liestep.contracts.sheet import Sheet, SphereSheet
from liestep.core import rows
from liestep.core.status import Status
from liestep.core.tracing import Functions, plain_component
from liestep.core.translation import plain_error
from liestep.errors import InputError, unknown
from liestep.formulations import FORMULATIONS, formulate
from liestep.references.engines import ENGINES
from liestep.runs.specification import system_options

PLAIN = Functions(*(getattr(function, "py_func", function) for function in (rows.sqrt, rows.sin, rows.cos, rows.below)))
STEPS = 1000  # the tried step is so small a part of the preset's t_end


@contextmanager
def user_lines(path: Path, what: str):
    """Exceptions become InputError with the line of the user's file."""
    try:
        with np.errstate(all="ignore"):
            yield
    except InputError as error:
        raise InputError(f"{path}: {what}: {error}") from None
    except Exception as error:
        raise InputError(plain_error(error, path)) from None


def plain(component: Any) -> Any:
    """The component with methods in plain Python."""
    return plain_component(component, PLAIN, np.float64)


def first_start(facts: Sheet) -> tuple[dict, dict]:
    """Checked parameters and state of a system's first preset."""
    preset = next(iter(facts.presets.values()))
    parameters = facts.check(preset.parameters)
    return parameters, facts.check_initial(parameters, preset.initial(parameters))


def try_sheet(name: str, facts: Sheet, path: Path) -> None:
    """Make each formulation at the first preset and evaluate it once.

    Raises:
        InputError: it cannot; one sentence with the line.
    """
    if not facts.presets:
        raise InputError(f"{path}: system {name} has no preset; it needs one, with parameters, a start and t_end")
    for formulation in facts.formulations:
        if formulation not in FORMULATIONS:
            raise InputError(f"{path}: system {name}: {unknown('formulation', formulation, FORMULATIONS)}")
    if len(facts.engines) != 2 or facts.engines[0] == facts.engines[1] or not set(facts.engines) <= set(ENGINES):
        raise InputError(f"{path}: system {name}: engines must be two different ones of {', '.join(ENGINES)}, not"
                         f" {', '.join(map(str, facts.engines))}")
    with user_lines(path, f"system {name}"):
        parameters, start = first_start(facts)
        if len(facts.conserved_momentum(parameters)) != 3:
            raise InputError("conserved_momentum must return three values, one for each axis")
        if isinstance(facts, SphereSheet):
            system, q = plain(facts.build(parameters)), start["q"].copy()
            out = np.full_like(q, np.nan)
            value = system.potential(q)
            system.gradient(q, out)
            if not np.isfinite(value) or not np.isfinite(out).all():
                raise InputError("potential or gradient is not finite at the start of preset"
                                 f" {next(iter(facts.presets))}, or some rows of out are not written")
            if not np.array_equal(q, start["q"]):
                raise InputError("potential or gradient changes q; write to out only")
        for formulation in facts.formulations:
            choices = {"vector_field": ("form", facts.forms), "lie_action": ("action", facts.actions)}
            word, names = choices.get(formulation, ("", ()))
            for choice in names or ("",):
                options = {"form": facts.forms[0] if facts.forms else "",
                           "action": facts.actions[0] if facts.actions else "", **({word: choice} if word else {})}
                _try_formulation(facts, parameters, start, formulation, options)


def _try_formulation(facts: Sheet, parameters: dict, start: dict, formulation: str, options: dict) -> None:
    """Call what integrators call, once. Raises InputError for a method that the system lacks."""
    try:
        found = formulate(facts, parameters, start, formulation, options)
        problem, y = plain(found.problem), found.start.copy()
        problem.observe(y.copy(), np.zeros(found.width))
        if formulation == "vector_field":
            problem.rhs(0.0, y, np.zeros_like(y))
        elif formulation == "lie_action":
            problem.algebra(0.0, y, np.zeros((problem.algebra_rows(), 3)))
        elif hasattr(problem, "torque_slope"):
            problem.torque(y)
            problem.torque_slope(y, (1.0, 0.0, 0.0))
    except AttributeError as error:
        raise InputError(f"{type(error.obj).__name__} has no {error.name}, which formulation {formulation} needs"
                         ) from None


def try_method(name: str, declared: Method, path: Path) -> None:
    """Take one step on the first built-in system with the method's formulation.

    Raises:
        InputError: it cannot; one sentence with the line.
    """
    if declared.formulation not in FORMULATIONS:
        raise InputError(f"{path}: integrator {name}: {unknown('formulation', declared.formulation, FORMULATIONS)}")
    facts = next(sheet(key)
                 for key in ("sphere_nbody", *own_systems()) if declared.formulation in sheet(key).formulations)
    with user_lines(path, f"integrator {name}"):
        parameters, start = first_start(facts)
        options = system_options(declared, facts, parameters,
                                 declared.resolve(declared.check_options({}), not facts.coupled(parameters)))
        found = formulate(facts, parameters, start, declared.formulation, options)
        t_end = next(iter(facts.presets.values())).t_end
        component = declared.build(options, 1e-6 if declared.adaptive else None, t_end)
        if not hasattr(component, "_fields"):
            raise InputError(f"build must return a NamedTuple, not a {type(component).__name__}")
        if not component._fields:
            raise InputError(f"{type(component).__name__} needs at least one field, used or not: Numba compiles no"
                             " empty NamedTuple")
        _step(plain(component), plain(found.problem), found.start.copy(), t_end/STEPS, declared.adaptive)


def _step(component: Any, problem: Any, y: np.ndarray, h: float, adaptive: bool) -> None:
    work = component.workspace(problem, y)
    if adaptive:
        component.start(problem, y, h*STEPS, work)
        status = component.attempt(problem, 0.0, y, h, work)[0]
    else:
        component.start(problem, 0.0, y, work)
        status = component.step(problem, 0.0, y, h, work)
    if not isinstance(status, Status):
        raise InputError(f"{'attempt' if adaptive else 'step'} must return a Status, for example Status.OK,"
                         f" not {status!r}")
    if status == Status.OK and not np.isfinite(y).all():
        raise InputError("a step makes the state NaN or infinite")
    if status != Status.OK and not adaptive:
        raise InputError(f"the first step fails: {status.sentence}")


