"""Right-hand sides and fields that are called as they are: code that cannot be traced or compiled. Their loops run in
plain Python, with the methods that need no derivatives."""
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from liestep.errors import InputError
from liestep.mechanics.contracts.parameters import Preset
from liestep.mechanics.formulations.general import first_order, turning
from liestep.plain.arrays import named, place
from liestep.simulation.catalogue import add_plugin

CALLED = "liestep.plain.blackbox"
_number = count()


class BlackBox(NamedTuple):
    """A system of `first_order` or `turning` whose equations are a function of (t, rows)."""

    function: Callable
    black_box: bool = True

    def rates(self, t: float, y: np.ndarray, out: np.ndarray) -> None:
        if y.dtype != np.float64:
            raise InputError("a black box has no derivatives and no series: take a method that needs none, such as"
                             " dop853, ode45, rk4, rkmk or rkmk853")
        found = np.asarray(self.function(t, y.copy()), dtype=float)
        if found.shape != out.shape:
            raise InputError(f"the function returns shape {found.shape}; it must return {out.shape}")
        out[:] = found

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.rates(t, y, out)
        return True

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        out[0] = 0.0
        if out.shape[0] > 1:
            out[1] = np.abs(y[:3] @ y[:3].T - np.eye(3)).max()


def called(name: str, parameters: Mapping[str, Any], start: Mapping[str, Any], t_end: float, rhs: Callable | None,
           field: Callable | None) -> str:
    """As `black_box_of`, of rhs(t, y, p) or field(t, R, x, p), whose arguments are known by name. Raises InputError:
    not one of the two, another argument or start, or what it gives at the start is no rate of it."""
    function, fields = (rhs, ("y",)) if field is None else (field, ("R", "x")) if "x" in start else (field, ("R",))
    if function is None or (rhs and field):
        raise InputError("blackbox=True takes rhs(t, y, p) or field(t, R, x, p) alone: of other functions derivatives"
                         " are needed, so that they must run on symbols")
    if {*start} != {*fields}:
        raise InputError(f"start must have {' and '.join(fields)}, not {', '.join(map(str, start)) or 'nothing'}")
    p, shape, where = SimpleNamespace(**parameters), np.shape(start[fields[-1]]), place(function)

    def rates(t: float, rows: np.ndarray) -> np.ndarray:
        state = {"y": rows[0].reshape(shape)} if rhs else {"R": rows[:3].T.copy(), "x": rows[3:].reshape(shape)}
        found = function(**named(function, "the function", {"t": t, **state, "p": p}, where))
        parts = found if "x" in fields else [found]
        numbers = np.concatenate([np.ravel(part) for part in parts]).astype(float)
        return numbers.reshape(len(rows) - 2*bool(field), rows.shape[1])

    first = {key: np.array(value, dtype=float) for key, value in start.items()}
    try:
        rates(0.0, np.concatenate([np.reshape(value.T if key == "R" else value, (-1, 3) if field else (1, -1))
                                   for key, value in first.items()]))
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        kept = " and ".join(fields)
        raise InputError(f"the function gives no rate of {kept} at the start ({error}){where}") from None
    return black_box_of(name, rates, start, t_end)


def black_box_of(name: str, function: Callable, start: Mapping[str, Any], t_end: float = 10.0) -> str:
    """The id of a new system: function(t, rows) gives the rates of rows as `first_order` (start y) or `turning` (start
    R, and x) have them. It is known to this process only, and no hash says what it computes."""
    fields = {"attitude" if key == "R" else key: np.array(value, dtype=float) for key, value in start.items()}
    family = (partial(first_order, size=fields["y"].size) if "y" in fields else
              partial(turning, shape=fields["x"].shape if "x" in fields else ()))
    sheet = family(title=name, equations="of a function that is called", citation="own", parameters={},
                   presets={"own": Preset("as defined", "none", "own", {}, lambda p: dict(fields), t_end)},
                   kept={"energy": False}, build=lambda p: BlackBox(function))
    found = f"{name}_called_{next(_number)}"
    add_plugin(CALLED, found, {found: sheet}, {})
    return found
