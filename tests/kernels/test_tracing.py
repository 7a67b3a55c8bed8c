"""Components as plain Python: which functions take the place of which."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import sqrt
from liestep.compile.tracing import Functions, plain_component


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


class Counted(NamedTuple):
    count: np.ndarray


class Twice(NamedTuple):
    first: Counted
    second: Counted
    own: np.ndarray


def test_arrays_that_components_share_are_shared_by_their_copies():
    shared = np.zeros(2)
    copy = plain_component(Twice(Counted(shared), Counted(shared), np.zeros(2)), Functions(np.sqrt, np.sin, np.cos))
    assert copy.first.count is copy.second.count
    assert copy.first.count is not shared
    assert copy.own is not copy.first.count
