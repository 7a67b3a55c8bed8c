"""Kernels with defaults, called by keyword and by each other, compiled as in plain Python."""
import math
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from numba import literal_unroll, njit
from numba.core.errors import TypingError
from numba.extending import overload

from liestep.extend import kernel


@kernel
def weigh(a, b=2.0, n=3, pair=(1.0, 4.0), nothing=None):
    return a*10.0 + b*n + pair[1] if nothing is None else a


class Scale(NamedTuple):
    factor: float

    def of(self, x, k=0.5):
        return self.factor*x*k


@kernel
def every_way(scale, x):
    return (weigh(x) + 7.0*weigh(x, n=1) + 11.0*weigh(b=1.0, a=x) + 13.0*weigh(x, 5.0, 2, (0.0, 1.5), None)
            + scale.of(x) + 17.0*scale.of(k=2.0, x=x))


@kernel
def lacking(x):
    return weigh(b=x)


@kernel
def deep(x):
    return x*x + 1.0


@kernel
def never_deep(x):
    three = 3  # Numba does not see that the call is never made, LLVM does
    return deep(x) if 2*three < 5 else x


@kernel
def deeper(scale, x):
    return scale.of(deep(x))


@kernel
def both(scale, x):
    return never_deep(x) + deeper(scale, x)


@kernel
def positive(x):
    if x < 0.0:
        raise ValueError("negative")
    return x


@kernel
def positive_deeper(x):
    return positive(x) + 1.0


def test_errors_of_inner_kernels_reach_the_caller():
    """Callers look for errors of those only that raise some."""
    assert positive_deeper(2.0) == 3.0
    with pytest.raises(ValueError, match="negative"):
        positive_deeper(-2.0)


@kernel
def positive_or(x, other):
    try:
        found = positive(x)
    except Exception:  # Numba knows no other
        found = other
    return found


@kernel
def caught_deeper(x):
    return positive_or(x, 5.0) + 1.0


def ratio(a, b):
    return a/b


@overload(ratio)
def _ratio(a, b):
    return lambda a, b: a/b


@kernel
def inverse(x):
    return ratio(1.0, x)


@kernel
def other_inverse(x):
    return ratio(1.0, x) + 0.0


@kernel
def later_inverse(x):
    return other_inverse(x)


@kernel
def first_inverse(x):
    return inverse(x)


def test_options_of_others_do_not_reach_kernels():
    """Of a function that Numba compiles with the options of its caller each has its own."""
    assert first_inverse(0.0) == math.inf
    with pytest.raises(ZeroDivisionError):
        njit(lambda x: ratio(1.0, x))(0.0)
    assert later_inverse(0.0) == math.inf


@kernel
def doubled_steps(n):
    width = 2*n
    for k in range(n):
        yield k + width
    yield width


@kernel
def sum_of_doubled_steps(n):
    total = 0
    for value in doubled_steps(n):
        total += value
    return total


@kernel
def twice_their_sum(n):
    return 2*sum_of_doubled_steps(n)


def test_variables_of_generators_outlive_a_yield():
    assert twice_their_sum(4) == 2*(8 + 9 + 10 + 11 + 8)


def test_kernels_that_catch_errors_are_refused():
    """Numba looks for errors where nothing was written yet, and the process ended, also without an error."""
    assert positive_or.py_func(2.0, 5.0) == 2.0
    with pytest.raises(TypingError, match="compiled code knows no try or with, as positive_or has"):
        caught_deeper(2.0)


@njit(inline="always")
def thrice(x):
    return 3.0*x


class Shift(NamedTuple):
    amount: float

    def of(self, x):
        return x + self.amount


class Parts(NamedTuple):
    parts: tuple

    def total(self, x):
        total = 0.0
        for part in literal_unroll(self.parts):
            total += thrice(part.of(x))
        return total


@kernel
def totalled(parts, x):
    return parts.total(x)


def test_loops_over_parts_of_several_classes_compile():
    assert totalled(Parts((Scale(3.0), Shift(1.0))), 2.0) == 3.0*(3.0*2.0*0.5) + 3.0*(2.0 + 1.0)


@kernel
def with_a_function_inside(x):
    def doubled(y):
        return 2.0*y
    return doubled(x) + doubled(1.0)


@kernel
def calls_what_has_a_function_inside(x):
    return with_a_function_inside(x)


def test_kernels_with_functions_inside_compile():
    """Their passes of Numba are left out for all others."""
    assert calls_what_has_a_function_inside(3.0) == 2.0*3.0 + 2.0


def summed(values, count):
    total = 0.0
    for k in range(count):
        total += values[k]
    return total


def test_functions_of_others_are_compiled_as_numba_does():
    """Ours go through a pipeline of their own: a fresh process, in which one function is compiled before and after."""
    code = """if True:
        import re, sys
        import numba, numpy
        sys.path.insert(0, sys.argv[1])
        from test_kernel_calls import summed
        def texts():
            kinds = numba.float64[::1], numba.intp
            made = [numba.njit([kinds], **one)(summed) for one in ({"boundscheck": True}, {"_nrt": False})]
            try:
                made[0](numpy.ones(3), 9)
            except IndexError:  # names hold the number of the compile
                return [re.sub(r"_ZN\\w+|\\[\\d+ x i8\\]|v\\d+", "", one.inspect_llvm(kinds)) for one in made]
        before = texts()
        import liestep
        liestep.simulate("henon_heiles", "verlet", step=0.1, t_end=1.0, compile=True)
        assert before and "getelementptr" in before[1] and texts() == before
        print("equal")
    """
    done = subprocess.run([sys.executable, "-c", code, str(Path(__file__).parent)], capture_output=True, text=True)
    assert done.stdout == "equal\n", done.stderr


def test_code_that_one_caller_drops_is_there_for_the_next():
    """A loop links each kernel once, and takes those that are called: behind the last that may call it."""
    assert both(Scale(3.0), 2.0) == 2.0 + 3.0*5.0*0.5


def test_defaults_and_keywords_are_those_of_python():
    x = 1.5
    right = (15.0 + 6.0 + 4.0) + 7.0*(15.0 + 2.0 + 4.0) + 11.0*(15.0 + 3.0 + 4.0) + 13.0*(15.0 + 10.0 + 1.5)
    assert every_way(Scale(3.0), x) == right + 3.0*x*0.5 + 17.0*3.0*x*2.0


def test_a_missing_argument_is_named():
    with pytest.raises(Exception, match="is called with other arguments than it has: missing a required argument"):
        lacking(1.0)
