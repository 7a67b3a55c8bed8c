"""Components as plain Python: which functions take the place of which."""
from typing import Any, NamedTuple

import numpy as np

from liestep.core.dispatch import kernel
from liestep.core.rows import sqrt
from liestep.core.tracing import Functions, plain_component


@kernel
def length(item: Any) -> float:
    """A kernel that reads an attribute of its own name."""
    return sqrt(item.length)


class Rod(NamedTuple):
    length: float

    def root(self) -> float:
        return length(self)


class Marked:
    """A number that only the replaced square root understands."""

    def __init__(self, value: float):
        self.value = value


def test_an_attribute_of_a_kernels_name_is_no_kernel():
    plain = plain_component(Rod(4.0), Functions(lambda x: x.value**0.5, np.sin, np.cos, scalar=Marked))
    assert plain.root() == 2.0
