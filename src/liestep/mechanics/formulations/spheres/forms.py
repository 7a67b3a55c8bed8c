"""Mechanical systems on (S^2)^n: a sheet with all formulations from mass matrix, potential and gradient; what runs
cost."""
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import new_counters
from liestep.compile.roles import System
from liestep.errors import InputError
from liestep.geometry.groups.actions import TangentSpheres, Translation, in_coordinates, product
from liestep.mechanics.contracts.formulated import Formulated, Observable, Starts, StateField
from liestep.mechanics.contracts.manifold import check_directions, check_tangent
from liestep.mechanics.contracts.sheet import (
    Cost,
    Form,
    Option,
    Options,
    Parameter,
    Parameters,
    Preset,
    Sheet,
    State,
    once,
)
from liestep.mechanics.formulations.action import CHART, ActionForm
from liestep.mechanics.formulations.spheres import components
from liestep.mechanics.formulations.spheres.cartesian import CartesianSpheres
from liestep.mechanics.formulations.spheres.mass import (
    ChainMatrix,
    as_mass,
    check_banded,
    check_mass,
    exact_inverse,
    has_tridiagonal_inverse,
    mass_component,
)
from liestep.mechanics.formulations.spheres.series import multiplier_series
from liestep.mechanics.formulations.symbolic import operations
from liestep.mechanics.formulations.work import declares, requires_forces, with_work

PROJECTIONS = {"none": 0, "position": 1, "state": 2}
FIELDS = (StateField("q", "1", "directions of the bodies, spatial"),
          StateField("omega", "rad s-1", "angular velocities orthogonal to q, spatial", norm="relative", tangent="q"))
MULTIPLIER = StateField("multiplier", "J", "multipliers of (|q|^2 - 1)/2", ("constraint",), "derived")
GAUSS = 5  # points of mean values of gradients
LONG = 20  # a chain of more bodies is long: at 20 a dense step takes 2.5 times as long as a banded one


@lru_cache
def sphere_observables(conserved: tuple[bool, bool, bool]) -> tuple[Observable, ...]:
    """Columns of `SphereLagrangian.observe`; `conserved` says which components of the momentum map are."""
    return (
        Observable("energy", slice(0, 1), "J", "total energy"),
        Observable("momentum_map", slice(1, 4), "kg m2 s-1", "momentum map of the simultaneous rotation of all"
                   " bodies, spatial", conserved=conserved, stem="momentum_error"),
        Observable("unit_length_error", slice(4, 5), "1", "mean over the bodies of |1 - q.q|", "residual",
                   statistics=("mean",)),
        Observable("unit_length_error_largest", slice(5, 6), "1", "maximum over the bodies of |1 - q.q|", "residual",
                   statistics=("max",), stem="unit_length_error"),
        Observable("tangency_error", slice(6, 7), "s-1", "maximum over the bodies of |q.omega|", "residual"),
    )


class DeclaredSpheres(NamedTuple):
    """What a system on (S^2)^n declares."""

    build: Callable[[Parameters], System]
    mass: Callable[[Parameters], np.ndarray | ChainMatrix]
    conserved_momentum: Callable[[Parameters], tuple[bool, bool, bool]]
    printed: Callable[[Parameters], System] | None = None

    def lagrangian(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        parts = _parts(self, parameters, state, options)
        return parts.formulated(parts.lagrangian, state, _omega_fields)

    def observables(self, parameters: Parameters) -> tuple[Observable, ...]:
        """Without work of forces."""
        return sphere_observables(tuple(self.conserved_momentum(parameters)))

    def forced(self, parameters: Parameters) -> bool:
        """Whether the system declares forces of time and velocity."""
        return declares(self.build(parameters), "force")

    def vector_field(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        chosen = self._replace(build=self.printed or self.build) if options.get("extension") == "printed" else self
        parts, scratch = _parts(chosen, parameters, state, options), np.zeros_like(state["q"])
        common = (parts.lagrangian, parts.lagrangian.counters, scratch, PROJECTIONS[options["projection"]])
        if options["form"] == "velocity":
            form = components.SphereVelocityForm(*common, np.zeros_like(state["q"]))
            return parts.formulated(form, state, _velocity_fields,
                                    lambda states: np.cross(states["omega"], states["q"]))
        return parts.formulated(components.SphereOmegaForm(*common), state, _omega_fields)

    def action(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        parts, n = _parts(self, parameters, state, options), len(state["q"])
        generator = components.SphereGenerator(parts.lagrangian, np.zeros((n, 3)), np.zeros((n, 3)), options["alpha"],
                                               options["beta"])
        action = in_coordinates(TangentSpheres(n), options["chart"])
        if parts.lagrangian.forced():
            action = product((action, 2*n), (Translation(1), 1))
        problem = ActionForm(action, generator, parts.lagrangian.counters)
        return parts.formulated(problem, state, _omega_fields)

    def cartesian(self, parameters: Parameters, state: State, options: Options) -> Formulated:
        """Formulations `constrained_lagrangian` and `constant_mass`."""
        matrix, q = np.asarray(as_mass(self.mass(parameters)), dtype=np.float64), state["q"]
        matrix = np.ascontiguousarray(np.diag(matrix) if matrix.ndim == 1 else matrix)
        flags, n = self.conserved_momentum(parameters), len(q)
        nodes, weights = np.polynomial.legendre.leggauss(GAUSS)
        place, slope, total, along = (np.zeros_like(q) for _ in range(4))
        problem = CartesianSpheres(
            self.build(parameters), matrix, exact_inverse(matrix), np.array(flags, dtype=np.float64),
            np.zeros((2, n, 3), q.dtype), place, slope, total, along, np.zeros((3, 3), q.dtype), np.zeros(3, q.dtype),
            np.zeros(3), 0.5*(1.0 + nodes), 0.5*weights, new_counters())
        velocity = np.cross(state["omega"], q)
        # in this order on every machine, which a product of matrices has not
        momenta = sum((column[:, None]*v for column, v in zip(matrix.T, velocity, strict=True)), np.zeros_like(q))
        start = np.ascontiguousarray(np.array([q.ravel(), velocity.ravel(), momenta.ravel(), 0*q.ravel()]))
        return Formulated(problem, start, (*FIELDS, MULTIPLIER), sphere_observables(tuple(flags)), _cartesian_fields,
                          float(np.sum(np.linalg.norm(momenta, axis=1))))

    def default_mass(self, parameters: Parameters, options: Options) -> str:
        """Default of the option `mass`: diagonal without coupling, banded where the form can use it, else dense."""
        matrix = as_mass(self.mass(parameters))
        if matrix.ndim == 1:
            return "diagonal"
        return "banded" if options.get("form") != "velocity" and has_tridiagonal_inverse(matrix) else "dense"

    def default_coupling(self, parameters: Parameters, options: Options) -> str:
        """Default of the option `mass` of variational steps: runs of short chains keep their last digits."""
        chosen = self.default_mass(parameters, options)
        return "dense" if chosen == "banded" and len(self.mass(parameters)) <= LONG else chosen

    def check_mass_option(self, parameters: Parameters, options: Options) -> None:
        """Raises InputError for a way to solve for the accelerations that this mass matrix does not have."""
        matrix, chosen = as_mass(self.mass(parameters)), options["mass"]
        if chosen == "diagonal" and matrix.ndim == 2:
            raise InputError("option mass is diagonal, but the bodies of this system are coupled; allowed is dense")
        if chosen == "banded" and matrix.ndim == 2:
            check_banded(matrix)

    def forms(self) -> dict[str, Form]:
        """All formulations."""
        def mass(*more: str) -> dict[str, Option]:
            text = "accelerations of uncoupled bodies, or by a dense factorisation"
            if not more:
                return {"mass": Option("dense", text + ", or in O(n) by vi_sphere where the inverse mass matrix is"
                                       " tridiagonal (chains)", ("diagonal", "dense", "banded"),
                                       default_for=self.default_coupling)}
            return {"mass": Option("dense", text + ", or in O(n) where the inverse mass matrix is tridiagonal (chains),"
                                   " or by n multipliers", ("diagonal", "dense", *more), default_for=self.default_mass)}

        field = {
            "form": Option("omega", "omega integrates (q, omega), velocity (q, dq/dt)", ("omega", "velocity")),
            "projection": Option("none", "after each step: position normalises q, state also makes omega (or dq/dt)"
                                 " tangent", tuple(PROJECTIONS), after_steps=("position", "state")),
            **mass("banded", "multipliers"),
        }
        if self.printed is not None:
            field["extension"] = Option("potential", "off the spheres: the gradient of one potential, or the equations"
                                        " as printed", ("potential", "printed"))
        action = {
            "action": Option("tangent_spheres", "action of the group", ("tangent_spheres",)),
            "alpha": Option(0.0, "(alpha q, alpha omega + beta q) of the isotropy algebra is added to f",
                            numbers="finite"),
            "beta": Option(0.0, "see alpha", numbers="finite"),
            **CHART,
            **mass("banded", "multipliers"),
        }
        cartesian = {"coordinates": Option("cartesian", "q_i in R^3 with |q_i| = 1", ("cartesian",))}
        return {"sphere_lagrangian": Form(self.lagrangian, mass(), self.check_mass_option),
                "vector_field": Form(self.vector_field, field, self.check_mass_option),
                "lie_action": Form(self.action, action, self.check_mass_option),
                "constrained_lagrangian": Form(self.cartesian, cartesian),
                "constant_mass": Form(self.cartesian, cartesian)}


def _cartesian_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    """omega = q x v of rows q, v, p, multipliers (..., 4, 3n)."""
    n = rows.shape[-1]//3
    q, v = (rows[..., k, :].reshape(*rows.shape[:-2], n, 3) for k in (0, 1))
    return {"q": q, "omega": np.cross(q, v), "multiplier": rows[..., 3, :n]}


class _Parts(NamedTuple):
    """What the formulations of one system and start have in common."""

    lagrangian: components.SphereLagrangian | components.ForcedSphereLagrangian
    observables: tuple[Observable, ...]
    momentum_scale: Callable[[State], np.ndarray]

    def formulated(self, problem: Any, state: State, to_fields: Callable,
                   last: Callable[[State], np.ndarray] = lambda states: states["omega"]) -> Formulated:
        """`last` gives the n rows of states after q; with forces one for the work follows."""
        forced = self.lagrangian.forced()

        def rows(states: State) -> np.ndarray:
            second = last(states)
            return np.concatenate([states["q"], second, *([np.zeros_like(second[:, :1])]*forced)], axis=1)

        return Formulated(problem, fields=FIELDS, observables=self.observables, to_fields=to_fields,
                          **Starts(rows, self.momentum_scale).at(state))


def _parts(declared: DeclaredSpheres, parameters: Parameters, state: State, options: Options) -> _Parts:
    matrix = as_mass(declared.mass(parameters))
    if matrix.ndim == 1 and options["mass"] != "diagonal":
        matrix = np.diag(matrix)
    scale, room = partial(_momentum_scale, matrix), state["omega"]*state["q"]
    plain = components.SphereLagrangian(declared.build(parameters), mass_component(matrix, options["mass"]),
                                        np.zeros_like(room), new_counters())
    observables = once(declared.observables, parameters)
    if not declares(plain.system, "force"):
        return _Parts(plain, observables, scale)
    forced = components.ForcedSphereLagrangian(plain, plain.system, plain.mass, plain.velocity, plain.counters,
                                               np.zeros_like(room))
    return _Parts(forced, with_work(observables, components.WORK), scale)


def _momentum_scale(matrix: np.ndarray | ChainMatrix, state: State) -> np.ndarray:
    velocity = np.cross(state["omega"], state["q"])
    momenta = (matrix.momenta(velocity) if isinstance(matrix, ChainMatrix) else matrix[:, None]*velocity
               if matrix.ndim == 1 else np.einsum("ij,...jk->...ik", matrix, velocity))
    return np.asarray(np.sum(np.linalg.norm(momenta, axis=-1), axis=-1))


def _omega_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    n = rows.shape[-2]//2
    return {"q": rows[..., :n, :], "omega": rows[..., n:2*n, :]}


def _velocity_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    """omega = q x dq/dt, also for states off the manifold."""
    n = rows.shape[-2]//2
    q = rows[..., :n, :]
    return {"q": q, "omega": np.cross(q, rows[..., n:2*n, :])}


def spheres(*, title: str, equations: str, parameters: Mapping[str, Parameter], build: Callable[[Parameters], System],
            mass: Callable[[Parameters], np.ndarray | ChainMatrix],
            conserved_momentum: Callable[[Parameters], tuple[bool, bool, bool]], presets: Mapping[str, Preset],
            combination: Callable[[Parameters], None] = lambda parameters: None,
            start: Callable[[Parameters, State], None] | None = None, fallback: str | None = "sphere_lagrangian",
            printed: Callable[[Parameters], System] | None = None, **further: Any) -> Sheet:
    """Sheet of a system with state q (n, 3), directions, and omega (n, 3) in rad/s, orthogonal to them, both spatial.

    `build` makes a NamedTuple with `potential(q)` in J and `gradient(q, out)`, its plain derivative in R^3 (n, 3);
    `mass` gives (n,) for uncoupled bodies or (n, n), in kg m2: T = 1/2 sum_ij M_ij dq_i/dt.dq_j/dt (twospheres2009
    eq. (2)).
    If it has `force(t, q, omega, out)` too, F_i in J conjugate to dq_i/dt (M dv/dt = -G + F + lambda q), it gets a row
    for the work, and the energy that is conserved is T + V less the work.
    `printed` makes the same with forces that are other ones off the spheres, those of an equation as printed.
    `start` raises InputError for a start on the manifold at which there are no forces.
    `further` are fields of `Sheet`: citation, engines, exact, requires, symmetries."""
    declared = DeclaredSpheres(build, mass, conserved_momentum, printed)
    further["requires"] = requires_forces("forces", declared.forced, further.get("requires"))

    def checked(values: Parameters) -> None:
        combination(values)
        check_mass(as_mass(mass(values)))

    def manifold(values: Parameters, state: State) -> None:
        once(_check_manifold, values, state)
        if start is not None:
            start(values, state)

    def state_shapes(values: Parameters) -> dict[str, tuple[int, ...]]:
        n = len(mass(values))
        return {"q": (n, 3), "omega": (n, 3)}

    return Sheet(
        title=title, equations=equations, parameters=parameters, build=build, mass=mass, presets=presets,
        conserved_momentum=conserved_momentum, combination=checked, state_shapes=state_shapes,
        manifold=manifold, stacked=start is None, forms=declared.forms(), fallback=fallback,
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


def cost_model(system: System, state: Mapping[str, np.ndarray]) -> Cost:
    """Flop-weighted costs of the runs of one problem, from complete options and the counters of a run. Additions,
    multiplications, divisions and square roots count one each. A gradient is counted once, at the start; the other
    weights are the leading terms of what the compiled code does for n bodies:

    vector work       60 n per gradient: rotations, updates and differences of rows
    coupled mass      12 n^2 per gradient more: products with M or its inverse
    right-hand side   for coupled mass 45 n^2 to assemble A of the omega form, (3n)^3/3 + 2 (3n)^2 to factor and solve;
                      in the velocity form 63 n^2 and 2 (3n)^3/3 + 2 (3n)^2, because its matrix is not symmetric;
                      with the option mass banded 110 n for two products with the inverse and the tridiagonal solve;
                      with multipliers 16 n^2 for two products and the matrix, n^3/3 + 2 n^2 to solve; then no 12 n^2
    linear solve      2 n^3/3 + 2 n^2 for the multipliers; 90 n^2 + 2 (3n)^3/3 + 2 (3n)^2 for f of eq. (28)
    exponential       90 n per action of the group

    Stage sums of Runge-Kutta methods and step size control are left out: a few per cent of a right-hand side."""
    n, force = len(state["q"]), operations(system, lambda plain, q, out: plain.gradient(q, out), state["q"])

    def flops(options: Options, counters: Mapping[str, int]) -> float:
        if "mass" not in options:  # Cartesian coordinates with n multipliers; only these solvers are counted
            unknowns = {"reduced": 4*n, "full": 10*n}.get(options.get("solver", ""))
            return float("nan") if unknowns is None else float(
                counters["force_evaluations"]*(force + 60*n) + counters["linear_solves"]*_lu(unknowns))
        mass, solver = options["mass"], options.get("solver")
        gradient = force + 60*n + 12*n*n*(mass == "dense")
        if mass == "diagonal":
            rhs = 0.0
        elif mass == "banded":
            rhs = 110*n
        elif mass == "multipliers":
            rhs = 18*n*n + n**3/3
        elif options.get("form") == "velocity":
            rhs = 63*n*n + _lu(3*n)
        else:
            rhs = 45*n*n + 9*n**3 + 18*n*n
        solve = _lu(n) if solver == "multipliers" else 90*n*n + _lu(3*n)
        return float(counters["force_evaluations"]*gradient + counters["rhs_evaluations"]*rhs
                     + counters["linear_solves"]*solve + counters["exponentials"]*90*n)

    return flops


def _lu(size: int) -> float:
    """Factor and solve a square system."""
    return 2*size**3/3 + 2*size*size
