"""Step size control as components of embedded pairs: they see numbers only, never the state."""
import math
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows, kernel
from liestep.compile.rows import any_of, if_at_most, if_less, quotient
from liestep.mechanics.contracts.sheet import Option, Options, number_in


@kernel
def power(x: float, p: float) -> float:
    """x^p for x > 0; NaN otherwise, compiled or not."""
    return math.pow(x, p) if 0.0 < x < np.inf else np.nan


class MatlabControl(NamedTuple):
    """MATLAB's ode45: error per step relative to max(|y|, |y+|, atol/rtol), compared with rtol. First rejection of a
    step h max(0.1, 0.8 (rtol/err)^p), later ones h/2; after a step without rejection h/(1.25 (err/rtol)^p), growth at
    most 5; steps at most T/10; the last step is stretched when 1.1 h reaches the end."""

    rtol: float
    atol: float
    exponent: float  # 1/5 for the pair 5(4)
    longest: float   # T/10

    def reaches(self, h: float, remaining: float) -> bool:
        return 1.1*h >= remaining

    def accepts(self, error: float) -> bool:
        return error <= self.rtol

    def first(self, speed: float) -> float:
        """First step from speed = max |f_0|/max(|y_0|, atol/rtol)."""
        h = self.longest
        rate = speed/(0.8*power(self.rtol, self.exponent))
        return 1.0/rate if h*rate > 1.0 else h

    def after_success(self, h: float, error: float, rejections: float) -> float:
        shrink = if_less(0.0, error, 1.25*power(error/self.rtol, self.exponent), 0.0)
        return min(self.longest, if_less(0.0, rejections, h, if_less(0.2, shrink, quotient(h, shrink), 5.0*h)))

    def after_failure(self, h: float, error: float, rejections: float) -> float:
        factor = max(0.1, 0.8*power(self.rtol/error, self.exponent))
        return h*if_less(error, np.inf, if_less(0.0, rejections, 0.5, factor), 0.5)


class Shortened:
    """The first step is T/100, of methods that ask for it, and the last one is shortened to the end."""

    def first(self, t_end: float) -> float:
        return 0.01*t_end

    def reaches(self, h: float, remaining: float) -> bool:
        return h >= remaining


class PerStep(Shortened):
    """The error of a step is compared with the tolerance."""

    def accepts(self: Any, error: float) -> bool:
        return error < self.tolerance


@borrows(Shortened)
class HairerControl(NamedTuple):
    """Hairer, Norsett, Wanner: error norm compared with 1, h <- h clip(safety err^-p, smallest, largest), no growth
    after a rejection; the last step is shortened to the end."""

    exponent: float = 0.125  # this and the others are those of DOP853
    safety: float = 0.9
    smallest: float = 0.2
    largest: float = 10.0

    def accepts(self, error: float) -> bool:
        return error < 1.0

    def after_success(self, h: float, error: float, rejections: float) -> float:
        factor = if_less(0.0, error, min(self.largest, self.safety*power(error, -self.exponent)), self.largest)
        return h*if_less(0.0, rejections, min(1.0, factor), factor)

    def after_failure(self, h: float, error: float, rejections: float) -> float:
        factor = max(self.smallest, self.safety*power(error, -self.exponent))
        return h*if_less(error, np.inf, factor, self.smallest)


@borrows(PerStep)
class PaperControl(NamedTuple):
    """liegroup2021 section 4: error < tol accepts; h <- theta (tol/error)^alpha h, accepted or not; the first step is
    T/100 and the last one is shortened to the end. No limit of growth; an error of zero counts as `smallest`. A step
    that failed for another reason is halved."""

    tolerance: float
    exponent: float  # alpha
    safety: float    # theta
    smallest: float  # error

    def after_success(self, h: float, error: float, rejections: float) -> float:
        return self.safety*power(self.tolerance/max(error, self.smallest), self.exponent)*h

    def after_failure(self, h: float, error: float, rejections: float) -> float:
        return if_less(error, np.inf, self.safety*power(self.tolerance/error, self.exponent), 0.5)*h


@borrows(PerStep)
class PiControl(NamedTuple):
    """Proportional-integral control of Hairer and Wanner, Solving Ordinary Differential Equations II, IV.2 (errors
    here relative to tol): h <- theta error^(-0.7 alpha) last^(0.4 alpha) h after success, factors from 1/5 to 5, no
    growth after a rejection."""

    tolerance: float
    exponent: float   # alpha
    safety: float     # theta
    smallest: float   # error
    last: np.ndarray  # (1,) error of the last accepted step over tol

    def first(self, t_end: float) -> float:
        self.last[0] = 1.0
        return 0.01*t_end

    def after_success(self, h: float, error: float, rejections: float) -> float:
        relative = max(error, self.smallest)/self.tolerance
        factor = self.safety*power(relative, -0.7*self.exponent)*power(self.last[0], 0.4*self.exponent)
        self.last[0] = relative
        return h*min(max(factor, 0.2), 1.0 if rejections > 0.0 else 5.0)

    def after_failure(self, h: float, error: float, rejections: float) -> float:
        factor = max(0.2, self.safety*power(self.tolerance/error, self.exponent))
        return h*if_less(error, np.inf, factor, 0.5)


class Ahead(NamedTuple):
    """Control of a method that knows its next step before it makes it; no step is rejected for its error."""

    next_step: np.ndarray  # (2,) in s; 1 where the step that is made is the last

    def reaches(self, h: float, remaining: float) -> bool:
        self.next_step[1] = if_at_most(remaining, h, 1.0, 0.0)
        return h >= remaining

    def ends(self) -> bool:
        """Whether no step will follow, so that nobody asks how long it is."""
        return not any_of(self.next_step[1] != 1.0)

    def accepts(self, error: float) -> bool:
        return error < np.inf

    def after_success(self, h: float, error: float, rejections: float) -> float:
        return self.next_step[0]

    def after_failure(self, h: float, error: float, rejections: float) -> float:
        return 0.5*h


SMALLEST_ERROR = 1e-16  # of the tolerance

CONTROL = {
    "safety": number_in("safety", 0.85, "factor theta of the step control, typically 0.8 to 0.9",
                        "number above 0 and at most 1", lambda share: 0.0 < share <= 1.0),
    "control": Option("paper", "paper: the rule of liegroup2021 section 4; pi: proportional-integral", ("paper", "pi")),
    "exponent": Option("default", "of the step control: default is 1/(1 + lower order), quarter that of the"
                       " paper's program", ("default", "quarter")),
}


def control_of(options: Options, tolerance: float, lower_order: int) -> PaperControl | PiControl:
    """Of checked options CONTROL; `lower_order` is min(p, p~) of the two methods of a pair."""
    exponent = 1.0/(1.0 + lower_order) if options["exponent"] == "default" else 0.25
    common = (tolerance, exponent, options["safety"], SMALLEST_ERROR*tolerance)
    return PaperControl(*common) if options["control"] == "paper" else PiControl(*common, np.ones(1))
