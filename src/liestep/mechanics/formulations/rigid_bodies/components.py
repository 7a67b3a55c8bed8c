"""Formulations of n rigid bodies, components for compiled code.

Rows of a state: 3n axes of the bodies in space (R_i e_1, R_i e_2, R_i e_3 for each body), n angular momenta pi_i about
the centres of mass, spatial; then, where the bodies move, n positions x_i and n velocities v_i. With one body that does
not move these are the rows of a body about a fixed point.

    dR/dt = hat(w) R,  dpi/dt = tau,  dx/dt = v,  dv/dt = F/m,  w = R J^-1 R^T pi,  J diagonal

A system offers

    forces(y, out, energy)    spatial torques about the centres in rows 0 to n - 1 of `out` and, where the bodies move,
                              forces in the next n rows; its potential energies, one for each name that the sheet
                              declares, in `energy`. False where they cannot be evaluated
    damp(y, rates, out)       optional, of bodies that move: adds to the torques and forces in `out` those at the
                              velocities in y and the spatial angular velocities `rates` (n, 3); returns their power, W
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, hands_on, kernel
from liestep.compile.roles import System
from liestep.compile.rows import FieldOfRows, Vector, add, axpy, cross, dot, larger, put, row, scale, sub
from liestep.geometry.attitude import orthogonality_error, principal_angle, to_body, to_space, towards_rotation
from liestep.mechanics.contracts import formulations
from liestep.mechanics.formulations.work import separate_work


@kernel
def body_velocity(y: np.ndarray, i: int, p: Vector, moments: Vector) -> Vector:
    """J^-1 R_i^T p: angular velocity in the axes of body i that belongs to a spatial angular momentum p."""
    e = to_body(y[3*i:3*i + 3], p)
    return e[0]/moments[0], e[1]/moments[1], e[2]/moments[2]


@kernel
def spatial_velocity(y: np.ndarray, i: int, p: Vector, moments: Vector) -> Vector:
    """R_i J^-1 R_i^T p."""
    return to_space(y[3*i:3*i + 3], body_velocity(y, i, p, moments))


class RigidBodies(NamedTuple):
    """n bodies; the energies of the last forces are kept for the observables of the same state, so that statistics of
    every step cost no second evaluation."""

    system: System
    masses: np.ndarray   # (n,)
    inertia: np.ndarray  # (n, 3) principal moments along the bodies' axes
    moves: bool          # whether the bodies have positions
    seen: np.ndarray     # (6n, 3) the state whose energies are in `parts`; only axes and positions are kept
    parts: np.ndarray    # (k,) potential energies
    spare: np.ndarray    # (2n, 3) forces that nobody asked for
    counters: np.ndarray

    def bodies(self) -> int:
        return self.masses.shape[0]

    def translates(self) -> bool:
        return self.moves

    def mass(self, i: int) -> float:
        return self.masses[i]

    def moments(self, i: int) -> Vector:
        return self.inertia[i, 0], self.inertia[i, 1], self.inertia[i, 2]

    def forces(self, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        return self.evaluate(y, out)

    def loads(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        return self.forces(y, out)

    def evaluate(self, y: np.ndarray, out: np.ndarray) -> bool:
        n = self.masses.shape[0]
        for i in range(3*n):
            put(self.seen, i, row(y, i))
        if self.moves:
            for i in range(4*n, 5*n):
                put(self.seen, i, row(y, i))
        return self.system.forces(y, out, self.parts)

    def add_power(self, out: np.ndarray, i: int) -> None:
        """Nothing: no force does work that the energies do not hold."""

    def is_seen(self, y: np.ndarray) -> bool:
        """Whether `parts` are the energies of y, bit for bit."""
        n = self.masses.shape[0]
        for i in range(5*n if self.moves else 3*n):
            if (i < 3*n or i >= 4*n) and not (self.seen[i, 0] == y[i, 0] and self.seen[i, 1] == y[i, 1]
                                              and self.seen[i, 2] == y[i, 2]):
                return False
        return True

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        """Columns of `mechanics.formulations.rigid_bodies.forms.observables`."""
        n = self.masses.shape[0]
        turning, moving, norm, defect = 0.0, 0.0, 0.0, 0.0
        spin, linear, orbital = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for i in range(n):
            frame, p = y[3*i:3*i + 3], row(y, 3*n + i)
            w = body_velocity(y, i, p, self.moments(i))
            turning += 0.5*dot(to_body(frame, p), w)
            spin = add(p, spin)
            angle = principal_angle(frame)
            norm += angle*angle + dot(w, w)
            defect = larger(defect, orthogonality_error(frame))
            if self.moves:
                x, v = row(y, 4*n + i), row(y, 5*n + i)
                moving += 0.5*self.masses[i]*dot(v, v)
                linear = axpy(self.masses[i], v, linear)
                orbital = axpy(self.masses[i], cross(x, v), orbital)
                norm += dot(x, x) + dot(v, v)
        if not self.is_seen(y) and not self.evaluate(y, self.spare):
            moving = np.nan
        total, c = moving + turning, 4
        out[1], out[2], out[3] = add(orbital, spin)
        if self.moves:
            out[4], out[5], out[6] = linear
            out[7], out[8], out[9] = spin
            out[10] = moving
            c = 11
        out[c] = turning
        for k in range(self.parts.shape[0]):
            total += self.parts[k]
            out[c + 1 + k] = self.parts[k]
        out[0] = total
        out[c + 1 + self.parts.shape[0]] = defect
        out[c + 2 + self.parts.shape[0]] = norm


@hands_on("plain", formulations.RigidBodies)
class DampedBodies(NamedTuple):
    """The methods of `RigidBodies`, where those for forces of velocity do something.

    The state has one row more: (W, 0, 0) with the work W of these forces in J. Observables are those without it, with
    the energy less the work, which is the invariant; then W and the mechanical energy."""

    plain: Any         # RigidBodies
    system: System        # with damp(y, rates, out)
    rates: np.ndarray  # (n, 3) scratch
    power: np.ndarray  # (1,) of the last forces
    column: int        # of the work in `observe`

    def loads(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        n = self.plain.bodies()
        if not self.plain.forces(y, out):
            return False
        for i in range(n):
            put(self.rates, i, spatial_velocity(y, i, row(y, 3*n + i), self.plain.moments(i)))
        self.power[0] = self.system.damp(y, self.rates, out)
        return True

    def add_power(self, out: np.ndarray, i: int) -> None:
        """Power of the last forces into row i."""
        put(out, i, (self.power[0], 0.0, 0.0))

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.plain.observe(y, out)
        separate_work(y[y.shape[0] - 1, 0], self.column, out)


@hands_on("problem", formulations.Component, "observe")
@borrows(FieldOfRows)
class BodiesField(NamedTuple):
    """Vector field of the rows in the embedding space.

    `problem` offers `bodies`, `translates`, `mass` and `moments` of `mechanics.contracts.formulations.RigidBodies`,
    `loads(t, y, out)`, all forces as `forces` gives them without those of time and velocity, and `add_power(out, i)`,
    which then writes the power of the latter into row i, if there is such a row."""

    problem: Any
    f: np.ndarray  # (2n, 3)
    counters: np.ndarray
    orthonormal: int   # 1: `project` acts

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        problem, n = self.problem, self.problem.bodies()
        if not problem.loads(t, y, self.f):
            return False
        for i in range(n):
            w = spatial_velocity(y, i, row(y, 3*n + i), problem.moments(i))
            for k in range(3):
                put(out, 3*i + k, cross(w, row(y, 3*i + k)))
            put(out, 3*n + i, row(self.f, i))
            if problem.translates():
                put(out, 4*n + i, row(y, 5*n + i))
                put(out, 5*n + i, scale(1.0/problem.mass(i), row(self.f, n + i)))
        problem.add_power(out, 6*n if problem.translates() else 4*n)
        return True

    def project(self, y: np.ndarray) -> None:
        """Each attitude towards the nearest rotation."""
        if self.orthonormal == 1:
            for i in range(self.problem.bodies()):
                towards_rotation(y, 3*i)


@hands_on("problem", formulations.Component, "observe")
class BodiesGenerator(NamedTuple):
    """f: rows w_i and tau_i - w_i x pi_i of each body for `geometry.groups.actions`, or w_i and tau_i for the
    direct product of rotations and R^3; then v_i and F_i/m_i."""

    problem: Any   # see `BodiesField`
    f: np.ndarray  # (2n, 3)
    semidirect: bool

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        problem, n = self.problem, self.problem.bodies()
        if not problem.loads(t, y, self.f):
            return False
        for i in range(n):
            p = row(y, 3*n + i)
            w = spatial_velocity(y, i, p, problem.moments(i))
            put(out, i, w)
            put(out, n + i, sub(row(self.f, i), cross(w, p)) if self.semidirect else row(self.f, i))
            if problem.translates():
                put(out, 2*n + i, row(y, 5*n + i))
                put(out, 3*n + i, scale(1.0/problem.mass(i), row(self.f, n + i)))
        problem.add_power(out, 4*n if problem.translates() else 2*n)
        return True
