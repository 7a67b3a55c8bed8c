"""What the tests of constrained formulations share: components as plain Python, and derivatives by differences."""
import numpy as np

from liestep.compile.tracing import Functions, plain_component
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.specification import start_of

PLAIN = Functions(np.sqrt, np.sin, np.cos)


def plain_problem(system, preset, formulation="constrained_lagrangian", parameters=None, **options):
    """(component as plain Python on float64, Formulated)."""
    start = start_of(system, preset=preset, parameters=parameters)
    found = formulate(sheet(system), start.parameters, start.initial, formulation, options)
    return plain_component(found.problem, PLAIN, np.float64), found


def slope(function, x, size=1e-3):
    """Derivative of an array-valued function of x (n,) along each coordinate, columns; error of order 6 in `size`."""
    columns = []
    for unit in np.eye(len(x)):
        near, middle, far = (function(x + k*size*unit) - function(x - k*size*unit) for k in (1, 2, 3))
        columns.append((45.0*near - 9.0*middle + far)/(60.0*size))
    return np.array(columns).T
