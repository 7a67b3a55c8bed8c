"""First try of a plugin's systems and integrators, in plain Python: a mistake shows the user's own line."""
import inspect
import re
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from liestep.compile.roles import Problem, System
from liestep.compile.status import Status
from liestep.compile.tracing import on_own_arrays
from liestep.compile.translation import plugin_errors
from liestep.errors import InputError, unknown
from liestep.files import PACKAGE
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import PROTOCOLS
from liestep.mechanics.contracts.method import Keeps, Method
from liestep.mechanics.contracts.sheet import Form, Parameters, Sheet
from liestep.mechanics.formulations import formulate, formulate_standard
from liestep.mechanics.formulations.probed import plain
from liestep.simulation.catalogue import sheet, systems_to_try
from liestep.simulation.references.engines import ENGINES
from liestep.simulation.runs.specification import complete_options

TRIED, LOST = 20, 1e-10  # steps by which a declaration is tried, and the largest relative change that is round-off
ALONG = 200  # steps along the trajectory of a first preset
STEPS = 1000  # the step that is tried is t_end/STEPS of the preset


@contextmanager
def user_lines(path: Path, what: str) -> Iterator[None]:
    """Exceptions become InputError with the line of the user's file, or with the file and `what`."""
    with plugin_errors(path), np.errstate(all="ignore"):
        try:
            yield
        except InputError as error:
            raise InputError(f"{path}: {what}: {error}") from None


def require_types(item: Sheet | Method, what: str) -> None:
    """Raises InputError for a field that is none of its type."""
    for name, hint in get_type_hints(type(item)).items():
        if not _fits(getattr(item, name), hint):
            kind = re.sub(r"\w+\.", "", inspect.formatannotation(hint))
            raise InputError(f"{what}: {name} must be of the type {kind}, not {getattr(item, name)!r}")


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is of a type; of functions, that it can be called."""
    kind, inside = get_origin(hint), get_args(hint)
    if hint is Any or kind is Callable:
        return hint is Any or callable(value)
    if kind in (Union, UnionType):
        return any(_fits(value, choice) for choice in inside)
    if kind is tuple:
        each = inside[:1]*len(value) if isinstance(value, tuple) and inside[-1] is ... else inside
        return isinstance(value, tuple) and len(value) == len(each) and all(map(_fits, value, each))
    if kind is Mapping:
        return isinstance(value, Mapping) and all(_fits(part, inside[1]) for part in value.values())
    return isinstance(value, {int: Integral, float: Real}.get(hint, kind or hint))


def first_start(facts: Sheet) -> tuple[Parameters, dict[str, np.ndarray]]:
    """Checked parameters and state of a system's first preset."""
    preset = facts.presets[facts.default]
    parameters = facts.check(preset.parameters)
    return parameters, facts.check_initial(parameters, preset.initial(parameters))


def try_declared(sheets: Mapping[str, Sheet], methods: Mapping[str, Method], path: Path) -> None:
    """Try all that a plugin declares. Raises InputError for what cannot be."""
    for name, facts in sheets.items():
        try_sheet(name, facts, path)
    for name, declared in methods.items():
        try_method(name, declared, path)


def try_sheet(name: str, facts: Sheet, path: Path) -> None:
    """Make each formulation at the first preset and evaluate it once. Raises InputError: it cannot; one sentence with
    the line."""
    require_types(facts, f"{path}: system {name}")
    if not facts.presets:
        raise InputError(f"{path}: system {name} has no preset; it needs one, with parameters, a start and t_end")
    if facts.default not in facts.presets:
        raise InputError(f"{path}: system {name}: default_preset: {unknown('preset', facts.default, facts.presets)}")
    for formulation in (*facts.forms, facts.standard_form):
        if formulation not in PROTOCOLS:
            raise InputError(f"{path}: system {name}: {unknown('formulation', formulation, PROTOCOLS)}")
    if facts.standard_form not in facts.forms:
        raise InputError(f"{path}: system {name}: its standard form {facts.standard_form} is none of its forms"
                         f" ({', '.join(facts.forms) or 'there is none'})")
    with user_lines(path, f"system {name}"):
        parameters, start = first_start(facts)
        if len(facts.conserved_momentum(parameters)) != 3:
            raise InputError("conserved_momentum must return three values, one for each axis")
        engines = facts.engines_for(parameters)
        if engines is not None and (len(engines) != 2 or engines[0] == engines[1] or not set(engines) <= set(ENGINES)):
            raise InputError(f"engines must be two different ones of {', '.join(ENGINES)}, not"
                             f" {', '.join(map(str, engines))}")
        for formulation, form in facts.forms.items():
            for options in _choices(form):
                try:
                    formulated = form.make(parameters, start, form.complete(parameters, options))
                except InputError:
                    if options:  # this start cannot be written so, such as angles at a pole
                        continue
                    raise
                _try_formulation(formulation, plain(formulated.problem), formulated)
                if formulation == "vector_field" and not options:
                    _try_along(plain(formulated.problem), formulated.start.copy(), facts.presets[facts.default].t_end)


def _try_along(problem: Problem, y: np.ndarray, t_end: float) -> None:
    """Midpoint steps along a trajectory, as far as a second goes. Compiled code has no bounds: a row too far, which
    raises IndexError here, would end the process. What is no number may be the step's fault."""
    h, until, slope, middle = t_end/ALONG, time.process_time() + 1.0, np.zeros((1, *y.shape)), y.copy()
    with suppress(ArithmeticError, ValueError):
        for step in range(ALONG):
            problem.rhs(step*h, y, slope[0])
            problem.stage(np.ones(1), 0.5*h, slope, 1, y, middle)
            problem.rhs((step + 0.5)*h, middle, slope[0])
            problem.stage(np.ones(1), h, slope, 1, y, y)
            if time.process_time() > until or not np.isfinite(y).all():
                return


def _choices(form: Form) -> Iterator[dict[str, str]]:
    """The default options of a form, and each further way to write its state."""
    yield {}
    for name in ("form", "action"):
        if option := form.options.get(name):
            yield from ({name: choice} for choice in option.choices if choice != option.default)


def _try_formulation(formulation: str, problem: Problem, found: Formulated) -> None:
    """Call what integrators call, once, in plain Python. Raises InputError for a method that the system lacks."""
    try:
        _call(formulation, problem, found)
    except AttributeError as error:
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        file = frame.f_code.co_filename
        if file != "<string>" and not Path(file).is_relative_to(PACKAGE):  # methods that are handed on have no file
            raise  # a mistake in a method that is there: its line is shown
        raise InputError(f"{type(error.obj).__name__} has no {error.name}, which formulation {formulation} needs"
                         ) from None


def _call(formulation: str, problem: Problem, found: Formulated) -> None:
    y, values = found.start.copy(), np.zeros(found.width)
    problem.observe(y, values)
    if formulation == "vector_field":
        out = np.zeros_like(y)
        problem.rhs(0.0, y, out)
        problem.stage(np.ones(1), 0.0, out[None], 1, y, np.zeros_like(y))
    elif formulation == "lie_action":
        problem.algebra(0.0, y, np.zeros((problem.algebra_rows(), 3)))
    elif formulation == "sphere_lagrangian":
        q = y[:len(y)//2].copy()
        before, out = q.copy(), np.full_like(q, np.nan)
        value = problem.potential(q)
        problem.gradient(q, out)
        if not np.isfinite(value) or not np.isfinite(out).all():
            raise InputError("potential or gradient is not finite at the start of the first preset, or some rows of out"
                             " are not written")
        if not np.array_equal(q, before):
            raise InputError("potential or gradient changes q; write to out only")
        if problem.forced():
            try_force(problem.system, q, y[len(q):2*len(q)].copy())
    elif hasattr(getattr(problem, "system", None), "applied") and formulation == "cotangent_rotation":
        try_applied(problem, y)
    elif hasattr(problem, "torque_slope"):
        problem.torque(y)
        problem.torque_slope(y, (1.0, 0.0, 0.0))


def try_applied(problem: Problem, y: np.ndarray, t: float = 0.0) -> tuple[np.ndarray, float]:
    """The applied torque (3,) of a body and its power, in plain Python. Raises InputError: what it returns is no tuple
    of three finite numbers, or the attitude is changed."""
    problem.torque_slope(y, (1.0, 0.0, 0.0))
    before, w = y.copy(), tuple(y[:3].T @ (y[:3] @ y[3]/np.array(problem.inertia())))
    power = problem.system.applied(t, y, w)
    if not np.array_equal(y, before):
        raise InputError("applied changes the attitude; it returns a torque")
    if not (isinstance(power, tuple) and len(power) == 3 and np.isfinite(np.array(power, dtype=float)).all()):
        raise InputError(f"applied must return a tuple of three finite numbers, not {power!r}")
    return np.array(power, dtype=float), float(np.dot(power, w))


def try_force(system: System, q: np.ndarray, omega: np.ndarray, t: float = 0.0) -> np.ndarray:
    """The forces (n, 3) of a system on spheres, in plain Python. Raises InputError: rows that are not finite or not
    written, or arguments that are changed."""
    before, out = (q.copy(), omega.copy()), np.full_like(q, np.nan)
    system.force(t, q, omega, out)
    if not (np.array_equal(q, before[0]) and np.array_equal(omega, before[1])):
        raise InputError("force changes q or omega; write to out only")
    if not np.isfinite(out).all():
        row = int(np.argmax(~np.isfinite(out).all(axis=1)))
        raise InputError(f"force leaves row {row} of out unwritten, or writes what is not finite, at t = {t:g}; it must"
                         f" write all {len(out)} rows of three numbers")
    return out


def try_method(name: str, declared: Method, path: Path) -> None:
    """Take one step on the first built-in system with the method's formulation. Raises InputError: it cannot; one
    sentence with the line."""
    require_types(declared, f"{path}: integrator {name}")
    if declared.formulation not in PROTOCOLS:
        raise InputError(f"{path}: integrator {name}: {unknown('formulation', declared.formulation, PROTOCOLS)}")
    with user_lines(path, f"integrator {name}"):
        facts = next((found for found in map(sheet, systems_to_try())  # where it can run
                      if declared.formulation in found.forms
                      and declared.lacks(found, first_start(found)[0]) is None), None)
        if facts is None:
            return
        parameters, start = first_start(facts)
        options = complete_options(declared, facts, parameters, {})
        found = formulate(facts, parameters, start, declared.formulation, options)
        t_end = facts.presets[facts.default].t_end
        component = declared.made(found, options, 1e-6 if declared.adaptive else None, t_end)
        if not hasattr(component, "_fields"):
            raise InputError(f"build must return a NamedTuple, not a {type(component).__name__}")
        if not component._fields:
            raise InputError(f"{type(component).__name__} needs at least one field, used or not: Numba compiles no"
                             " empty NamedTuple")
        _step(plain(component), plain(found.problem), found.start.copy(), t_end/STEPS, declared.adaptive)
        if not declared.adaptive:
            residuals = {part.name for part in formulate_standard(facts, parameters, start).observables
                         if part.kind == "residual"}
            _try_declaration(declared.kept(options, facts, parameters), plain(component), found, t_end/STEPS, residuals)


def _try_declaration(kept: frozenset[Keeps], component: Any, found: Formulated, h: float, residuals: set[str]) -> None:
    """Raises InputError where steps change what the method declares to keep."""
    problem, y, values = plain(found.problem), found.start.copy(), np.zeros((2, found.width))
    work = on_own_arrays(component.workspace(problem, y))
    problem.observe(y, values[0])
    component.start(problem, 0.0, y, h, work)
    for k in range(TRIED):
        if component.step(problem, k*h, y, h, work) != Status.OK:
            return
    problem.observe(y, values[1])
    change = np.abs(values[1] - values[0])
    for part in found.observables:
        own = change[part.columns]
        lost = {Keeps.MANIFOLD: own.max() if part.name in residuals else 0.0,
                Keeps.ENERGY: own.max()/abs(values[0, part.columns][0]) if part.name == "energy" else 0.0,
                Keeps.MOMENTUM: own[list(part.conserved)].max(initial=0.0)/(found.momentum_scale or 1.0)
                if part.name == "momentum_map" else 0.0}
        for fact, size in lost.items():
            if fact in kept and size > LOST:
                raise InputError(f"it declares to keep {fact}, and {TRIED} steps change {part.name} by {size:.1e};"
                                 f" leave Keeps.{fact.name} out of `conserves`, or say where it holds with Where")


def _step(component: Any, problem: Problem, y: np.ndarray, h: float, adaptive: bool) -> None:
    """One step, after a `start` with the arguments that it has today."""
    work, count = on_own_arrays(component.workspace(problem, y)), len(inspect.signature(component.start).parameters)
    if count != 5:
        span, returns = ("t_end", "the first step") if adaptive else ("h", "a Status")
        raise InputError(f"start has {count} arguments beside self; it needs start(self, problem, t, y, {span}, work)"
                         f" and returns {returns}")
    status = component.start(problem, 0.0, y, h*STEPS if adaptive else h, work)
    if adaptive:
        status = component.attempt(problem, 0.0, y, h, work)[0]
    elif not isinstance(status, Status):
        raise InputError(f"start must return a Status, for example Status.OK, not {status!r}")
    elif status == Status.OK:
        status = component.step(problem, 0.0, y, h, work)
    if not isinstance(status, Status):
        raise InputError(f"{'attempt' if adaptive else 'step'} must return a Status, for example Status.OK,"
                         f" not {status!r}")
    if status == Status.OK and not np.isfinite(y).all():
        raise InputError("a step makes the state NaN or infinite")
    if status != Status.OK and not adaptive:
        raise InputError(f"the first step fails: {status.sentence}")
