"""Chain of rigid bodies on spherical joints, in absolute coordinates: the first hangs from the origin (lgt2022).

    M dV/dt + A(q)^T lambda = f(q, V),  A V = 0,  dC/dt = C hat V

Body i carries joint_in[i], the joint to body i - 1 or to the ground, and joint_out[i], that to body i + 1; both are
given from its centre of mass in body axes. The joint_out of the last body joins nothing. Conserved: the energy, and the
angular momentum about the origin along gravity.
"""
import numpy as np

from liestep.extend import (
    GROUND,
    Assembly,
    Parameter,
    Parameters,
    Preset,
    body_state,
    invariant_axes,
    multibody,
    own,
    spherical,
    stacked,
)
from liestep.geometry.attitude import about_axis


def _build(p: Parameters) -> Assembly:
    joints = [spherical(i, p["joint_in"][i], i - 1 if i else GROUND, p["joint_out"][i - 1] if i else np.zeros(3))
              for i in range(len(p["mass"]))]
    return Assembly(p["mass"], p["inertia"], p["center_of_mass"], p["gravity"], joints)


def jointed(p: Parameters, attitudes: np.ndarray, rates: np.ndarray) -> dict[str, np.ndarray]:
    """The state with attitudes (n, 3, 3) and body rates (n, 3) that fits the joints."""
    place, velocity, bodies = np.zeros(3), np.zeros(3), []
    for i, (turn, rate) in enumerate(zip(attitudes, rates, strict=True)):
        centre, enter = p["center_of_mass"][i], p["joint_in"][i]
        bodies.append(body_state(turn, rate, centre + enter, place, velocity))
        across = p["joint_out"][i] - enter
        place, velocity = place + turn @ across, velocity + turn @ np.cross(rate, across)
    return stacked(bodies)


def _double(p: Parameters) -> dict[str, np.ndarray]:
    first = about_axis(np.pi/2.0, 0)
    return jointed(p, np.array([first, first @ about_axis(np.pi/3.0, 1)]), np.array([[1.0, 2.0, 5.0],
                                                                                 [-1.0, 3.0, -4.0]]))


def _level(p: Parameters) -> dict[str, np.ndarray]:
    """All links along e1, at rest."""
    n = len(p["mass"])
    return jointed(p, np.tile(about_axis(-np.pi/2.0, 1), (n, 1, 1)), np.zeros((n, 3)))


def _diagonal(*moments: float) -> list[list[float]]:
    return np.diag(moments).tolist()


# 0.18 and not 0.2: moments 0.15, 0.2, 0.04 break the triangle inequality
DOUBLE = {"mass": [2.0, 1.5], "inertia": [_diagonal(0.2, 0.25, 0.05), _diagonal(0.15, 0.18, 0.04)],
          "center_of_mass": [[0.0, 0.0, 0.0]]*2, "joint_in": [[0.0, 0.0, 0.5]]*2, "joint_out": [[0.0, 0.0, -0.5]]*2,
          "gravity": [0.0, 0.0, -9.81]}


def _rods(n: int) -> dict:
    """n slender rods of 0.1 m and 0.1 kg."""
    return {"mass": [0.1]*n, "inertia": [_diagonal(1e-4, 1e-4, 1e-5)]*n, "center_of_mass": [[0.0, 0.0, 0.0]]*n,
            "joint_in": [[0.0, 0.0, 0.05]]*n, "joint_out": [[0.0, 0.0, -0.05]]*n, "gravity": [0.0, 0.0, -9.81]}


def _level_rods(n: int) -> Preset:
    """n rods in a level line."""
    return own(f"{n} rods of 0.1 m, let go from a level line", _rods(n), _level, 0.5)


SHEET = multibody(
    title="Chain of rigid bodies",
    equations="M dV/dt + A^T lambda = f, A V = 0, dC/dt = C hat V",
    citation="lgt2022, section 3.2",
    parameters={
        "mass": Parameter("kg", "masses", ("n",), "positive"),
        "inertia": Parameter("kg m2", "inertia matrices about the centres of mass, body axes", ("n", 3, 3), "inertia"),
        "center_of_mass": Parameter("m", "from the reference points to the centres of mass, body axes", ("n", 3)),
        "joint_in": Parameter("m", "from each centre of mass to the joint towards the ground, body axes", ("n", 3)),
        "joint_out": Parameter("m", "from each centre of mass to the joint to the next body, body axes", ("n", 3)),
        "gravity": Parameter("m s-2", "acceleration vector of gravity, spatial", (3,)),
    },
    build=_build, bodies=lambda p: len(p["mass"]),
    conserved_momentum=lambda p: invariant_axes([p["gravity"]]),
    presets={
        "double_pendulum": own("two different bodies that turn about all axes; chaotic, for short times", DOUBLE,
                               _double, 1.0),
        "double_pendulum_offset": own("the same motion, reference points off the centres of mass",
                                      DOUBLE, _double, 1.0, center_of_mass=[[0.1, -0.2, 0.15], [-0.1, 0.05, 0.2]]),
        **{f"chain_{n}": _level_rods(n) for n in (2, 5, 10, 30, 100, 300, 1000)},
    },
    default_preset="double_pendulum")
