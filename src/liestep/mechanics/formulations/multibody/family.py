"""Mechanisms: a sheet with all formulations from bodies, joints and springs; starts of bodies, and whether they fit the
joints (plain Python)."""
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liestep.errors import InputError
from liestep.geometry.groups.poses import MATRIX
from liestep.mechanics.contracts.formulated import quaternion_matrix, rotation_quaternion
from liestep.mechanics.contracts.manifold import MANIFOLD_TOLERANCE, check_attitude, most_off
from liestep.mechanics.contracts.sheet import Parameter, Parameters, Preset, Runner, Sheet, State
from liestep.mechanics.formulations.multibody import redundancy
from liestep.mechanics.formulations.multibody.assembly import (
    ANGLES,
    GROUND,
    Assembly,
    Joint,
    Rows,
    Shape,
    multiplier_rows,
)
from liestep.mechanics.formulations.multibody.components import MIXED
from liestep.mechanics.formulations.multibody.elements import Law
from liestep.mechanics.formulations.multibody.forms import Layout, MechanismForms
from liestep.mechanics.formulations.multibody.mechanism import Mechanism
from liestep.mechanics.formulations.probed import plain


def multibody(*, title: str, equations: str, parameters: Mapping[str, Parameter],
              build: Callable[[Parameters], Assembly], bodies: Callable[[Parameters], int],
              conserved_momentum: Callable[[Parameters], tuple[bool, bool, bool]], presets: Mapping[str, Preset],
              **further: Any) -> Sheet:
    """Sheet of n rigid bodies with joints in absolute coordinates; the state is attitude (n, 3, 3), body to space,
    position (n, 3) and velocity (n, 3) of the reference points, spatial, and body_rate (n, 3), body frame.

    `build` makes the `Assembly` of checked parameters, `bodies` says how many there are. `further` are fields of
    `Sheet`: citation, combination, default_preset, engines, exact, requires."""
    def shapes(values: Parameters) -> Mapping[str, tuple[int, ...]]:
        n = bodies(values)
        return {"attitude": (n, 3, 3), "position": (n, 3), "body_rate": (n, 3), "velocity": (n, 3)}

    def manifold(values: Parameters, state: State) -> None:
        check_attitude("attitude", state["attitude"])
        check_start(build(values), state)

    def kinetic_energy(values: Parameters, fields: State) -> np.ndarray:
        assembly, turn, rate = build(values), fields["attitude"], fields["body_rate"]
        velocity = fields["velocity"] + np.einsum("tbij,tbj->tbi", turn, np.cross(rate, assembly.center_of_mass))
        spin = np.einsum("tbi,bij,tbj->t", rate, assembly.inertia, rate)
        found: np.ndarray = 0.5*(spin + np.einsum("b,tbi,tbi->t", assembly.mass, velocity, velocity))
        if assembly.has_rotors:
            found += [at_state(assembly, {name: values[k] for name, values in fields.items()}).scratch[-1, 2]
                      for k in range(len(found))]
        return found

    def requires(values: Parameters, method: Runner) -> str | None:
        lacks = method.formulation == "index_three" and build(values).has_rotors
        return "it needs joints without rotors and sliders (armature and damping)" if lacks else None

    return Sheet(title=title, equations=equations, parameters=parameters, build=build, presets=presets,
                 conserved_momentum=conserved_momentum, state_shapes=shapes, manifold=manifold,
                 kinetic_energy=kinetic_energy,
                 nearest_start=lambda values, state: nearest_start(build(values), state),
                 forms=MechanismForms(build, conserved_momentum).forms(), **{"requires": requires, **further})


@dataclass(frozen=True)
class Body:
    """A rigid body and its start: mass in kg; inertia (3,) or (3, 3) about its centre of mass in kg m2, in its axes; x
    and v (3,) place and velocity of that point in space; R (3, 3), whose columns are its axes in space; rate (3,) its
    angular velocity in rad/s, in its axes; shape: a `Shape` or a list of them, for pictures."""

    mass: float
    inertia: ArrayLike
    x: ArrayLike = (0.0, 0.0, 0.0)
    R: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    v: ArrayLike = (0.0, 0.0, 0.0)
    rate: ArrayLike = (0.0, 0.0, 0.0)
    shape: Shape | Sequence[Shape] = ()


def body_state(attitude: np.ndarray, rate: np.ndarray, point: np.ndarray, place: np.ndarray,
               velocity: np.ndarray) -> dict[str, np.ndarray]:
    """State of one body from place and velocity (spatial) of a material point, given from the reference point in body
    axes."""
    return {"attitude": attitude, "position": place - attitude @ point, "body_rate": rate,
            "velocity": velocity - attitude @ np.cross(rate, point)}


def stacked(bodies: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """State of several bodies."""
    return {name: np.array([body[name] for body in bodies]) for name in bodies[0]}


MOST_STEPS, REACHED = 50, 2e-15  # of the way to the joints: Newton steps, and relative |g| that needs no other


def at_state(assembly: Assembly, state: Mapping[str, np.ndarray]) -> Mechanism:
    """The mechanism in plain Python, with rows and residuals of its joints at a state."""
    layout = Layout(assembly, MATRIX, MIXED)
    motion = plain(layout.motion({}))
    motion.evaluate(layout.start(state), 1)
    return motion.mechanism


def residuals(assembly: Assembly, state: Mapping[str, np.ndarray], at: Mechanism | None = None
              ) -> tuple[np.ndarray, np.ndarray]:
    """g, and A V less what drives ask for (rows,), in the order of multipliers; at: `at_state`."""
    _, gaps, rates = (at or at_state(assembly, state)).vectors[:, multiplier_rows(assembly)]
    return gaps, rates


def sizes(assembly: Assembly, state: Mapping[str, np.ndarray], joint: Joint, rows: Rows) -> tuple[float, float]:
    """Of the terms that are summed in g and in A V of a group."""
    length, speed, turning = abs(rows.pitch), 0.0, 0.0
    for body, point in zip((joint.a, joint.b), rows.vectors, strict=False):
        length += float(np.linalg.norm(point))
        if body != GROUND:
            arm, rate = assembly.center_of_mass[body], state["body_rate"][body]
            length += float(np.linalg.norm(state["position"][body] + state["attitude"][body] @ arm))
            speed += float(np.linalg.norm(state["velocity"][body] + state["attitude"][body] @ np.cross(rate, arm)))
            turning += float(np.linalg.norm(rate))
    if rows.kind in ANGLES:
        return max(1.0, abs(float(rows.vectors[0][0]))), turning  # an angle of a drive may be several turns
    return length, speed + turning*length


def jacobian(assembly: Assembly, state: Mapping[str, np.ndarray], at: Mechanism | None = None) -> np.ndarray:
    """A (rows, 6n) for the rates (body axes) and the velocities of the centres of mass (spatial), by body; at:
    `at_state`."""
    return redundancy.rows_of(assembly, at or at_state(assembly, state))


def free_velocities(assembly: Assembly, state: Mapping[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    """Directions of body_rate and velocity that span those which the joints leave at a state, with its other fields
    zero."""
    rows, n = jacobian(assembly, state), len(assembly.mass)
    sizes = np.linalg.norm(rows, axis=1)[:, None]
    _, values, axes = np.linalg.svd(np.concatenate([rows/np.where(sizes > 0.0, sizes, 1.0), np.zeros((1, 6*n))]))
    motions = []
    for axis in axes[np.count_nonzero(values > redundancy.DEPENDENT):]:
        rate, velocity = np.moveaxis(axis.reshape(n, 2, 3), 1, 0)
        motions.append({name: np.zeros_like(value) for name, value in state.items()} | {
            "body_rate": rate, "velocity": velocity - np.einsum(
                "bij,bj->bi", state["attitude"], np.cross(rate, assembly.center_of_mass))})
    return motions


def extent(assembly: Assembly, state: Mapping[str, np.ndarray]) -> float:
    """Largest length in m that is summed in a joint: what round-off of places is relative to."""
    return _longest(assembly, [sizes(assembly, state, *group) for group in assembly.groups])


def _longest(assembly: Assembly, terms: list[tuple[float, float]]) -> float:
    return max((length for (_, rows), (length, _) in zip(assembly.groups, terms, strict=True)
                if rows.kind not in ANGLES), default=1.0) or 1.0


def check_joints(assembly: Assembly, state: Mapping[str, np.ndarray], tolerance: float, at: Mechanism | None = None
                 ) -> None:
    """Raises InputError for a start off a joint by more than `tolerance`, relative to the mechanism's extent, or off
    its velocity, relative to the largest term of any joint or the speed of a fall: a body at rest may move by
    round-off. at: `at_state`."""
    terms, (gaps, rates) = [sizes(assembly, state, *group) for group in assembly.groups], residuals(assembly, state, at)
    longest = _longest(assembly, terms)
    fall, fastest = float(np.sqrt(np.linalg.norm(assembly.gravity)*longest)), {True: 0.0, False: 0.0}
    for (_, rows), (_, speed) in zip(assembly.groups, terms, strict=True):
        angle = rows.kind in ANGLES
        fastest[angle] = max(fastest[angle], speed, fall/longest if angle else fall)
    for (joint, rows, part), (length, _) in zip(redundancy.numbered(assembly), terms, strict=True):
        speed = fastest[rows.kind in ANGLES]
        off, slip = (float(np.abs(values[part]).max()) for values in (gaps, rates))
        allowed = tolerance*(length if rows.kind in ANGLES else longest)
        if not off <= allowed:  # NaN beyond the ends of a curve
            raise InputError(f"the start is off {redundancy.joint_label(assembly, joint)} by {off:.3g}, allowed"
                             f" {allowed:.1g}; liestep.consistent_start gives the nearest start that fits")
        if slip > tolerance*speed:
            raise InputError(f"the velocity of the start breaks {redundancy.joint_label(assembly, joint)} by"
                             f" {slip:.3g}, allowed {tolerance*speed:.1g}; liestep.consistent_start gives the nearest"
                             " start that fits")


def check_start(assembly: Assembly, state: Mapping[str, np.ndarray]) -> None:
    """Raises InputError for a start off its joints, where the two points of a force along their line are the same, so
    that it has no direction, or of dependent rows, see `check_rank`."""
    at = at_state(assembly, state)
    check_joints(assembly, state, most_off(), at)
    for k, one in enumerate(assembly.elements):
        p, q = (point if body == GROUND else state["position"][body] + state["attitude"][body] @ (
            assembly.center_of_mass[body] + point) for body, point in zip((one.a, one.b), one.vectors, strict=False))
        if one.kind == Law.LENGTH and np.abs(q - p).max() <= MANIFOLD_TOLERANCE*max(np.abs(p).max(), np.abs(q).max()):
            raise InputError(f"element {k} ({one.name}) has length zero at the start, where its force has no direction:"
                             " start its points apart; a spring alone may have length zero with rest=0")
    check_rank(assembly, state, at)


def check_rank(assembly: Assembly, state: Mapping[str, np.ndarray], at: Mechanism) -> None:
    """Raises InputError for rows that follow from others without a loop, or in this position alone: a step away they do
    not. What stays redundant is allowed. Of very many rows nothing is checked: their factorisation ends the run; nor of
    a `Tree`, which has checked the joints of each body."""
    loops = redundancy.has_loops(assembly)
    if assembly.limbs is not None or not 0 < assembly.row_count <= redundancy.MOST[loops]:
        return
    idle, basis = redundancy.dependent(assembly, jacobian(assembly, state, at))
    if not idle:
        return
    names = ", ".join(redundancy.names_of(assembly, idle))
    if not loops:
        raise InputError(f"{names} follows from other rows without a loop; take a joint with fewer rows")
    n = len(assembly.mass)
    step = np.cos(np.arange(1.0, 6*n + 1.0))  # any direction that no symmetry has
    step -= basis.T @ (basis @ step)
    for i, (mass, inertia) in enumerate(zip(assembly.mass, assembly.inertia, strict=True)):
        step[6*i:6*i + 3] = np.linalg.solve(np.linalg.cholesky(inertia).T, step[6*i:6*i + 3])
        step[6*i + 3:6*i + 6] /= np.sqrt(mass)
    parts = step.reshape(-1, 2, 3)
    size = max(np.abs(parts[:, 0]).max(), np.abs(parts[:, 1]).max()/extent(assembly, state))
    if size*np.sqrt(assembly.mass.max()) < redundancy.DEPENDENT:  # a structure that cannot move
        return
    try:
        moved = nearest_start(assembly, _moved(assembly, dict(state), 1e-3/size*step))
    except InputError as error:
        raise InputError(f"{names} contradicts the other joints a step away: {error}") from None
    if len(redundancy.dependent(assembly, jacobian(assembly, moved))[0]) < len(idle):
        raise InputError(f"{names} follows from the other joints in this position alone, where the motion can branch;"
                         " start elsewhere")


def scaled_gap(assembly: Assembly, state: Mapping[str, np.ndarray], gaps: np.ndarray) -> float:
    """Largest |g|, of lengths relative to the mechanism's extent."""
    longest = extent(assembly, state)
    return max(float(np.abs(gaps[part]).max())/(1.0 if rows.kind in ANGLES else longest)
               for _, rows, part in redundancy.numbered(assembly))


def nearest_start(assembly: Assembly, state: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The state moved to the joints by Newton steps that are orthogonal in the metric of the masses, and its velocities
    by such a projection.

    Raises:
        InputError: the steps do not come to the joints: the start is too far off, or joints contradict each other."""
    moved = {name: np.array(value, dtype=float) for name, value in state.items()}
    if assembly.row_count == 0:
        return moved
    inverse = np.zeros((6*len(assembly.mass),)*2)
    for i, (mass, inertia) in enumerate(zip(assembly.mass, assembly.inertia, strict=True)):
        inverse[6*i:6*i + 3, 6*i:6*i + 3] = np.linalg.inv(inertia)
        inverse[6*i + 3:6*i + 6, 6*i + 3:6*i + 6] = np.eye(3)/mass
    before = np.inf
    for _ in range(MOST_STEPS):
        at = at_state(assembly, moved)
        gap, rate = residuals(assembly, moved, at)
        rows, off = jacobian(assembly, moved, at), scaled_gap(assembly, moved, gap)
        # far from the origin round-off is above REACHED: a tenth of what `check_joints` allows may be left
        if off < REACHED or (off > 0.5*before and off <= 0.1*MANIFOLD_TOLERANCE):
            break
        before = off
        moved = _moved(assembly, moved, _pull(inverse, rows, gap))
    else:
        raise InputError(f"no start near the given one fits the joints: after {MOST_STEPS} steps it is still off by"
                         f" {np.abs(gap).max():.3g}")
    change = _pull(inverse, rows, rate).reshape(-1, 2, 3)
    moved["body_rate"] = moved["body_rate"] + change[:, 0]
    moved["velocity"] = moved["velocity"] + change[:, 1] - np.einsum(
        "bij,bj->bi", moved["attitude"], np.cross(change[:, 0], assembly.center_of_mass))
    return moved


def _pull(inverse: np.ndarray, rows: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """-M^-1 A^T (A M^-1 A^T)^-1 gap."""
    weighed = inverse @ rows.T
    return -weighed @ np.linalg.lstsq(rows @ weighed, gap, rcond=None)[0]


def _moved(assembly: Assembly, state: dict[str, np.ndarray], step: np.ndarray) -> dict[str, np.ndarray]:
    """Bodies turned and their centres of mass moved by a step (6n,)."""
    parts = step.reshape(-1, 2, 3)
    turns = quaternion_matrix(rotation_quaternion(parts[:, 0]))
    attitude = state["attitude"] @ turns
    centre = assembly.center_of_mass
    place = state["position"] + np.einsum("bij,bj->bi", state["attitude"], centre) + parts[:, 1]
    return state | {"attitude": attitude, "position": place - np.einsum("bij,bj->bi", attitude, centre)}
