"""The public names of `liestep.extend` for type checkers, and for itself: it loads each when it is used."""
from fractions import Fraction as Fraction
from typing import NamedTuple as NamedTuple
from liestep.compile.counters import Counter as Counter, new_counters as new_counters
from liestep.compile.dispatch import borrows as borrows, kernel as kernel, outlined as outlined
from liestep.compile.precision import coefficients as coefficients
from liestep.compile.rows import (
    Vector as Vector, add as add, add_to as add_to, atan2 as atan2, axpy as axpy, copy as copy, cos as cos,
    cross as cross, dot as dot, exp as exp, if_at_most as if_at_most, if_equal as if_equal, if_less as if_less,
    log as log, put as put, quotient as quotient, row as row, scale as scale, sin as sin, sqrt as sqrt,
    stage_columns as stage_columns, stage_rows as stage_rows, sub as sub, tan as tan,
)
from liestep.compile.status import Status as Status
from liestep.errors import InputError as InputError
from liestep.geometry.attitude import (
    orthogonality_error as orthogonality_error, to_body as to_body, to_space as to_space,
)
from liestep.mechanics.contracts.formulated import (
    Formulated as Formulated, Observable as Observable, StateField as StateField,
)
from liestep.mechanics.contracts.formulations import (
    ChargedParticles as ChargedParticles, IndexThree as IndexThree, LieAction as LieAction, LieChart as LieChart,
    MetricAction as MetricAction, Parts as Parts, SeparableHamiltonian as SeparableHamiltonian,
    SkewGradient as SkewGradient, VectorField as VectorField,
)
from liestep.mechanics.contracts.manifold import (
    MANIFOLD_TOLERANCE as MANIFOLD_TOLERANCE, check_attitude as check_attitude, check_directions as check_directions,
    check_tangent as check_tangent,
)
from liestep.mechanics.contracts.method import (
    CANONICAL as CANONICAL, ORBIT as ORBIT, PROJECTED as PROJECTED, Certified as Certified, Keeps as Keeps,
    Method as Method, Places as Places, Where as Where, each as each,
)
from liestep.mechanics.contracts.sheet import (
    Form as Form, Option as Option, Options as Options, Parameter as Parameter, Parameters as Parameters,
    Preset as Preset, Sheet as Sheet, State as State, Trial as Trial, invariant_axes as invariant_axes,
    number_in as number_in, once as once, own as own, whole_number as whole_number,
)
from liestep.mechanics.formulations.action import ActionForm as ActionForm
from liestep.mechanics.formulations.axes import in_axes as in_axes
from liestep.mechanics.formulations.fixed_body.components import rotation_energy as rotation_energy
from liestep.mechanics.formulations.fixed_body.forms import fixed_body as fixed_body
from liestep.mechanics.formulations.general import (
    canonical as canonical, charged as charged, first_order as first_order, shift as shift,
)
from liestep.mechanics.formulations.multibody.assembly import (
    Assembly as Assembly, Joint as Joint, Rows as Rows, Shape as Shape, blade as blade, complement as complement,
    constant_velocity as constant_velocity,
    cylindrical as cylindrical, distance as distance, drive as drive, gear as gear, on_curve as on_curve,
    on_surface as on_surface, planar as planar, prismatic as prismatic, rack as rack, revolute as revolute,
    rolling as rolling, rotor as rotor, screw as screw, slide_drive as slide_drive, slide_rotor as slide_rotor,
    spherical as spherical, universal as universal,
)
from liestep.mechanics.formulations.multibody.family import (
    Body as Body, body_state as body_state, multibody as multibody, stacked as stacked,
)
from liestep.mechanics.formulations.multibody.force_elements import (
    GROUND as GROUND, Element as Element, Spring as Spring, Torque as Torque, bushing as bushing, slider as slider,
    spring_damper as spring_damper, torsion as torsion,
)
from liestep.mechanics.formulations.multibody.tree import tree as tree
from liestep.mechanics.formulations.probed import (
    kept_of_bodies as kept_of_bodies, kept_of_body as kept_of_body, kept_on_spheres as kept_on_spheres,
)
from liestep.mechanics.formulations.rigid_bodies.forms import Kept as Kept, rigid_bodies as rigid_bodies
from liestep.mechanics.formulations.spheres.forms import spheres as spheres
from liestep.mechanics.formulations.spheres.mass import FAR as FAR, ChainMatrix as ChainMatrix
from liestep.mechanics.formulations.turning import turning as turning
from liestep.mechanics.systems.heavy_top import weighted_body as weighted_body
