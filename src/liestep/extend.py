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
from typing import TYPE_CHECKING, Any

from liestep.compile.sources import places, public_name

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import NamedTuple

    from liestep.compile.counters import Counter, new_counters
    from liestep.compile.dispatch import borrows, kernel, outlined
    from liestep.compile.precision import coefficients
    from liestep.compile.rows import (
        Vector,
        add,
        add_to,
        atan2,
        axpy,
        copy,
        cos,
        cross,
        dot,
        exp,
        if_at_most,
        if_equal,
        if_less,
        log,
        put,
        quotient,
        row,
        scale,
        sin,
        sqrt,
        stage_columns,
        stage_rows,
        sub,
        tan,
    )
    from liestep.compile.status import Status
    from liestep.errors import InputError
    from liestep.geometry.attitude import orthogonality_error, to_body, to_space
    from liestep.mechanics.contracts.formulated import Formulated, Observable, StateField
    from liestep.mechanics.contracts.formulations import (
        ChargedParticles,
        IndexThree,
        LieAction,
        LieChart,
        MetricAction,
        Parts,
        SeparableHamiltonian,
        SkewGradient,
        VectorField,
    )
    from liestep.mechanics.contracts.manifold import (
        MANIFOLD_TOLERANCE,
        check_attitude,
        check_directions,
        check_tangent,
    )
    from liestep.mechanics.contracts.method import (
        CANONICAL,
        ORBIT,
        PROJECTED,
        Certified,
        Keeps,
        Method,
        Places,
        Where,
        each,
    )
    from liestep.mechanics.contracts.sheet import (
        Form,
        Option,
        Options,
        Parameter,
        Parameters,
        Preset,
        Sheet,
        State,
        Trial,
        invariant_axes,
        number_in,
        once,
        own,
        whole_number,
    )
    from liestep.mechanics.formulations.action import ActionForm
    from liestep.mechanics.formulations.axes import in_axes
    from liestep.mechanics.formulations.constrained.bodies import Bodies
    from liestep.mechanics.formulations.constrained.joint_forms import Jointed
    from liestep.mechanics.formulations.fixed_body.components import rotation_energy
    from liestep.mechanics.formulations.fixed_body.forms import fixed_body
    from liestep.mechanics.formulations.general import canonical, charged, first_order, shift
    from liestep.mechanics.formulations.multibody.assembly import (
        GROUND,
        Assembly,
        Joint,
        Rows,
        Shape,
        Spring,
        Torque,
        blade,
        complement,
        constant_velocity,
        cylindrical,
        distance,
        drive,
        gear,
        on_curve,
        on_surface,
        planar,
        prismatic,
        rack,
        revolute,
        rolling,
        rotor,
        screw,
        slide_drive,
        slide_rotor,
        spherical,
        universal,
    )
    from liestep.mechanics.formulations.multibody.family import Body, body_state, multibody, stacked
    from liestep.mechanics.formulations.multibody.force_elements import Element, bushing, slider, spring_damper, torsion
    from liestep.mechanics.formulations.multibody.tree import tree
    from liestep.mechanics.formulations.probed import kept_of_bodies, kept_of_body, kept_on_spheres
    from liestep.mechanics.formulations.rigid_bodies.forms import Kept, rigid_bodies
    from liestep.mechanics.formulations.spheres.forms import spheres
    from liestep.mechanics.formulations.spheres.mass import FAR, ChainMatrix
    from liestep.mechanics.formulations.turning import turning
    from liestep.mechanics.systems.heavy_top import weighted_body

# constants, classes, functions of the lines above; what imports a name depends on its module alone
__all__ = sorted(places(__name__), key=lambda name: (not name.isupper(), name[0].islower(), name))


def __getattr__(name: str) -> Any:
    return public_name(__name__, name)
