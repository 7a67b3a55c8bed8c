"""Four-bar linkage in a plane of any position, in absolute coordinates: one degree of freedom, a closed loop (lgt2022).

    M dV/dt + A(q)^T lambda = f(q, V),  A V = 0,  dC/dt = C hat V

Crank, coupler and rocker are rods along their first axes with their third axes normal to the plane; centres of mass are
half-way. Joints: crank to ground revolute, crank to coupler spherical, coupler to rocker universal, rocker to ground
revolute: 17 independent rows. With `joints` revolutes all four are revolute, which is redundant in a plane. Driven:
the crank's angle from the ground line is p_0 + p_1 t + p_2 sin(p_3 t) of `drive`. Loaded: dampers in the revolute
joints to the ground, and a motor T cos(f t + p) of `motor` at the crank. Conserved: the energy, less the work of drive,
dampers and motor.
"""
import numpy as np

from liestep.errors import InputError
from liestep.geometry.attitude import about_axis
from liestep.mechanics.contracts.manifold import check_attitude
from liestep.mechanics.contracts.sheet import Parameter, Parameters, Preset, own
from liestep.mechanics.formulations.multibody import assembly
from liestep.mechanics.formulations.multibody.assembly import GROUND, Assembly, revolute
from liestep.mechanics.formulations.multibody.family import body_state, multibody, stacked
from liestep.mechanics.formulations.multibody.force_elements import Element, Torque

FIRST, SECOND, THIRD = np.eye(3)


def _build(p: Parameters) -> Assembly:
    (a, b, c, d), normal = p["length"], p["plane"] @ THIRD
    far = p["plane"] @ np.array([d, 0.0, 0.0])
    joints = [revolute(0, -0.5*a*FIRST, THIRD, GROUND, np.zeros(3), normal),
              assembly.spherical(1, -0.5*b*FIRST, 0, 0.5*a*FIRST),
              assembly.universal(1, 0.5*b*FIRST, SECOND, 2, 0.5*c*FIRST, THIRD),
              revolute(2, -0.5*c*FIRST, THIRD, GROUND, far, normal)]
    if p["joints"] == "revolutes":
        joints[1:3] = [revolute(1, -0.5*b*FIRST, THIRD, 0, 0.5*a*FIRST, THIRD),
                       revolute(1, 0.5*b*FIRST, THIRD, 2, 0.5*c*FIRST, THIRD)]
    torques: list[Element] = []
    if p["joints"] == "driven":
        joints.append(assembly.drive(GROUND, normal, p["plane"] @ FIRST, 0, FIRST, tuple(p["drive"])))
    elif p["joints"] == "loaded":
        torques = [Torque(0, THIRD, GROUND, p["damping"], *p["motor"]), Torque(2, THIRD, GROUND, p["damping"])]
    return Assembly(p["mass"], p["inertia"], p["center_of_mass"], p["gravity"], joints, torques)


def _combination(p: Parameters) -> None:
    check_attitude("plane", p["plane"])
    a, b, c, d = p["length"]
    if not abs(b - c) < d + a or not abs(d - a) < b + c:
        raise InputError(f"parameter length is {list(p['length'])}: coupler and rocker do not meet at any crank angle")


def angles(length: np.ndarray, crank: float, rate: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Angles of crank, coupler and rocker from the ground line in the plane, and their rates."""
    a, b, c, d = length
    pin = a*np.array([np.cos(crank), np.sin(crank)])
    gap = np.array([d, 0.0]) - pin
    reach = float(np.linalg.norm(gap))
    coupler = np.arctan2(gap[1], gap[0]) + np.arccos((b*b + reach*reach - c*c)/(2.0*b*reach))
    joint = pin + b*np.array([np.cos(coupler), np.sin(coupler)])
    rocker = np.arctan2(joint[1], joint[0] - d)
    # velocities across the links: a u'(crank) crank' + b u'(coupler) coupler' = c u'(rocker) rocker'
    columns = np.array([[-b*np.sin(coupler), c*np.sin(rocker)], [b*np.cos(coupler), -c*np.cos(rocker)]])
    others = np.linalg.solve(columns, -rate*a*np.array([-np.sin(crank), np.cos(crank)]))
    return (crank, float(coupler), float(rocker)), (rate, float(others[0]), float(others[1]))


def assembled(p: Parameters, crank: float, rate: float) -> dict[str, np.ndarray]:
    """State at a crank angle (rad) and its rate (rad/s)."""
    a, b, c, d = p["length"]
    turns, rates = angles(p["length"], crank, rate)
    pivot, speed, bodies = np.zeros(3), np.zeros(3), []
    for i, (angle, spin, size) in enumerate(zip(turns, rates, (a, b, c), strict=True)):
        if i == 2:
            pivot, speed = p["plane"] @ np.array([d, 0.0, 0.0]), np.zeros(3)
        turn, w = p["plane"] @ about_axis(angle, 2), np.array([0.0, 0.0, spin])
        bodies.append(body_state(turn, w, p["center_of_mass"][i] - 0.5*size*FIRST, pivot, speed))
        pivot, speed = pivot + size*turn[:, 0], speed + size*turn @ np.cross(w, FIRST)
    return stacked(bodies)


TILT = about_axis(0.4 + np.pi/2.0, 0) @ about_axis(0.3, 1)
BARS = {"mass": [1.0, 2.0, 1.5], "length": [1.0, 2.0, 1.5, 2.0], "center_of_mass": [[0.0, 0.0, 0.0]]*3,
        "inertia": [np.diag([0.01*m, m*s*s/12.0, m*s*s/12.0 + 0.01*m]).tolist()
                    for m, s in zip((1.0, 2.0, 1.5), (1.0, 2.0, 1.5), strict=True)],
        "plane": TILT.tolist(), "gravity": [0.0, 0.0, -9.81], "joints": "independent"}


def _own(doc: str, rate: float, t_end: float = 1.0, **changes) -> Preset:
    """The crank starts at 1 rad."""
    return own(doc, BARS, lambda p: assembled(p, 1.0, rate), t_end, **changes)


SHEET = multibody(
    title="Four-bar linkage",
    equations="M dV/dt + A^T lambda = f, A V = 0, dC/dt = C hat V",
    citation="lgt2022, section 3.2",
    parameters={
        "mass": Parameter("kg", "of crank, coupler, rocker", (3,), "positive"),
        "length": Parameter("m", "of crank, coupler, rocker, and between the pivots of the ground", (4,), "positive"),
        "inertia": Parameter("kg m2", "inertia matrices about the centres of mass, body axes", (3, 3, 3), "inertia"),
        "center_of_mass": Parameter("m", "from the reference points to the centres of mass, body axes", (3, 3)),
        "plane": Parameter("1", "rotation of the plane's axes into space", (3, 3)),
        "gravity": Parameter("m s-2", "acceleration vector of gravity, spatial", (3,)),
        "joints": Parameter("1", "independent: 17 rows; revolutes: four revolute joints; driven, loaded: independent,"
                            " with a drive of the crank, or dampers and a motor", (), "choice",
                            ("independent", "revolutes", "driven", "loaded")),
        "drive": Parameter("1", "p_0, p_1, p_2, p_3 of the crank's angle p_0 + p_1 t + p_2 sin(p_3 t): rad, rad/s, rad,"
                           " rad/s", (4,), needs=("joints", ("driven",))),
        "damping": Parameter("N m s", "of each revolute joint to the ground", (), "non-negative",
                             needs=("joints", ("loaded",))),
        "motor": Parameter("1", "T, f, p of the torque T cos(f t + p) on the crank: N m, rad/s, rad", (3,),
                           needs=("joints", ("loaded",))),
    },
    build=_build, bodies=lambda p: 3, combination=_combination,
    conserved_momentum=lambda p: (False, False, False),
    presets={
        "tilted": _own("crank at 8 rad/s, plane tilted", 8.0),
        "upright": _own("plane upright", 8.0, plane=about_axis(np.pi/2.0, 0).tolist()),
        "at_rest": _own("let go from rest", 0.0),
        "unequal": _own("other lengths, reference points off the centres of mass", 8.0, length=[0.8, 1.9, 1.4, 2.1],
                        center_of_mass=[[0.1, 0.05, -0.1], [-0.2, 0.1, 0.0], [0.15, 0.0, 0.1]]),
        "redundant": _own("four revolute joints, of which one row too many stands for each direction", 8.0,
                          joints="revolutes"),
        "driven": _own("the crank turns at 8 rad/s and swings by 0.3 rad about that", 9.5, joints="driven",
                       drive=[1.0, 8.0, 0.3, 5.0]),
        "loaded": _own("dampers in the joints to the ground, and a motor at the crank", 8.0, joints="loaded",
                       damping=0.5, motor=[20.0, 3.0, 0.4]),
    },
    default_preset="tilted")
