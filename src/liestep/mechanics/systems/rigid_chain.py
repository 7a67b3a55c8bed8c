"""A chain of rigid bodies with spherical joints that hangs from the origin (own).

Body k holds its upper joint on the lower one of body k - 1, the first one on the origin; joints are points of the
bodies. T and V as for free bodies; the angular momentum along gravity is conserved, all of it without gravity.
"""
import numpy as np

from liestep.mechanics.contracts.sheet import Parameter, Parameters, invariant_axes, own
from liestep.mechanics.formulations.constrained.bodies import Bodies
from liestep.mechanics.formulations.constrained.joint_forms import Jointed, standing


def _bodies(parameters: Parameters) -> Bodies:
    n = len(parameters["mass"])
    ends = np.concatenate([np.zeros((1, 3)), parameters["lower_joint"][:-1]])
    return Bodies(parameters["mass"], parameters["inertia"], np.arange(n), np.arange(n) - 1, parameters["upper_joint"],
                  ends, parameters["gravity"], 0.0)


def _conserved(parameters: Parameters) -> tuple[bool, bool, bool]:
    return invariant_axes([parameters["gravity"]])


JOINTED = Jointed(_bodies, _conserved, lambda parameters: (False, False, False))


def hanging(parameters: Parameters, turns: np.ndarray, rates: np.ndarray) -> dict[str, np.ndarray]:
    """Start from attitudes (n, 3, 3) and spatial angular velocities (n, 3), joints closed in place and velocity."""
    state = standing(parameters, np.zeros_like(parameters["upper_joint"]), turns)
    end, speed = np.zeros(3), np.zeros(3)
    for k in range(len(turns)):
        upper, lower = (turns[k] @ parameters[name][k] for name in ("upper_joint", "lower_joint"))
        state["position"][k] = end - upper
        motion = speed - np.cross(rates[k], upper)
        state["momentum"][k] = parameters["mass"][k]*motion
        state["spin"][k] = turns[k] @ (parameters["inertia"][k]*(turns[k].T @ rates[k]))
        end, speed = state["position"][k] + lower, motion + np.cross(rates[k], lower)
    return state


def _swinging(parameters: Parameters) -> dict[str, np.ndarray]:
    """All bodies upright, the first two turning in different directions."""
    n = len(parameters["mass"])
    rates = np.zeros((n, 3))
    rates[0] = (0.6, 0.3, 0.2)
    rates[1:2] = (-0.4, 0.8, 0.1)
    return hanging(parameters, np.tile(np.eye(3), (n, 1, 1)), rates)


def bars(n: int) -> dict:
    """Bars of 1 m and 1 kg with a square section of 0.2 m, hanging along -e3."""
    across, along = (1.0 + 0.04)/12.0, 0.08/12.0
    return {"mass": [1.0]*n, "inertia": [[across, across, along]]*n, "upper_joint": [[0.0, 0.0, 0.5]]*n,
            "lower_joint": [[0.0, 0.0, -0.5]]*n, "gravity": [0.0, 0.0, -9.81]}


SHEET = JOINTED.sheet(
    title="Chain of rigid bodies",
    equations="m_i d2x_i/dt2 = m_i gravity + joint forces; dL_i/dt = moments of joint forces",
    citation="own; joints as in livens2025 section 5.5",
    parameters={
        "mass": Parameter("kg", "masses", ("n",), "positive"),
        "inertia": Parameter("kg m2", "principal moments about the centres of mass", ("n", 3), "moments"),
        "upper_joint": Parameter("m", "point of each body that is held, from its centre of mass", ("n", 3)),
        "lower_joint": Parameter("m", "point of each body that holds the next one", ("n", 3)),
        "gravity": Parameter("m s-2", "acceleration vector of gravity", (3,)),
    },
    symmetries=("gravity",),
    default_preset="four_bars",
    motion="bars",
    presets={
        "four_bars": own("four bars of 1 m, the first two turning", bars(4), _swinging, 4.0),
        "long": own("64 bars of 1 m", bars(64), _swinging, 1.0),
        **{f"bars_{n}": own(f"{n} bars of 1 m", bars(n), _swinging, 1.0) for n in (1, 16, 256)},
    },
)
