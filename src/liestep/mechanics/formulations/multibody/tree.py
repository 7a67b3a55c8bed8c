"""Trees of bodies in joint coordinates: their mechanism in absolute coordinates, and the way there and back.

As in MuJoCo a body is placed on its parent (or the ground) and then moved by its joints, one after the other: by one
that is free, or by slides and then a ball or up to three hinges through one point. Coordinates q and rates v, in the
order of the joints:

    free    q: place (3) and unit quaternion (4, w first)   v: velocity of the reference point, spatial; body rate (3)
    ball    q: unit quaternion (4)                          v: relative rate (3), in the axes of the body
    slide   q: length in m along the axis                   v: its rate
    hinge   q: angle in rad about the axis                  v: its rate"""
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liestep.compile.dispatch import borrows
from liestep.compile.interpreted import brief_loop, deciding
from liestep.compile.rows import Vector, add, add_to, axpy, cross, dot, row, scale, sqrt, sub
from liestep.errors import InputError
from liestep.geometry.groups.poses import QUATERNION
from liestep.geometry.quaternion import of_matrix
from liestep.mechanics.contracts.sheet import Parameter, Parameters, Preset, Sheet, State, real_array
from liestep.mechanics.formulations.multibody.articulated import (
    BETWEEN,
    FACTS,
    FIRST,
    HINGE,
    LAST,
    SLIDE,
    TURNED,
    matrix,
    transposed,
)
from liestep.mechanics.formulations.multibody.assembly import GROUND, Assembly, Joint, Rows, Shape, complement, rotor
from liestep.mechanics.formulations.multibody.elements import NoOwn
from liestep.mechanics.formulations.multibody.family import multibody
from liestep.mechanics.formulations.multibody.force_elements import Element, Torque
from liestep.mechanics.formulations.multibody.forms import matrices
from liestep.mechanics.formulations.multibody.inverse import LIMB, JointSpace, solve
from liestep.mechanics.formulations.multibody.mechanism import MOVING, PLACE, TURN, VELOCITY, Kind

SIZES = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}  # coordinates and rates
KINDS = tuple(SIZES)  # by numbers of `inverse`
ORTHOGONAL, ZERO = 1e-9, np.zeros(3)
PARAMETERS = {
    "mass": Parameter("kg", "masses", ("n",), "positive"),
    "inertia": Parameter("kg m2", "inertia matrices about the centres of mass, body axes", ("n", 3, 3), "inertia"),
    "center_of_mass": Parameter("m", "from the reference points to the centres of mass, body axes", ("n", 3)),
    "gravity": Parameter("m s-2", "acceleration vector of gravity, spatial", (3,)),
    "armature": Parameter("kg m2", "inertia of the rate of each joint (kg of slides)", ("v",), "non-negative"),
    "damping": Parameter("N m s", "damping of the rate of each joint (N s/m of slides)", ("v",), "non-negative"),
}


TORQUE = {"torque": Parameter("N m", "torque of the rate of each joint (N of slides)", ("v",))}


class TreeJoint(NamedTuple):
    """Axis and point in the axes of its body, from the body's reference point; `reference` is the coordinate of a
    hinge or a slide at which the body stands as it was placed."""

    name: str
    body: int
    kind: str
    axis: np.ndarray   # (3,)
    point: np.ndarray  # (3,)
    reference: float


class Motor(NamedTuple):
    """MuJoCo's actuator of a hinge or slide, by its places in q and v: gear times the force gain ctrl + bias[0] + gear
    (bias[1] q + bias[2] v), each within a range, and the torque of all motors of the joint too."""

    name: str
    at: int
    to: int
    gear: float
    gain: float
    bias: tuple[float, float, float]
    controls: tuple[float, float]
    forces: tuple[float, float]
    torques: tuple[float, float]

    def torque(self, control: float, q: np.ndarray, v: np.ndarray) -> float:
        """At a control; q and v count where there is a bias."""
        force = self.gain*min(max(control, self.controls[0]), self.controls[1])
        if any(self.bias):
            force += self.bias[0] + self.gear*(self.bias[1]*float(q[self.at]) + self.bias[2]*float(v[self.to]))
        return self.gear*min(max(force, self.forces[0]), self.forces[1])


@dataclass(frozen=True)
class Tree:
    """Bodies by name, each after its parent (GROUND for the ground), with place (3) and turn (3, 3) of its reference
    frame in that of the parent; joints body by body; sentences on what was left out; arguments of each `Shape` and
    `Motor`. Raises InputError for joints of a body that the mechanism has no rows for."""

    names: tuple[str, ...]
    parents: tuple[int, ...]
    places: Any
    turns: Any
    joints: Any
    left_out: tuple[str, ...]
    shapes: Any = ()
    motors: Any = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(TreeJoint(*joint) for joint in self.joints))
        object.__setattr__(self, "shapes", tuple(Shape(*shape) for shape in self.shapes))
        object.__setattr__(self, "motors", tuple(Motor(*motor) for motor in self.motors))
        for name in ("places", "turns"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=float))
        for i, name in enumerate(self.names):
            kinds = [joint.kind for joint, _, _ in self.of[i]]
            rest = kinds[kinds.count("slide"):] if set(kinds[:kinds.count("slide")]) <= {"slide"} else ["slide"]
            if kinds != ["free"] and (not 0 < len(kinds) <= 3 + len(rest) or rest not in (
                    [], ["ball"], *(["hinge"]*count for count in (1, 2, 3)))):
                raise InputError(f"body {name} has the joints {' '.join(kinds) or 'none'}; allowed are free, or slides"
                                 " and then ball or up to three hinges")
            slides = np.array([joint.axis for joint, _, _ in self.of[i] if joint.kind == "slide"]).reshape(-1, 3)
            if np.linalg.matrix_rank(slides, tol=ORTHOGONAL) < len(slides):
                raise InputError(f"the slides of body {name} are not along independent axes")
            hinges = [joint for joint, _, _ in self.of[i] if joint.kind == "hinge"]
            axes, points = (np.array([part[k] for part in hinges]).reshape(-1, 3) for k in (3, 4))
            if np.abs(points - points[:1]).max(initial=0.0) > ORTHOGONAL or (
                    np.abs(np.sum(axes[1:]*axes[:-1], axis=1)).max(initial=0.0) > ORTHOGONAL) or (
                    len(axes) == 3 and abs(np.linalg.det(axes)) < ORTHOGONAL):
                raise InputError(f"hinges {', '.join(joint.name for joint in hinges)} of body {name} must go through"
                                 " one point, each orthogonal to the next, and three not in one plane")

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """Numbers of coordinates and of rates."""
        return tuple(sum(SIZES[joint.kind][k] for joint in self.joints) for k in (0, 1))  # type: ignore[return-value]

    @cached_property
    def of(self) -> list[list[tuple[TreeJoint, slice, slice]]]:
        """Joints of each body, with their places in q and v."""
        found: list[list[tuple[TreeJoint, slice, slice]]] = [[] for _ in self.names]
        at = to = 0
        for joint in self.joints:
            more, rates = SIZES[joint.kind]
            found[joint.body].append((joint, slice(at, at + more), slice(to, to + rates)))
            at, to = at + more, to + rates
        return found

    def assembly(self, p: Parameters) -> Assembly:
        """The mechanism: of each body its joint, and the rates that have armature or damping; a turn about
        an axis of the body that only has damping takes a torque, which needs no row."""
        parts = [part for i in range(len(self.names)) for part in self._parts(i, p)]
        return Assembly(p["mass"], p["inertia"], p["center_of_mass"], p["gravity"],
                        [part for part in parts if isinstance(part, Joint)],
                        [part for part in parts if isinstance(part, Element)], limbs=self.limbs(p),
                        own=JointForces._make((*self.limbs(p, True), p["torque"])) if "torque" in p else None,
                        shapes=self.shapes, notes={"left_out": " ".join(self.left_out)} if self.left_out else {})

    def limbs(self, p: Parameters, apart: bool = False) -> tuple[np.ndarray, ...]:
        """Of `articulated.Articulated` all but its scratch; damping that is a torque is not told again. apart: three
        hinges are never a ball."""
        rates = [self._rates(i, p, apart) for i in range(len(self.names))]
        every = [part for parts in rates for part in parts]
        facts = [row for kind, u, v, inertia, damping in every
                 for row in (u, v, (inertia, damping if inertia or kind not in (HINGE, TURNED) else 0.0, 0.0))]
        points = [point for i in range(len(rates)) for point in self._points(i, p)[::-1]]
        return (np.array(self.parents) % (len(rates) + 1), np.cumsum([0, *map(len, rates)]),
                np.array([part[0] for part in every]), np.array([*facts, *points]))

    def _rates(self, i: int, p: Parameters, apart: bool = False
               ) -> list[tuple[int, np.ndarray, np.ndarray, float, float]]:
        """Of each rate of a body its kind in `articulated`, with u and v there; armature and damping. Three hinges that
        have neither are a ball."""
        listed, unit = self.of[i], np.eye(3)
        kinds, inside = [joint.kind for joint, _, _ in listed], np.array([joint.axis for joint, _, _ in listed])
        slides, turns, dofs = kinds.count("slide"), kinds.count("hinge"), slice(listed[0][2].start, listed[-1][2].stop)
        outside, loads = inside @ self.turns[i].T, np.stack([p["armature"][dofs], p["damping"][dofs]], axis=1)
        along = unit if kinds == ["free"] else outside[:slides]
        pairs = [(SLIDE, u, v) for u, v in zip(along, np.linalg.pinv(along).T, strict=True)]
        if kinds[-1] in ("free", "ball") or (turns == 3 and not apart and not loads[slides:].any()):
            pairs += [(TURNED, axis, ZERO) for axis in unit]
        elif turns == 1:
            pairs.append((HINGE, inside[-1], outside[-1]))
        elif turns:
            pairs += [(kind, outside[slides], inside[-1]) for kind in (FIRST, *[BETWEEN]*(turns - 2), LAST)]
            if apart and turns == 3:  # the axis between is u x v
                pairs[-2] = BETWEEN, pairs[-2][1]*np.sign(np.linalg.det(inside[[-2, -3, -1]])), inside[-1]
        return [(*part, *of) for part, of in zip(pairs, loads.tolist(), strict=True)]

    def _points(self, i: int, p: Parameters) -> tuple[np.ndarray, np.ndarray]:
        """Where the joints of a body are, from the centre of mass of its parent and from its own."""
        point, a = np.array(self.of[i][-1][0].point), self.parents[i]
        base = self.places[i] + self.turns[i] @ point - (p["center_of_mass"][a] if a != GROUND else 0.0)
        return base, point - p["center_of_mass"][i]

    def _parts(self, i: int, p: Parameters) -> Iterator[Joint | Element]:
        rates, (base, point), a, turn = self._rates(i, p), self._points(i, p), self.parents[i], self.turns[i]
        along = np.array([u for kind, u, *_ in rates if kind == SLIDE]).reshape(-1, 3)
        last, u, v, *_ = rates[-1]
        pairs: list[tuple[np.ndarray, np.ndarray]] = []  # directions that stay orthogonal
        if last == SLIDE:
            pairs = [(turn[:, j], np.eye(3)[k]) for j, k in ((0, 2), (1, 2), (0, 1))]
        elif last == HINGE:
            pairs = [(side, u) for side in complement(v)]
        elif len(rates) - len(along) == 2:
            pairs = [(u, v)]
        rows = [Rows(Kind.LINE, (base, point, normal)) for normal in np.linalg.svd(along)[2][len(along):]]
        rows = [*(rows if len(along) else [Rows(Kind.POINT, (base, point))]),
                *(Rows(Kind.DIRECTION, (ZERO, ZERO, *pair)) for pair in pairs)]
        if rows:
            yield Joint(" ".join(joint.kind for joint, _, _ in self.of[i]), a, i, tuple(rows))
        for kind, u, v, inertia, damping in rates:
            if not (inertia or damping):
                continue
            if kind == SLIDE:  # along v, which is no unit vector where slides are askew
                yield Joint("slide_rotor", a, i, (Rows(Kind.SLIDER, (base, point, v), 0.0, inertia, damping),))
            elif kind in (HINGE, TURNED):
                yield rotor(i, u, a, inertia, damping) if inertia else Torque(i, u, a, damping)
            elif kind == LAST:
                yield rotor(i, v, a, inertia, damping, u)
            else:
                yield rotor(a, u, i, inertia, damping, v, kind == BETWEEN)

    def motion(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Attitudes (n, 3, 3), positions (n, 3), body rates and velocities of the reference points (n, 3, m) at q and
        rates v (rates, m); of complex numbers too."""
        n, kind, m = len(self.names), np.result_type(q, v), v.shape[1]
        turn, place = np.tile(np.eye(3, dtype=kind), (n + 1, 1, 1)), np.zeros((n + 1, 3), kind)  # the last: the ground
        rate, velocity = np.zeros((2, n + 1, 3, m), kind)
        for i, a in enumerate(self.parents):
            r, arm, w = turn[a] @ self.turns[i], turn[a] @ self.places[i], rate[a]
            x, s = place[a] + arm, velocity[a] - _hat(arm) @ w
            for joint, at, to in self.of[i]:
                axis = r @ joint.axis
                if joint.kind == "slide":
                    arm = axis*(q[at] - joint.reference)
                    x, s = x + arm, s - _hat(arm) @ w + axis[:, None]*v[to]
                elif joint.kind == "free":
                    x, r, s = q[at][:3], _matrix(q[at][3:]), v[to][:3]
                    w = r @ v[to][3:]
                else:
                    ball = joint.kind == "ball"
                    turned = r @ (_matrix(q[at]) if ball else _about(joint.axis, q[at][0] - joint.reference))
                    x, s = x + (r - turned) @ joint.point, s - _hat(r @ joint.point) @ w
                    w = w + (turned @ v[to] if ball else axis[:, None]*v[to])
                    s, r = s + _hat(turned @ joint.point) @ w, turned
            turn[i], place[i], rate[i], velocity[i] = r, x, w, s
        return turn[:n], place[:n], np.swapaxes(turn[:n], 1, 2) @ rate[:n], velocity[:n]

    def state(self, q: ArrayLike, v: ArrayLike) -> dict[str, np.ndarray]:
        """Attitudes, positions and velocities of the bodies. Raises InputError: q or v of another size, not finite, or
        a quaternion of length zero."""
        checked = self._checked(q, v)
        turn, place, rate, velocity = self.motion(checked[0], checked[1][:, None])
        return {"attitude": turn, "position": place, "body_rate": rate[..., 0], "velocity": velocity[..., 0]}

    def _checked(self, q: ArrayLike, v: ArrayLike) -> list[np.ndarray]:
        checked = [self.numbers(*one) for one in zip("qv", (q, v), self.sizes, strict=True)]
        for joint, at, _ in chain(*self.of):
            turn = checked[0][at][-4:]
            if joint.kind in ("free", "ball") and not 0.0 < turn @ turn < np.inf:
                raise InputError("q has a quaternion of length zero")
        return checked

    def numbers(self, name: str, values: ArrayLike, size: int) -> np.ndarray:
        """An array of this size. Raises InputError: another size, not finite, or no numbers."""
        found = real_array(name, values)
        if found.shape != (size,) or not np.isfinite(found).all():
            raise InputError(f"{name} must be {size} finite numbers, of"
                             f" {', '.join(joint.name for joint in self.joints)}")
        return found

    @property
    def labels(self) -> list[str]:
        """The joint of each rate."""
        return [joint.name for joint in self.joints for _ in range(SIZES[joint.kind][1])]

    def own(self) -> dict[str, tuple[Any, ...]]:
        """Coordinates and rates, as `Sheet.own`; of states in a row angles go on from those before."""
        last: list[np.ndarray] = []

        def read(k: int, state: State, t: float | None) -> np.ndarray:
            single = np.ndim(state["position"]) == 2
            both = self.coordinates({name: state[name][None] for name in (
                "attitude", "position", "body_rate", "velocity")} if single else state)
            if single and k == 0 and t is not None:
                at = self.hinges()[0]
                if last:
                    both[0][0, at] += 2.0*np.pi*np.round((last.pop()[at] - both[0][0, at])/(2.0*np.pi))
                last.append(both[0][0].copy())
            return both[k][0] if single else both[k]

        names = ", ".join(joint.name for joint in self.joints)
        return {"q": ("position", "1", f"coordinates of the joints {names}", partial(read, 0), "coordinate"),
                "v": ("velocity", "1", f"rates of the joints {names}", partial(read, 1), "rate")}

    def joint_space(self, p: Parameters) -> JointSpace:
        """For `dynamics`, at parameters."""
        n = len(self.names)
        every = [*chain(*self.of)]
        facts = [row for i in range(n) for row in (*self.turns[i], self.places[i], p["center_of_mass"][i],
                                                   (p["mass"][i], 0.0, 0.0), *p["inertia"][i])]
        facts += [row for joint, _, _ in every for row in (joint.axis, joint.point, (joint.reference, 0.0, 0.0))]
        return JointSpace(np.array(self.parents) % (n + 1), np.cumsum([0, *map(len, self.of)]),
                          np.array([*((KINDS.index(joint.kind), at.start, to.start) for joint, at, to in every),
                                    (0, *self.sizes)]), np.array([*facts, p["gravity"]]))

    def dynamics(self, joints: JointSpace, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Mass matrix (v, v), without armature, and the bias (v,): torques of gravity, and of rates, at no
        acceleration. Raises InputError as `state`."""
        (q, v), m = self._checked(q, v), self.sizes[1]
        masses, bias = np.zeros((m, m)), np.zeros(m)
        _solver()(joints, q, v, np.zeros((LIMB*(len(self.names) + 1) + 2*m, 3)), masses, bias)
        return masses, bias

    def coordinates(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """q and v (time, ...) of states in a row, in which angles and quaternions are continuous."""
        turn, place, rate, velocity = (np.asarray(state[name]) for name in (
            "attitude", "position", "body_rate", "velocity"))
        q, v = (np.zeros((len(turn), size)) for size in self.sizes)
        for k in range(len(turn)):
            for i in range(len(self.names)):
                self._read(i, turn[k], place[k], q[k])
            rows = np.concatenate(self.motion(q[k], np.eye(v.shape[1]))[2:]).reshape(-1, v.shape[1])
            v[k] = np.linalg.lstsq(rows, np.concatenate([rate[k], velocity[k]]).ravel(), rcond=None)[0]
        hinges = self.hinges()[0]
        q[:, hinges] = np.unwrap(q[:, hinges], axis=0)
        for joint, at, _ in chain(*self.of):
            if joint.kind in ("free", "ball"):  # q and -q are one attitude
                turns = q[:, at.stop - 4:at.stop]
                turns[1:] *= np.cumprod(np.where((turns[1:]*turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0))[:, None]
        return q, v

    def hinges(self) -> tuple[list[int], list[int]]:
        """Places of their angles in q and of their rates in v."""
        places = [(at.start, to.start) for joint, at, to in chain(*self.of) if joint.kind == "hinge"]
        return [at for at, _ in places], [to for _, to in places]

    def _read(self, i: int, turns: np.ndarray, places: np.ndarray, q: np.ndarray) -> None:
        """Coordinates of body i into q."""
        a, (listed, ats, _) = self.parents[i], zip(*self.of[i], strict=True)
        if listed[0].kind == "free":
            q[ats[0]] = *places[i], *of_matrix(turns[i])
            return
        above, below = (turns[a], places[a]) if a != GROUND else (np.eye(3), ZERO)
        base, point = above @ self.turns[i], np.array(listed[-1].point)
        turn, slides = base.T @ turns[i], [joint.kind for joint in listed].count("slide")
        gone = base.T @ (places[i] - below - above @ self.places[i]) + (turn - np.eye(3)) @ point
        axes = np.array([joint.axis for joint in listed])
        moved = np.linalg.pinv(axes[:slides].T) @ gone
        if listed[-1].kind == "ball":
            q[ats[-1]] = of_matrix(turn)
        elif listed[-1].kind == "hinge":
            moved = [*moved, *_angles(axes[slides:], turn)]
        for joint, at, value in zip(listed, ats, moved, strict=False):
            q[at] = value + joint.reference


@cache
def _solver() -> Callable:
    with deciding("auto"):
        return brief_loop(solve, JointSpace(*[np.zeros(1)]*4))


def _hat(a: np.ndarray) -> np.ndarray:
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _about(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation about a unit vector; complex angles too."""
    k = _hat(np.array(axis))
    return np.eye(3) + np.sin(angle)*k + (1.0 - np.cos(angle))*(k @ k)


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    """Attitude of a quaternion of any length; complex ones too."""
    with np.errstate(invalid="ignore"):
        return matrices(QUATERNION, (quaternion/np.sqrt(np.sum(quaternion*quaternion)))[None])


def _angle(axis: np.ndarray, start: np.ndarray, end: np.ndarray) -> float:
    """From a vector to another one about an axis."""
    return float(np.arctan2(axis @ np.cross(start, end), start @ end - (axis @ start)*(axis @ end)))


def _angles(axes: np.ndarray, turn: np.ndarray) -> list[float]:
    """Of turns in sequence that make a rotation; of three the middle one is at most pi/2."""
    first, last = axes[0], axes[-1]
    if len(axes) == 1:
        side = complement(first)[0]
        return [_angle(first, side, turn @ side)]
    if len(axes) == 2:
        return [_angle(first, last, turn @ last), _angle(last, turn.T @ first, first)]
    normal = np.cross(first, turn @ last)*np.sign(axes[1] @ np.cross(first, last))
    one = _angle(first, axes[1], normal)
    return [one, _angle(axes[1], last, _about(first, one).T @ turn @ last), _angle(last, turn.T @ normal, axes[1])]


def tree(*, title: str, citation: str, values: Parameters, q: ArrayLike, v: ArrayLike, t_end: float,
         **fields: Any) -> Sheet:
    """Sheet of a tree of bodies with joints: `values` of mass, inertia, center_of_mass, gravity, armature and damping;
    q and v of the start in joint coordinates; t_end in s; `fields` of `Tree`.

    Raises:
        InputError: joints of a body that the mechanism has no rows for."""
    facts = Tree(**fields)
    return multibody(
        title=title, equations="M dV/dt + A^T lambda = f, A V = 0, dC/dt = C hat V", citation=citation,
        parameters=PARAMETERS | (TORQUE if "torque" in values else {}), build=facts.assembly,
        bodies=lambda p: len(facts.names), own=facts.own,
        conserved_momentum=lambda p: (False, False, False),
        presets={"own": Preset("as in the file", "none", "own", values, lambda p: facts.state(q, v), t_end)})


@borrows(NoOwn)  # law, held, potential
class JointForces(NamedTuple):
    """Data of `Tree.limbs`, and a torque in N m, or a force in N, for each rate."""

    parents: np.ndarray
    first: np.ndarray
    kinds: np.ndarray
    facts: np.ndarray
    torque: np.ndarray  # (rates,)

    def forces(self, t: float, s: np.ndarray, out: np.ndarray) -> float:
        """As of `NoOwn`: each does its power on the rate of its joint, and none on the others."""
        power = 0.0
        for i in range(self.parents.shape[0]):
            m, a = MOVING*i, MOVING*self.parents[i]
            arm = transposed(matrix(s, m), row(self.facts, FACTS*self.kinds.shape[0] + 2*i))
            far = sub(add(row(s, m + PLACE), arm), row(s, a + PLACE))
            turn, other = row(s, m + TURN), row(s, a + TURN)
            slide = sub(add(row(s, m + VELOCITY), cross(turn, arm)), add(row(s, a + VELOCITY), cross(other, far)))
            for j in range(self.first[i], self.first[i + 1]):
                if self.torque[j] == 0.0:  # also where turns in sequence are in line
                    continue
                if self.kinds[j] == SLIDE:
                    force = scale(self.torque[j], transposed(matrix(s, a), row(self.facts, FACTS*j + 1)))
                    add_to(out, 2*i, cross(arm, force))
                    add_to(out, 2*i + 1, force)
                    add_to(out, 2*self.parents[i], cross(force, far))
                    add_to(out, 2*self.parents[i] + 1, scale(-1.0, force))
                    power += dot(force, slide)
                else:
                    torque = scale(self.torque[j], self.along(j, s, m, a))
                    add_to(out, 2*i, torque)
                    add_to(out, 2*self.parents[i], scale(-1.0, torque))
                    power += dot(torque, sub(turn, other))
        return power

    def along(self, j: int, s: np.ndarray, m: int, a: int) -> Vector:
        """The vector whose product with the relative angular velocity is a rate."""
        u, v = row(self.facts, FACTS*j), row(self.facts, FACTS*j + 1)
        if self.kinds[j] < FIRST:
            return transposed(matrix(s, m), u)
        first, last = transposed(matrix(s, a), u), transposed(matrix(s, m), v)
        if self.kinds[j] == BETWEEN:
            normal = cross(first, last)
            return scale(1.0/sqrt(dot(normal, normal)), normal)
        near = dot(first, last)
        if self.kinds[j] == LAST:
            return scale(1.0/(1.0 - near*near), axpy(-near, first, last))
        return scale(1.0/(1.0 - near*near), axpy(-near, last, first))
