"""Mechanisms: a sheet with all formulations from bodies, joints and springs, and starts of bodies."""
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liestep.mechanics.contracts.manifold import check_attitude
from liestep.mechanics.contracts.sheet import Parameter, Parameters, Preset, Runner, Sheet, State
from liestep.mechanics.formulations.multibody.assembly import Assembly, Shape
from liestep.mechanics.formulations.multibody.checks import at_state, check_start, nearest_start
from liestep.mechanics.formulations.multibody.forms import MechanismForms


def multibody(*, title: str, equations: str, parameters: Mapping[str, Parameter],
              build: Callable[[Parameters], Assembly], bodies: Callable[[Parameters], int],
              conserved_momentum: Callable[[Parameters], tuple[bool, bool, bool]], presets: Mapping[str, Preset],
              **further: Any) -> Sheet:
    """Sheet of n rigid bodies with joints in absolute coordinates; the state is attitude (n, 3, 3), body to space,
    position (n, 3) and velocity (n, 3) of the reference points, spatial, and body_rate (n, 3), body frame.

    `build` makes the `Assembly` of checked parameters, `bodies` says how many there are. `further` are fields of
    `Sheet`: citation, combination, default_preset, engines, exact, requires.
    """
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
