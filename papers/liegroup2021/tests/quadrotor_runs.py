"""The two quadrotors at one instant, and their runs, each made once."""
import functools

import numpy as np
import pytest
from liestep_papers.liegroup2021.studies import quadrotor_payload

from liestep import load_plugin, simulate
from liestep.compile.cache import loop_for
from liestep.compile.driver import evaluate
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.specification import start_of

NAME = "quadrotor_payload"
PRESETS = tuple(quadrotor_payload.SHEET.presets)
DOWN = np.array([0.0, 0.0, 1.0])
ROOT3 = 3.0**0.5


@pytest.fixture(autouse=True, scope="module")
def _loaded():
    """The system is known in modules that import this name."""
    load_plugin(quadrotor_payload.__file__)


def rotation(seed):
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q = q*np.sign(np.diag(r))
    return q*np.linalg.det(q)


def random_state(seed):
    """Anywhere on the manifold, at speeds of a few units."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(2, 3))
    q /= np.linalg.norm(q, axis=1)[:, None]
    return {"load_position": rng.normal(size=3), "load_velocity": 2.0*rng.normal(size=3),
            "body_rate": 3.0*rng.normal(size=(2, 3)), "attitude": np.stack([rotation(seed + 1), rotation(seed + 2)]),
            "q": q, "omega": np.cross(q, 2.0*rng.normal(size=(2, 3)))}


def parameters_of(preset="paper", **changes):
    return start_of(NAME, preset=preset, parameters=changes).parameters


# quadrotors that differ
UNLIKE = {"mass": [0.5, 1.3], "inertia": [[0.08, 0.09, 0.14], [0.05, 0.11, 0.07]], "moment": [0.3, -1.0, 2.0]}


class Instant:
    """Everything at one state and time: rates by the formulation under test, forces and moments as
    its controller gives them."""

    def __init__(self, parameters, state, t):
        self.parameters, self.state, self.t = parameters, state, t
        formulated = formulate(sheet(NAME), parameters, state, "vector_field", {})
        problem, rows = formulated.problem, formulated.start
        self.rows = np.full_like(rows, np.nan)
        assert loop_for(evaluate, problem)(problem, t, rows, self.rows)
        self.rates = formulated.to_fields(self.rows)
        self.force, self.moment = problem.system.force, problem.system.moment

    @property
    def velocities(self):
        """Of the quadrotors, (2, 3)."""
        p, s = self.parameters, self.state
        return s["load_velocity"] - p["length"][:, None]*np.cross(s["omega"], s["q"])


STEP = 5e-4
STENCIL = np.array([1/280, -4/105, 1/5, -4/5, 0, 4/5, -1/5, 4/105, -1/280])  # central difference of order 8


@functools.cache
def run(preset="paper", integrator="rkmk", step=STEP):
    data = simulate(NAME, integrator, preset=preset, step=step,
                    samples=round(sheet(NAME).presets[preset].t_end/step) + 1)
    return data, {name: data[name].values for name in sheet(NAME).state_shapes({})}


def differences(values, k, step=STEP):
    return np.tensordot(STENCIL, values[k - 4:k + 5], axes=1)/step
