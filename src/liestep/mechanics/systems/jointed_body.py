"""One rigid body in absolute coordinates: free, on a joint to the ground at the origin, or on a spring (lgt2022).

    M dV/dt + A(q)^T lambda = f(q, V),  A V = 0,  dC/dt = C hat V

The pose C = (R, r) holds the attitude and the place of the reference point; the centre of mass is at center_of_mass
from it, in body axes. What a joint keeps, with the point joint_point of the body and the axes of both sides:

    spherical    the point at the origin
    revolute     and joint_axis along space_axis
    universal    the point at the origin, joint_axis orthogonal to space_axis
    cylindrical  the point on the line through the origin along space_axis, joint_axis along space_axis
    prismatic    and no turn about it: `complement` of the two axes lie along each other
    screw        cylindrical, and one turn about space_axis moves the point by screw_lead
    rolling      a thin disc about joint_axis with joint_point on its rim rolls on the plane through the origin with
                 normal space_axis; its centre is on the axis through the centre of mass
    sleigh       joint_point in that plane and joint_axis along its normal; a blade there lets the point move towards
                 the centre of mass or away from it only: velocities alone

Conserved: the energy; components of the angular momentum about the origin, see `conserved_momentum`.
"""
from collections.abc import Callable

import numpy as np

from liestep.errors import InputError
from liestep.geometry.attitude import about_axis
from liestep.geometry.groups.poses import QUATERNION
from liestep.mechanics.contracts.manifold import MANIFOLD_TOLERANCE
from liestep.mechanics.contracts.sheet import Parameter, Parameters, Preset, State, invariant_axes, own
from liestep.mechanics.formulations.multibody import assembly
from liestep.mechanics.formulations.multibody.assembly import GROUND, Assembly, Joint, complement
from liestep.mechanics.formulations.multibody.components import MIXED
from liestep.mechanics.formulations.multibody.family import body_state, multibody, stacked
from liestep.mechanics.formulations.multibody.force_elements import Spring
from liestep.mechanics.formulations.multibody.forms import Layout
from liestep.mechanics.systems._free_motion import free_motion

JOINTS = ("none", "spherical", "revolute", "universal", "cylindrical", "prismatic", "screw", "rolling", "sleigh")
LEFT = {"rolling": "radius of the disc", "sleigh": "direction of the blade"}
AXIAL = ("revolute", "cylindrical", "universal")  # the reaction has no moment about space_axis


def joints(p: Parameters) -> tuple[Joint, ...]:
    """The joint to the ground."""
    kind, point, u, v, origin = p["joint"], p["joint_point"], p["joint_axis"], p["space_axis"], np.zeros(3)
    if kind == "none":
        return ()
    if kind == "spherical":
        return (assembly.spherical(0, point, GROUND, origin),)
    if kind in ("revolute", "universal"):
        return ((assembly.revolute if kind == "revolute" else assembly.universal)(0, point, u, GROUND, origin, v),)
    if kind == "cylindrical":
        return (assembly.cylindrical(GROUND, origin, v, 0, point, u),)
    if kind == "rolling":
        height = float(point @ u)
        return (assembly.rolling(0, height*u, u, float(np.linalg.norm(point - height*u)), origin, v),)
    if kind == "sleigh":
        side = np.cross(u, point)
        return (assembly.planar(origin, v, 0, point, u), assembly.blade(0, point, side/np.linalg.norm(side)))
    (one, two), (near, _) = complement(u), complement(v)
    if kind == "prismatic":
        return (assembly.prismatic(GROUND, origin, v, 0, point, u, near, two),)
    return (assembly.screw(GROUND, origin, v, 0, point, u, p["screw_lead"], near, one),)


def _build(p: Parameters) -> Assembly:
    springs = [Spring(0, p["spring_point"], p["spring_anchor"], p["spring_stiffness"])]
    return Assembly(np.array([p["mass"]]), p["inertia"][None], p["center_of_mass"][None], p["gravity"], joints(p),
                    springs if p["spring_stiffness"] > 0.0 else [])


def _combination(p: Parameters) -> None:
    for name in ("joint_axis", "space_axis"):
        defect = abs(float(p[name] @ p[name]) - 1.0)
        if p["joint"] not in ("none", "spherical") and defect > MANIFOLD_TOLERANCE:
            raise InputError(f"parameter {name} is not a unit vector: |1 - axis.axis| = {defect:.3g}, allowed"
                             f" {MANIFOLD_TOLERANCE:g}")
    if p["joint"] == "screw" and p["screw_lead"] == 0.0:
        raise InputError("parameter screw_lead is 0: a screw without lead is a revolute joint")
    if p["joint"] in ("rolling", "sleigh") and not np.linalg.norm(np.cross(p["joint_axis"], p["joint_point"])) > 0.0:
        raise InputError(f"parameter joint_point is on joint_axis, which leaves no {LEFT[p['joint']]}")


def conserved_momentum(p: Parameters) -> tuple[bool, bool, bool]:
    """Components of the angular momentum about the origin that weight, spring and joint leave."""
    if p["joint"] in ("prismatic", "screw", "rolling", "sleigh"):
        return False, False, False
    fixed = [p["gravity"], p["spring_anchor"]*p["spring_stiffness"]]
    return invariant_axes([*fixed, p["space_axis"]] if p["joint"] in AXIAL else fixed)


def _exact(p: Parameters, state: State, times: np.ndarray) -> np.ndarray:
    """Rows of the standard form at `times`: free rotation about a centre of mass on a parabola."""
    moments, axes = np.linalg.eigh(p["inertia"])
    axes[:, 0] *= np.linalg.det(axes)
    start, rate, centre = state["attitude"][0], state["body_rate"][0], p["center_of_mass"]
    turns, _ = free_motion(moments, start @ axes, start @ (p["inertia"] @ rate), times)
    attitude, spin = turns @ axes.T, start @ (p["inertia"] @ rate)
    rates = np.einsum("ij,tkj,k->ti", np.linalg.inv(p["inertia"]), attitude, spin)
    place, speed = state["position"][0] + start @ centre, state["velocity"][0] + start @ np.cross(rate, centre)
    t = times[:, None]
    states = (body_state(turn, w, centre, x, v) for turn, w, x, v in zip(
        attitude, rates, place + t*speed + 0.5*t*t*p["gravity"], speed + t*p["gravity"], strict=True))
    layout = Layout(_build(p), QUATERNION, MIXED)
    return np.array([layout.start(stacked([one])) for one in states])


StartOf = Callable[[Parameters], dict[str, np.ndarray]]


def _thrown(attitude: np.ndarray, rate: list[float], place: list[float], velocity: list[float]) -> StartOf:
    """Start by place and velocity of the centre of mass."""
    return lambda p: stacked([body_state(attitude, np.array(rate), p["center_of_mass"], np.array(place),
                                         np.array(velocity))])


def _held(attitude: np.ndarray, rate: list[float], slip: float = 0.0) -> StartOf:
    """Start with the joint point at the origin, which moves along space_axis by `slip` in m/s."""
    return lambda p: stacked([body_state(attitude, np.array(rate), p["center_of_mass"] + p["joint_point"], np.zeros(3),
                                         slip*p["space_axis"])])


def _diagonal(*moments: float) -> list[list[float]]:
    return np.diag(moments).tolist()


BASE = {"mass": 1.0, "inertia": _diagonal(1.0, 2.0, 3.0), "center_of_mass": [0.0, 0.0, 0.0],
        "gravity": [0.0, 0.0, -9.81], "joint": "none", "joint_point": [0.0, 0.0, 0.0], "joint_axis": [0.0, 0.0, 1.0],
        "space_axis": [0.0, 0.0, 1.0], "screw_lead": 0.0, "spring_stiffness": 0.0, "spring_point": [0.0, 0.0, 0.0],
        "spring_anchor": [0.0, 0.0, 0.0]}
FREE = BASE | {"gravity": [0.0, 0.0, 0.0]}
FREE_START = _thrown(np.eye(3), [0.3, 1.0, 0.2], [0.0, 0.0, 0.0], [1.0, -0.5, 0.7])
CLASSICAL = BASE | {"mass": 15.0, "inertia": _diagonal(0.234375, 0.46875, 0.234375), "joint": "spherical",
                    "joint_point": [0.0, -1.0, 0.0]}
SLENDER = BASE | {"inertia": _diagonal(0.02, 0.02, 0.01), "joint": "spherical", "joint_point": [0.0, 0.0, -0.3]}
CLASSICAL_START = _held(np.eye(3), [0.0, 150.0, -4.61538])
HINGED = BASE | {"mass": 2.0, "inertia": _diagonal(0.3, 0.5, 0.6), "joint_point": [-0.5, 0.0, 0.0]}
HINGED_TURN = about_axis(0.4, 0) @ about_axis(0.3, 1) @ about_axis(0.5, 2)
HINGED_AXIS = HINGED_TURN[:, 2].tolist()
# the frames of `complement` along each other, as a prismatic joint wants them: R (a, b, u) = (a', b', u')
_FRAMES = [np.column_stack([*complement(axis), axis]) for axis in (np.array([0.0, 0.0, 1.0]), HINGED_TURN[:, 2])]
LOCKED_TURN = _FRAMES[1] @ _FRAMES[0].T
SPRUNG = BASE | {"mass": 2.0, "inertia": _diagonal(0.1, 0.2, 0.25), "spring_stiffness": 50.0,
                 "spring_point": [0.1, 0.3, -0.2], "spring_anchor": [0.0, 0.0, 1.0]}
SPRUNG_START = _thrown(np.eye(3), [3.0, -2.0, 4.0], [0.2, -0.1, 0.3], [0.5, 1.0, 0.0])


def _lower_pair(kind: str, doc: str, rate: list[float], turn: np.ndarray = HINGED_TURN, slip: float = 0.0,
                **changes) -> Preset:
    return own(doc, HINGED, _held(turn, rate, slip), 5.0, joint=kind, space_axis=HINGED_AXIS, **changes)


DISC = BASE | {"mass": 2.0, "inertia": _diagonal(0.125, 0.125, 0.25), "joint": "rolling",
               "joint_point": [0.5, 0.0, 0.0]}
SLEIGH = BASE | {"mass": 2.0, "inertia": _diagonal(0.2, 0.3, 0.4), "joint": "sleigh", "joint_point": [-0.4, 0.0, 0.0]}


def steady_spin(p: Parameters, tilt: float, turn: float) -> float:
    """Rate about its axis (rad/s) of a disc that rolls with its axis at `tilt` from the normal, precessing at `turn`:
    (C + m a^2) s turn sin = A turn^2 sin cos - m g a cos, with the radius a and moments A across, C along the axis."""
    radius, weight = float(np.linalg.norm(p["joint_point"])), -p["mass"]*float(p["gravity"][2])
    across, along = p["inertia"][0, 0], p["inertia"][2, 2]
    sine, cosine = np.sin(tilt), np.cos(tilt)
    return float((across*turn*turn*sine - weight*radius)*cosine/((along + p["mass"]*radius*radius)*turn*sine))


def _rolled(tilt: float, turn: float, more: float = 0.0) -> StartOf:
    """A disc with the centre of mass in its centre; `more` rad/s above the steady spin."""
    def start(p: Parameters) -> dict[str, np.ndarray]:
        attitude, radius = about_axis(tilt, 0), float(np.linalg.norm(p["joint_point"]))
        rate = np.array([0.0, turn*np.sin(tilt), steady_spin(p, tilt, turn) + more])
        down = radius*(np.cos(tilt)*attitude[:, 2] - np.array([0.0, 0.0, 1.0]))/np.sin(tilt)
        return stacked([body_state(attitude, rate, p["center_of_mass"] + attitude.T @ down, np.zeros(3), np.zeros(3))])

    return start


PRESETS = {
    "asymmetric_top": own("three different moments, centre of mass off the axes", BASE,
                          _held(about_axis(2.0, 0) @ about_axis(0.3, 2), [1.0, -2.0, 3.0]), 2.0, mass=2.0,
                          inertia=_diagonal(0.05, 0.08, 0.03), joint="spherical", joint_point=[-0.1, -0.2, -0.5]),
    "free": own("free body, three different moments", FREE, FREE_START, 10.0),
    "free_offset": own("free, reference point off the centre of mass", FREE, FREE_START, 10.0,
                       center_of_mass=[0.2, -0.3, 0.1]),
    "separatrix": own("free, close to the unstable axis of the middle moment", FREE,
                      _thrown(np.eye(3), [1e-3, 1.0, 1e-3], [0.0]*3, [0.0]*3), 20.0),
    "pitch_passage": own("free, the pitch passes 90 degrees at 1 percent of a radian", FREE,
                         _thrown(np.eye(3), [1e-2, 1.0, 0.0], [0.0]*3, [0.0]*3), 3.0),
    "bruels_cardona": Preset("fast symmetric top on a spherical joint, reference point in the centre of mass",
                             "Bruels and Cardona 2010", "own", CLASSICAL, CLASSICAL_START, 1.0),
    "bruels_cardona_offset": Preset("the same top, reference point elsewhere", "Bruels and Cardona 2010", "own",
                                    CLASSICAL | {"center_of_mass": [0.3, 0.5, -0.2]}, CLASSICAL_START, 1.0),
    "slow_top": own("symmetric top, tilted by 0.6", SLENDER, _held(about_axis(0.6, 0), [1.0, 2.0, 40.0]), 2.0),
    "sleeping_top": own("almost upright", SLENDER, _held(about_axis(0.01, 0), [0.0, 0.0, 30.0]), 2.0),
    "tilted_top": own("the body of bruels_cardona, tilted and slower", CLASSICAL,
                      _held(about_axis(0.3, 0), [2.0, 40.0, 1.0]), 1.0),
    "spherical": _lower_pair("spherical", "pendulum on a spherical joint", [3.0, -4.0, 5.0]),
    "revolute": _lower_pair("revolute", "pendulum on a hinge", [0.0, 0.0, 7.0]),
    "universal": own("pendulum on a universal joint", HINGED, _held(HINGED_TURN, [4.0, 6.0, 0.0]), 5.0,
                     joint="universal", joint_axis=[0.0, 1.0, 0.0],
                     space_axis=HINGED_TURN[:, 0].tolist()),
    "cylindrical": _lower_pair("cylindrical", "body that turns about a rod and slides on it", [0.0, 0.0, 7.0],
                               slip=0.5),
    "prismatic": _lower_pair("prismatic", "body that slides on a rod", [0.0, 0.0, 0.0], LOCKED_TURN, 0.5),
    "screw": _lower_pair("screw", "nut on a screw", [0.0, 0.0, 7.0], LOCKED_TURN, 7.0*0.2/(2.0*np.pi),
                         screw_lead=0.2),
    "rolling_disc": own("disc that rolls on a level plane, steady precession", DISC, _rolled(1.2, 1.5), 5.0),
    "wobbling_disc": own("disc that rolls on a level plane, not steady", DISC, _rolled(1.2, 1.5, 1.0), 2.0),
    "sleigh": own("Chaplygin's sleigh: the centre of mass 0.4 m before the blade", SLEIGH,
                  _held(np.eye(3), [0.0, 0.0, 3.0]), 2.0),
    "spring": own("on a spring", SPRUNG, SPRUNG_START, 3.0),
    "spring_offset": own("on a spring, reference point off the centre of mass", SPRUNG, SPRUNG_START, 3.0,
                         center_of_mass=[0.3, -0.2, 0.5]),
}

SHEET = multibody(
    title="Rigid body on a joint",
    equations="M dV/dt + A^T lambda = f, A V = 0, dC/dt = C hat V",
    citation="lgt2022, section 3.2",
    parameters={
        "mass": Parameter("kg", "mass", (), "positive"),
        "inertia": Parameter("kg m2", "inertia about the centre of mass, body axes", (3, 3), "inertia"),
        "center_of_mass": Parameter("m", "from the reference point to the centre of mass, body axes", (3,)),
        "gravity": Parameter("m s-2", "acceleration vector of gravity, spatial", (3,)),
        "joint": Parameter("1", "to the ground", (), "choice", JOINTS),
        "joint_point": Parameter("m", "from the centre of mass to the joint, body axes; in space it is the origin",
                                 (3,)),
        "joint_axis": Parameter("1", "unit vector of the joint, body axes", (3,)),
        "space_axis": Parameter("1", "unit vector of the joint, spatial", (3,)),
        "screw_lead": Parameter("m", "of one turn of a screw"),
        "spring_stiffness": Parameter("N m-1", "of a spring without length at rest; 0: none", (), "non-negative"),
        "spring_point": Parameter("m", "from the centre of mass to the spring, body axes", (3,)),
        "spring_anchor": Parameter("m", "other end of the spring, spatial", (3,)),
    },
    build=_build, bodies=lambda p: 1, combination=_combination, conserved_momentum=conserved_momentum,
    exact=_exact,  # where nothing but a uniform weight acts
    engines=lambda p: ("exact" if p["joint"] == "none" and p["spring_stiffness"] == 0.0 else "dop853", "taylor"),
    presets=PRESETS, default_preset="asymmetric_top")
