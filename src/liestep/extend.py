"""Everything that the author of a plugin imports: docs/own_system.md. What is here stays; other modules may change."""
from liestep.contracts.manifold import check_attitude, check_directions, check_tangent
from liestep.contracts.method import Method, Option
from liestep.contracts.parameters import Parameter, Preset
from liestep.core.dispatch import kernel
from liestep.core.rows import add, add_to, axpy, copy, cos, cross, dot, put, row, scale, sin, sqrt, sub
from liestep.core.status import Status
from liestep.errors import InputError

__all__ = [
    "InputError", "Method", "Option", "Parameter", "Preset", "Status", "add", "add_to", "axpy", "check_attitude",
    "check_directions", "check_tangent", "copy", "cos", "cross", "dot", "kernel", "put", "row", "scale", "sin", "sqrt",
    "sub",
]
