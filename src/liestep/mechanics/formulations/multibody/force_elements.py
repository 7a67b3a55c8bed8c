"""Force elements of an assembly in plain data, and their arrays for `elements` (plain Python)."""
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liestep.errors import InputError, arguments_named
from liestep.mechanics.contracts.sheet import real_array
from liestep.mechanics.formulations.multibody.elements import Elements, Law, NoElements, NoOwn

GROUND = -1
ROWS, SIX = 9, 32  # rows of constants of an element of one coordinate, and of a bushing


@dataclass(frozen=True)
class Element:
    """One force element between bodies a and b (GROUND for the ground); the functions below make it. vectors: P_a, P_b
    from the centres of mass, then what its kind reads, in the axes of their bodies; rows: further constants (k, 3)."""

    name: str
    kind: int
    a: int
    b: int
    vectors: tuple[np.ndarray, ...]
    rows: np.ndarray
    works: bool                       # whether it has more than an energy
    function: Callable | None = None  # of q, its rate and the time; `liestep.system` writes it
    number: int = -1                  # of that function in the author's component


def _numbers(what: str, value: ArrayLike, shape: tuple[int, ...] = (), least: float = -np.inf) -> np.ndarray:
    array = real_array(what, value)
    if array.shape != shape or not np.isfinite(array).all() or (array < least).any():
        kind = "a finite number" if shape == () else f"finite numbers of shape {shape}"
        shown = repr(value) if array.ndim == 0 else f"of shape {array.shape}" if array.shape != shape else "these"
        raise InputError(f"{what} must be {kind}{'' if least == -np.inf else ' of at least 0'}, not {shown}")
    return array


def _unit(what: str, value: ArrayLike) -> np.ndarray:
    axis = _numbers(what, value, (3,))
    if not abs(axis @ axis - 1.0) < 1e-12:
        raise InputError(f"{what} must be a unit vector, not of length {np.linalg.norm(axis):.6g}")
    return axis


def _law(name: str, kind: int, ends: tuple[int, ArrayLike, int, ArrayLike], axes: tuple[np.ndarray, ...],
         stiffness: float = 0.0, rest: float = 0.0, damping: float = 0.0,
         effort: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0), friction: float = 0.0, slip: float = 0.0,
         function: Callable | None = None, motor: tuple[float, float] = (0.0, 0.0)) -> Element:
    """An element of one coordinate, checked."""
    a, p, b, q = ends
    for what, value in (("stiffness", stiffness), ("damping", damping), ("friction", friction), ("slip", slip)):
        _numbers(f"{what} of a {name}", value, (), 0.0)
    _numbers(f"natural length of a {name}" if kind == Law.LENGTH else f"rest of a {name}", rest, (),
             0.0 if kind == Law.LENGTH else -np.inf)
    law = _numbers(f"effort of a {name}", effort, (4,))
    if friction > 0.0 and not slip > 0.0:
        raise InputError(f"friction of a {name} needs slip > 0: the rate below which it is regularised as friction"
                         " rate/sqrt(rate^2 + slip^2)")
    points = tuple(_numbers(f"point of a {name}", point, (3,)) for point in (p, q))
    size, phase = motor
    rows = np.array([[stiffness, rest, damping], [*law[:2], 0.0], [*law[2:], phase], [friction, slip or 1.0, size]])
    works = bool(damping or friction or function is not None or law.any())
    kind = Law.GAP if kind == Law.LENGTH and rest == 0.0 and not works else kind
    return Element(name, int(kind), a, b, (*points, *axes), rows, works, function)


def _takes_law(function: Callable[..., Element]) -> Callable[..., Element]:
    """Decorator: `law` are the keywords of `_law`, by name."""
    law = [one.replace(kind=one.KEYWORD_ONLY) for one in list(inspect.signature(_law).parameters.values())[4:-1]]
    own = inspect.signature(function)
    ends = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
    vars(function)["__signature__"] = own.replace(parameters=[*ends, *law])
    return arguments_named(function)


@_takes_law
def spring_damper(a: int, p: ArrayLike, b: int, q: ArrayLike, **law: Any) -> Element:
    """Along the line from point p of body a to point q of b, pushing them apart with Q in N of their distance.

    law, also of `slider` and `torsion`: Q = -stiffness (x - rest) - damping x' + p_0 + p_1 t + p_2 sin(p_3 t) -
    friction x'/sqrt(x'^2 + slip^2) + function(x, rate, t, p), effort = (p_0, p_1, p_2, p_3). rest is the natural
    length; the spring's energy counts in that of the run, everything else in its `work`. The function is a plain one,
    of arguments that are known by name, and for `liestep.system` alone.

    Raises InputError: numbers that are negative, not finite or of another shape; friction without slip."""
    return _law("spring_damper", Law.LENGTH, (a, p, b, q), (), **law)


@_takes_law
def slider(a: int, p: ArrayLike, u: ArrayLike, b: int, q: ArrayLike, **law: Any) -> Element:
    """Along the unit vector u of body a, of the distance along it from p of a to q of b: actuators, springs and
    friction of a prismatic joint."""
    return _law("slider", Law.SLIDE, (a, p, b, q), (_unit("axis of a slider", u),), **law)


@_takes_law
def torsion(a: int, u: ArrayLike, e: ArrayLike, b: int, f: ArrayLike, **law: Any) -> Element:
    """About the unit vector u of body a, beside a joint that keeps it, Q in N m of the angle from e of a to f of b,
    both orthogonal to u; within half a turn of rest."""
    if not abs(law.get("rest", 0.0)) < np.pi:
        raise InputError(f"rest of a torsion is {law['rest']!r} rad; it must be within half a turn, below pi")
    axes = tuple(_unit("axis of a torsion", axis) for axis in (u, e, f))
    if abs(axes[0] @ axes[1]) > 1e-6:
        raise InputError(f"e of a torsion must be orthogonal to its axis u; their product is {axes[0] @ axes[1]:.6g}")
    return _law("torsion", Law.TURN, (a, np.zeros(3), b, np.zeros(3)), axes, **law)


def Spring(body: int, point: ArrayLike, anchor: ArrayLike, stiffness: float) -> Element:
    """F = stiffness (anchor - point) on a body; point (3,) from its centre of mass, body axes; anchor (3,) spatial."""
    return spring_damper(GROUND, anchor, body, point, stiffness=stiffness)


def Torque(a: int, axis: ArrayLike, b: int = GROUND, damping: float = 0.0, size: float = 0.0, frequency: float = 0.0,
           phase: float = 0.0) -> Element:
    """damping against the relative rate of bodies a and b (GROUND for the ground) about a unit vector of body a, in N m
    s, and size cos(frequency t + phase) of a motor there, in N m, with the frequency in rad/s."""
    law = _law("torque", Law.TURN, (a, np.zeros(3), b, np.zeros(3)), (_unit("axis of a torque", axis),),
                 damping=damping, effort=(0.0, 0.0, 0.0, frequency), motor=(size, phase))
    return replace(law, works=True)  # a size of zero may be set to another by control


@arguments_named
def bushing(a: int, p: ArrayLike, b: int, q: ArrayLike, stiffness: ArrayLike, damping: ArrayLike | None = None,
            frame: ArrayLike | None = None, frame_b: ArrayLike | None = None) -> Element:
    """A force and a torque of the place d of point q of b, seen from p of a, and of the rotation vector of b's frame,
    below half a turn, both in a's frame: stiffness (6, 6) on (d, rotation), damping (6, 6) on (velocity, rate); numbers
    are the same for all. Columns of frames (default: the bodies' axes) are their axes in their bodies. With
    stiffness that has no first three rows it is a torsion spring between attitudes.

    Raises InputError: a matrix that is not symmetric, or indefinite; a frame that is no rotation."""
    matrices = []
    for what, value in (("stiffness", stiffness), ("damping", np.zeros((6, 6)) if damping is None else damping)):
        matrix = _numbers(f"{what} of a bushing", value, (6, 6))
        size = np.abs(matrix).max()
        if np.abs(matrix - matrix.T).max() > 1e-12*size or np.linalg.eigvalsh(matrix)[0] < -1e-12*size:
            raise InputError(f"{what} of a bushing must be a symmetric matrix without negative eigenvalues")
        matrices.append(0.5*(matrix + matrix.T))
    frames = [np.eye(3) if value is None else _numbers("frame of a bushing", value, (3, 3))
              for value in (frame, frame_b)]
    for axes in frames:
        if np.abs(axes.T @ axes - np.eye(3)).max() > 1e-12 or np.linalg.det(axes) < 0.0:
            raise InputError("frame of a bushing must be a rotation matrix")
    points = tuple(_numbers("point of a bushing", point, (3,)) for point in (p, q))
    return Element("bushing", int(Law.BUSHING), a, b, (*points, *frames[0].T, *frames[1].T),
                   np.concatenate([matrix.reshape(12, 3) for matrix in matrices]), bool(matrices[1].any()))


def packed(elements: Sequence[Element], own: Any, n: int) -> Any:
    """The compiled component of n bodies."""
    if not elements and own is None:
        return NoElements()
    table, blocks, at = np.zeros((len(elements), 5), dtype=np.int64), [np.zeros((1, 3))], 1
    for number, item in enumerate(elements):
        table[number] = item.kind, item.a % (n + 1), item.b % (n + 1), at, item.number
        block = np.zeros((SIX if item.kind == Law.BUSHING else ROWS, 3))
        block[:len(item.vectors)] = item.vectors
        block[len(block) - len(item.rows):] = item.rows
        blocks.append(block)
        at += len(block)
    return Elements(table, np.ascontiguousarray(np.concatenate(blocks)), NoOwn() if own is None else own,
                    np.zeros((2*n + 2, 3)), np.zeros((5, 3)), int(own is not None))
