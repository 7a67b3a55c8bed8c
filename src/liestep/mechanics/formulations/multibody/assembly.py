"""From bodies, joints and forces to the arrays of `Mechanism` (plain Python)."""
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liestep.errors import InputError, arguments_named, unknown
from liestep.mechanics.contracts.sheet import real_array
from liestep.mechanics.formulations.multibody.articulated import LIMB, RATE, Articulated, NoTree
from liestep.mechanics.formulations.multibody.force_elements import GROUND, Element, packed
from liestep.mechanics.formulations.multibody.mechanism import GROUP, MOVING, Kind, Mechanism

Vector = Sequence[float] | np.ndarray  # of three numbers
ANGLES = (Kind.DIRECTION, Kind.DRIVE, Kind.EVEN, Kind.ROTOR, Kind.ROTOR_BETWEEN)  # kinds whose residuals are no lengths
LENGTH_TOLERANCE = 1e-6  # of unit vectors that a joint is given
UNIT: dict[int, tuple[int, ...]] = {  # of the vectors of `Rows`
    Kind.DIRECTION: (2, 3), Kind.LINE: (2,), Kind.SCREW: (2, 3, 4, 5), Kind.DRIVE: (2, 4, 5), Kind.SLIDE_DRIVE: (2,),
    Kind.EVEN: (2, 3, 4, 5), Kind.BLADE: (2,), Kind.ROLL: (2, 3), Kind.ROTOR: (2,), Kind.ROTOR_BETWEEN: (2, 3)}
_axis = partial(real_array, "an axis of a joint")


@dataclass(frozen=True)
class Rows:
    """One group of rows of a joint, see `mechanism`; vectors are in the axes of their bodies, of the ground spatial."""

    kind: int
    vectors: tuple[Any, ...]         # P_a, P_b from the centres of mass, u_a, u_b, e_a, e_b; what the kind reads
    pitch: float = 0.0               # m per radian; of ROLL the radius, of DISTANCE the length in m
    inertia: float = 0.0             # of rates: kg m2, of SLIDER kg
    damping: float = 0.0             # of rates: N m s, of SLIDER N s/m
    function: Callable | None = None  # of a CURVE; `liestep.system` writes it

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", int(self.kind))
        object.__setattr__(self, "vectors", tuple(real_array("a vector of a joint", vector) for vector in self.vectors))
        if not (self.inertia >= 0.0 and self.damping >= 0.0):
            raise InputError(f"inertia and damping of a rate must not be negative: {self.inertia!r}, {self.damping!r}")

    @property
    def size(self) -> int:
        return 3 if self.kind in (Kind.POINT, Kind.ROLL) else 1


@dataclass(frozen=True)
class Joint:
    """A joint between bodies a and b (GROUND for the ground), as groups of rows."""

    name: str
    a: int
    b: int
    rows: tuple[Rows, ...]

    def __post_init__(self) -> None:
        for vector in (vector for rows in self.rows for vector in rows.vectors):
            if vector.shape != (3,) or not np.isfinite(vector).all():
                raise InputError(f"points and axes of a joint ({self.name}) must be three finite numbers, not"
                                 f" {vector.tolist()}")
        for rows in self.rows:
            _check_units(*(rows.vectors[k] for k in UNIT.get(rows.kind, ())))
            if rows.kind in (Kind.SCREW, Kind.DRIVE) and abs(rows.vectors[2] @ rows.vectors[4]) > LENGTH_TOLERANCE:
                raise InputError(f"e of a {self.name} must be orthogonal to its axis u; their product is"
                                 f" {rows.vectors[2] @ rows.vectors[4]:.6g}")


def _check_units(*axes: ArrayLike) -> None:
    """Raises InputError for axes that are no unit vectors."""
    for length in (np.linalg.norm(axis) for axis in axes):
        if not abs(length - 1.0) < LENGTH_TOLERANCE:
            raise InputError(f"axes of a joint must be unit vectors, not of length {length:.6g}")


def _not_zero(what: str, value: ArrayLike, least: float = -np.inf) -> float:
    array = real_array(what, value)
    if array.shape != () or not np.isfinite(array) or array == 0.0 or array < least:
        wanted = "a positive number" if least == 0.0 else "a finite number other than zero"
        raise InputError(f"{what} must be {wanted}, not {value!r}")
    return float(array)


def _law_of(what: str, law: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    array = real_array(f"law of a {what}", law)
    if array.shape != (4,) or not np.isfinite(array).all():
        raise InputError(f"law of a {what} must be four finite numbers (p_0, p_1, p_2, p_3), not {law!r}")
    return np.array([*array[:2], 0.0]), np.array([*array[2:], 0.0])


@dataclass(frozen=True)
class Shape:
    """What a body looks like in pictures, in m, and nothing else: a box of three sides, a cylinder (radius, length)
    along e3, a ball of three semi-axes, or a mesh of triangles (m, 3, 3), outside to the left of their edges; at (3,)
    from the centre of mass, R (3, 3) with its axes in columns, both in body axes. Raises InputError for other kinds or
    numbers."""

    kind: str
    size: ArrayLike
    at: ArrayLike = (0.0, 0.0, 0.0)
    R: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    body: int = 0  # of an assembly

    def __post_init__(self) -> None:
        lengths = {"box": 3, "cylinder": 2, "ball": 3}
        if self.kind not in (*lengths, "mesh"):
            raise InputError(unknown("shape", self.kind, (*lengths, "mesh")))
        size, at, turn = (real_array(f"{name} of a {self.kind}", getattr(self, name)) for name in ("size", "at", "R"))
        right = size.shape[1:] == (3, 3) if self.kind == "mesh" else (
            size.shape == (lengths[self.kind],) and bool(size.min() > 0.0))
        if not right or at.shape != (3,) or turn.shape != (3, 3) or not all(
                np.isfinite(value).all() for value in (size, at, turn)):
            wanted = f"{lengths[self.kind]} positive lengths" if self.kind in lengths else "triangles (m, 3, 3)"
            raise InputError(f"a {self.kind} has {wanted}, at (3,) and R (3, 3), all finite")
        for name, value in zip(("size", "at", "R"), (size, at, turn), strict=True):
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Assembly:
    """A mechanism in plain data: mass (n,) in kg, inertia (n, 3, 3) about the centres of mass in kg m2, center_of_mass
    (n, 3) from the reference points in m, both in body axes; gravity (3,) in m/s2; elements of `force_elements`; own: a
    component with the methods of `elements.NoOwn`, which works unless its attribute `works` is false; idle: rows, in
    the order of multipliers, that follow from others (`redundancy`). Raises InputError for a joint or force at a body
    that there is not, or between a body and itself."""

    mass: np.ndarray
    inertia: np.ndarray
    center_of_mass: np.ndarray
    gravity: np.ndarray
    joints: Sequence[Joint] = ()
    elements: Sequence[Element] = ()
    own: Any = None
    idle: tuple[int, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)  # what runs tell beside their own attributes
    shows: bool = False  # whether runs have the coordinates of joints
    limbs: tuple[np.ndarray, ...] | None = None     # of a tree, the first four fields of `articulated.Articulated`
    shapes: Sequence[Shape] = ()  # of pictures; a body without one is drawn as the box of its mass and inertia

    def __post_init__(self) -> None:
        named = [(f"joint {k} ({one.name})", body) for k, one in enumerate(self.joints) for body in (one.a, one.b)]
        named += [(f"element {k} ({one.name})", body) for k, one in enumerate(self.elements) for body in (one.a, one.b)]
        last = len(self.mass) - 1
        for what, body in named:
            if not (isinstance(body, int | np.integer) and GROUND <= body <= last):
                raise InputError(f"{what} is at body {body!r}; bodies are numbered from 0 to {last}, and GROUND is"
                                 " allowed")
        for (what, body), (other, end) in pairwise(named):
            if (what, body) == (other, end):
                where = "the ground" if body == GROUND else f"body {body}"
                raise InputError(f"{what} is between {where} and itself; give two different bodies, or GROUND and one")

    @cached_property
    def starts(self) -> np.ndarray:
        """(groups,) first row of each group in the band, so numbered that groups of one body are close."""
        groups, numbers, row = self.groups, np.zeros(len(self.groups), dtype=np.int64), 0
        at: list[list[int]] = [[] for _ in self.mass]
        for number, (joint, _) in enumerate(groups):
            for body in {joint.a, joint.b} - {GROUND}:
                at[body].append(number)
        pairs = [(one, two) for together in at for one in together for two in together]
        for number in range(len(groups)) if len(groups) < 2 else _near_diagonal(pairs, len(groups)):
            numbers[number] = row
            row += groups[number][1].size
        return numbers

    @property
    def groups(self) -> list[tuple[Joint, Rows]]:
        """Groups in the order of the multipliers: points joint by joint, then all rows of one number."""
        every = [(joint, rows) for joint in self.joints for rows in joint.rows]
        return sorted(every, key=lambda item: item[1].kind != Kind.POINT)

    @property
    def row_count(self) -> int:
        return sum(rows.size for _, rows in self.groups)

    @property
    def has_clock(self) -> bool:
        """Whether something is done from outside: states have a row of time and work."""
        forced = any(one.works for one in self.elements) or getattr(self.own, "works", self.own is not None)
        return forced or any(rows.kind in (Kind.DRIVE, Kind.SLIDE_DRIVE) or rows.damping for _, rows in self.groups)

    @property
    def has_rotors(self) -> bool:
        """Whether rates of joints have an inertia or a damping of their own."""
        return any(rows.kind >= Kind.SLIDER for _, rows in self.groups)


ZERO = np.zeros(3)


def complement(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors that make a right-handed frame with a unit vector."""
    other = np.eye(3)[(int(np.argmax(np.abs(axis))) + 1) % 3]
    first = other - (other @ axis)*axis
    first /= np.linalg.norm(first)
    return first, np.cross(axis, first)


def _parallel(u: Vector, v: Vector) -> tuple[Rows, ...]:
    """u of a stays along v of b."""
    return tuple(Rows(Kind.DIRECTION, (ZERO, ZERO, side, v)) for side in complement(_axis(u)))


def _on_line(p: Vector, q: Vector, u: Vector) -> tuple[Rows, ...]:
    """Point q of b stays on the line of a through p along u."""
    return tuple(Rows(Kind.LINE, (p, q, side)) for side in complement(_axis(u)))


@arguments_named
def spherical(a: int, p: Vector, b: int, q: Vector) -> Joint:
    """Point p of body a is point q of body b."""
    return Joint("spherical", a, b, (Rows(Kind.POINT, (p, q)),))


@arguments_named
def revolute(a: int, p: Vector, u: Vector, b: int, q: Vector, v: Vector) -> Joint:
    """Spherical, and the unit vector u of a stays along v of b."""
    return Joint("revolute", a, b, (Rows(Kind.POINT, (p, q)), *_parallel(u, v)))


@arguments_named
def universal(a: int, p: Vector, u: Vector, b: int, q: Vector, v: Vector) -> Joint:
    """Spherical, and the unit vector u of a stays orthogonal to v of b."""
    return Joint("universal", a, b, (Rows(Kind.POINT, (p, q)), Rows(Kind.DIRECTION, (ZERO, ZERO, u, v))))


@arguments_named
def cylindrical(a: int, p: Vector, u: Vector, b: int, q: Vector, v: Vector) -> Joint:
    """Point q of b stays on the line of a through p along u, and v of b along u."""
    return Joint("cylindrical", a, b, (*_on_line(p, q, u), *_parallel(u, v)))


@arguments_named
def prismatic(a: int, p: Vector, u: Vector, b: int, q: Vector, v: Vector, e: Vector, f: Vector) -> Joint:
    """Cylindrical without rotation: e of a, orthogonal to u, stays orthogonal to f of b."""
    return Joint("prismatic", a, b, (*_on_line(p, q, u), *_parallel(u, v), Rows(Kind.DIRECTION, (ZERO, ZERO, e, f))))


@arguments_named
def screw(a: int, p: Vector, u: Vector, b: int, q: Vector, v: Vector, lead: float, e: Vector, f: Vector) -> Joint:
    """Cylindrical, and one turn of b about u moves it by lead; at zero angle from e of a to f of b q is p."""
    turn = Rows(Kind.SCREW, (p, q, u, v, e, f), _not_zero("lead of a screw", lead)/(2.0*np.pi))
    return Joint("screw", a, b, (*_on_line(p, q, u), *_parallel(u, v), turn))


@arguments_named
def planar(p: Vector, n: Vector, b: int, q: Vector, v: Vector, a: int = GROUND) -> Joint:
    """Point q of body b stays in the plane of body a through p with normal n, and v of b along n."""
    return Joint("planar", a, b, (Rows(Kind.LINE, (p, q, n)), *_parallel(n, v)))


@arguments_named
def distance(a: int, p: Vector, b: int, q: Vector, length: float) -> Joint:
    """Point q of body b stays at this distance from p of a: a rigid link without mass. Raises InputError: a length that
    is not positive."""
    return Joint("distance", a, b, (Rows(Kind.DISTANCE, (p, q), _not_zero("length of a distance joint", length, 0.0)),))


@arguments_named
def constant_velocity(a: int, p: Vector, u: Vector, b: int, q: Vector, v: Vector) -> Joint:
    """Spherical, and two shafts, along u of a and v of b, turn at one rate whatever the angle between them: a joint of
    constant velocity. At the start the frames of `complement` of u and v are taken as one turn."""
    (e, f), (g, h) = complement(_axis(u)), complement(_axis(v))
    return Joint("constant_velocity", a, b, (Rows(Kind.POINT, (p, q)), Rows(Kind.EVEN, (ZERO, ZERO, e, g, f, h))))


@arguments_named
def on_curve(a: int, p: Vector, b: int, q: Vector, curve: Callable, span: tuple[float, float] | None = None) -> Joint:
    """Point q of body b stays on a curve that body a carries, in coordinates from its point p along its axes, without
    friction: curve(s, p) are its points for s in span, a closed curve if both ends are the same; without span curve(x,
    p) are two numbers that are zero on it. For `liestep.system` alone. Raises InputError: a span that is none."""
    ends = np.zeros(2) if span is None else real_array("span of a curve", span)
    if ends.shape != (2,) or not (span is None or 0.0 < ends[1] - ends[0] < np.inf):
        raise InputError(f"span of a curve must be two finite numbers, the second larger, not {span!r}")
    rows = [Rows(Kind.CURVE, (p, q, ZERO, ZERO, np.append(ends, 0.0), which*np.eye(3)[2]), function=curve)
            for which in (0, 1)]
    return Joint("on_curve", a, b, tuple(rows))


@arguments_named
def on_surface(a: int, p: Vector, b: int, q: Vector, surface: Callable) -> Joint:
    """Point q of body b stays where a number surface(x, p) is zero, x as in `on_curve`."""
    return Joint("on_surface", a, b, (Rows(Kind.CURVE, (p, q, ZERO, ZERO, ZERO, ZERO), function=surface),))


@arguments_named
def gear(a: int, u: Vector, b: int, v: Vector, ratio: float) -> Joint:
    """Two bodies that other joints let turn in the ground about u of a and v of b: omega_b = ratio omega_a. A row of
    velocities: angles drift with the error of the method."""
    _check_units(u, v)
    turn = (_not_zero("ratio of a gear", ratio)*_axis(u), -_axis(v))
    return Joint("gear", a, b, (Rows(Kind.GEAR, (ZERO, ZERO, ZERO, ZERO, *turn)),))


@arguments_named
def rack(a: int, u: Vector, b: int, n: Vector, radius: float) -> Joint:
    """A pinion of body a, which turns in the ground about u of it, moves body b along n in space by its radius times
    its angle, in m. As `gear` a row of velocities."""
    _check_units(u, n)
    reach = _not_zero("radius of a rack", radius)*_axis(u)
    return Joint("rack", a, b, (Rows(Kind.GEAR, (ZERO, ZERO, ZERO, -_axis(n), reach, ZERO)),))


@arguments_named
def blade(a: int, p: Vector, u: Vector) -> Joint:
    """Point p of body a does not move along the unit vector u of it; where it gets is free."""
    return Joint("blade", a, GROUND, (Rows(Kind.BLADE, (p, ZERO, u)),))


@arguments_named
def rolling(a: int, p: Vector, u: Vector, radius: float, q: Vector, n: Vector) -> Joint:
    """A thin disc of body a about the axis u through p rolls on the plane of the ground through q with normal n. Raises
    InputError: a radius that is not positive."""
    rows = Rows(Kind.ROLL, (p, q, u, n), _not_zero("radius of a rolling disc", radius, 0.0))
    return Joint("rolling", a, GROUND, (rows,))


@arguments_named
def drive(a: int, u: Vector, e: Vector, b: int, f: Vector, law: tuple[float, float, float, float]) -> Joint:
    """Beside a joint that leaves turns about the unit vector u of a: the angle about it from e of a to f of b is p_0 +
    p_1 t + p_2 sin(p_3 t), in rad, with law = (p_0, p_1, p_2, p_3); e and f are orthogonal to the axis."""
    return Joint("drive", a, b, (Rows(Kind.DRIVE, (*_law_of("drive", law), u, u, e, f)),))


@arguments_named
def rotor(a: int, u: Vector, b: int, inertia: float, damping: float = 0.0, v: Vector = ZERO,
          between: bool = False) -> Joint:
    """Beside a joint that leaves turns: inertia (kg m2; of a rotor by the square of its gear) and damping (N m s) of
    the rate at which b turns about u of a. With v of b: of turns in sequence about u, ..., v, each orthogonal to the
    next, the rate of the first, or of the one between; the rate of the last is that of the first with a and b
    exchanged."""
    kind = Kind.ROTOR_BETWEEN if between else Kind.ROTOR
    return Joint("rotor", a, b, (Rows(kind, (ZERO, ZERO, u, v), inertia=inertia, damping=damping),))


@arguments_named
def slide_rotor(a: int, p: Vector, u: Vector, b: int, q: Vector, inertia: float, damping: float = 0.0) -> Joint:
    """Beside a joint that leaves a slide: inertia (kg) and damping (N s/m) of the rate at which point q of b leaves
    point p of a along u of a."""
    _check_units(u)
    return Joint("slide_rotor", a, b, (Rows(Kind.SLIDER, (p, q, u), inertia=inertia, damping=damping),))


@arguments_named
def slide_drive(a: int, p: Vector, u: Vector, b: int, q: Vector, law: tuple[float, float, float, float]) -> Joint:
    """Beside a joint that leaves slides along the unit vector u of a: the distance along it from point p of a to q of b
    is p_0 + p_1 t + p_2 sin(p_3 t), in m."""
    return Joint("slide_drive", a, b, (Rows(Kind.SLIDE_DRIVE, (p, q, u, ZERO, *_law_of("slide_drive", law))),))


def _near_diagonal(pairs: Sequence[tuple[int, int]], size: int) -> list[int]:
    """An order of `size` nodes in which those of each pair are close: reverse Cuthill-McKee."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    ends = np.array(pairs)
    graph = coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(size, size)).tocsr()
    return [int(node) for node in reverse_cuthill_mckee(graph, symmetric_mode=True)]


def multiplier_rows(assembly: Assembly) -> np.ndarray:
    """(rows,) row in the band of each multiplier, in the order of `Assembly.groups`."""
    starts = assembly.starts
    kept = [start + k for start, (_, rows) in zip(starts, assembly.groups, strict=True) for k in range(rows.size)]
    return np.array(kept, dtype=np.int64)


def own_length(assembly: Assembly, state: Mapping[str, np.ndarray]) -> float:
    """In m, wherever the origin is: the largest of the arms from centres of mass to joints, of the lengths of links
    without mass, and of the distances between the centres of jointed bodies at a state; of a mechanism that has none of
    them the largest radius of gyration."""
    centres = state["position"] + np.einsum("bij,bj->bi", state["attitude"], assembly.center_of_mass)
    found: list[float | np.floating] = [0.0]
    for joint, rows in assembly.groups:
        ends = [joint.a, joint.b]
        if rows.kind not in ANGLES and rows.vectors:
            found += [np.linalg.norm(point) for body, point in zip(ends, rows.vectors, strict=False) if body != GROUND]
        found += [rows.pitch]*(rows.kind == Kind.DISTANCE)
        found += [np.linalg.norm(centres[joint.a] - centres[joint.b])]*(GROUND not in ends)
    gyration = np.linalg.eigvalsh(assembly.inertia.astype(float)).max(axis=-1)/assembly.mass
    return float(max(found)) or float(np.sqrt(gyration.max()))


def mechanism(assembly: Assembly, rate: float = 0.0, loose: bool = False) -> Mechanism:
    """The compiled component, with scratch of its own; rate of Baumgarte's stabilisation in 1/s; loose:
    losses of rank are passed."""
    n, groups = len(assembly.mass), assembly.groups
    starts, incidents = assembly.starts, _incidents(assembly)
    first = np.concatenate([[0], np.cumsum([len(part) for part in incidents])]).astype(np.int64)
    seats = {(number, side): int(first[i]) + k for i, part in enumerate(incidents)
             for k, (number, side, axis) in enumerate(part) if axis == 0}
    count, rows = int(first[-1]), assembly.row_count
    place = np.array([starts[number] + axis for part in incidents for number, _, axis in part], dtype=np.int64)
    width = max((int(place[first[i]:first[i + 1]].max() - place[first[i]:first[i + 1]].min())
                 for i in range(n) if first[i + 1] > first[i]), default=0)
    table = np.zeros((len(groups), 6), dtype=np.int64)
    for number, (joint, part) in enumerate(groups):
        table[number] = (part.kind, joint.a % (n + 1), joint.b % (n + 1), starts[number],
                         seats.get((number, 0), count), seats.get((number, 1), count))
    scratch = np.zeros((MOVING*(n + 1) + 3*(count + 3) + 1, 3))
    scratch[MOVING*n:MOVING*n + 3] = np.eye(3)
    tree = NoTree() if assembly.limbs is None or rate != 0.0 else Articulated._make((
        *assembly.limbs, np.zeros((LIMB*(n + 1) + RATE*len(assembly.limbs[2]), 3))))
    return Mechanism(n, len(groups), int(assembly.has_clock), rows, width,
                     _constants(assembly), table, first, place, scratch, np.zeros((rows, width + 1)),
                     np.zeros((3, rows)), np.zeros(2*rows), float(rate), packed(assembly.elements, assembly.own, n),
                     multiplier_rows(assembly)[list(assembly.idle)],
                     np.zeros((3, rows) if assembly.idle or loose else (0, 0)), int(loose), tree)


def newton_seats(assembly: Assembly) -> tuple[np.ndarray, int]:
    """First unknown of each body and then of each row in the band, in the linear systems of index-3 methods, and the
    width of their band."""
    n, groups, starts = len(assembly.mass), assembly.groups, assembly.starts
    ends = [sorted({joint.a, joint.b} - {GROUND}) for joint, _ in groups]
    edges = [(body, n + number) for number, bodies in enumerate(ends) for body in bodies]
    edges += [(bodies[0], bodies[1]) for bodies in ends if len(bodies) == 2]
    edges += [(item.a, item.b) for item in assembly.elements if GROUND not in (item.a, item.b)]
    edges += [(one, two) for one in range(n) for two in range(one) if assembly.own is not None]
    edges += [(two, one) for one, two in edges] + [(k, k) for k in range(n + len(groups))]
    sizes = [6]*n + [rows.size for _, rows in groups]
    first, row = np.zeros(n + len(groups), dtype=np.int64), 0
    for node in _near_diagonal(edges, n + len(groups)):
        first[node], row = row, row + sizes[node]
    seats = np.zeros(n + assembly.row_count, dtype=np.int64)
    seats[:n] = first[:n]
    for number, start in enumerate(starts):
        seats[n + start:n + start + sizes[n + number]] = first[n + number] + np.arange(sizes[n + number])
    width = max(abs(int(first[one] - first[two])) + sizes[one] - 1 for one, two in edges)
    return seats, width


def _incidents(assembly: Assembly) -> list[list[tuple[int, int, int]]]:
    """(group, side, axis) of the rows that act on each body."""
    found: list[list[tuple[int, int, int]]] = [[] for _ in assembly.mass]
    for number, (joint, part) in enumerate(assembly.groups):
        for side, body in enumerate((joint.a, joint.b)):
            if body != GROUND:
                found[body] += [(number, side, axis) for axis in range(part.size)]
    return found


def _constants(assembly: Assembly) -> np.ndarray:
    parts: list[Any] = []
    for mass, inertia, centre in zip(assembly.mass, assembly.inertia, assembly.center_of_mass, strict=True):
        inverse = np.linalg.inv(inertia)
        parts += [[[mass, 1.0/mass, 0.0]], inertia, 0.5*(inverse + inverse.T), [centre]]
    parts.append([assembly.gravity])
    for _, rows in assembly.groups:
        block = np.zeros((GROUP, 3))
        block[:len(rows.vectors)] = rows.vectors
        block[6] = rows.pitch, rows.inertia, rows.damping
        parts.append(block)
    return np.ascontiguousarray(np.concatenate([np.asarray(part, float) for part in parts]))
