"""Systems of n rigid bodies: a sheet with all formulations from forces, torques and potential energies."""
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from liestep.mechanics.contracts.manifold import check_attitude
from liestep.mechanics.contracts.parameters import Parameter, Preset
from liestep.mechanics.contracts.sheet import Parameters, Runner, Sheet, State
from liestep.mechanics.formulations.rigid_bodies.components import is_damped
from liestep.mechanics.formulations.rigid_bodies.forms import Declared, Kept, state_shapes


def rigid_bodies(*, title: str, equations: str, parameters: Mapping[str, Parameter], build: Callable[[Parameters], Any],
                 moments: Callable[[Parameters], np.ndarray], kept: Callable[[Parameters], Kept],
                 potential: Mapping[str, str], presets: Mapping[str, Preset],
                 masses: Callable[[Parameters], np.ndarray] | None = None,
                 manifold: Callable[[Parameters, State], None] = lambda parameters, state: None,
                 **further: Any) -> Sheet:
    """Sheet of n bodies with state attitude (n, 3, 3), body to space, and angular_momentum (n, 3) about their centres,
    spatial, in kg m2/s; with `masses` (n,) in kg also position (n, 3) in m and velocity (n, 3) in m/s.

    `build` makes a NamedTuple with the method of `mechanics.formulations.rigid_bodies.components`; `moments` gives the
    principal moments (n, 3) in kg m2; `potential` names its energies, name -> meaning; `kept` says which momenta the
    motion conserves; `manifold` refuses starts beyond those whose attitudes are no rotations. `further` are fields of
    `Sheet`: citation, combination, engines, exact, symmetries. A system with forces of velocity says so by the
    method `damp`, see there.
    """
    declared = Declared(build, masses, moments, kept, potential)

    def check(values: Parameters, state: State) -> None:
        check_attitude("attitude", state["attitude"])
        manifold(values, state)

    def kinetic_energy(values: Parameters, fields: State) -> np.ndarray:
        turned = np.einsum("tnij,tni->tnj", fields["attitude"], fields["angular_momentum"])
        total: np.ndarray = 0.5*np.sum(turned*turned/moments(values), axis=(1, 2))
        if masses is not None:
            total = total + 0.5*np.sum(masses(values)[:, None]*fields["velocity"]**2, axis=(1, 2))
        return total

    def requires(values: Parameters, method: Runner) -> str | None:
        # the kicks of `rigid_bodies` take forces of positions and attitudes, whatever the method does elsewhere
        if method.formulation == "rigid_bodies" and is_damped(build(values)):
            return ("its formulation has no forces that depend on velocities, and the system is damped (integrators on"
                    " vector_field or lie_action take them)")
        return None

    return Sheet(title=title, equations=equations, parameters=parameters, build=build, presets=presets,
                 requires=requires,
                 conserved_momentum=lambda values: kept(values).momentum,
                 state_shapes=lambda values: state_shapes(len(moments(values)), masses is not None), manifold=check,
                 kinetic_energy=kinetic_energy, forms=declared.forms(), moments=moments,
                 fallback=further.pop("fallback", lambda values: accurate_composition(moments(values))), **further)


def equal_moments(moments: np.ndarray) -> bool:
    """Whether every body has three equal moments of inertia (n, 3), compared exactly."""
    return bool(np.all(moments == moments[:, :1]))


def accurate_composition(moments: np.ndarray) -> str:
    """Id of the composition of order 8 that stands in for engines of references: closed-form maps are for equal
    moments."""
    return f"{'rodrigues' if equal_moments(moments) else 'lgvi'} weights=kl8"
