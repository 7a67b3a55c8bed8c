"""What several tests share: integrators as maps of states, accurate flows, states without
special zeros, observed orders."""
import numpy as np

from liestep.compile.cache import loop_for
from liestep.compile.driver import advance
from liestep.compile.status import Status
from liestep.simulation.catalogue import integrator_calls, method
from liestep.simulation.runs.execution import build, new_recorder, run_once
from liestep.simulation.runs.specification import applicable, specify, start_of
from liestep.study.tables.order import OrderEstimate, observed_order

EPS = float(np.finfo(np.float64).eps)
# formulations of the spheres whose rows are q and omega; constrained coordinates have tests of their own
ROWS = ("vector_field", "lie_action", "sphere_lagrangian")
FIXED = tuple(name for name in integrator_calls() if not method(name).adaptive and method(name).formulation in ROWS
              and applicable("sphere_nbody", name, start_of("sphere_nbody").parameters))
VARIATIONAL = tuple(name for name in FIXED if method(name).formulation == "sphere_lagrangian")
# diagonal and coupled kinetic energy
BODIES, PENDULUM = ("sphere_nbody", "paper"), ("spherical_pendulum_chain", "paper_scaled")
NAMES = {BODIES: "bodies", PENDULUM: "pendulum"}
PAIRS = tuple((problem, name) for problem in (BODIES, PENDULUM) for name in FIXED
              if applicable(problem[0], name, start_of(problem[0], preset=problem[1]).parameters))


class Flow:
    """A fixed-step integrator on a problem (system, preset) as a map of state rows (m, 3); the step may be negative."""

    def __init__(self, problem, integrator, **request):
        self.spec = specify(problem[0], integrator, preset=problem[1], steps=1, **request)
        formulated, self.component = build(self.spec)
        self.problem, self.start, self.momentum_scale = formulated.problem, formulated.start, formulated.momentum_scale
        self.observables = formulated.observables

    def __call__(self, y, h, steps=1):
        """State after some steps from y; y is left as it is."""
        return self._run(y, h, steps)[0]

    def observed(self, y):
        """Observables by name."""
        values = self._run(y, 0.0, 0)[1]
        return {item.name: values[item.columns] for item in self.observables}

    def momentum(self, y):
        """Momentum map J (3,)."""
        return self.observed(y)["momentum_map"]

    def _run(self, y, h, steps):
        y = y.copy()
        work = self.component.workspace(self.problem, y)
        recorder = new_recorder(y.shape, np.zeros(self.observables[-1].columns.stop), max(steps, 1), 2,
                                every=steps + 1)
        loop = loop_for(advance, self.component, self.problem, recorder, work)
        status, done = loop(self.component, self.problem, recorder, y, h, 0, steps, work, 0.0, 0)
        assert status == Status.OK, f"{Status(status).sentence} (step {done})"
        return y, recorder.series[0]


def exact(problem, y, t, substeps):
    """Accurate flow: the composition of order 8, with substeps so short that round-off is left."""
    return Flow(problem, "vi_sphere weights=kl8")(y, t/substeps, substeps)


def generic_state(problem):
    """A state without special zeros: the preset's start moved on by 0.4 s."""
    return exact(problem, Flow(problem, "vi_sphere weights=kl8").start, 0.4, 20)


T_END, SAMPLES = 2.0, 11  # of the runs that show orders
FLOOR = 1e-13             # accurate runs with 500 to 2000 steps differ by at most 9.5e-14 from one with 1000
COUNTS = {1: [100*4**k for k in range(7)], 2: [20*2**k for k in range(8)], 3: [20*2**k for k in range(8)],
          4: [20, 40, 80, 160, 320, 640, 1200, 2400], 5: [20, 40, 60, 90, 130, 190, 280],
          6: [10, 20, 30, 40, 60, 80, 110, 160, 230], 8: [10, 20, 30, 40, 60, 80, 110]}


def states(problem, name, steps, t_end=T_END, **options):
    """State fields (SAMPLES, ..., 3) at common times, None when the run fails."""
    outcome = run_once(specify(problem[0], name, preset=problem[1], t_end=t_end, steps=steps, samples=SAMPLES,
                               options=options))
    if outcome.status != Status.OK:
        return None
    fields = outcome.formulated.to_fields(outcome.outputs.states)
    return {item.name: fields[item.name] for item in outcome.formulated.fields if item.norm != "derived"}


def state_error(found, true):
    """Largest distance of vectors (of directions: the chord) over the largest length of the field's
    vectors; inf for a failed run."""
    if found is None:
        return np.inf
    return max(np.linalg.norm(found[name] - true[name], axis=-1).max()/np.linalg.norm(true[name], axis=-1).max()
               for name in true)


def estimate(problem, name, true, counts, t_end=T_END, **options) -> OrderEstimate:
    """Observed order of an integrator against accurate states."""
    declared = method(name)
    errors = [state_error(states(problem, name, steps, t_end, **options), true) for steps in counts]
    return observed_order([t_end/steps for steps in counts], errors, floor=FLOOR, theory=declared.order,
                          symmetric=declared.symmetric)
