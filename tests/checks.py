"""What several tests share: integrators as maps of states, accurate flows, states without special zeros."""
import numpy as np

from liestep.core.cache import loop_for
from liestep.core.driver import advance
from liestep.core.recorder import new_recorder
from liestep.core.status import Status
from liestep.integrators import integrator_ids, method
from liestep.study.execution import build
from liestep.study.specification import specify

EPS = float(np.finfo(np.float64).eps)
FIXED = tuple(name for name in integrator_ids() if not method(name).adaptive)
VARIATIONAL = tuple(name for name in FIXED if name.startswith("vi_sphere"))
BODIES, PENDULUM = ("sphere_nbody", "paper"), ("spherical_pendulum_chain", "paper_scaled")  # diagonal and coupled kinetic energy
NAMES = {BODIES: "bodies", PENDULUM: "pendulum"}


class Flow:
    """A fixed-step integrator on a problem (system, preset) as a map of state rows (m, 3); the step may be negative."""

    def __init__(self, problem, integrator, **request):
        self.spec = specify(problem[0], integrator, preset=problem[1], steps=1, **request)
        formulated, self.component = build(self.spec)
        self.problem, self.start, self.momentum_scale = formulated.problem, formulated.start, formulated.momentum_scale

    def __call__(self, y, h, steps=1):
        """State after some steps from y; y is left as it is."""
        return self._run(y, h, steps)[0]

    def momentum(self, y):
        """Momentum map J (3,)."""
        return self._run(y, 0.0, 0)[1]

    def _run(self, y, h, steps):
        y = y.copy()
        work = self.component.workspace(self.problem, y)
        recorder = new_recorder(y.shape[0], np.zeros(7), max(steps, 1), 2, every=steps + 1)
        loop = loop_for(advance, self.component, self.problem, recorder, work)
        status, done = loop(self.component, self.problem, recorder, y, h, 0, steps, work)
        assert status == Status.OK, f"{Status(status).sentence} (step {done})"
        return y, recorder.series[0, 1:4]


def exact(problem, y, t, substeps):
    """Accurate flow: the composition of order 8, with substeps so short that round-off is left."""
    return Flow(problem, "vi_sphere_kl8")(y, t/substeps, substeps)


def generic_state(problem):
    """A state without special zeros: the preset's start moved on by 0.4 s."""
    return exact(problem, Flow(problem, "vi_sphere_kl8").start, 0.4, 20)
