"""Kicks and great circles on (S^2)^n for a diagonal mass matrix: both flows are exact, coefficients are data.

`sphere_regularised` is the same in a fictitious time that slows down where the potential is deep, for close encounters.
Preto and Tremaine 1999, Astron. J. 118, 2532; Mikkola and Tanikawa 1999: in the phase space extended by the time and
its momentum -E_0, Gamma = f(T - E_0) - f(-V) vanishes along a motion of energy E_0, and the flows of both terms are
exact: great circles and time over f'(T - E_0) ds, and kicks over f'(-V) ds. Here f'(x) = 1/sqrt(1 + (x/c)^2), so that
the fictitious time is in s and runs like time where |V| and |T - E_0| are small beside c."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import kernel
from liestep.compile.precision import above_round_off
from liestep.compile.rows import axpy, copy, cross, dot, put, row, scale, sqrt
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.geometry.so3 import coefficients, quadratic
from liestep.integrators.rigid_split import SPLITTINGS, order_of_splitting, splitting
from liestep.integrators.step_control import Ahead
from liestep.integrators.weights import NYSTROEM_SCHEMES, SPLITTING_ORDERS, drifts_and_kicks
from liestep.mechanics.contracts.formulations import SphereLagrangian
from liestep.mechanics.contracts.method import VARIATIONAL, Certified, Method, Places, each
from liestep.mechanics.contracts.sheet import Option, Options, Parameters, Sheet, number_in

DEFAULT = "rkn6a"


@kernel
def kick_spheres(problem: SphereLagrangian, h: float, g: np.ndarray, y: np.ndarray) -> None:
    """omega_i -= (h/m_i) q_i x G_i with the gradient g (n, 3)."""
    n = y.shape[0]//2
    for i in range(n):
        put(y, n + i, axpy(-h/problem.body_mass(i), cross(row(y, i), row(g, i)), row(y, n + i)))


@kernel
def turn_spheres(problem: SphereLagrangian, h: float, y: np.ndarray) -> None:
    """q_i along the great circle about omega_i by the angle h|omega_i|."""
    n = y.shape[0]//2
    for i in range(n):
        u = scale(h, row(y, n + i))
        s, c, _ = coefficients(dot(u, u))
        put(y, i, quadratic(s, c, u, row(y, i)))
    problem.counters[Counter.EXPONENTIALS] += n


class SphereSplit(NamedTuple):
    """Symmetric, explicit, symplectic; one gradient for each kick, the last one of a step serves the next; no limit of
    the angle of a step."""

    drifts: np.ndarray  # (s,)
    kicks: np.ndarray   # (s + 1,); no gradient is taken where it is 0

    def workspace(self, problem: SphereLagrangian, y: np.ndarray) -> np.ndarray:
        return np.zeros_like(y[:y.shape[0]//2])

    def start(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: np.ndarray) -> Status:
        if self.kicks[0] != 0.0:
            problem.gradient(y[:y.shape[0]//2], work)
        return Status.OK

    def step(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: np.ndarray) -> Status:
        if self.kicks[0] != 0.0:
            kick_spheres(problem, self.kicks[0]*h, work, y)
        for k in range(self.drifts.shape[0]):
            turn_spheres(problem, self.drifts[k]*h, y)
            if self.kicks[k + 1] != 0.0:
                problem.gradient(y[:y.shape[0]//2], work)
                kick_spheres(problem, self.kicks[k + 1]*h, work, y)
        return Status.OK


def needs_uncoupled_masses(parameters: Parameters, sheet: Sheet) -> str | None:
    """`Method.requires`: why it cannot run on coupled masses."""
    assert sheet.mass is not None
    if np.ndim(sheet.mass(parameters)) == 1:
        return None
    return "it is for a diagonal mass matrix, and the masses of this system are coupled (vi_sphere takes any)"


def require_diagonal(options: Options) -> dict[str, Any]:
    """`Method.resolve`: InputError for a full mass matrix."""
    if options["mass"] != "diagonal":
        raise InputError(f"option mass is {options['mass']}, and this method solves no equations of coupled masses;"
                         " allowed is diagonal (vi_sphere takes any)")
    return dict(options)


PLAINEST = "strang"
COMPOSITIONS = tuple(name for name in SPLITTING_ORDERS if name not in NYSTROEM_SCHEMES)
FROM_ENERGIES = "energies"
CORRECTIONS = 50   # at most, of the fictitious length of a step that has to end at a given time
# of that time: a gap that no difference of float64 can be. The end of a step knows dt/ds to the error of the step only;
# in more digits the secant converges faster.
BEYOND_FLOAT64 = 2.0**-56


@kernel
def slope(x: float, c: float) -> float:
    """f'(x) = dt/ds."""
    return 1.0/sqrt(1.0 + (x/c)*(x/c))


@kernel
def kinetic_energy(problem: SphereLagrangian, y: np.ndarray) -> float:
    """T in J of rows q, omega."""
    n = y.shape[0]//2
    total = 0.0
    for i in range(n):
        w = row(y, n + i)
        total += 0.5*problem.body_mass(i)*dot(w, w)
    return total


class RegularisedWork(NamedTuple):
    """`numbers`: E_0, c, time over the whole step from the state, -V at the state, -V at the end of the last step."""

    gradient: np.ndarray  # (n, 3) at the state
    new: np.ndarray       # (2n, 3) end of the step
    ahead: np.ndarray     # (n, 3) gradient there
    aside: np.ndarray     # (n, 3) gradient of dense output
    numbers: np.ndarray   # (5,)


class SphereRegularised(NamedTuple):
    """Explicit, symmetric, symplectic in the extended phase space; one gradient and one potential for each kick. The
    tolerance is the fictitious step. A step that has to end at a given time, the last one or a partial one for dense
    output, has the fictitious length that leads there, found by Newton's method with dt/ds at its end: it is a step of
    the method, on the manifold."""

    step: float           # fictitious, in s
    scale: float          # c in J; 0 for the one of the start's energies
    drifts: np.ndarray    # (s,)
    kicks: np.ndarray     # (s + 1,); no gradient is taken where it is 0
    close: float          # relative distance of a time that no longer shrinks
    control: Ahead

    def workspace(self, problem: SphereLagrangian, y: np.ndarray) -> RegularisedWork:
        half = y[:y.shape[0]//2]
        return RegularisedWork(np.zeros_like(half), np.zeros_like(y), np.zeros_like(half), np.zeros_like(half),
                               np.zeros(5, y.dtype))

    def start(self, problem: SphereLagrangian, t: float, y: np.ndarray, t_end: float, work: RegularisedWork) -> float:
        q = y[:y.shape[0]//2]
        kinetic, depth = kinetic_energy(problem, y), -problem.potential(q)
        problem.gradient(q, work.gradient)
        scale = kinetic + abs(depth)
        if self.scale > 0.0:
            scale = self.scale
        elif not scale > 0.0:
            scale = 1.0  # at rest without a potential: nothing says what is deep
        work.numbers[0], work.numbers[1], work.numbers[3] = kinetic - depth, scale, depth
        self.look_ahead(problem, y, work)
        return self.control.next_step[0]

    def look_ahead(self, problem: SphereLagrangian, y: np.ndarray, work: RegularisedWork) -> None:
        """The whole step from y into work.new, and how long it takes."""
        copy(y, work.new)
        copy(work.gradient, work.ahead)
        work.numbers[2] = self.advance(problem, self.step, work.new, work.ahead, work.numbers)
        self.control.next_step[0] = work.numbers[2]

    def advance(self, problem: SphereLagrangian, s: float, y: np.ndarray, g: np.ndarray, numbers: np.ndarray) -> float:
        """y in place over the fictitious time s, the gradient g with it; the time that passes. numbers[4] is -V at the
        end."""
        energy, c, depth = numbers[0], numbers[1], numbers[3]
        time = 0.0*s
        n = y.shape[0]//2
        if self.kicks[0] != 0.0:
            kick_spheres(problem, self.kicks[0]*s*slope(depth, c), g, y)
        for k in range(self.drifts.shape[0]):
            h = self.drifts[k]*s*slope(kinetic_energy(problem, y) - energy, c)
            turn_spheres(problem, h, y)
            time += h
            if self.kicks[k + 1] != 0.0:
                depth = -problem.potential(y[:n])
                problem.gradient(y[:n], g)
                kick_spheres(problem, self.kicks[k + 1]*s*slope(depth, c), g, y)
        numbers[4] = depth
        return time

    def arrive(self, problem: SphereLagrangian, y: np.ndarray, h: float, out: np.ndarray, g: np.ndarray,
               work: RegularisedWork) -> Status:
        """The step from y that takes the time h, into out; the gradient there into g."""
        s = self.step*h/work.numbers[2] if work.numbers[2] > 0.0 else self.step
        before, last = h, 0.0*s  # nothing passes in no time
        for _ in range(CORRECTIONS):
            copy(y, out)
            copy(work.gradient, g)
            gap = h - self.advance(problem, s, out, g, work.numbers)
            if not abs(gap) < np.inf:
                return Status.NOT_FINITE
            if gap == 0.0 or (abs(gap) <= self.close*abs(h) and abs(gap) >= 0.5*abs(before)):
                return Status.OK
            rate = slope(kinetic_energy(problem, out) - work.numbers[0], work.numbers[1])
            if self.close*abs(h) < abs(gap) < BEYOND_FLOAT64*abs(h):
                rate = (before - gap)/(s - last)
            before, last = gap, s
            s += gap/rate
        return Status.NOT_CONVERGED

    def attempt(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float,
                work: RegularisedWork) -> tuple[Status, float]:
        """New state in work.new; only the last step is not the one that stands there."""
        if h == work.numbers[2]:
            return Status.OK, 0.0
        status = self.arrive(problem, y, h, work.new, work.ahead, work)
        return status, 0.0 if status == Status.OK else np.inf

    def interpolate(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray,
                    work: RegularisedWork) -> None:
        """State at t + s h, 0 <= s <= 1: NaN where there is none."""
        depth = work.numbers[4]
        if self.arrive(problem, y, s*h, out, work.aside, work) != Status.OK:
            for i in range(out.shape[0]):
                for k in range(3):
                    out[i, k] = np.nan
        work.numbers[4] = depth

    def rejected(self, h: float) -> None:
        """No size was made by the attempt."""

    def accept(self, problem: SphereLagrangian, y: np.ndarray, work: RegularisedWork) -> None:
        copy(work.new, y)
        copy(work.ahead, work.gradient)
        work.numbers[3] = work.numbers[4]
        self.look_ahead(problem, y, work)


def _regularised(options: Options, tolerance: float | None, t_end: float) -> SphereRegularised:
    assert tolerance is not None
    drifts, kicks = drifts_and_kicks(options["splitting"])
    return SphereRegularised(tolerance, 0.0 if options["c"] == FROM_ENERGIES else options["c"], drifts, kicks,
                             above_round_off(4), Ahead(np.zeros(2)))


METHODS = {
    "sphere_split": Method(
        summary="order 6, or 2 to 8 by splitting; explicit kicks and great circles, diagonal mass",
        order=SPLITTING_ORDERS[DEFAULT], formulation="sphere_lagrangian", symmetric=True,
        conserves=VARIATIONAL,
        citation="McLachlan, Modin and Verdier 2014; Blanes and Moan 2002", options=splitting(DEFAULT),
        order_for=order_of_splitting, requires=needs_uncoupled_masses, resolve=require_diagonal,
        build=lambda options, tolerance, t_end: SphereSplit(*drifts_and_kicks(options["splitting"])),
        places=Places(won_from=0.0), certified=Certified(SPLITTINGS)),
    "sphere_regularised": Method(
        summary="order 2, or 4 to 8 by splitting; explicit kicks and great circles in a fictitious time for close"
                " encounters, diagonal mass; the tolerance is the fictitious step in s",
        order=SPLITTING_ORDERS[PLAINEST], formulation="sphere_lagrangian", symmetric=True, adaptive=True,
        fictitious=True,
        conserves=VARIATIONAL,
        citation="Preto and Tremaine 1999, Astron. J. 118, 2532; Mikkola and Tanikawa 1999, Celest. Mech. Dyn. Astron."
                 " 74, 287",
        options={"splitting": Option(PLAINEST, "coefficients: compositions of kick, drift, kick; f(T - E_0) is not"
                                     " quadratic in the momenta, as those of Runge-Kutta-Nystroem kind ask for",
                                     COMPOSITIONS),
                 "c": number_in("c", FROM_ENERGIES, "energy in J beside which a potential is deep: by default T + |V|"
                                " of the start", "positive number", lambda c: 0.0 < c < np.inf, instead=FROM_ENERGIES)},
        order_for=lambda options, sheet, parameters: SPLITTING_ORDERS[options["splitting"]],
        requires=needs_uncoupled_masses, resolve=require_diagonal, build=_regularised, estimates=False,
        certified=Certified(each("splitting", *COMPOSITIONS[1:]))),
}
