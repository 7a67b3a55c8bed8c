"""Increments of an attitude about a fixed axis: the rescaled Rodrigues vector and other rules for the angle.

A rotation by the angle z about w is v -> v + s w x v + c w x (w x v) with s = sin z/|w| and c = (1 - cos z)/|w|^2. The
rescaled Rodrigues vector alpha = 2 tan(z/2) n gives R(alpha) = I + 4/(4 + |alpha|^2) (hat(alpha) + hat(alpha)^2/2),
the Cayley map (rodrigues2021 eq. (4))."""
from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, cross, dot, sqrt
from liestep.geometry.so3 import coefficients

EXACT, NEWMARK, EXPONENTIAL = 0, 1, 2  # rules of `increment`
RULES = {"newmark": NEWMARK, "exact": EXACT, "exp": EXPONENTIAL}


@kernel
def increment(rule: int, h: float, w: Vector) -> tuple[float, float]:
    """(s, c) of the rotation about w during h by the angle, for z = h|w|: arcsin z (rule 0, rodrigues2021 eq. (23); NaN
    beyond z = 1), 2 arctan(z/2) (rule 1, eq. (25)), or z (rule 2)."""
    z2 = h*h*dot(w, w)
    if rule == EXACT:
        return h, h*h/(1.0 + sqrt(1.0 - z2))
    if rule == NEWMARK:
        share = 4.0/(4.0 + z2)
        return h*share, 0.5*h*h*share
    s, c, _ = coefficients(z2)
    return h*s, h*h*c


@kernel
def cayley(alpha: Vector) -> tuple[float, float]:
    """(s, c) of R(alpha) about alpha itself."""
    share = 4.0/(4.0 + dot(alpha, alpha))
    return share, 0.5*share


@kernel
def compose(a: Vector, b: Vector) -> tuple[float, Vector]:
    """(d, v) with a (+) b = v/d, the rotation a and then b: rodrigues2021 eq. (5). d = 4 - a.b vanishes where the
    result turns by pi, which alpha cannot express."""
    x = cross(a, b)
    return 4.0 - dot(a, b), (4.0*(a[0] + b[0] - 0.5*x[0]), 4.0*(a[1] + b[1] - 0.5*x[1]), 4.0*(a[2] + b[2] - 0.5*x[2]))


@kernel
def compose_modified(a: Vector, b: Vector) -> tuple[float, Vector]:
    """(d, v) of the same for modified Rodrigues parameters tan(z/4) n; d vanishes where the result turns by 2 pi."""
    aa, bb, x = dot(a, a), dot(b, b), cross(a, b)
    return (1.0 + aa*bb - 2.0*dot(a, b),
            ((1.0 - bb)*a[0] + (1.0 - aa)*b[0] - 2.0*x[0], (1.0 - bb)*a[1] + (1.0 - aa)*b[1] - 2.0*x[1],
             (1.0 - bb)*a[2] + (1.0 - aa)*b[2] - 2.0*x[2]))


@kernel
def cayley_modified(sigma: Vector) -> tuple[float, float]:
    """(s, c) of the rotation of modified Rodrigues parameters about sigma itself."""
    ss = dot(sigma, sigma)
    share = 8.0/((1.0 + ss)*(1.0 + ss))
    return 0.5*share*(1.0 - ss), share

