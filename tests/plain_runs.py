"""Steps in plain Python, from which tests and mutants take states."""
import numpy as np

from liestep.compile.status import Status
from liestep.simulation.plugins.trial import plain


def nodes_of(component, problem, y, h, steps):
    """(steps + 1, m, d) states of a run from y, and the plain component with its workspace as the run leaves it."""
    component, y = plain(component), y.copy()
    work = component.workspace(problem, y)
    assert component.start(problem, 0.0, y, h, work) == Status.OK
    nodes = [y.copy()]
    for k in range(steps):
        assert component.step(problem, k*h, y, h, work) == Status.OK
        nodes.append(y.copy())
    return np.array(nodes), component, work


def stepped(component, problem, y, h, steps=1):
    """State after some steps."""
    return nodes_of(component, problem, y, h, steps)[0][-1]
