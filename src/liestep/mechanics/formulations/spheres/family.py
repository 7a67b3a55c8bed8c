"""Mechanical systems on (S^2)^n: a sheet with all formulations from mass matrix, potential and gradient."""
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from liestep.mechanics.contracts.manifold import check_directions, check_tangent
from liestep.mechanics.contracts.parameters import Parameter, Preset
from liestep.mechanics.contracts.sheet import Parameters, Sheet, State
from liestep.mechanics.formulations.spheres.cost import cost_model
from liestep.mechanics.formulations.spheres.forms import Declared
from liestep.mechanics.formulations.spheres.mass import check_mass
from liestep.mechanics.formulations.spheres.series import multiplier_series
from liestep.mechanics.formulations.work import requires_forces

FALLBACK = "vi_sphere weights=kl8"


def spheres(*, title: str, equations: str, parameters: Mapping[str, Parameter], build: Callable[[Parameters], Any],
            mass: Callable[[Parameters], np.ndarray],
            conserved_momentum: Callable[[Parameters], tuple[bool, bool, bool]], presets: Mapping[str, Preset],
            combination: Callable[[Parameters], None] = lambda parameters: None,
            start: Callable[[Parameters, State], None] = lambda parameters, state: None,
            fallback: str | Callable[[Parameters], str | None] | None = FALLBACK,
            printed: Callable[[Parameters], Any] | None = None, **further: Any) -> Sheet:
    """Sheet of a system with state q (n, 3), directions, and omega (n, 3) in rad/s, orthogonal to them, both spatial.

    `build` makes a NamedTuple with `potential(q)` in J and `gradient(q, out)`, its plain derivative in R^3 (n, 3);
    `mass` gives (n,) for uncoupled bodies or (n, n), in kg m2: T = 1/2 sum_ij M_ij dq_i/dt.dq_j/dt (twospheres2009
    eq. (2)).
    If it has `force(t, q, omega, out)` too, F_i in J conjugate to dq_i/dt (M dv/dt = -G + F + lambda q), it gets a row
    for the work, and the energy that is conserved is T + V less the work.
    `printed` makes the same with forces that are other ones off the spheres, those of an equation as printed.
    `start` raises InputError for a start on the manifold at which there are no forces.
    `further` are fields of `Sheet`: citation, engines, exact, requires, symmetries.
    """
    declared = Declared(build, mass, conserved_momentum, printed)
    further["requires"] = requires_forces("forces", declared.forced, further.get("requires"))

    def checked(values: Parameters) -> None:
        combination(values)
        check_mass(np.asarray(mass(values)))

    def manifold(values: Parameters, state: State) -> None:
        _check_manifold(values, state)
        start(values, state)

    def state_shapes(values: Parameters) -> dict[str, tuple[int, ...]]:
        n = len(mass(values))
        return {"q": (n, 3), "omega": (n, 3)}

    return Sheet(
        title=title, equations=equations, parameters=parameters, build=build, mass=mass, presets=presets,
        conserved_momentum=conserved_momentum, combination=checked, state_shapes=state_shapes,
        manifold=manifold, forms=declared.forms(), fallback=fallback,
        kinetic_energy=lambda values, fields: _kinetic_energy(np.asarray(mass(values)), fields),
        series=lambda values, state: multiplier_series(build(values), np.asarray(mass(values)), state),
        cost=lambda values, state: cost_model(build(values), state), **further)


def _check_manifold(parameters: Parameters, state: State) -> None:
    check_directions("q", state["q"])
    check_tangent("omega", state["omega"], "q", state["q"])


def _kinetic_energy(mass: np.ndarray, fields: State) -> np.ndarray:
    """(time,)"""
    mass = np.diag(mass) if mass.ndim == 1 else mass
    velocity = np.cross(fields["omega"], fields["q"])
    return 0.5*np.sum(velocity*np.einsum("ij,tjk->tik", mass, velocity), axis=(1, 2))
