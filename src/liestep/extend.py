"""All names that authors of systems and integrators import, also in plugins (docs/adding.md, docs/own_system.md).

Sheets and their parts: `spheres`, `fixed_body`, `rigid_bodies` with `Kept`, `multibody`, `first_order`, `canonical`,
`charged`, `turning`, `weighted_body`, `in_axes` of a person, what systems keep by numbers (`kept_on_spheres`, ...),
`Sheet`, `Parameter`, `Parameters`, `State`, `Preset`, `own`, `Trial`, `Form`, `Formulated`, `StateField`, `Observable`,
`ActionForm`, checks of the manifold, `invariant_axes`. Integrators: `Method`, `Option`, `Options`, `Status`,
`Certified`, `Places`, what they keep: `Keeps`, `Where`, `ORBIT`, `PROJECTED`; formulations as protocols, such as
`VectorField`; `coefficients` of exact fractions, `NamedTuple` for components, and `borrows`. Mechanisms: `Assembly` of
`Body` with `spherical`, `revolute`, `universal`, `cylindrical`, `prismatic`, `screw`, `planar`, `distance`, `on_curve`,
`on_surface`, `constant_velocity`, `gear`, `rack`, `blade`, `rolling`, `drive`, `slide_drive`, `rotor`, `slide_rotor`,
or a `tree` of joint coordinates; `spring_damper`, `slider`, `torsion`, `bushing`, `Spring`, `Torque`, `GROUND` and
`Shape`; starts by `body_state` and `stacked`. Compiled code: `kernel`, and vectors of three as tuples with `row`,
`put`, `dot`, ... (`liestep.compile.rows`), and `to_body`, `to_space`, `orthogonality_error` of attitudes.
"""
from typing import Any

from liestep.compile.sources import places, public_name

# constants, classes, functions of extend.pyi; what imports a name depends on its module alone
__all__ = sorted(places(__name__), key=lambda name: (not name.isupper(), name[0].islower(), name))


def __getattr__(name: str) -> Any:
    return public_name(__name__, name)
