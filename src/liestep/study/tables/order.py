"""Observed order of convergence of one method on one problem: which points may be used, two fits, and an honest
uncertainty. Points are (step h, error e). Errors are scaled, so that 0.1 means "ten per cent of the solution": above it
the error has saturated. Only true step ratios are used; log2 of a ratio that is not 2 certifies a third-order method as
fourth order."""
from dataclasses import dataclass
from itertools import pairwise
from math import inf, log, nan
from typing import Any, Literal

import numpy as np

FLOOR_FACTOR = 30.0         # an admissible error is at least this many floors
LARGEST_ERROR = 0.1
SMALLEST_RATIO = 1.4        # of neighbouring steps; of closer ones, some are left out
RATIO_SLACK = 0.02          # step counts are rounded: 11/8 stands for sqrt 2
SLOPE_BAND = 0.3            # pairwise slopes of a window lie this close together
POINTS = 4
STEP_SPAN, ERROR_SPAN = log(10.0), log(1e4)
SPAN_SLACK = 1e-9
LEAST_ORDER = 0.5           # below it the error does not fall: no method has an order below one
LEAST_UNCERTAINTY = 0.02
LEAST_TOLERANCE = 0.05
CORRECTION = (-0.5, 1.0)    # allowed range of a h^s at the largest step of a window
LOWER = (0.0, 1.0)          # allowed range of c h_min/h at the smallest step of a window
SUSPICION = 9.0             # how many times better a term of lower order must fit before an order is refused
LEAST_RESIDUAL = 1e-12      # of log e: residuals below it are rounding
FINEST = 0.08               # largest share of a term of lower order in the error at the smallest step of a window
KNOWN = 0.002               # of log e: what the floor may change where slopes are looked at for a term of lower order

Classification = Literal["asymptotic", "short range", "pre-asymptotic", "floor-limited", "saturated", "failed"]


@dataclass(frozen=True)
class OrderEstimate:
    """Result of `observed_order`.

    order           p of fit (b), equal to `order_corrected`; NaN if the window has fewer than 4 points
    uncertainty     u, a bound by disagreement of models, not a probability; NaN with `order`
    classification  only "asymptotic" makes `order` a statement about the method; "short range": of the window only
    order_plain     p of fit (a), e = C h^p; NaN if the window has fewer than 2 points
    order_corrected p of fit (b), e = C h^p (1 + a h^s)
    window          indices into the arrays given, from the largest to the smallest step
    slopes (h1, h2, slope) between neighbours h1 > h2 of all thinned admissible points, from large to small steps
    reason          one sentence that explains the classification
    """

    order: float
    uncertainty: float
    classification: Classification
    order_plain: float
    order_corrected: float
    window: tuple[int, ...]
    slopes: tuple[tuple[float, float, float], ...]
    reason: str


def observed_order(h: Any, error: Any, *, floor: Any = 0.0, theory: float | None = None,
                   symmetric: bool = False) -> OrderEstimate:
    """Estimate the order from errors at several steps, in any sequence.

    h, error: shape (n,); a failed run has a non-finite error. floor: scalar or (n,), the error level of references and
    round-off; NaN means unknown, which excludes the point. theory: the expected order, which only sets how large u may
    be. symmetric: the method equals its adjoint, so its error expands in even powers of h.

    Admissible: 30 floor <= e <= 0.1, e > 0. Thinning starts at the smallest admissible step and keeps the next step
    that is at least 1.4 times larger; 2 % less is allowed because step counts are rounded (11/8 stands for sqrt 2).
    Window: the longest run of consecutive points that ends at the smallest admissible step and whose pairwise slopes
    lie within 0.3 of each other; a point that is not admissible between two others interrupts the run. It needs at
    least 4 points and one decade in h or four in e. Fits of log e, unweighted: (a) e = C h^p, (b) e = C h^p (1 + a
    h^s), s = 2 for symmetric methods, else 1, with a h^s in [-0.5, 1] at the largest step: without limits a -> infinity
    is fit (a) once more, with order p - s. u = max(|p_a - p_b|, half the spread of p_b with none, the first or the last
    point left out, two standard errors of p_b, 0.02).

    Errors above 0.1 are saturated: they are not lost to the floor, however high it is. A term of lower order, e = C h^p
    (1 + c/h), is the one that smaller steps bring out: where it explains the window 9 times better than fit (b), in
    squares of the residuals, which are larger than the floor makes them, and with an exponent nearer to a whole number,
    p is not the order of the method. Nor is it where the local slopes of the finest third leave the whole number n next
    to p: e = C h^n (1 + a h^s + c h_min/h), the fit that smooths them, has |c| > 0.08, a slope of n - 0.074 at h_min.

    Classes: "failed", fewer than two finite errors; "saturated", all finite errors above 0.1; "floor-limited", the
    admissible points are too few or span too little and others were lost to the floor, or the error stops falling at
    the smallest steps (p_a < 0.5), so the floor given is too low; "asymptotic", a sufficient window, u <= 0.15 (0.3 if
    theory > 4), and no term of lower order; "short range", the same over less than a decade in h and four in e: slopes
    that agree, too few for a statement about the method; "pre-asymptotic", everything else. Raises ValueError for
    arrays that do not match, steps that are not positive and negative errors or floors."""
    h, error, floor = _checked(h, error, floor)
    admissible = np.isfinite(error) & _high_enough(error, floor) & (error <= LARGEST_ERROR)
    points = _thinned(h, admissible)
    slopes = [(float(h[j]), float(h[i]), log(error[j]/error[i])/log(h[j]/h[i])) for i, j in pairwise(points)]
    window = _window(h, admissible, points, slopes)

    log_h, log_e = np.log(h[window]), np.log(error[window])
    plain = _fit_plain(log_h, log_e) if len(window) >= 2 else nan
    order, uncertainty = _fit_corrected(log_h, log_e, plain,
                                        2 if symmetric else 1) if len(window) >= POINTS else (nan, nan)

    classification, reason = _classified(h, error, floor, points, window, plain, uncertainty, theory)
    if classification in ("asymptotic", "short range") and _lower_order(log_h, log_e, 2 if symmetric else 1,
                                                                        floor[window]/error[window]):
        classification, reason = ("pre-asymptotic",
                                  "towards the smallest steps the slopes fall as a term of lower order makes them")
    elif classification in ("asymptotic", "short range"):
        share = _finest(log_h, log_e, round(order), 2 if symmetric else 1)
        if abs(share) > FINEST:
            classification, reason = "pre-asymptotic", (f"towards the smallest steps the slopes leave {round(order)}: a"
                                                        f" term of lower order has {share:.0%} of the error there")
    return OrderEstimate(order, uncertainty, classification, plain, order, tuple(window[::-1]),
                         tuple(slopes[::-1]), reason)


def _classified(h: np.ndarray, error: np.ndarray, floor: np.ndarray, points: list[int], window: list[int],
                plain: float, uncertainty: float, theory: float | None) -> tuple[Classification, str]:
    """Class and reason by points, window and uncertainty."""
    finite = np.isfinite(error)
    saturated = finite & (error > LARGEST_ERROR)
    lost = int(np.count_nonzero(finite & ~saturated & ~_high_enough(error, floor)))
    above = f", {np.count_nonzero(saturated)} saturated above {LARGEST_ERROR:g}" if np.any(saturated) else ""
    limit = 0.15 if theory is None or theory <= 4 else 0.3
    agree = len(window) >= POINTS and uncertainty <= limit and plain >= LEAST_ORDER
    if np.count_nonzero(finite) < 2:
        return "failed", f"{np.count_nonzero(finite)} of {h.size} runs gave a finite error"
    if np.all(saturated[finite]):
        return "saturated", f"all {np.count_nonzero(finite)} errors are above {LARGEST_ERROR:g}"
    if agree and _sufficient(h, error, window):
        return "asymptotic", f"{_extent(h, error, window)}, uncertainty {uncertainty:.3f}"
    if agree:
        return "short range", (f"slopes lie within {SLOPE_BAND:g} of each other over {_extent(h, error, window)} only,"
                               f" uncertainty {uncertainty:.3f}")
    if not _sufficient(h, error, points) and lost:
        return "floor-limited", f"{_extent(h, error, points)} at or above {FLOOR_FACTOR:g} x floor, {lost} below{above}"
    if not _sufficient(h, error, points):
        return "pre-asymptotic", f"only {_extent(h, error, points)} admissible{above}: smaller or more steps are needed"
    if plain < LEAST_ORDER:
        return "floor-limited", "the error stops falling at the smallest steps: the floor given is too low"
    if not _sufficient(h, error, window):
        return "pre-asymptotic", f"slopes lie within {SLOPE_BAND:g} of each other over {_extent(h, error, window)} only"
    return "pre-asymptotic", f"the fits leave an uncertainty of {uncertainty:.3f}, above {limit:g}"


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


def _checked(h: Any, error: Any, floor: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The three inputs as float arrays of one shape (n,)."""
    h, error, floor = (np.asarray(values, dtype=float) for values in (h, error, floor))
    if h.ndim != 1 or error.shape != h.shape or floor.shape not in ((), h.shape):
        raise ValueError(f"h and error must be (n,), floor a number or (n,); got {h.shape}, {error.shape}"
                         f" and {floor.shape}")
    if not np.all(np.isfinite(h) & (h > 0.0)):
        raise ValueError("every step h must be positive and finite")
    if np.any(error < 0.0) or np.any(floor < 0.0):
        raise ValueError("errors and floors must not be negative")
    return h, error, np.broadcast_to(floor, h.shape)


def _high_enough(error: np.ndarray, floor: np.ndarray) -> np.ndarray:
    return (error >= FLOOR_FACTOR*floor) & (error > 0.0)


def _thinned(h: np.ndarray, admissible: np.ndarray) -> list[int]:
    """Indices of the admissible points that are kept, from the smallest to the largest step."""
    kept: list[int] = []
    for i in np.argsort(h, kind="stable"):
        if admissible[i] and (not kept or h[i] >= SMALLEST_RATIO*(1.0 - RATIO_SLACK)*h[kept[-1]]):
            kept.append(int(i))
    return kept


def _window(h: np.ndarray, admissible: np.ndarray, points: list[int],
            slopes: list[tuple[float, float, float]]) -> list[int]:
    """The leading part of `points` (from the smallest step) without interruption and with slopes in one band."""
    low, high = inf, -inf
    for count, (h1, h2, slope) in enumerate(slopes, start=1):
        low, high = min(low, slope), max(high, slope)
        if high - low > SLOPE_BAND or np.any(~admissible & (h > h2) & (h < h1)):
            return points[:count]
    return points


def _spans(h: np.ndarray, error: np.ndarray, points: list[int]) -> tuple[float, float]:
    """Logarithms of largest over smallest step and error."""
    return (float(np.ptp(np.log(h[points]))), float(np.ptp(np.log(error[points])))) if points else (0.0, 0.0)


def _sufficient(h: np.ndarray, error: np.ndarray, points: list[int]) -> bool:
    steps, errors = _spans(h, error, points)
    return len(points) >= POINTS and (steps >= STEP_SPAN - SPAN_SLACK or errors >= ERROR_SPAN - SPAN_SLACK)


def _extent(h: np.ndarray, error: np.ndarray, points: list[int]) -> str:
    steps, errors = _spans(h, error, points)
    return f"{len(points)} points over {steps/log(10.0):.2f} decades of h and {errors/log(10.0):.2f} of e"


def _fit_plain(log_h: np.ndarray, log_e: np.ndarray) -> float:
    x = log_h - log_h.mean()
    return float(x @ (log_e - log_e.mean())/(x @ x))


def _project(log_h: np.ndarray, log_e: np.ndarray, share: np.ndarray,
             limits: tuple[float, float] = CORRECTION) -> tuple[float, float, np.ndarray]:
    """Least squares of e = C h^p (1 + c share): order, c within `limits`, residuals. Fit (b) has share = (h/h_max)^s.
    For a given c the fit is a straight line, so c alone is searched, on a grid that shrinks around its best point."""
    x = log_h - log_h.mean()
    low, high = limits
    for _ in range(8):
        c = np.linspace(low, high, 101)
        y = log_e - np.log1p(c[:, None]*share)
        y -= y.mean(axis=1, keepdims=True)
        order = y @ x/(x @ x)
        residual = y - order[:, None]*x
        best = int(np.argmin((residual*residual).sum(axis=1)))
        low, high = c[max(best - 1, 0)], c[min(best + 1, c.size - 1)]
    return float(order[best]), float(c[best]), residual[best]


def _shares(log_h: np.ndarray, power: float) -> np.ndarray:
    """(h/h_max)^s."""
    return np.exp(power*(log_h - log_h.max()))


def _lower_order(log_h: np.ndarray, log_e: np.ndarray, power: float, unknown: np.ndarray) -> bool:
    """Whether a term of lower order, (h_min/h)^s, explains the errors much better than the next higher one. `unknown`
    (n,) is what the floor may change in log e: of points where that is much, as many as can be are left out, and
    residuals of its size say nothing. Points from the smallest to the largest step."""
    first = 0
    while unknown[first] > KNOWN and log_h.size - first > POINTS:
        first += 1
    log_h, log_e, unknown = log_h[first:], log_e[first:], unknown[first:]
    order, _, higher = _project(log_h, log_e, _shares(log_h, power))
    leading, _, lower = _project(log_h, log_e, np.exp(power*(log_h.min() - log_h)), LOWER)
    least = LEAST_RESIDUAL**2*log_h.size + float(unknown @ unknown)/SUSPICION
    return bool(higher @ higher > SUSPICION*max(float(lower @ lower), least)
                and abs(leading - round(leading)) < abs(order - round(order)))


def _finest(log_h: np.ndarray, log_e: np.ndarray, order: int, power: float) -> float:
    """c of the fit e = C h^order (1 + a h^power + c h_min/h), linear in C, C a and C c; relative errors count."""
    x = log_h - log_h.max()
    shares = np.stack([np.ones_like(x), np.exp(power*x), np.exp(log_h.min() - log_h)], axis=1)
    scaled = np.exp(order*x - log_e + log_e.max())[:, None]*shares
    found = np.linalg.lstsq(scaled, np.ones_like(x), rcond=None)[0]
    return float(found[2]/found[0])


def _fit_corrected(log_h: np.ndarray, log_e: np.ndarray, plain: float, power: float) -> tuple[float, float]:
    """Order of fit (b) and its uncertainty u; points from the smallest to the largest step, at least 4."""
    share = _shares(log_h, power)
    order, c, residual = _project(log_h, log_e, share)
    others = [_project(log_h[part], log_e[part], _shares(log_h[part], power))[0]
              for part in (slice(1, None), slice(None, -1))]
    sensitivity = np.linalg.pinv(np.stack([np.ones_like(log_h), log_h, share/(1.0 + c*share)], axis=1))[1]
    variance = residual @ residual/(log_h.size - 3)*(sensitivity @ sensitivity)
    half_spread = 0.5*(max(order, *others) - min(order, *others))
    return order, max(abs(plain - order), half_spread, 2.0*float(np.sqrt(variance)), LEAST_UNCERTAINTY)
