"""Spring pendulum without gravity in spherical coordinates: a mass matrix that depends on the position (livens2025
section 5.2).

x = r (sin theta cos phi, sin theta sin phi, cos theta), T = m/2 (r'^2 + r^2 theta'^2 + r^2 sin^2 theta phi'^2), V =
EA/2 eps^2 with Green's strain eps = (r^2 - l^2)/(2 l^2). L = x x p is conserved. `drag` is a force -drag dx/dt.
"""
import numpy as np

from liestep.compile.counters import new_counters
from liestep.errors import InputError
from liestep.mechanics.contracts.form import Form
from liestep.mechanics.contracts.formulated import Formulated, Observable, StateField
from liestep.mechanics.contracts.option import Option
from liestep.mechanics.contracts.parameters import Parameter, Preset
from liestep.mechanics.contracts.sheet import Options, Parameters, Sheet, State
from liestep.mechanics.formulations.constrained.body_forms import MOMENTUM, energies, legendre
from liestep.mechanics.systems._spherical_spring import CartesianSpring, SphericalSpring, SpringField

GAUSS = 5  # points of the mean values
FIELDS = (
    StateField("position", "m", "position of the mass", ("xyz",), "relative"),
    StateField("momentum", "kg m s-1", "linear momentum of the mass", ("xyz",), "relative"),
    StateField("q", "m, rad, rad", "r, theta, phi", ("coordinate",), "derived"),
    StateField("v", "m s-1, rad s-1, rad s-1", "velocities of r, theta, phi", ("coordinate",), "derived"),
)
MOMENTA = StateField("p", "kg m s-1, kg m2 s-1, kg m2 s-1", "momenta of the coordinates", ("coordinate",), "derived")


def frame(q: np.ndarray) -> np.ndarray:
    """Unit vectors along r, theta, phi as columns (..., 3, 3)."""
    (s, ss), (c, cc) = (((f(q[..., 1])), f(q[..., 2])) for f in (np.sin, np.cos))
    zero = np.zeros_like(s)
    return np.stack([np.stack([s*cc, s*ss, c], axis=-1), np.stack([c*cc, c*ss, -s], axis=-1),
                     np.stack([-ss, cc, zero], axis=-1)], axis=-1)


def _lengths(q: np.ndarray) -> np.ndarray:
    """Lengths of the tangents of r, theta, phi (..., 3): 1, r, r sin theta."""
    return np.stack([np.ones_like(q[..., 0]), q[..., 0], q[..., 0]*np.sin(q[..., 1])], axis=-1)


def _spherical_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    q, p = rows[..., 0, :], rows[..., 2, :]
    axes = frame(q)
    return {"position": q[..., :1]*axes[..., 0], "momentum": np.einsum("...ij,...j->...i", axes, p/_lengths(q)), "q": q,
            "v": rows[..., 1, :], "p": p}


def _polar(mass: float, x: np.ndarray, p: np.ndarray) -> dict[str, np.ndarray]:
    """All fields of Cartesian position and momentum (..., 3)."""
    r, side = np.linalg.norm(x, axis=-1), np.hypot(x[..., 0], x[..., 1])
    q = np.stack([r, np.arctan2(side, x[..., 2]), np.arctan2(x[..., 1], x[..., 0])], axis=-1)
    v = np.einsum("...ij,...i->...j", frame(q), p)/(mass*_lengths(q))
    return {"position": x, "momentum": p, "q": q, "v": v}


def _cartesian_start(parameters: Parameters, state: State) -> tuple[np.ndarray, np.ndarray]:
    """(x, dx/dt)"""
    axes = frame(state["q"])
    return state["q"][0]*axes[:, 0], axes @ (_lengths(state["q"])*state["v"])


def _observables(parameters: Parameters, redundant: bool) -> tuple[Observable, ...]:
    dragged = parameters["drag"] > 0.0
    kind = "plain" if dragged else "invariant"
    found = [Observable("energy", slice(0, 1), "J", "energy H of position and momentum", kind),
             Observable("momentum_map", slice(1, 4), MOMENTUM, "angular momentum", kind,
                        stem="" if dragged else "momentum_error")]
    if redundant:
        found += [Observable(part.name, part.columns, part.units, part.long_name, kind) for part in energies(4)]
        found.append(legendre(6, "kg m2 s-1"))
    if redundant and dragged:
        found += [Observable("work", slice(7, 8), "J", "work of the drag", "plain"),
                  Observable("energy_less_work", slice(8, 9), "J", "generalized energy less the work of the drag")]
    return tuple(found)


def _constant(parameters: Parameters) -> float:
    return parameters["stiffness"]/(8.0*parameters["length"]**4)


def _cartesian(parameters: Parameters) -> CartesianSpring:
    return CartesianSpring(parameters["mass"], _constant(parameters), parameters["length"], parameters["drag"],
                           new_counters())


def _spherical(parameters: Parameters) -> SphericalSpring:
    nodes, weights = np.polynomial.legendre.leggauss(GAUSS)
    return SphericalSpring(parameters["mass"], _constant(parameters), parameters["length"], parameters["drag"],
                           parameters["kinetic_gradient"] == "misprint", 0.5*(1.0 + nodes), 0.5*weights, new_counters())


def _formulated(parameters: Parameters, problem, rows: np.ndarray, fields, to_fields) -> Formulated:
    scale = float(np.linalg.norm(np.cross(*(to_fields(rows)[name] for name in ("position", "momentum")))))
    return Formulated(problem, rows, fields, _observables(parameters, len(rows) > 2), to_fields, scale)


def _redundant(parameters: Parameters, state: State, options: Options) -> Formulated:
    mass, more = parameters["mass"], parameters["drag"] > 0.0
    if options["coordinates"] == "cartesian":
        x, u = _cartesian_start(parameters, state)
        rows = np.array([x, u, mass*u, 0*x, *[0*x]*more])

        def to_fields(found: np.ndarray) -> dict[str, np.ndarray]:
            return _polar(mass, found[..., 0, :], found[..., 2, :])

        return _formulated(parameters, _cartesian(parameters), rows, FIELDS, to_fields)
    q, v = state["q"], state["v"]
    rows = np.array([q, v, mass*_lengths(q)**2*v, 0*q, *[0*q]*more])
    return _formulated(parameters, _spherical(parameters), rows, (*FIELDS, MOMENTA), _spherical_fields)


def _vector_field(parameters: Parameters, state: State, options: Options) -> Formulated:
    x, u = _cartesian_start(parameters, state)
    spring, mass = _cartesian(parameters), parameters["mass"]
    return _formulated(parameters, SpringField(spring, spring.counters), np.array([x, mass*u]), FIELDS,
                       lambda rows: _polar(mass, rows[..., 0, :], rows[..., 1, :]))


def _manifold(parameters: Parameters, state: State) -> None:
    """Raises InputError where spherical coordinates are singular."""
    r, theta, _ = state["q"]
    if not r > 0.0:
        raise InputError(f"initial q has r = {r:g}; r must be positive")
    if not 0.0 < theta < np.pi:
        raise InputError(f"initial q has theta = {theta:g}; theta must lie between 0 and pi, where spherical"
                         " coordinates are singular")


def _kinetic(parameters: Parameters, fields: State) -> np.ndarray:
    """(time,)"""
    kinetic: np.ndarray = 0.5*np.sum(fields["momentum"]**2, axis=-1)/parameters["mass"]
    return kinetic


def _tilted(parameters: Parameters) -> dict[str, np.ndarray]:
    return {"q": np.array([1.05, 1.0, 0.2]), "v": np.array([0.3, 1.0, 2.0])}


SHEET = Sheet(
    title="Spring pendulum in spherical coordinates",
    equations="m d2x/dt2 = -EA/(2 l^4) (|x|^2 - l^2) x - drag dx/dt",
    citation="livens2025 section 5.2, eqs. (110)-(112)",
    parameters={
        "mass": Parameter("kg", "mass", (), "positive"),
        "stiffness": Parameter("N", "EA, stiffness of the spring against strain", (), "positive"),
        "length": Parameter("m", "length l of the spring at rest", (), "positive"),
        "drag": Parameter("kg s-1", "viscous drag", (), "non-negative"),
        "kinetic_gradient": Parameter("1", "derivative dT/dr of the discrete derivatives: correct, or with r^2 for r as"
                                      " in the authors' public code (misprint)", (), "choice",
                                      ("correct", "misprint")),
    },
    build=_cartesian,
    conserved_momentum=lambda parameters: (parameters["drag"] == 0.0,)*3,
    state_shapes=lambda parameters: {"q": (3,), "v": (3,)},
    manifold=_manifold,
    kinetic_energy=_kinetic,
    forms={"vector_field": Form(_vector_field),
           "constrained_lagrangian": Form(_redundant, {"coordinates": Option(
               "spherical", "r, theta, phi with a mass matrix that depends on them, or Cartesian with a constant one",
               ("spherical", "cartesian"))}),
           "constant_mass": Form(_redundant, {"coordinates": Option("cartesian", "Cartesian", ("cartesian",))})},
    default_preset="printed",
    presets={
        "spatial": Preset("out of any coordinate plane", "none; livens2025 section 5.2 varied", "own",
                          {"mass": 1.0, "stiffness": 300.0, "length": 1.0, "drag": 0.0, "kinetic_gradient": "correct"},
                          _tilted, 1.0),
        "drag": Preset("the same with viscous drag", "none; livens2025 section 5.2 varied", "own",
                       {"mass": 1.0, "stiffness": 300.0, "length": 1.0, "drag": 0.5, "kinetic_gradient": "correct"},
                       _tilted, 1.0),
    },
)
