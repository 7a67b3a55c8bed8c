"""Starts of the members of an ensemble, one by one."""
from liestep.simulation.runs.execution import starts_of
from liestep.simulation.runs.starts import each


def ensemble_states(spec):
    return [state for states in starts_of(spec) for state in each(states)]
