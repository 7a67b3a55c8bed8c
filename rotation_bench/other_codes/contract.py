"""What a code is asked and what it answers. Needs numpy only, no liestep: codes have an environment of their own."""
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

LADDER = 7                                                # runs of each method where orders are asked
TOLERANCES = tuple(10.0**-(2*k) for k in range(1, LADDER + 1))
LONG_TOLERANCE = 1e-10                                    # of the one run where drift is asked


class Problem(NamedTuple):
    """A rigid body about a fixed point: dQ/dt = Q hat(w), dPi/dt = Pi x w + torque, Pi = I w, all in the body.

    inertia: (3,) principal moments about the fixed point; lever: (3,) from it to the centre of mass, in the body;
    gravity: (3,) spatial acceleration; attitude: (3, 3), body to space; momentum: (3,) spatial. No mass: no torque."""

    name: str
    inertia: np.ndarray
    mass: float
    lever: np.ndarray
    gravity: np.ndarray
    attitude: np.ndarray
    momentum: np.ndarray
    t_end: float
    samples: int
    fewest: int  # steps of the coarsest run
    runs: int    # of each method: LADDER, or one long run

    @property
    def rate(self) -> np.ndarray:
        """(3,) angular velocity at the start, in the body."""
        return (self.attitude.T @ self.momentum)/self.inertia

    @property
    def quaternion(self) -> np.ndarray:
        """(4,) of the attitude at the start, scalar part first. The trace must be above -1."""
        q = self.attitude
        w = 0.5*np.sqrt(1.0 + np.trace(q))
        found = np.array([w, *(np.array([q[2, 1] - q[1, 2], q[0, 2] - q[2, 0], q[1, 0] - q[0, 1]])/(4.0*w))])
        return found/np.sqrt(found @ found)

    @property
    def times(self) -> np.ndarray:
        return np.arange(self.samples)*(self.t_end/(self.samples - 1))

    def between(self, steps: int) -> int:
        """Steps from a sample to the next."""
        count, rest = divmod(steps, self.samples - 1)
        if rest or not count:
            raise ValueError(f"{self.name}: {steps} steps are no multiple of {self.samples - 1} intervals")
        return count

    def momenta(self, attitudes: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """(n, 3) spatial, of attitudes (n, 3, 3) and angular velocities (n, 3) in the body."""
        return np.einsum("nij,nj->ni", attitudes, self.inertia*rates)


class Method(NamedTuple):
    """`order` as the code's documentation has it; adaptive methods (`tolerances`) have none. `evaluations`: of the
    right-hand side or of the dynamics, for each step; 0 if the code counts them itself or nobody does."""

    order: int | None
    settings: str
    evaluations: int = 0
    tolerances: bool = False
    symmetric: bool = False


class States(NamedTuple):
    """rotation: attitudes (n, 3, 3) or quaternions (n, 4), scalar part first; momentum: (n, 3) spatial."""

    rotation: np.ndarray
    momentum: np.ndarray
    evaluations: int = 0


Run = Callable[[], States]


def matrices(quaternions: np.ndarray) -> np.ndarray:
    """Attitudes (n, 3, 3) of quaternions (n, 4); not normalised."""
    w, x, y, z = np.asarray(quaternions).T
    return np.array([[w*w + x*x - y*y - z*z, 2.0*(x*y - w*z), 2.0*(x*z + w*y)],
                     [2.0*(x*y + w*z), w*w - x*x + y*y - z*z, 2.0*(y*z - w*x)],
                     [2.0*(x*z - w*y), 2.0*(y*z + w*x), w*w - x*x - y*y + z*z]]).transpose(2, 0, 1)


def turned(quaternions: np.ndarray, momenta: np.ndarray) -> np.ndarray:
    """Spatial momenta (n, 3) of momenta in the body."""
    return np.einsum("nij,nj->ni", matrices(quaternions), momenta)


def write_problem(problem: Problem, path: Path) -> None:
    values = {name: value.tolist() if isinstance(value, np.ndarray) else value
              for name, value in problem._asdict().items()}
    path.write_text(json.dumps(values, indent=1) + "\n")


def read_problem(path: Path) -> Problem:
    values: Mapping = json.loads(path.read_text())
    return Problem(**{name: np.array(value) if isinstance(value, list) else value for name, value in values.items()})


def equations(problem: Problem, cross: Callable, join: Callable) -> Callable:
    """dy/dt of y = (quaternion, Pi), 7 numbers, for codes that solve what they are given; `cross` and `join` are
    those of the code's arrays."""
    inertia, arm = problem.inertia, problem.mass*problem.lever
    g0, g1, g2 = (float(value) for value in problem.gravity)

    def rhs(t, y):
        w, x, y_, z = y[0], y[1], y[2], y[3]
        p = y[4], y[5], y[6]
        a, b, c = p[0]/inertia[0], p[1]/inertia[1], p[2]/inertia[2]
        n = w*w + x*x + y_*y_ + z*z
        down = (((w*w + x*x - y_*y_ - z*z)*g0 + 2.0*(x*y_ + w*z)*g1 + 2.0*(x*z - w*y_)*g2)/n,
                (2.0*(x*y_ - w*z)*g0 + (w*w - x*x + y_*y_ - z*z)*g1 + 2.0*(y_*z + w*x)*g2)/n,
                (2.0*(x*z + w*y_)*g0 + 2.0*(y_*z - w*x)*g1 + (w*w - x*x - y_*y_ + z*z)*g2)/n)
        turning, pull = cross(p, (a, b, c)), cross(arm, down)
        return join([0.5*(-x*a - y_*b - z*c), 0.5*(w*a + y_*c - z*b), 0.5*(w*b + z*a - x*c), 0.5*(w*c + x*b - y_*a),
                     turning[0] + pull[0], turning[1] + pull[1], turning[2] + pull[2]])

    return rhs


def cross(a, b):
    return a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]


def file_name(label: str) -> str:
    """A label as it stands in names of files."""
    return label.replace(" ", "_").replace(",", "")
