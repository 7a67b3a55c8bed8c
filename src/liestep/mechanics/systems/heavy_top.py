"""Heavy top: a rigid body about a fixed point in a constant field (liegroup2021, section 3.4.1).

Q is the attitude, body to space; Pi = Q^T pi the angular momentum in the body; Gamma = Q^T gravity; chi the unit vector
from the fixed point to the centre of mass, in the body.

    H = 1/2 Pi.I^-1 Pi + V,  V = -m l gravity.(Q chi),  torque m l (Q chi) x gravity

`gravity` is the acceleration of gravity, a vector: (0, 0, -9.81) pulls downwards if e_3 points up. The paper's Gamma0
enters H with the other sign, V = +m l Gamma0.(Q chi): gravity = -Gamma0, and the paper's Gamma is -Gamma here.

Conserved: the energy; pi along gravity; the Casimirs |Gamma|^2 and Pi.Gamma (the momentum along gravity times
|gravity|); Pi.chi of a symmetric top, that is, if turning about chi leaves the inertia unchanged.

With three equal moments it is the three-dimensional pendulum of rodrigues2021, section 3: rho0 = -axis, J = inertia,
U = -m g e_3.(R rho0) for gravity = (0, 0, -g). Then the length of R rho0 and the norm of eq. (35) are observed as well.

The actions se3 and so3_r3 and the formulation index_three are those of lgt2022: absolute coordinates with a spherical
joint at the fixed point. They need a positive definite inertia about the centre of mass, which the data printed in
liegroup2021 do not have.
"""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.rows import Vector, cross, dot, put, row, scale, sqrt
from liestep.errors import InputError
from liestep.geometry.attitude import about_axis, orthogonality_error, principal_angle, to_body, to_space
from liestep.mechanics.contracts.formulated import Observable
from liestep.mechanics.contracts.manifold import MANIFOLD_TOLERANCE
from liestep.mechanics.contracts.sheet import Parameter, Parameters, Sheet, Trial, invariant_axes, own
from liestep.mechanics.formulations.fixed_body.components import body_rate, kinetic_energy
from liestep.mechanics.formulations.fixed_body.forms import MOMENTUM, fixed_body, invariant
from liestep.mechanics.formulations.rigid_bodies.forms import norm_observable


class HeavyTop(NamedTuple):
    """Torque, energy and invariants; the methods are listed in `mechanics.formulations.fixed_body.components`."""

    inertia: np.ndarray  # (3,) about the fixed point
    lever: np.ndarray    # (3,) m l chi
    gravity: np.ndarray  # (3,) spatial
    axis: np.ndarray     # (3,) chi
    spherical: bool      # three equal moments

    def weight(self) -> Vector:
        """gravity, spatial."""
        return self.gravity[0], self.gravity[1], self.gravity[2]

    def arm(self) -> Vector:
        """m l chi, in the body."""
        return self.lever[0], self.lever[1], self.lever[2]

    def torque(self, q: np.ndarray) -> Vector:
        return cross(to_space(q, self.arm()), self.weight())

    def body_torque(self, q: np.ndarray) -> Vector:
        return cross(self.arm(), to_body(q, self.weight()))

    def torque_slope(self, q: np.ndarray, u: Vector) -> Vector:
        return cross(cross(u, to_space(q, self.arm())), self.weight())

    def invariants(self, p: Vector, gamma: Vector, out: np.ndarray) -> None:
        """Pi.chi, |Gamma|^2, Pi.Gamma."""
        out[0] = dot(p, (self.axis[0], self.axis[1], self.axis[2]))
        out[1] = dot(gamma, gamma)
        out[2] = dot(p, gamma)

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        p, gamma, momentum = to_body(y, row(y, 3)), to_body(y, self.weight()), row(y, 3)
        out[0] = kinetic_energy(self.inertia, p) - dot(self.arm(), gamma)
        out[1], out[2], out[3] = momentum
        out[4] = orthogonality_error(y)
        self.invariants(p, gamma, out[5:])
        if self.spherical:
            arm, rate = to_space(y, (self.axis[0], self.axis[1], self.axis[2])), body_rate(self.inertia, p)
            angle = principal_angle(y)
            out[8] = sqrt(dot(arm, arm)) - 1.0
            out[9] = angle*angle + dot(rate, rate)

    def dual(self, y: np.ndarray, out: np.ndarray) -> None:
        """f = -dH/d(Pi, Gamma) = (-I^-1 Pi, m l chi): liegroup2021 eq. (18), unlike its example 1 (erratum 1)."""
        put(out, 0, scale(-1.0, body_rate(self.inertia, row(y, 0))))
        put(out, 1, self.arm())

    def dual_observe(self, y: np.ndarray, out: np.ndarray) -> None:
        out[0] = kinetic_energy(self.inertia, row(y, 0)) - dot(self.arm(), row(y, 1))
        self.invariants(row(y, 0), row(y, 1), out[1:])


def _lever(parameters: Parameters) -> np.ndarray:
    return parameters["mass"]*parameters["length"]*parameters["axis"]


def _combination(parameters: Parameters) -> None:
    defect = abs(float(parameters["axis"] @ parameters["axis"]) - 1.0)
    if defect > MANIFOLD_TOLERANCE:
        raise InputError(f"parameter axis is not a unit vector: |1 - axis.axis| = {defect:.3g}, allowed"
                         f" {MANIFOLD_TOLERANCE:g}; the distance to the centre of mass is the parameter length")


def conserved_momentum(parameters: Parameters) -> tuple[bool, bool, bool]:
    """Components of pi that stay: those along gravity; all where gravity has no torque."""
    return invariant_axes([parameters["gravity"]] if parameters["length"] > 0.0 else [])


def symmetric(parameters: Parameters) -> bool:
    """Whether turning about the axis leaves the inertia unchanged, compared exactly."""
    inertia, axis = parameters["inertia"], parameters["axis"]
    return all(axis[k] == 0.0 or inertia[(k + 1) % 3] == inertia[(k + 2) % 3] for k in range(3))


def _build(parameters: Parameters) -> HeavyTop:
    return HeavyTop(parameters["inertia"], _lever(parameters), parameters["gravity"], parameters["axis"],
                    spherical(parameters))


def spherical(parameters: Parameters) -> bool:
    """Whether the three moments are equal, compared exactly."""
    return bool(np.all(parameters["inertia"] == parameters["inertia"][0]))


def _measures(parameters: Parameters, first: int) -> tuple[Observable, ...]:
    if not spherical(parameters):
        return ()
    return (Observable("lever_length", slice(first, first + 1), "1", "length of the turned axis less one", "residual",
                       stem="lever_length_error"), norm_observable(first + 1))


def invariants(parameters: Parameters, first: int) -> tuple[Observable, ...]:
    return (invariant("axial_momentum", first, MOMENTUM,
                      "angular momentum about the axis to the centre of mass, Pi.chi", symmetric(parameters)),
            invariant("gravity_casimir", first + 1, "m2 s-4", "|Gamma|^2 of Gamma = Q^T gravity"),
            invariant("momentum_casimir", first + 2, "kg m3 s-3",
                      "Pi.Gamma, the momentum along gravity times |gravity|"))


def upright(rate: Vector) -> Callable[[Parameters], dict[str, np.ndarray]]:
    """Start with Q = 1 and a body rate."""
    def initial(parameters: Parameters) -> dict[str, np.ndarray]:
        return {"attitude": np.eye(3), "angular_momentum": parameters["inertia"]*np.array(rate)}

    return initial


def _tilted(rate: Vector) -> Callable[[Parameters], dict[str, np.ndarray]]:
    """Start turned by 0.7 about e_1, then by 0.4 about e_3, with a body rate."""
    def initial(parameters: Parameters) -> dict[str, np.ndarray]:
        attitude = about_axis(0.4, 2) @ about_axis(0.7, 0)
        return {"attitude": attitude, "angular_momentum": attitude @ (parameters["inertia"]*np.array(rate))}

    return initial


def top_of(inertia: np.ndarray, slopes: np.ndarray) -> HeavyTop:
    """The top with the slopes dV/dQ^T (3, 3) = -lever gravity^T, row j those of body axis j.

    Raises:
        InputError: they are no such product.
    """
    k, i = np.unravel_index(np.argmax(np.abs(slopes)), (3, 3))
    largest = slopes[k, i]
    lever, gravity = (-slopes[:, i]/largest if largest else np.zeros(3)), slopes[k]
    if np.abs(slopes + np.outer(lever, gravity)).max() > 1e-12*abs(largest):
        raise InputError("the potential is no product of a lever and gravity at these parameters: define the system"
                         " anew")
    return HeavyTop(inertia, lever, gravity, lever/(np.linalg.norm(lever) or 1.0), False)


def weighted_body(*, slopes: Callable[[Parameters], np.ndarray], **further: Any) -> Sheet:
    """Sheet of a body about a fixed point whose potential is linear in the attitude, from dV/dQ^T, which is constant
    and of rank one, see `top_of`. `inertia` (3,) is a parameter; `further` are arguments of `fixed_body`. Absolute
    coordinates take a body of the same motion, whose mass has a fourth of the smallest moment about the fixed point."""
    def build(values: Parameters) -> HeavyTop:
        return top_of(values["inertia"], slopes(values))

    def mass_center(values: Parameters) -> tuple[float, np.ndarray]:
        arm = build(values).lever
        mass = 4.0*float(arm @ arm)/float(values["inertia"].min()) or 1.0
        return mass, arm/mass

    def conserved(values: Parameters) -> tuple[bool, bool, bool]:
        x, y, z = map(bool, build(values).gravity)
        return not (y or z), not (x or z), not (x or y)

    return fixed_body(build=build, lever=lambda values: build(values).lever, quadratic=True, mass_center=mass_center,
                      gravity=lambda values: build(values).gravity, conserved_momentum=conserved,
                      invariants=lambda values, first: invariants({**values, "axis": build(values).axis}, first),
                      **further)


CLASSICAL_RATE = (0.0, 150.0, -4.61538)
CLASSICAL = {"inertia": [15.234375, 0.46875, 15.234375], "mass": 15.0, "length": 1.0, "axis": [0.0, 1.0, 0.0],
             "gravity": [0.0, 0.0, -9.81]}

SMALL = {"mass": 1.0, "length": 0.5, "gravity": [0.0, 0.0, -9.81]}

SHEET = fixed_body(
    title="Heavy top",
    equations="dQ/dt = hat(w) Q, dpi/dt = m l (Q chi) x gravity, w = Q I^-1 Q^T pi",
    citation="liegroup2021, section 3.4.1",
    parameters={
        "inertia": Parameter("kg m2", "principal moments of inertia about the fixed point, along the body's axes", (3,),
                             "moments"),
        "mass": Parameter("kg", "mass", (), "positive"),
        "length": Parameter("m", "distance from the fixed point to the centre of mass", (), "non-negative"),
        "axis": Parameter("1", "unit vector from the fixed point to the centre of mass, in the body", (3,), "finite"),
        "gravity": Parameter("m s-2", "acceleration vector of gravity, spatial; V = -mass length gravity.(Q axis)",
                             (3,), "finite"),
    },
    build=_build,
    combination=_combination,
    conserved_momentum=conserved_momentum,
    gravity=lambda parameters: parameters["gravity"],
    invariants=invariants,
    measures=_measures,
    quadratic=True,
    lever=_lever,
    mass_center=lambda parameters: (parameters["mass"], parameters["length"]*parameters["axis"]),
    default_preset="printed",
    motion="top",
    trials=(*(Trial(f"asymmetric top{words}", "asymmetric", changed, place=4) for words, changed in (
                ("", {}), (", other inertia", {"inertia": [0.5, 1.1, 0.8]}),
                (", other axis", {"axis": [0.8, 0.0, 0.6], "length": 0.75}))),
            # for methods that need three equal moments
            *(Trial(f"spherical pendulum{words}", "rodrigues2021", changed, use="instead") for words, changed in (
                (", other inertia", {"gravity": [0.48, 0.6, -0.64], "inertia": [0.5]*3}),
                ("", {"gravity": [0.48, 0.6, -0.64]}),
                (", other axis", {"axis": [0.36, 0.48, 0.8], "length": 0.75})))),
    symmetries=("gravity",),
    presets={
        "classical": own("the top of bruels_cardona for two seconds, to compare with other codes", CLASSICAL,
                         upright(CLASSICAL_RATE), 2.0, "Bruels and Cardona 2010"),
        "asymmetric": own("three different moments, centre of mass off the principal axes, gravity along -e_3", SMALL,
                          _tilted((1.5, -2.0, 3.0)), 10.0, inertia=[0.6, 0.9, 0.4], axis=[0.36, 0.48, 0.8]),
        "slow_symmetric": own("symmetric about e_3 with slow spin: precession with wide nutation, gravity along -e_3",
                              SMALL, _tilted((0.2, 0.3, 14.0)), 20.0, inertia=[1.0, 1.0, 0.4], axis=[0.0, 0.0, 1.0]),
    },
)
