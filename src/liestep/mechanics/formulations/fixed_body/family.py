"""Rigid bodies about a fixed point: a sheet with all formulations from torque, energy and coadjoint motion."""
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from liestep.mechanics.contracts.formulated import Observable
from liestep.mechanics.contracts.manifold import check_attitude
from liestep.mechanics.contracts.parameters import Parameter, Preset
from liestep.mechanics.contracts.sheet import Parameters, Sheet
from liestep.mechanics.formulations.fixed_body.forms import STATE, Declared, needs_thickness, rotational_energy
from liestep.mechanics.formulations.work import requires_forces


def fixed_body(*, title: str, equations: str, parameters: Mapping[str, Parameter], build: Callable[[Parameters], Any],
               conserved_momentum: Callable[[Parameters], tuple[bool, bool, bool]],
               invariants: Callable[[Parameters, int], tuple[Observable, ...]], presets: Mapping[str, Preset],
               gravity: Callable[[Parameters], np.ndarray | None] = lambda parameters: None, quadratic: bool = False,
               measures: Callable[[Parameters, int], tuple[Observable, ...]] = lambda parameters, first: (),
               lever: Callable[[Parameters], np.ndarray] | None = None,
               mass_center: Callable[[Parameters], tuple[float, np.ndarray]] | None = None, **further: Any) -> Sheet:
    """Sheet of a body with state attitude (3, 3), body to space, and angular_momentum (3,), spatial, in kg m2/s.

    `build` makes a NamedTuple with the methods listed in `mechanics.formulations.fixed_body.components`; the parameter
    `inertia` holds the principal moments (3,) in kg m2. gravity gives (3,) in m/s2, spatial, None for a free body;
    `invariants(parameters, first)` are the system's own columns of `observe` and `dual_observe`, from column `first`,
    `measures(parameters, first)` further ones of `observe`; with them the file has the mean square of the energy error;
    `quadratic` offers the formulation quadratic_rotation; `lever` gives l (3,) in kg m, in the body, of V =
    -gravity.(Q l), zeros without forces, and offers the formulations in redundant coordinates; `mass_center` gives the
    mass in kg and the centre of mass (3,) in m, and offers absolute coordinates. `further` are fields of `Sheet`:
    citation, combination, engines, exact, fallback, requires, symmetries.
    """
    if lever is not None:
        further.setdefault("requires", lambda values, method: needs_thickness(values, method, mass_center))
    declared = Declared(build, gravity, conserved_momentum, invariants, measures, lever, mass_center)
    further["requires"] = requires_forces("torques", declared.has_applied, further.get("requires"))
    return Sheet(title=title, equations=equations, parameters=parameters, build=build, presets=presets,
                 conserved_momentum=conserved_momentum, state_shapes=lambda values: STATE,
                 manifold=lambda values, state: check_attitude("attitude", state["attitude"]),
                 forms=declared.forms(quadratic), kinetic_energy=rotational_energy,
                 moments=lambda values: values["inertia"][None], **further)
