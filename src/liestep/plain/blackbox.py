"""Right-hand sides and fields that are called as they are: code that cannot be traced or compiled. Their loops run in
plain Python, with the methods that need no derivatives."""
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liestep.compile.straight.symbols import Untraceable
from liestep.errors import InputError, require_plain
from liestep.mechanics.contracts.sheet import Fields, Parameters, Preset
from liestep.mechanics.formulations.general import first_order
from liestep.mechanics.formulations.turning import PARTS, layout, turning
from liestep.plain.arrays import named, place
from liestep.plain.families import field_of, rates_of, turned
from liestep.simulation.catalogue import add_plugin

CALLED = "liestep.plain.blackbox"
_number = count()


def real_rates(found: ArrayLike | None) -> np.ndarray:
    """What a function that is called gives, as numbers. Raises InputError: they are none, are complex or have units."""
    require_plain("what the function gives", found)
    given = "nothing" if found is None else f"a {type(found).__name__}"
    with suppress(TypeError, ValueError, Untraceable):
        numbers = np.asarray("" if found is None else found)
        if not np.iscomplexobj(numbers):
            return np.asarray(numbers, dtype=float)
        given = ""
    raise InputError(f"the function gives {given}, not numbers that its arguments determine" if given else
                     "the function gives complex numbers: write real and imaginary parts as numbers of their own")


class BlackBox(NamedTuple):
    """A system of `first_order` or `turning` whose equations are a function of (t, rows)."""

    function: Callable
    black_box: bool = True

    def rates(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        if y.dtype != np.float64:
            raise InputError("a black box has no derivatives and no series: take a method that needs none, such as"
                             " dop853, ode45, rk4, rkmk or rkmk853")
        rates = real_rates(self.function(t, y.copy()))
        if rates.shape != out.shape:
            raise InputError(f"the function returns shape {rates.shape}; it must return {out.shape}")
        out[:] = rates

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.rates(t, y, out)
        return True

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        out[0] = 0.0


def called(name: str, parameters: Parameters, start: Fields, t_end: float, rhs: Callable | None,
           field: Callable | None) -> str:
    """As `black_box_of`, of rhs(t, y, p) or field(t, R, x, p), whose arguments are known by name. Raises InputError:
    another argument or start, or what it gives at the start is no rate of it."""
    function = rhs or field
    assert function is not None
    first = turned(start) if field else {"y": field_of(start, "y", rows=False)}
    if {*start} != {*first}:
        raise InputError(f"start must have {' and '.join(first)} alone, not {', '.join(map(str, start))}")
    p, where = SimpleNamespace(**parameters), place(function)
    shapes = {key: value.shape for key, value in first.items()}

    def rates(t: float, rows: np.ndarray) -> np.ndarray:
        state = {"y": rows[0].reshape(shapes["y"])} if rhs else {
            letter: PARTS[letter].values_of(rows[at], shapes[letter]).copy()
            for letter, (at, _) in layout(shapes).items()}
        result = function(**named(function, "the function", {"t": t, **state, "p": p}, where))
        shape = rows.shape if rhs else (max(span.stop for _, span in layout(shapes).values()), 3)
        require_plain("what the function gives", result)
        return real_rates(np.reshape(rates_of(result, shapes) if field else result, shape))

    try:  # on copies, into which it may write
        rates(0.0, np.concatenate([PARTS[key].rows_of(value) for key, value in first.items()]) if field else
              first["y"].reshape(1, -1).copy())
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        kept = " and ".join(first)
        raise InputError(f"the function gives no rate of {kept} at the start ({error}){where}") from None
    return black_box_of(name, rates, first, t_end)


def black_box_of(name: str, function: Callable, start: Fields, t_end: float = 10.0) -> str:
    """The id of a new system: function(t, rows) gives the rates of rows as `first_order` (start y) or `turning` (start
    R, q, x) have them. It is known to this process only, and no hash says what it computes."""
    values = {key: np.array(value, dtype=float) for key, value in start.items()}
    fields = {PARTS[key].name if key in PARTS else key: value for key, value in values.items()}
    family = (partial(first_order, size=fields["y"].size) if "y" in fields else
              partial(turning, shapes={key: value.shape for key, value in values.items()}))
    sheet = family(title=name, equations="of a function that is called", citation="own", parameters={},
                   presets={"own": Preset("as defined", "none", "own", {}, lambda p: dict(fields), t_end)},
                   kept={"energy": False}, build=lambda p: BlackBox(function))
    called = f"{name}_called_{next(_number)}"
    add_plugin(CALLED, called, {called: sheet}, {})
    return called
