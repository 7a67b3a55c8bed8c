"""What tests of rigid bodies share: formulations of presets, integrators as maps of state rows, exact
derivatives by differences."""
import numpy as np
from scipy.spatial.transform import Rotation

from liestep.compile.cache import loop_for
from liestep.compile.driver import advance, evaluate, observe
from liestep.compile.status import Status
from liestep.integrators.cotangent_rotation import SymplecticTheta
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.execution import new_recorder
from liestep.simulation.runs.specification import start_of

TOPS = [("heavy_top", preset) for preset in sheet("heavy_top").presets]
FREE = [("free_rigid_body", preset) for preset in sheet("free_rigid_body").presets]
EIGHTH = {1: 0.8, 2: -0.2, 3: 4.0/105.0, 4: -1.0/280.0}  # weights of central differences of order 8


def formulated(name, preset, formulation, changes=None, state=None, **options):
    """A formulation of a preset, its parameters and its start changed at will."""
    start = start_of(name, preset=preset, parameters=changes or {})
    return formulate(sheet(name), start.parameters, state or start.initial, formulation, options)


def theta_step(theta):
    return SymplecticTheta(theta, 1e-13, 50)


def derivative(f, h=1e-2):
    """d/ds f(s) at s = 0."""
    return sum(weight*(f(k*h) - f(-k*h)) for k, weight in EIGHTH.items())/h


def rates(case, y):
    """Right-hand side of a vector field at rows y."""
    out = np.full_like(y, np.nan)
    assert loop_for(evaluate, case.problem)(case.problem, 0.0, y, out)
    return out


def observables(case, y):
    out = np.full(case.observables[-1].columns.stop, np.nan)
    loop_for(observe, case.problem)(case.problem, np.ascontiguousarray(y), out)
    return out


def energy(case, y):
    return observables(case, y)[0]


def random_rows(seed, size=3.0):
    """A generic attitude and angular momentum, rows (4, 3)."""
    rng = np.random.default_rng(seed)
    return np.concatenate([Rotation.random(random_state=seed).as_matrix(), size*rng.normal(size=(1, 3))])


def turned(y, u):
    """Rows with the attitude turned by the rotation vector u, momentum kept."""
    return np.concatenate([y[:3] @ Rotation.from_rotvec(u).as_matrix().T, y[3:]])


class Map:
    """A fixed-step integrator on a formulation; y is left as it is. `largest` is that of the
    last call's observables."""

    def __init__(self, case, component):
        self.case, self.component = case, component

    def __call__(self, y, h, steps=1, expected=Status.OK):
        problem, y = self.case.problem, y.copy()
        base = observables(self.case, y)
        for observable in self.case.observables:
            if observable.kind == "residual":
                base[observable.columns] = 0.0
        work = self.component.workspace(problem, y)
        recorder = new_recorder(y.shape, base, steps, 2)
        status, _ = loop_for(advance, self.component, problem, recorder, work)(self.component, problem, recorder, y, h,
                                                                               0, steps, work, 0.0, 0)
        assert status == expected, Status(status).sentence
        self.largest = {item.name: recorder.largest[item.columns].copy() for item in self.case.observables}
        return y
