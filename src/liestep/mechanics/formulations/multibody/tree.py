"""Trees of bodies in joint coordinates: their mechanism in absolute coordinates, and the way there and back.

A body is placed as MuJoCo does it: first on its parent (the ground), then moved by its joints, one after the other.
Coordinates q and rates v of the joints stand in the order of the joints:

    free    q: place (3) and unit quaternion (4, w first)   v: velocity of the reference point, spatial; body rate (3)
    ball    q: unit quaternion (4)                          v: relative rate (3), in the axes of the body
    slide   q: length in m along the axis                   v: its rate
    hinge   q: angle in rad about the axis                  v: its rate

A body has one free joint, or slides and then a ball, up to three hinges through one point, or nothing.
"""
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from liestep.errors import InputError
from liestep.geometry.groups.poses import QUATERNION
from liestep.geometry.quaternion import of_matrix
from liestep.mechanics.contracts.parameters import Parameter, Preset
from liestep.mechanics.contracts.sheet import Parameters, Sheet, State
from liestep.mechanics.formulations.multibody.assembly import (
    DIRECTION,
    GROUND,
    LINE,
    POINT,
    Assembly,
    Joint,
    Rows,
    complement,
    rotor,
    slider,
)
from liestep.mechanics.formulations.multibody.family import multibody
from liestep.mechanics.formulations.multibody.forms import matrices

SIZES = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}  # coordinates and rates
TINY = 1e-30  # a complex step: derivatives without differences
ORTHOGONAL = 1e-9
PARAMETERS = {
    "mass": Parameter("kg", "masses", ("n",), "positive"),
    "inertia": Parameter("kg m2", "inertia matrices about the centres of mass, body axes", ("n", 3, 3), "inertia"),
    "center_of_mass": Parameter("m", "from the reference points to the centres of mass, body axes", ("n", 3)),
    "gravity": Parameter("m s-2", "acceleration vector of gravity, spatial", (3,)),
    "armature": Parameter("kg m2", "inertia of the rate of each joint (kg of slides)", ("v",), "non-negative"),
    "damping": Parameter("N m s", "damping of the rate of each joint (N s/m of slides)", ("v",), "non-negative"),
}


class TreeJoint(NamedTuple):
    """Axis and point in the axes of its body, from the body's reference point; `reference` is the coordinate of a
    hinge or a slide at which the body stands as it was placed."""

    name: str
    body: int
    kind: str
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    reference: float = 0.0


@dataclass(frozen=True)
class Tree:
    """Bodies by name, each after its parent (GROUND for the ground), with place (3) and turn (3, 3) of its reference
    frame in that of the parent; joints body by body; sentences on what was left out. Raises InputError for joints of a
    body that the mechanism has no rows for."""

    names: tuple[str, ...]
    parents: tuple[int, ...]
    places: Any
    turns: Any
    joints: tuple[TreeJoint, ...]
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(TreeJoint(*joint) for joint in self.joints))
        for name in ("places", "turns"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=float))
        for i, name in enumerate(self.names):
            joints = [joint for joint, _, _ in self.of(i)]
            order = " ".join(joint.kind for joint in joints)
            slides, turns = order.count("slide"), [joint for joint in joints if joint.kind == "hinge"]
            rest = order.removeprefix(" ".join(["slide"]*slides)).strip()
            known = ("", "ball", *(" ".join(["hinge"]*count) for count in (1, 2, 3)))
            if order != "free" and (not order or slides > 3 or rest not in known):
                raise InputError(f"body {name} has the joints {order or 'none'}; allowed are free, or slides and then"
                                 " ball or up to three hinges")
            axes = np.array([joint.axis for joint in turns])
            if np.ptp([joint.point for joint in turns] or [(0.0, 0.0, 0.0)], axis=0).max() > ORTHOGONAL or (
                    np.abs(np.sum(axes[1:]*axes[:-1], axis=-1)).max(initial=0.0) > ORTHOGONAL) or (
                    len(turns) == 3 and abs(np.linalg.det(axes)) < ORTHOGONAL):
                raise InputError(f"hinges {', '.join(joint.name for joint in turns)} of body {name} must go through one"
                                 " point, each orthogonal to the next, and three not in one plane")

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of coordinates and of rates."""
        counts = np.array([SIZES[joint.kind] for joint in self.joints]).sum(axis=0)
        return int(counts[0]), int(counts[1])

    def of(self, body: int) -> list[tuple[TreeJoint, slice, slice]]:
        """Joints of a body, each with its places in q and v."""
        found, at, to = [], 0, 0
        for joint in self.joints:
            more, rates = SIZES[joint.kind]
            if joint.body == body:
                found.append((joint, slice(at, at + more), slice(to, to + rates)))
            at, to = at + more, to + rates
        return found

    def assembly(self, p: Parameters) -> Assembly:
        """The mechanism: joints, then rows of the rates that have armature or damping."""
        joints: list[Joint] = []
        for i in range(len(self.names)):
            joints += self._joints(i, p)
        return Assembly(p["mass"], p["inertia"], p["center_of_mass"], p["gravity"], joints, left_out=self.left_out)

    def _joints(self, i: int, p: Parameters) -> list[Joint]:
        listed, a, turn = self.of(i), self.parents[i], self.turns[i]
        kinds = [joint.kind for joint, _, _ in listed]
        b_axes = [np.array(joint.axis) for joint, _, _ in listed]
        a_axes = [turn @ axis for axis in b_axes]
        q = np.array(listed[-1][0].point) - p["center_of_mass"][i]
        base = self.places[i] + turn @ listed[-1][0].point - (p["center_of_mass"][a] if a != GROUND else 0.0)
        terms = [(p["armature"][k], p["damping"][k]) for _, _, part in listed for k in range(part.start, part.stop)]
        slides, first = kinds.count("slide"), kinds.index("hinge") if "hinge" in kinds else len(kinds)
        along = np.array(a_axes[:slides]).reshape(-1, 3)
        rows: list[Rows] = [] if kinds == ["free"] else [Rows(POINT, (base, q))]
        if slides:
            rows = [Rows(LINE, (base, q, normal)) for normal in np.linalg.svd(along)[2][slides:]]
        turns = len(kinds) - first
        if kinds[-1] == "slide":
            pairs = [(turn[:, 0], np.eye(3)[2]), (turn[:, 1], np.eye(3)[2]), (turn[:, 0], np.eye(3)[1])]
        elif turns == 1:
            pairs = [(side, b_axes[first]) for side in complement(a_axes[first])]
        else:
            pairs = [(a_axes[first], b_axes[-1])] if turns == 2 else []
        zero = np.zeros(3)
        rows += [Rows(DIRECTION, (zero, zero, u, v)) for u, v in pairs]
        found = [Joint(" ".join(kinds), a, i, tuple(rows))] if rows else []
        rates: list[Any] = [(slider, (a, base, axis, i, q), {}) for axis in np.linalg.pinv(along).T]
        if kinds == ["free"]:
            rates = [(slider, (GROUND, zero, axis, i, -p["center_of_mass"][i]), {}) for axis in np.eye(3)]
        if kinds[-1] in ("free", "ball"):
            rates += [(rotor, (i, axis, a), {}) for axis in np.eye(3)]
        if turns:
            one, last = a_axes[first], b_axes[-1]
            rates.append((rotor, (a, one, i), {"v": last} if turns > 1 else {}))
            rates += [(rotor, (a, one, i), {"v": last, "between": True})]*(turns > 2)
            rates += [(rotor, (i, last, a), {"v": one})]*(turns > 1)
        return found + [make(*where, *term, **also) for (make, where, also), term in zip(rates, terms, strict=True)
                        if any(term)]

    def motion(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Attitudes (n, 3, 3), positions (n, 3), body rates and velocities of the reference points (n, 3, m) at q and
        rates v (rates, m); of complex numbers too."""
        n, kind, m = len(self.names), np.result_type(q, v), v.shape[1]
        turn, place = np.zeros((n, 3, 3), kind), np.zeros((n, 3), kind)
        rate, velocity = np.zeros((n, 3, m), kind), np.zeros((n, 3, m), kind)
        for i, a in enumerate(self.parents):
            grounded = a == GROUND
            r = self.turns[i] if grounded else turn[a] @ self.turns[i]
            out = self.places[i] if grounded else turn[a] @ self.places[i]
            x = out if grounded else place[a] + out
            w = np.zeros((3, m)) if grounded else rate[a]
            s = np.zeros((3, m)) if grounded else velocity[a] - _hat(out) @ w
            for joint, at, to in self.of(i):
                axis = r @ joint.axis
                if joint.kind == "slide":
                    out = axis*(q[at] - joint.reference)
                    x, s = x + out, s - _hat(out) @ w + axis[:, None]*v[to]
                elif joint.kind == "free":
                    x, r = q[at][:3], _matrix(q[at][3:])
                    s, w = v[to][:3], r @ v[to][3:]
                else:
                    arm, turned = r @ joint.point, r @ (
                        _matrix(q[at]) if joint.kind == "ball" else _about(joint.axis, q[at][0] - joint.reference))
                    x, s = x + arm - turned @ joint.point, s - _hat(arm) @ w
                    w = w + (turned @ v[to] if joint.kind == "ball" else axis[:, None]*v[to])
                    s, r = s + _hat(turned @ joint.point) @ w, turned
            turn[i], place[i], rate[i], velocity[i] = r, x, w, s
        return turn, place, np.swapaxes(turn, 1, 2) @ rate, velocity

    def state(self, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
        """Attitudes, positions and velocities of the bodies. Raises InputError: q or v of another size, not finite, or
        a quaternion of length zero."""
        checked = [np.array(values, dtype=float) for values in (q, v)]
        for name, values, size in zip("qv", checked, self.sizes, strict=True):
            if values.shape != (size,) or not np.isfinite(values).all():
                raise InputError(f"{name} must be {size} finite numbers, one for each of"
                                 f" {', '.join(joint.name for joint in self.joints)} (7 and 6 of a free joint, 4 and 3"
                                 " of a ball)")
        turn, place, rate, velocity = self.motion(checked[0], checked[1][:, None])
        if not np.isfinite(turn).all():
            raise InputError("q has a quaternion of length zero")
        return {"attitude": turn, "position": place, "body_rate": rate[..., 0], "velocity": velocity[..., 0]}

    def coordinates(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """q and v of a state, or (time, ...) of states in a row, whose angles then are continuous in time."""
        fields = {name: np.asarray(state[name]) for name in ("attitude", "position", "body_rate", "velocity")}
        if fields["attitude"].ndim == 3:
            at, rates = self.coordinates({name: values[None] for name, values in fields.items()})
            return at[0], rates[0]
        count = len(fields["attitude"])
        q, v, unit = np.zeros((count, self.sizes[0])), np.zeros((count, self.sizes[1])), np.eye(self.sizes[1])
        for k in range(count):
            for i in range(len(self.names)):
                self._read(i, fields["attitude"][k], fields["position"][k], q[k])
        hinges = [at.start for i in range(len(self.names)) for joint, at, _ in self.of(i) if joint.kind == "hinge"]
        q[:, hinges] = np.unwrap(q[:, hinges], axis=0)
        for k in range(count):
            _, _, *moving = self.motion(q[k], unit)
            found = np.concatenate([fields["body_rate"][k], fields["velocity"][k]])
            v[k] = np.linalg.lstsq(np.concatenate(moving).reshape(-1, len(unit)), found.ravel(), rcond=None)[0]
        return q, v

    def _read(self, i: int, turns: np.ndarray, places: np.ndarray, q: np.ndarray) -> None:
        """Coordinates of body i into q."""
        a, listed, r = self.parents[i], self.of(i), turns[i]
        if listed[0][0].kind == "free":
            q[listed[0][1]] = *places[i], *of_matrix(r)
            return
        base = self.turns[i] if a == GROUND else turns[a] @ self.turns[i]
        place = self.places[i] if a == GROUND else places[a] + turns[a] @ self.places[i]
        point = listed[-1][0].point
        gone = base.T @ (places[i] + r @ point - place) - point
        slides = [(joint, at) for joint, at, _ in listed if joint.kind == "slide"]
        if slides:
            moved = np.linalg.lstsq(np.array([joint.axis for joint, _ in slides]).T, gone, rcond=None)[0]
            for (joint, at), length in zip(slides, moved, strict=True):
                q[at] = length + joint.reference
        if listed[-1][0].kind == "ball":
            q[listed[-1][1]] = of_matrix(base.T @ r)
        hinges = [(joint, at) for joint, at, _ in listed if joint.kind == "hinge"]
        for (joint, at), angle in zip(hinges, _angles([np.array(one.axis) for one, _ in hinges], base.T @ r),
                                      strict=True):
            q[at] = angle + joint.reference

    def _of_centres(self, p: Parameters, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Body rates and velocities of the centres of mass (n, 3, m)."""
        turn, _, rate, velocity = self.motion(q, v)
        arms = np.cross(rate, p["center_of_mass"][:, :, None], axis=1)
        return rate, velocity + turn @ arms

    def mass_matrix(self, p: Parameters, q: np.ndarray) -> np.ndarray:
        """(rates, rates) of the joint coordinates, armature included, in kg m2 (kg of slides)."""
        rate, velocity = self._of_centres(p, q, np.eye(self.sizes[1]))
        spin = np.einsum("bik,bij,bjl->kl", rate, p["inertia"], rate)
        found: np.ndarray = spin + np.einsum("b,bik,bil->kl", p["mass"], velocity, velocity) + np.diag(p["armature"])
        return found

    def bias(self, p: Parameters, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(rates,) torques and forces that hold the joints' accelerations at zero, damping left out."""
        rate, velocity = self._of_centres(p, q, np.eye(self.sizes[1]))
        w = rate @ v
        bent = [part[..., 0].imag/TINY for part in self._of_centres(p, q + 1j*TINY*self.change(q, v), v[:, None])]
        spin = np.einsum("bij,bj->bi", p["inertia"], bent[0]) + np.cross(w, np.einsum("bij,bj->bi", p["inertia"], w))
        found: np.ndarray = np.einsum("bik,bi->k", rate, spin) + np.einsum(
            "bik,bi->k", velocity, p["mass"][:, None]*(bent[1] - p["gravity"]))
        return found

    def change(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """dq/dt."""
        found = np.zeros(len(q))
        for i in range(len(self.names)):
            for joint, at, to in self.of(i):
                found[at][:len(v[to])] = v[to]
                if joint.kind in ("free", "ball"):
                    (w, x, y, z), rate = q[at][-4:], v[to][-3:]
                    found[at][-4:] = 0.5*np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]) @ rate
        return found


def _hat(a: np.ndarray) -> np.ndarray:
    return np.array([[0.0*a[0], -a[2], a[1]], [a[2], 0.0*a[0], -a[0]], [-a[1], a[0], 0.0*a[0]]])


def _about(axis: Any, angle: Any) -> np.ndarray:
    """Rotation about a unit vector; complex angles too."""
    k = _hat(np.array(axis))
    found: np.ndarray = np.eye(3) + np.sin(angle)*k + (1.0 - np.cos(angle))*(k @ k)
    return found


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    """Attitude of a quaternion of any length, w first; complex ones too."""
    with np.errstate(invalid="ignore"):
        return matrices(QUATERNION, (quaternion/np.sqrt(np.sum(quaternion*quaternion)))[None])


def _angle(axis: np.ndarray, start: np.ndarray, end: np.ndarray) -> float:
    """From a vector to another one about an axis."""
    return float(np.arctan2(axis @ np.cross(start, end), start @ end - (axis @ start)*(axis @ end)))


def _angles(axes: list[np.ndarray], turn: np.ndarray) -> list[float]:
    """Of turns in sequence that make a rotation; of three the middle one is at most pi/2."""
    if not axes:
        return []
    first, last = axes[0], axes[-1]
    if len(axes) == 1:
        side = complement(first)[0]
        return [_angle(first, side, turn @ side)]
    if len(axes) == 2:
        return [_angle(first, last, turn @ last), _angle(last, turn.T @ first, first)]
    normal = np.cross(first, turn @ last)*np.sign(axes[1] @ np.cross(first, last))
    one = _angle(first, axes[1], normal)
    return [one, _angle(axes[1], last, _about(first, one).T @ turn @ last), _angle(last, turn.T @ normal, axes[1])]


def tree(*, title: str, citation: str, names: tuple[str, ...], parents: tuple[int, ...], places: Any, turns: Any,
         joints: Any, left_out: tuple[str, ...], values: Mapping[str, Any], q: Any, v: Any, t_end: float) -> Sheet:
    """Sheet of a tree of bodies with joints: fields of `Tree`; values of the parameters mass, inertia, center_of_mass,
    gravity, armature and damping; q and v of the start in joint coordinates; t_end in s.

    Raises:
        InputError: joints of a body that the mechanism has no rows for.
    """
    facts = Tree(names, parents, places, turns, joints, left_out)
    return multibody(
        title=title, equations="M dV/dt + A^T lambda = f, A V = 0, dC/dt = C hat V", citation=citation,
        parameters=PARAMETERS, build=facts.assembly, bodies=lambda p: len(names),
        conserved_momentum=lambda p: (False, False, False),
        presets={"own": Preset("as in the file", "none", "own", values, lambda p: facts.state(q, v), t_end)})
