"""Observed order of convergence of one method on one problem: which points may be used, two fits, and an honest
uncertainty. Points are (step h, error e). Errors are scaled, so that 0.1 means "ten per cent of the solution": above it
the error has saturated. Only true step ratios are used; log2 of a ratio that is not 2 certifies a third-order method as
fourth order."""
from dataclasses import dataclass
from math import log
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from liestep.mechanics.contracts.sheet import real_array
from liestep.study.tables import liestep_judge as rules
from liestep.study.tables.liestep_judge import FLOOR_FACTOR, LARGEST_ERROR, LEAST_ORDER, LEAST_TOLERANCE, SLOPE_BAND

Classification = Literal["asymptotic", "short range", "pre-asymptotic", "floor-limited", "saturated", "failed"]


@dataclass(frozen=True)
class OrderEstimate:
    """Result of `observed_order`.

    order           p of fit (b), e = C h^p (1 + a h^s); NaN if the window has fewer than 4 points
    uncertainty     u, a bound by disagreement of models, not a probability; NaN with `order`
    classification  only "asymptotic" makes `order` a statement about the method; "short range": of the window only
    order_plain     p of fit (a), e = C h^p; NaN if the window has fewer than 2 points
    window          indices into the arrays given, from the largest to the smallest step
    slopes (h1, h2, slope) between neighbours h1 > h2 of all thinned admissible points, from large to small steps
    reason          one sentence that explains the classification
    """

    order: float
    uncertainty: float
    classification: Classification
    order_plain: float
    window: tuple[int, ...]
    slopes: tuple[tuple[float, float, float], ...]
    reason: str


def observed_order(h: ArrayLike, error: ArrayLike, *, floor: ArrayLike = 0.0, theory: float | None = None,
                   symmetric: bool = False) -> OrderEstimate:
    """Estimate the order from errors at several steps, in any sequence.

    Args:
        h: steps, (n,), in s or any other unit.
        error: errors, (n,), in one unit; a failed run has a non-finite one.
        floor: scalar or (n,), the error level of references and round-off, in the unit of errors; NaN means unknown,
            which excludes the point.
        theory: the expected order, which only sets how large u may be (default: none).
        symmetric: the method equals its adjoint, so its error expands in even powers of h.

    Admissible: 30 floor <= e <= 0.1, e > 0. Thinning starts at the smallest admissible step and keeps the next step
    that is at least 1.4 times larger; 2 % less is allowed because step counts are rounded (11/8 stands for sqrt 2).
    Window: the longest run of consecutive points that ends at the smallest admissible step and whose pairwise slopes
    lie within 0.3 of each other; a point that is not admissible between two others interrupts the run. It needs at
    least 4 points and one decade in h or four in e. Fits of log e, unweighted: (a) e = C h^p, (b) e = C h^p (1 + a
    h^s), s = 2 for symmetric methods, else 1, with a h^s in [-0.5, 1] at the largest step: without limits a -> infinity
    is fit (a) once more, with order p - s. u = max(|p_a - p_b|, half the spread of p_b with none, the first or the last
    point left out, two standard errors of p_b, 0.02).

    Errors above 0.1 are saturated: they are not lost to the floor, however high it is. A term of lower order, e = C h^p
    (1 + c/h^k) with k = 1 or 2, is the one that smaller steps bring out: where it explains the window 9 times better
    than fit (b), in squares of the residuals, which are larger than the floor makes them (81 times where k is not s),
    and with an exponent nearer to a whole number, p is not the order of the method. Nor is it where the local slopes of
    the finest steps leave the whole number n next to p: e = C h^n (1 + a h^s + c h_min/h) has c > 0.055, and
    e = C h^n (1 + c h_min/h) of the steps up to 4 h_min has c > 0.045 and above what the floor can do, unless
    C h^n (1 + a h^s) explains three or more of these steps 1000 times better. All without the smallest steps at which
    the floor has more than 0.2 % of the error, as long as 4 others are left.

    Classes: "failed", fewer than two finite errors; "saturated", all finite errors above 0.1; "floor-limited", the
    admissible points are too few or span too little and others were lost to the floor, or the error stops falling at
    the smallest steps (p_a < 0.5), so the floor given is too low; "asymptotic", a sufficient window, u <= 0.15 (0.3 if
    theory > 4), and no term of lower order; "short range", the same over less than a decade in h and four in e: slopes
    that agree, too few for a statement about the method; "pre-asymptotic", everything else. Raises ValueError for
    arrays that do not match or are no real numbers, steps that are not positive and negative errors or floors."""
    h, error, floor = _checked(h, error, floor)
    estimate = rules.observed_order(h, error, floor, theory, symmetric)
    kept = estimate["kept"]
    slopes = tuple((float(h[i]), float(h[j]), slope)
                   for i, j, slope in zip(kept, kept[1:], estimate["slopes"], strict=False))
    return OrderEstimate(estimate["order"], estimate["uncertainty"], estimate["class"], estimate["plain"],
                         tuple(estimate["window"]), slopes, _reason(h, error, theory, estimate))


def _reason(h: np.ndarray, error: np.ndarray, theory: float | None, found: dict[str, Any]) -> str:
    """One sentence about a class."""
    name, kept, window, (explained, share) = found["class"], found["kept"], found["window"], found["lower"]
    finite = np.count_nonzero(np.isfinite(error))
    saturated = np.count_nonzero(np.isfinite(error) & (error > LARGEST_ERROR))
    above = f", {saturated} saturated above {LARGEST_ERROR:g}" if saturated else ""
    band = f"slopes lie within {SLOPE_BAND:g} of each other over {_extent(h, error, window)} only"
    if name == "failed":
        return f"{finite} of {h.size} runs gave a finite error"
    if name == "saturated":
        return f"all {finite} errors are above {LARGEST_ERROR:g}"
    if name == "asymptotic":
        return f"{_extent(h, error, window)}, uncertainty {found['uncertainty']:.3f}"
    if name == "short range":
        return f"{band}, uncertainty {found['uncertainty']:.3f}"
    if explained:
        return "towards the smallest steps the slopes fall as a term of lower order makes them"
    if share:
        return (f"towards the smallest steps the slopes leave {round(found['order'])}: a term of lower order has"
                f" {share:.0%} of the error there")
    if not rules.sufficient(h, error, kept):
        return (f"{_extent(h, error, kept)} at or above {FLOOR_FACTOR:g} x floor, {found['lost']} below{above}"
                if name == "floor-limited" else
                f"only {_extent(h, error, kept)} admissible{above}: smaller or more steps are needed")
    if found["plain"] < LEAST_ORDER:
        return "the error stops falling at the smallest steps: the floor given is too low"
    return band if not rules.sufficient(h, error, window) else (
        f"the fits leave an uncertainty of {found['uncertainty']:.3f}, above {rules.limit_of(theory):g}")


def order_verdict(estimate: OrderEstimate, theory: float) -> tuple[bool, str]:
    """Whether an order claim passes, and a sentence: the class is asymptotic and |p - theory| <= max(u, 0.05)."""
    if estimate.classification != "asymptotic":
        return False, f"no order can be claimed ({estimate.classification}): {estimate.reason}"
    difference = estimate.order - theory
    tolerance = max(estimate.uncertainty, LEAST_TOLERANCE)
    passed = abs(difference) <= tolerance
    side = "above" if difference > 0 else "below"
    relation = "within" if passed else "more than"
    return passed, (f"observed order {estimate.order:.3f} +- {estimate.uncertainty:.3f} is {abs(difference):.3f} {side}"
                    f" the theoretical {theory:g}, {relation} the tolerance {tolerance:.3f}")


def _checked(h: ArrayLike, error: ArrayLike, floor: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The three inputs as float arrays of one shape (n,)."""
    h, error, floor = (real_array(*given) for given in (("h", h), ("error", error), ("floor", floor)))
    if h.ndim != 1 or error.shape != h.shape or floor.shape not in ((), h.shape):
        raise ValueError(f"h and error must be (n,), floor a number or (n,); got {h.shape}, {error.shape}"
                         f" and {floor.shape}")
    if not np.all(np.isfinite(h) & (h > 0.0)):
        raise ValueError("every step h must be positive and finite")
    if np.any(error < 0.0) or np.any(floor < 0.0):
        raise ValueError("errors and floors must not be negative")
    return h, error, np.broadcast_to(floor, h.shape)


def _extent(h: np.ndarray, error: np.ndarray, points: list[int]) -> str:
    steps, errors = (float(np.ptp(np.log(values[points])))/log(10.0) if points else 0.0 for values in (h, error))
    return f"{len(points)} points over {steps:.2f} decades of h and {errors:.2f} of e"
