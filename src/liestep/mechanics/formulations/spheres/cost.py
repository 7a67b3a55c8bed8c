"""Flop-weighted cost of a run from its counters. All weights are here.

Additions, multiplications, divisions and square roots count one each. A gradient is counted by running the system's own
code on numbers that count; the other weights are the leading terms of what the compiled code does for n bodies:

vector work       60 n per gradient: rotations, updates and differences of rows
coupled mass      12 n^2 per gradient more: products with M or its inverse
right-hand side for coupled mass 45 n^2 to assemble A of the omega form, (3n)^3/3 + 2 (3n)^2 to
factor it and solve; in the
                  velocity form 63 n^2 and 2 (3n)^3/3 + 2 (3n)^2, because its matrix is not symmetric;
                      with the option mass banded
                  110 n for two products with the inverse and the tridiagonal solve, and no 12 n^2; with
                      multipliers 16 n^2 for two products and the matrix, n^3/3 + 2 n^2 to solve, and no 12 n^2
linear solve      2 n^3/3 + 2 n^2 for the multipliers; 90 n^2 + 2 (3n)^3/3 + 2 (3n)^2 for f of eq. (28)
exponential       90 n per action of the group

Stage sums of Runge-Kutta methods and step size control are left out: a few per cent of a right-hand side.
"""
from collections.abc import Mapping

import numpy as np

from liestep.compile.roles import System
from liestep.mechanics.contracts.sheet import Cost, Options
from liestep.mechanics.formulations.counting import operations


def gradient_flops(system: System, q: np.ndarray) -> int:
    """Operations of one gradient at q (n, 3)."""
    return operations(system, lambda plain, state, out: plain.gradient(state, out), q)


def cost_model(system: System, state: Mapping[str, np.ndarray]) -> Cost:
    """Costs of the runs of one problem, from a system with `gradient`, which is counted once at the start, and complete
    options and the counters of a run."""
    n, force = len(state["q"]), gradient_flops(system, state["q"])

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
