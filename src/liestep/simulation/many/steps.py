"""Implicit steps of members that share registers: what `integrators._newton` decides for one, lane by lane.

Lanes that have converged keep what they have, while the others go on: the component and what it writes are of the type
whose arrays are written where a lane is still iterating (`liestep.compile.lanes.numbers`)."""
from types import FunctionType
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from liestep.compile.dispatch import kernel, outlined
from liestep.compile.inlining import variant
from liestep.compile.lanes.numbers import (
    Lanes,
    as_masked,
    invert,
    lanes,
    mask,
    masked_type,
    not_struck,
    select,
    some,
    spread,
    strike,
    to_mask,
    write_only,
    written,
)
from liestep.compile.status import Status
from liestep.geometry import charts, so3
from liestep.integrators import _newton
from liestep.simulation.many.loops import Held


class LaneHeld(Held):
    """Of members that share registers; this class names the files of machine code by this module."""


def kept(which: Any, new: Any, old: Any) -> Any:
    """The unknowns: of the lanes of a mask the new ones, of the others the old ones."""


@overload(kept, inline="never")
def _kept(which, new, old):
    if which != mask:
        return None
    if isinstance(new, Lanes):
        return lambda which, new, old: select(which, new, spread(old))
    if isinstance(new, types.BaseTuple) and any(isinstance(kind, Lanes) for kind in new.types):
        if len(new.types) == 3:
            return lambda which, new, old: (select(which, spread(new[0]), spread(old[0])),
                                            select(which, spread(new[1]), spread(old[1])),
                                            select(which, spread(new[2]), spread(old[2])))
        return None
    return lambda which, new, old: new


def iterate(part: Any, given: tuple, x: Any, previous: float, iterations: int) -> tuple[Status, Any]:
    """As `_newton.iterate`. Lanes that do not converge are struck: alone they find out how they end."""
    every, own, items, before = written(), as_masked(part), as_masked(given), spread(previous)
    for _ in range(iterations):
        status, new, change, done = own.improve(items, x, before)
        if status != Status.OK:
            break
        going, fine = written(), to_mask(change < np.inf)
        x, before = kept(going, new, x), spread(change)
        strike(going & invert(fine))
        write_only(going & fine & invert(to_mask(done)))
        if not some(written() & not_struck()):
            write_only(going & invert(going))
            break
    strike(written())
    write_only(every)
    return Status.OK, x


def _of_lanes(kinds: tuple[types.Type, ...]) -> bool:
    return kinds[0] == lanes


def _every(function: Any) -> Any:
    """The same formulas under another name: a variant of the function calls them."""
    code = function.py_func.__code__
    return kernel(FunctionType(code, vars(so3) | vars(charts), code.co_name))


def _at_limit(function: Any, limit: float) -> None:
    """A kernel that takes another formula from a limit of its argument on: both if lanes are on both sides."""
    every = _every(function)

    @kernel
    @outlined
    def parted(z2: Any) -> Any:
        below = z2 < limit
        return select(below, every(select(below, z2, spread(0.0))), every(select(below, spread(limit), z2)))

    def on_sides(z2: Any) -> Any:
        below = z2 < limit
        return parted(z2) if some(written() & below) and some(written() & invert(below)) else every(z2)

    variant(function, _of_lanes, on_sides)


for _function, _limit in ((so3.coefficients, 0.25), (so3.dexpinv_coefficients, 0.5), (so3.dexp_coefficients, 1e-4),
                          (charts.half_angle, 0.25)):
    _at_limit(_function, _limit)

_mean_turns = _every(charts.mean_turn)


def _mean_turn(z2: Any, first: Any, along: Any) -> Any:
    """Both formulas always: they are short."""
    below = z2 < 0.25
    return select(below, _mean_turns(select(below, z2, spread(0.0)), first, along),
                  _mean_turns(select(below, spread(0.25), z2), first, along))


variant(charts.mean_turn, _of_lanes, _mean_turn)


def _has_lanes(kinds: tuple[types.Type, ...]) -> bool:
    """Whether a component holds arrays of lanes, or unknowns are lanes."""
    return any(masked_type(kind) != kind or kind == lanes or (
        isinstance(kind, types.BaseTuple) and lanes in tuple(kind.types)) for kind in kinds)


variant(_newton.iterate, _has_lanes, iterate)
variant(_newton.worse, lambda kinds: any(isinstance(kind, Lanes) for kind in kinds), lambda a, b: select(
    to_mask(spread(b) > spread(a)) | to_mask(b != b), spread(b), spread(a)))
