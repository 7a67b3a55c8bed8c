"""Fields, observables, starts and options of mechanisms in their formulations."""
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import new_counters
from liestep.compile.interpreted import brief_loop
from liestep.compile.separate import new_addresses
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.geometry.bands import SMALLEST
from liestep.geometry.groups.actions import CHARTS
from liestep.geometry.groups.poses import EULER, MATRIX, QUATERNION, ROTATION_VECTOR, Poses
from liestep.geometry.quaternion import of_matrix
from liestep.mechanics.contracts.formulated import (
    JOINTS,
    Formulated,
    Joints,
    Observable,
    StateField,
    quaternion_matrix,
    rotation_quaternion,
)
from liestep.mechanics.contracts.sheet import Form, Option, Options, Parameters, State
from liestep.mechanics.formulations.action import CHART, ActionForm
from liestep.mechanics.formulations.multibody import components, redundancy
from liestep.mechanics.formulations.multibody.assembly import (
    ANGLES,
    Assembly,
    mechanism,
    multiplier_rows,
    newton_seats,
    own_length,
)
from liestep.mechanics.formulations.multibody.coordinates import COORDINATES, coordinates, crossed, frames, sight
from liestep.mechanics.formulations.multibody.elements import Law
from liestep.mechanics.formulations.multibody.index_three import IndexThree
from liestep.mechanics.formulations.multibody.mechanism import POOR, Kind
from liestep.mechanics.formulations.probed import plain
from liestep.mechanics.formulations.work import with_work

ATTITUDES = {"quaternion": QUATERNION, "rotation_vector": ROTATION_VECTOR, "matrix": MATRIX, "euler": EULER}
TWISTS = {"body": components.BODY_TWIST, "mixed": components.MIXED, "spatial": components.SPATIAL}
FIELDS = (
    StateField("attitude", "1", "attitudes, body to space", ("body", "xyz", "axis"), "attitude"),
    StateField("position", "m", "positions of the reference points, spatial", ("body", "xyz"), "relative"),
    StateField("body_rate", "rad s-1", "angular velocities, body frame", ("body", "xyz"), "relative"),
    StateField("velocity", "m s-1", "velocities of the reference points, spatial", ("body", "xyz"), "relative"),
)
MULTIPLIER = StateField("multiplier", "N", "multipliers of the joints' rows: forces of points, spatial, joint by joint,"
                        " then of all other rows (N m of directions)", ("joint_row",), "relative", counted=False)

_ACTION = {
    "action": Option("se3", "group of local-global transition: SE(3), or SO(3) x R^3", ("se3", "so3_r3")),
    **CHART,
    "attitude": Option("quaternion", "how the state holds an attitude", tuple(ATTITUDES)),
}
PROJECTIONS = "projection", "soft_projection"
_STABILISATION = "20 1/s by default; the rate of Baumgarte's stabilisation, alpha = beta, in 1/s"
LIE_OPTIONS = {
    **_ACTION,
    "twist": Option("native", "components of the velocity: native to the group (body for se3, mixed for so3_r3), body,"
                    " mixed (body rate, spatial velocity), or spatial", ("native", *TWISTS)),
    "stabilisation": Option("none", "of the joints: Baumgarte's, or projection of poses and velocities after each step;"
                            " soft_projection also passes positions where joints lose rank",
                            ("none", "baumgarte", *PROJECTIONS), after_steps=PROJECTIONS),
    "stabilisation_rate": Option(20.0, _STABILISATION),
}
# implicit steps need psi(-X) = psi(X)^-1, which the second kind does not have
SYMMETRIC = ("exp", "cayley", "cayley2")
INDEX_THREE_OPTIONS = _ACTION | {
    "chart": Option("exp", "local coordinates: exponential, Cayley map, or its second order", SYMMETRIC)}
FIELD_OPTIONS = {
    "form": Option("quaternion", "attitudes as quaternions, Euler angles (roll, pitch, yaw), or matrices",
                   ("quaternion", "euler", "matrix")),
    "projection": Option("none", "of quaternions: normalise them after each step, or there and inside R(Q) at every"
                         " stage; or hold their unit norm by a multiplier in dQ/dt, with the stabilisation's rate",
                         ("none", "position", "stages", "multiplier"), after_steps=("position", "stages")),
    "twist": Option("mixed", "components of the velocity: mixed (body rate, spatial velocity), body, or spatial",
                    ("mixed", "body", "spatial")),
    "stabilisation": Option("none", "of the joints: Baumgarte's", ("none", "baumgarte")),
    "stabilisation_rate": Option(20.0, _STABILISATION),
}


def solve(motion: components.MechanismInRows, y: np.ndarray) -> bool:
    """Accelerations and multipliers at one state, into the mechanism's arrays."""
    return motion.evaluate(y, -1)


def attitude_block(attitude: int, matrix: np.ndarray, width: int) -> np.ndarray:
    """Rows of an attitude in a state (1 or 3, width)."""
    block = np.zeros((3 if attitude == MATRIX else 1, width), matrix.dtype)
    if attitude == MATRIX:
        block[:] = matrix.T
    elif attitude == QUATERNION:
        block[0] = of_matrix(matrix)
    elif attitude == ROTATION_VECTOR:
        quaternion = of_matrix(matrix)
        size = float(np.linalg.norm(quaternion[1:]))
        block[0] = quaternion[1:]*(2.0*np.arctan2(size, quaternion[0])/size if size > 0.0 else 2.0)
    else:
        yaw = np.arctan2(matrix[1, 0], matrix[0, 0])
        c, s = np.cos(yaw), np.sin(yaw)
        block[0] = (np.arctan2(s*matrix[0, 2] - c*matrix[1, 2], c*matrix[1, 1] - s*matrix[0, 1]),
                    np.arctan2(-matrix[2, 0], np.hypot(matrix[0, 0], matrix[1, 0])), yaw)
    return block


def matrices(attitude: int, rows: np.ndarray) -> np.ndarray:
    """Attitudes (..., 3, 3) of their rows (..., 1 or 3, width); of quaternions as they are, not normalised."""
    if attitude == MATRIX:
        return np.swapaxes(rows, -1, -2)
    if attitude == QUATERNION:
        w, x, y, z = (rows[..., 0, k] for k in range(4))
        matrix = np.array([[1.0 - 2.0*(y*y + z*z), 2.0*(x*y - w*z), 2.0*(x*z + w*y)],
                          [2.0*(x*y + w*z), 1.0 - 2.0*(x*x + z*z), 2.0*(y*z - w*x)],
                          [2.0*(x*z - w*y), 2.0*(y*z + w*x), 1.0 - 2.0*(x*x + y*y)]])
        return matrix.transpose(*range(2, matrix.ndim), 0, 1)  # as np.moveaxis, in a tenth of its time
    vectors = rows[..., 0, :]
    if attitude == ROTATION_VECTOR:
        return quaternion_matrix(rotation_quaternion(vectors))
    c, s = np.cos(vectors), np.sin(vectors)
    (cr, cp, cy), (sr, sp, sy) = np.moveaxis(c, -1, 0), np.moveaxis(s, -1, 0)
    matrix = np.array([[cy*cp, cy*sp*sr - sy*cr, cy*sp*cr + sy*sr], [sy*cp, sy*sp*sr + cy*cr, sy*sp*cr - cy*sr],
                      [-sp, cp*sr, cp*cr]])
    return np.moveaxis(matrix, (0, 1), (-2, -1))


def observables(conserved: tuple[bool, bool, bool], residual_units: str = "m") -> tuple[Observable, ...]:
    """Columns of `MechanismInRows.observe`."""
    return (
        Observable("energy", slice(0, 1), "J", "total energy"),
        Observable("momentum_map", slice(1, 4), "kg m2 s-1", "angular momentum about the origin, spatial",
                   conserved=conserved, stem="momentum_error"),
        Observable("orthogonality_error", slice(4, 5), "1", "largest entry of |R^T R - 1|", "residual"),
        Observable("joint_error", slice(5, 6), residual_units, "largest residual |g| of a row of a joint", "residual",
                   size=JOINTS),
        Observable("joint_rate_error", slice(6, 7), "m s-1", "largest residual |A V| of a row of a joint", "residual"),
        Observable("quaternion_norm", slice(7, 8), "1", "length of the quaternion that is farthest from one",
                   size=1.0),
    )


class Layout(NamedTuple):
    """How a state of n bodies is written in rows, and read."""

    assembly: Assembly
    attitude: int
    twist: int

    @property
    def rows(self) -> int:
        """Rows of a body."""
        return 6 if self.attitude == MATRIX else 4

    def motion(self, options: Options, unit_length: int = 0) -> components.MechanismInRows:
        """The compiled component, with scratch of its own."""
        rate = options["stabilisation_rate"] if options.get("stabilisation") == "baumgarte" else 0.0
        loose = options.get("stabilisation") == "soft_projection"
        return components.MechanismInRows(mechanism(self.assembly, rate, loose), self.attitude, self.twist, unit_length,
                                          new_addresses(components.MechanismInRows))

    def poses(self, options: Options) -> ActionForm:
        """The action of local-global transition, with its generator."""
        se3 = int(options["action"] == "se3")
        poses = Poses(len(self.assembly.mass), self.attitude, se3, CHARTS[options["chart"]],
                      int(self.assembly.has_clock))
        return ActionForm(poses, components.PoseGenerator(self.motion(options), se3), new_counters())

    def start(self, state: State) -> np.ndarray:
        """Rows of a state given by its four fields."""
        width, n = 4 if self.attitude == QUATERNION else 3, len(self.assembly.mass)
        made = np.zeros((n, self.rows, width), np.result_type(*state.values()))
        for i in range(n):
            turn, place, rate, velocity = (state[part.name][i] for part in FIELDS)
            if self.twist == components.SPATIAL:
                rate = turn @ rate
                velocity = velocity - np.cross(rate, place)
            elif self.twist == components.BODY_TWIST:
                velocity = turn.T @ velocity
            made[i, :-3] = attitude_block(self.attitude, turn, width)
            made[i, -3:, :3] = place, rate, velocity
        rows = made.reshape(-1, width)
        if self.assembly.has_clock:
            rows = np.concatenate([rows, np.zeros((1, width), rows.dtype)])
        return np.ascontiguousarray(rows)

    def fields(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """The four fields of states (..., rows, width)."""
        n = len(self.assembly.mass)
        parts = rows[..., :n*self.rows, :].reshape(*rows.shape[:-2], n, self.rows, rows.shape[-1])
        turn, moving = matrices(self.attitude, parts[..., :-3, :]), parts[..., -3:, :3]
        place, rate, velocity = moving[..., 0, :], moving[..., 1, :], moving[..., 2, :]
        if self.twist == components.SPATIAL:
            velocity = velocity + crossed(rate, place)
            rate = np.einsum("...ji,...j->...i", turn, rate)
        elif self.twist == components.BODY_TWIST:
            velocity = np.einsum("...ij,...j->...i", turn, velocity)
        return {"attitude": turn, "position": place, "body_rate": rate, "velocity": velocity}

    def multipliers(self, motion: components.MechanismInRows, rows: np.ndarray) -> np.ndarray:
        """(..., joint_row) multipliers of the index-1 equations at states; NaN where there are none."""
        order, flat = multiplier_rows(self.assembly), rows.reshape(-1, *rows.shape[-2:])
        solved = np.full((len(flat), len(order)), np.nan)
        loop = brief_loop(solve, motion, aside=True)
        for k, y in enumerate(flat):
            if loop(motion, np.ascontiguousarray(y)):
                solved[k] = motion.mechanism.vectors[0][order]
        return self.least(motion, rows, solved.reshape(*rows.shape[:-2], -1))

    def least(self, motion: components.MechanismInRows, rows: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Of multipliers (..., joint_row) at states those of least norm, where joints are redundant."""
        if not self.assembly.idle:
            return multipliers
        solved, loop = multipliers.copy(), brief_loop(solve, motion, aside=True)
        for at in np.ndindex(*rows.shape[:-2]):
            loop(motion, np.ascontiguousarray(rows[at]))
            if np.isfinite(solved[at]).all():
                solved[at] = redundancy.least(redundancy.rows_of(self.assembly, motion.mechanism), solved[at])
        return solved

    def resting(self, state: State) -> "Layout":
        """The same with the rows that follow from others at a start."""
        if not redundancy.has_loops(self.assembly) or self.assembly.row_count > redundancy.MOST[True]:
            return self
        motion = plain(self.motion({}))
        motion.evaluate(self.start(state), 1)
        idle, _ = redundancy.dependent(self.assembly, redundancy.rows_of(self.assembly, motion.mechanism))
        return self._replace(assembly=replace(self.assembly, idle=idle)) if idle else self

    def notes(self) -> dict[str, Any]:
        """Attributes of runs: those of the assembly, and with redundant joints which these are."""
        idle = self.assembly.idle
        redundant = {"joint_rows": self.assembly.row_count, "joint_rank": self.assembly.row_count - len(idle),
                     "redundant_rows": "; ".join(redundancy.names_of(self.assembly, idle))} if idle else {}
        return {**self.assembly.notes, **redundant}

    def ending(self, motion: components.MechanismInRows) -> Callable[[Status, np.ndarray], Status]:
        """RANK_LOST for equations that could not be evaluated, and for adaptive steps that became too short, where a
        pivot at the last state is at the limit of `factor_band`, or of softened rows; but the smaller cosine of a pitch
        says that Euler angles ended. SPRING_WOUND where a torsion spring may have ended it."""
        wound = any(item.kind == Law.TURN and (item.rows[0, 0] != 0.0 or item.number >= 0)
                    for item in self.assembly.elements)

        def why(status: Status, rows: np.ndarray) -> Status:
            if wound and status in (Status.NOT_FINITE, Status.STEP_TOO_SMALL, Status.NOT_CONVERGED, Status.CHART_LIMIT,
                                    Status.SINGULAR_MATRIX, Status.NOT_EVALUABLE):
                return Status.SPRING_WOUND
            if status not in (Status.NOT_EVALUABLE, Status.STEP_TOO_SMALL) or self.assembly.row_count == 0:
                return status
            brief_loop(solve, motion, aside=True)(motion, np.ascontiguousarray(rows))
            band, n = motion.mechanism.band, self.assembly.row_count
            left = float(np.min(band[:, -1]/motion.mechanism.column[n:]))*SMALLEST
            pitch = rows[:len(self.assembly.mass)*self.rows:self.rows, 1]
            open_angle = float(np.min(np.abs(np.cos(pitch)))) if self.attitude == EULER else 1.0
            soft = motion.mechanism.soft
            near = 2.0*(POOR if soft.size else SMALLEST) if status == Status.STEP_TOO_SMALL else open_angle*open_angle
            return Status.RANK_LOST if left < near or (soft.size and soft[0, 0] == 1.0) else status
        return why


def gaps(assembly: Assembly, seen: State) -> tuple[float, float]:
    """See `Joints`, of each row of a joint, in plain Python."""
    layout = Layout(assembly, MATRIX, components.MIXED)
    motion, order = plain(layout.motion({})), multiplier_rows(assembly)
    gap = turn = 0.0
    for k in range(len(seen["time"])):
        y = layout.start({part.name: seen[part.name][k] for part in FIELDS})
        if assembly.has_clock:
            y[-1, 0] = seen["time"][k]
        motion.evaluate(y, 1)
        lengths = np.abs(motion.mechanism.vectors[1][order])
        for _, rows, part in redundancy.numbered(assembly):
            if rows.kind in ANGLES:
                turn = max(turn, float(lengths[part].max()))
            else:
                gap = max(gap, float(lengths[part].max()))
    return gap, turn


def formulated(layout: Layout, motion: components.MechanismInRows, problem: Any, state: State,
               conserved: tuple[bool, bool, bool]) -> Formulated:
    """A component on the rows of a layout, with multipliers of the index-1 equations."""
    jointed = layout.assembly.row_count > 0

    def to_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
        fields, compiled = layout.fields(rows), rows.dtype != object   # numbers of many digits are not for machine code
        return fields | ({"multiplier": layout.multipliers(motion, rows)} if jointed and compiled else {})

    seen, arms = observables(conserved), layout.assembly.center_of_mass
    made = frames(layout.assembly) if layout.assembly.shows else None
    formulated = Formulated(problem, layout.start(state), FIELDS + ((MULTIPLIER,) if jointed else ()),
                      with_work(seen, 8) if layout.assembly.has_clock else seen, to_fields,
                      momentum_scale(layout.assembly, state), layout.ending(motion), notes=layout.notes(),
                      bare=layout.fields if jointed else None,
                      clock=len(layout.start(state)) - 1 if layout.assembly.has_clock else None,
                      joints=Joints(lambda seen: own_length(layout.assembly, {
                          name: seen[name][0] for name in ("position", "attitude")}), partial(gaps, layout.assembly)),
                      sight=sight(layout.twist, arms, made) if layout.attitude == QUATERNION else None)
    return formulated if made is None else replace(formulated, shown=COORDINATES, showing=partial(
        coordinates, made, arms))


def momentum_scale(assembly: Assembly, state: State) -> float:
    """Size of the terms that are summed in the angular momentum."""
    spins = np.einsum("bij,bj->bi", assembly.inertia, state["body_rate"])
    orbits = assembly.mass[:, None]*np.cross(state["position"], state["velocity"])
    return float(np.linalg.norm(spins, axis=1).sum() + np.linalg.norm(orbits, axis=1).sum()) or 1.0


class MechanismForms(NamedTuple):
    """What a mechanism declares, in every formulation."""

    build: Callable[[Parameters], Assembly]
    conserved_momentum: Callable[[Parameters], tuple[bool, bool, bool]]

    def vector_field(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        layout, projection = self.layout(parameters, options["form"], options, state), options["projection"]
        motion = layout.motion(options, int(projection == "stages"))
        problem = components.MultibodyField(motion, {"none": 0, "multiplier": 2}.get(projection, 1),
                                            float(options["stabilisation_rate"]), new_counters())
        return formulated(layout, motion, problem, state, self.conserved_momentum(parameters))

    def action(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        layout = self.layout(parameters, options["attitude"], options, state)
        poses = layout.poses(options)
        problem: Any = projected(layout, poses, state) if options["stabilisation"] in PROJECTIONS else poses
        return formulated(layout, poses.generator.motion, problem, state, self.conserved_momentum(parameters))

    def index_three(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        """Velocities native to the group; the multipliers are further rows, at the start those of index 1."""
        layout = self.layout(parameters, options["attitude"], options, state)
        assembly, inner = layout.assembly, layout.poses(options)
        motion = inner.generator.motion
        seats, width = newton_seats(assembly)
        size, order = 6*len(assembly.mass) + assembly.row_count, multiplier_rows(assembly)
        slides = np.zeros(len(order), dtype=np.int64)
        slides[order] = [rows.kind >= Kind.BLADE for _, rows in assembly.groups for _ in range(rows.size)]
        matrix, stiff = np.zeros((2, size, 3*width + 1))
        problem = IndexThree(inner, seats, order, slides, matrix, stiff, np.zeros(size),
                             np.zeros((2*len(assembly.mass), 3)), np.zeros((7, 3)),
                             projected(layout, inner, state), inner.counters, new_addresses(IndexThree))
        bare = formulated(layout, motion, problem, state, self.conserved_momentum(parameters))
        if not len(order):
            return bare
        count, columns = len(bare.start), bare.start.shape[1]
        held = np.zeros(-(-len(order)//columns)*columns)
        held[:len(order)] = layout.multipliers(motion, bare.start)

        def to_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
            solved = rows[..., count:, :].reshape(*rows.shape[:-2], -1)[..., :len(order)]
            return layout.fields(rows) | {"multiplier": layout.least(motion, rows[..., :count, :], solved)}

        return replace(bare, start=np.concatenate([bare.start, held.reshape(-1, columns)]), to_fields=to_fields)

    def layout(self, parameters: Parameters, attitude: str, options: Options, state: State) -> Layout:
        """Rows of a state; velocities are native to the group unless a twist is named."""
        twist = options.get("twist", "native")
        if twist == "native":
            twist = "body" if options["action"] == "se3" else "mixed"
        return Layout(self.build(parameters), ATTITUDES[attitude], TWISTS[twist]).resting(state)

    def forms(self) -> dict[str, Form]:
        """All formulations."""
        return {"vector_field": Form(self.vector_field, FIELD_OPTIONS, _field_combination),
                "lie_action": Form(self.action, LIE_OPTIONS, _unused_rate),
                "lie_chart": Form(self.action, LIE_OPTIONS, _unused_rate),
                "index_three": Form(self.index_three, INDEX_THREE_OPTIONS)}


def projected(layout: Layout, poses: ActionForm, state: State) -> components.ProjectedPoses:
    """The form that returns to the joints after each step. Lengths are measured in that power of ten that is nearest to
    the mechanism's own."""
    assembly, order = layout.assembly, multiplier_rows(layout.assembly)
    weights, unit = np.ones(len(order)), 10.0**np.round(np.log10(own_length(assembly, state)))
    weights[order] = [1.0 if rows.kind in ANGLES else 1.0/unit for _, rows in assembly.groups for _ in range(rows.size)]
    return components.ProjectedPoses(poses, np.zeros((poses.action.algebra_rows(), 3)), weights, float(1.0/unit),
                                     poses.counters, new_addresses(components.ProjectedPoses))


def _unused_rate(parameters: Parameters, options: Options) -> None:
    rate, used = options["stabilisation_rate"], options.get("projection") == "multiplier"
    if options["stabilisation"] != "baumgarte" and not used and rate != LIE_OPTIONS["stabilisation_rate"].default:
        raise InputError(f"option stabilisation_rate is {rate!r}, which is for Baumgarte's stabilisation, but"
                         f" stabilisation is {options['stabilisation']}; allowed is baumgarte")


def _field_combination(parameters: Parameters, options: Options) -> None:
    _unused_rate(parameters, options)
    if options["form"] != "quaternion" and options["projection"] != "none":
        raise InputError(f"option projection is {options['projection']!r}, which is for quaternions, but the form"
                         f" is {options['form']}; allowed is none")
