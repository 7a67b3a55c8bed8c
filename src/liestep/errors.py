"""Errors that name what a person wrote wrong. This module imports nothing of the package, so that
everything may import it."""
import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

ELSEWHERE = {  # words of other packages -> those here, of which an argument has the first that it knows
    **dict.fromkeys(("dt", "h", "time_step"), "step"), **dict.fromkeys(("n_steps", "num_steps", "N"), "steps"),
    **dict.fromkeys(("rtol", "tol", "reltol"), "tolerance"), **dict.fromkeys(("args", "params", "p"), "parameters"),
    **dict.fromkeys(("y0", "x0", "u0", "start", "initial", "initial_state"), "initial start starts"),
    **dict.fromkeys(("t_span", "tspan", "t_final", "tf", "T", "tmax", "t_max"), "t_end"), "t0": "t_start",
    **dict.fromkeys(("t_eval", "saveat"), "times"), "callback": "events until", "controller": "control",
    "method": "integrator", "solver": "integrator method", "system": "problem"}
FEW, CLOSEST = 12, 5  # so many allowed names are all shown, else the closest
SHOWN_LETTERS = 60   # characters of a wrong name that are shown


class InputError(ValueError):
    """Something a person wrote is wrong; the message is one sentence: what, where, what is allowed."""


class PluginError(InputError):
    """The code of a plugin cannot be compiled: a single run is refused, a sweep records it as a
    failed run and goes on."""


def require_plain(what: str, value: Any) -> None:
    """Raises InputError for a quantity of a units package, also in lists: NumPy would drop the unit without a word."""
    if isinstance(value, list | tuple):
        for one in value:
            require_plain(what, one)
    elif hasattr(value, "as_matrix"):
        raise InputError(f"{what} holds a Rotation of its own: give one for all, of Rotation.concatenate")
    elif hasattr(value, "magnitude") or hasattr(value, "to_value"):
        raise InputError(f"{what} is a quantity in {getattr(value, 'units', getattr(value, 'unit', 'some unit'))}, and"
                         " numbers are taken without units: convert it, `.to(...).magnitude` in the unit that is asked"
                         " for")


def number_or_nan(value: Any) -> float:
    """What a person wrote as a number; NaN, which no rule allows, for anything else: for
    booleans and complex numbers too. Raises InputError: a quantity with a unit."""
    require_plain("a number", value)
    try:
        return float("nan") if isinstance(value, bool | complex) else float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def meant(given: str, allowed: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The allowed name that a wrong one is close to; None without one."""
    return next(iter(difflib.get_close_matches(given, list(allowed), n=1, cutoff=cutoff)), None)


def unknown(what: str, name: str, allowed: Iterable[str]) -> str:
    """Sentence for an unknown name, closest match first."""
    known, given = sorted(set(map(str, allowed))), str(name)
    names = ", ".join(known) or "none"
    close = difflib.get_close_matches(given, known, n=CLOSEST, cutoff=0.0)
    near = meant(given, known, cutoff=0.5)
    hint = f"; did you mean {near}?" if near else ""
    shown = given if len(given) <= SHOWN_LETTERS else f"{given[:SHOWN_LETTERS]}..."
    some = f"closest of {len(known)}: {', '.join(close)}" if len(known) > FEW else f"allowed: {names}"
    return f"unknown {what} {shown!r}{hint} ({some})"


def names_in(what: str, given: Any) -> tuple[str, ...]:
    """One name, or several, as a person gives them. Raises InputError: something else."""
    found = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if not all(isinstance(name, str) for name in found):
        raise InputError(f"{what} must be a name or a list of names, not {given!r:.{SHOWN_LETTERS}}")
    return found


_signature = cache(inspect.signature)


def require_arguments(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raises InputError: the function lacks an argument, or has not the one that is given."""
    name, signature = function.__name__, _signature(function)
    for given in kwargs:
        if given not in signature.parameters:
            meant_here = [one for one in ELSEWHERE.get(given, "").split() if one in signature.parameters]
            raise InputError(f"{name}: the argument {given} is called {meant_here[0]} here" if meant_here else
                             f"{name}: {unknown('argument', given, signature.parameters)}")
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        needed = [key for key, one in signature.parameters.items() if one.default is one.empty]
        raise InputError(f"{name}: {error}; it is called as {name}"
                         f"({', '.join([*needed, 'name=value, ...'])})") from None


def arguments_named(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: InputError instead of TypeError for arguments that the function does not have or lacks."""
    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        require_arguments(function, args, kwargs)
        return function(*args, **kwargs)

    return call
