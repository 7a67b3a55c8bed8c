"""The same methods as one writes them first: vectorised numpy, one step after the other."""
from typing import Any

import numpy as np

from liestep.simulation.runs.specified import RunSpecification


def potential_gradient(system: str, component: Any):
    """Gradient (n, 3) of a system from the fields of its component, as a function of q (n, 3)."""
    if system == "spherical_pendulum_chain":
        return lambda q: component.weight
    if system == "sphere_nbody":
        def bodies(q):
            d, p = q - q[:, None], q + q[:, None]
            u, w = np.sum(d*d, axis=2), np.sum(p*p, axis=2)
            np.fill_diagonal(u, 1.0)
            f = -0.5*component.gamma*(u + w)/(u*w*np.sqrt(u*w))
            np.fill_diagonal(f, 0.0)
            return np.sum((f*w)[..., None]*d + (f*u)[..., None]*p, axis=1)
        return bodies
    if system == "elastic_rod":
        def rod(q):
            before = np.vstack([component.clamp, q[:-1]])
            f = -component.stiffness*(1.0 - np.sum(before*q, axis=1))[:, None]
            g = component.weight + f*before
            g[:-1] += f[1:]*q[1:]
            return g
        return rod

    def molecules(q):
        d = q[:, None, :] - q[None, :, :]
        r2 = np.sum(d*d, axis=2)
        np.fill_diagonal(r2, 1.0)
        a = component.sigma**2/r2
        f = -24.0*component.epsilon*(2.0*a**6 - a**3)/r2
        np.fill_diagonal(f, 0.0)
        return np.einsum("ij,ijk->ik", f, d)
    return molecules


class ExplicitArrays:
    """Explicit variational step for masses m."""

    def __init__(self, gradient, m: np.ndarray):
        self.gradient, self.m = gradient, m[:, None]

    def start(self, y):
        return self.gradient(y[:len(y)//2])

    def __call__(self, y, h, g):
        n = len(y)//2
        q, w = y[:n], y[n:]
        a = w - 0.5*h/self.m*np.cross(q, g)
        d = h*a
        s = np.sum(d*d, axis=1)[:, None]
        q += np.cross(d, q) - s/(1.0 + np.sqrt(1.0 - s))*q
        g = self.gradient(q)
        w[:] = a - 0.5*h/self.m*np.cross(q, g)
        return g


class MultiplierArrays:
    """RATTLE with Newton's method for the multipliers."""

    def __init__(self, gradient, inverse: np.ndarray, tolerance: float):
        self.gradient, self.inverse, self.tolerance = gradient, inverse, tolerance

    def start(self, y):
        return self.gradient(y[:len(y)//2])

    def __call__(self, y, h, g):
        n = len(y)//2
        q, w = y[:n], y[n:]
        kick, v = self.inverse @ g, np.cross(w, q)
        target = h*v - 0.5*h*h*kick
        multiplier = -0.5*h*h*np.sum(v*v, axis=1)/np.diag(self.inverse)
        while True:
            d = target + self.inverse @ (multiplier[:, None]*q)
            residual = -(2.0*np.sum(q*d, axis=1) + np.sum(d*d, axis=1) + np.sum(q*q, axis=1) - 1.0)
            update = np.linalg.solve(2.0*self.inverse*((q + d) @ q.T), residual)
            multiplier += update
            if np.max(update**2) <= self.tolerance*np.max(np.abs(multiplier))**2:
                break
        d = target + self.inverse @ (multiplier[:, None]*q)
        v = v - 0.5*h*kick + (d - target)/h
        q += d
        g = self.gradient(q)
        v -= 0.5*h*(self.inverse @ g)
        mu = np.linalg.solve(self.inverse*(q @ q.T), -np.sum(q*v, axis=1))
        w[:] = np.cross(q, v + self.inverse @ (mu[:, None]*q))
        return g


def right_hand_side(gradient, mass: Any):
    """dy/dt of rows y (2n, 3) in the omega form; `mass` is the component, diagonal or dense."""
    if not hasattr(mass, "matrix"):
        def diagonal(y):
            n = len(y)//2
            q, w = y[:n], y[n:]
            return np.concatenate([np.cross(w, q), -np.cross(q, gradient(q))/mass.m[:, None]])
        return diagonal
    M, unit = mass.matrix, np.eye(3)
    coupling = M - np.diag(np.diag(M))

    def dense(y):
        n = len(y)//2
        q, w = y[:n], y[n:]
        b = np.cross(q, coupling @ (np.sum(w*w, axis=1)[:, None]*q) - gradient(q))
        blocks = np.einsum("ij,ij,kl->ikjl", M, q @ q.T, unit) - np.einsum("ij,jk,il->ikjl", M, q, q)
        for i in range(n):
            blocks[i, :, i, :] = M[i, i]*unit
        return np.concatenate([np.cross(w, q), np.linalg.solve(blocks.reshape(3*n, 3*n), b.ravel()).reshape(n, 3)])
    return dense


class Rk4Arrays:
    """Classical Runge-Kutta method on (q, omega)."""

    def __init__(self, rhs):
        self.rhs = rhs

    def start(self, y):
        return None

    def __call__(self, y, h, state):
        k1 = self.rhs(y)
        k2 = self.rhs(y + 0.5*h*k1)
        k3 = self.rhs(y + 0.5*h*k2)
        k4 = self.rhs(y + h*k3)
        y += h/6.0*(k1 + 2.0*k2 + 2.0*k3 + k4)


def method(spec: RunSpecification, problem: Any):
    """The numpy version of a run's method; None where there is none."""
    if spec.integrator not in ("rk4", "vi_sphere"):
        return None
    lagrangian = getattr(problem, "lagrangian", problem)
    gradient = potential_gradient(spec.problem, lagrangian.system)
    if spec.integrator == "rk4":
        return Rk4Arrays(right_hand_side(gradient, lagrangian.mass))
    if spec.options["solver"] == "explicit":
        return ExplicitArrays(gradient, lagrangian.mass.m)
    if spec.options["solver"] == "multipliers":
        return MultiplierArrays(gradient, lagrangian.mass.inverse, spec.options["tolerance"])
    return None
