"""States within the steps of a run: dense output, own output times and events. A file of its own: an edit puts no run
out of date."""

import numpy as np

from liestep.compile.roles import Adaptive, Component, Stepper, Work
from liestep.compile.rows import copy
from liestep.compile.status import Status


def partial_steps(integrator: Stepper, problem: Component, times: np.ndarray, nodes: np.ndarray, lengths: np.ndarray,
                  shares: np.ndarray, states: np.ndarray, values: np.ndarray, work: Work) -> Status:
    """Steps of fixed-step methods: states (n, k, m, d) after the shares (k,) of steps of these lengths (n,) from nodes
    (n, m, d) at their times, each one step of the method, and their observables (n, k, K). A share of 0 is the node."""
    for n in range(times.shape[0]):
        for j in range(shares.shape[0]):
            y, h = states[n, j], shares[j]*lengths[n]
            copy(nodes[n], y)
            if h != 0.0:
                status = integrator.start(problem, times[n], y, h, work)
                if status == Status.OK:
                    status = integrator.step(problem, times[n], y, h, work)
                if status != Status.OK:
                    return status
            problem.observe(y, values[n, j])
    return Status.OK


def interpolated_steps(pair: Adaptive, problem: Component, times: np.ndarray, nodes: np.ndarray, lengths: np.ndarray,
                       shares: np.ndarray, states: np.ndarray, values: np.ndarray, work: Work, whole: bool,
                       span: float) -> Status:
    """The same of adaptive methods, by their interpolant; `whole`: by a step of the method that ends there. span:
    length of the run."""
    pair.control.reaches(1.0, 1.0)  # no step follows
    for n in range(times.shape[0]):
        made = 0.0
        for j in range(shares.shape[0]):
            y, h = states[n, j], (shares[j] if whole else 1.0)*lengths[n]
            copy(nodes[n], y)
            if shares[j] > 0.0 and made != h:
                pair.start(problem, times[n], nodes[n], span, work)
                status, _ = pair.attempt(problem, times[n], nodes[n], h, work)
                if status != Status.OK:
                    return status
                made = h
            if shares[j] > 0.0 and whole:
                pair.accept(problem, y, work)
            elif shares[j] > 0.0:
                pair.interpolate(problem, times[n], nodes[n], h, shares[j], y, work)
            problem.observe(y, values[n, j])
    return Status.OK
