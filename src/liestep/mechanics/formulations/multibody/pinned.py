"""A rigid body about a fixed point in absolute coordinates: attitude, place of a reference point, and both velocities,
with a spherical joint to the ground (lgt2022, section 3). The state and the conserved quantities stay those of the
fixed-point forms, so that all formulations of one body have one reference."""
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import Formulated, Joints, StateField
from liestep.mechanics.contracts.sheet import Form, Option, Options, Parameters, State
from liestep.mechanics.formulations.multibody.assembly import GROUND, Assembly, own_length, spherical
from liestep.mechanics.formulations.multibody.forms import INDEX_THREE_OPTIONS, LIE_OPTIONS, MechanismForms

POSES = ("se3", "so3_r3")  # actions in absolute coordinates
SMALLEST = 1e-12           # moment about the centre of mass that counts as zero, beside the largest about the point
REFERENCE = Option("joint", "point of the body whose place and velocity are the state: the fixed point, or the centre"
                   " of mass", ("joint", "center_of_mass"))
PLACES = (StateField("position", "m", "position of the reference point, spatial", ("xyz",), "derived"),
          StateField("body_rate", "rad s-1", "angular velocity, body frame", ("xyz",), "derived"),
          StateField("velocity", "m s-1", "velocity of the reference point, spatial", ("xyz",), "derived"))
FORCE = StateField("multiplier", "N", "multipliers of the fixed point: the force on the ground, spatial",
                   ("joint_row",), "derived")
Make = Callable[[MechanismForms, Parameters, State, Options], Formulated]  # a form of mechanisms


def pose_options() -> dict[str, Option]:
    """Options of the form `lie_action` that exist with the actions on poses alone: not the action itself, nor the
    chart, which all actions have."""
    further = {name: option for name, option in LIE_OPTIONS.items()
               if name not in ("action", "chart")} | {
        "reference_point": REFERENCE}
    return {name: replace(option, needs=("action", POSES)) for name, option in further.items()}


def central_inertia(inertia: np.ndarray, mass: float, centre: np.ndarray) -> np.ndarray:
    """Inertia (3, 3) about the centre of mass from principal moments (3,) about a point, `centre` (3,) away."""
    return np.diag(inertia) - mass*(centre @ centre*np.eye(3) - np.outer(centre, centre))


def why_not(inertia: np.ndarray, mass: float, centre: np.ndarray) -> str | None:
    """Why there are no absolute coordinates, in words; None where there are."""
    smallest = float(np.linalg.eigvalsh(central_inertia(inertia, mass, centre))[0])
    if smallest > SMALLEST*float(np.max(inertia)):
        return None
    return ("absolute coordinates need an inertia about the centre of mass that is positive definite; its smallest"
            f" moment is {smallest:.3g} kg m2")


class Pinned(NamedTuple):
    """What absolute coordinates need of a body about a fixed point; `mass_center` gives its mass in kg and the centre
    of mass (3,) in m, from the fixed point in the body's axes."""

    mass_center: Callable[[Parameters], tuple[float, np.ndarray]]
    gravity: Callable[[Parameters], np.ndarray | None]
    conserved_momentum: Callable[[Parameters], tuple[bool, bool, bool]]

    def assembly(self, parameters: Parameters, at_joint: bool) -> Assembly:
        """The body, its reference point at the joint or at the centre of mass."""
        mass, centre = self.mass_center(parameters)
        gravity = self.gravity(parameters)
        return Assembly(np.array([mass]), central_inertia(parameters["inertia"], mass, centre)[None],
                        (centre if at_joint else np.zeros(3))[None], np.zeros(3) if gravity is None else gravity,
                        (spherical(0, -centre, GROUND, np.zeros(3)),))

    def formulated(self, make: Make, parameters: Parameters, state: State, options: Options,
                   fields: tuple[StateField, ...]) -> Formulated:
        """A form of mechanisms, with the state of the fixed-point forms; `fields` are theirs."""
        assembly = self.assembly(parameters, options["reference_point"] == "joint")
        centre = self.mass_center(parameters)[1]
        arm = state["attitude"] @ (centre - assembly.center_of_mass[0])
        rate = state["attitude"].T @ state["angular_momentum"]/parameters["inertia"]
        spatial = state["attitude"] @ rate
        start = {"attitude": state["attitude"], "position": arm, "body_rate": rate, "velocity": np.cross(spatial, arm)}
        start = {name: value[None] for name, value in start.items()}
        formulated = make(MechanismForms(lambda values: assembly, self.conserved_momentum), parameters, start, options)
        gravity = self.gravity(parameters)

        def to_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
            read = formulated.to_fields(rows)
            moved = {name: read[name][..., 0, :] for name in ("position", "body_rate", "velocity")}
            turn = read["attitude"][..., 0, :, :]
            momentum = angular_momentum(assembly, turn, **moved)
            shown = {"attitude": turn, "angular_momentum": momentum,
                     "body_momentum": np.einsum("...ji,...j->...i", turn, momentum)}
            if gravity is not None:
                shown["gravity_body"] = np.einsum("...ji,j->...i", turn, gravity)
            return shown | moved | {"multiplier": read["multiplier"]}

        return replace(formulated, fields=(*fields, *PLACES, FORCE), to_fields=to_fields,
                       joints=Joints(lambda seen: own_length(assembly, start), lambda seen: (0.0, 0.0)))

    def action(self, parameters: Parameters, state: State, options: Options,
               fields: tuple[StateField, ...]) -> Formulated:
        """Formulation `lie_action` on poses."""
        return self.formulated(MechanismForms.action, parameters, state, options, fields)

    def check(self, parameters: Parameters, options: Options) -> None:
        """Raises InputError for poses of a body that has no inertia about its centre of mass."""
        if options["action"] in POSES and (reason := why_not(parameters["inertia"], *self.mass_center(parameters))):
            raise InputError(f"option action is {options['action']!r}: {reason}")

    def forms(self, fields: Callable[[Parameters], tuple[StateField, ...]]) -> Mapping[str, Form]:
        """The formulations that only absolute coordinates have."""
        def form(make: Make, options: dict[str, Option]) -> Form:
            return Form(lambda parameters, state, chosen: self.formulated(make, parameters, state, chosen, fields(
                parameters)), options | {"reference_point": REFERENCE}, self.check, (__name__,))

        return {"lie_chart": form(MechanismForms.action, LIE_OPTIONS),
                "index_three": form(MechanismForms.index_three, INDEX_THREE_OPTIONS)}


def angular_momentum(assembly: Assembly, attitude: np.ndarray, position: np.ndarray, body_rate: np.ndarray,
                     velocity: np.ndarray) -> np.ndarray:
    """About the origin, spatial, of states (..., 3, 3) and (..., 3) of one body."""
    centre, mass = assembly.center_of_mass[0], assembly.mass[0]
    spin = np.einsum("...ij,jk,...k->...i", attitude, assembly.inertia[0], body_rate)
    place = position + attitude @ centre
    speed = velocity + np.einsum("...ij,...j->...i", attitude, np.cross(body_rate, centre))
    return spin + mass*np.cross(place, speed)
