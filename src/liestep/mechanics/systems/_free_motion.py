"""Exact motion of a free rigid body: angular momentum in the body by Jacobi's elliptic functions, attitude
by Carlson's R_F and R_J.

Axes are renumbered so that Pi circulates about axis 3, one of the extreme moments, and I_2 is the middle
one. With u = rate t + u_0

    Pi_1 = A_1 cn u,  Pi_2 = A_2 sn u,  Pi_3 = A_3 dn u,  A_3 of either sign.

The frame F of the polar angles of Pi about axis 3 (f_3 = Pi/L, f_1 towards growing angle from axis 3) turns in space
about pi only, at the rate of precession L (Pi_1^2/I_1 + Pi_2^2/I_2)/(Pi_1^2 + Pi_2^2): Q(t) = Q(0) F(0)
R_3(precession) F(t)^T. Amplitudes are sums of terms of one sign, and the complement 1 - m of the parameter is kept
instead of m, so that spheres, symmetric bodies, steady rotation and starts near the unstable axis lose no digits
beyond those of the start.
"""
import numpy as np


def free_motion(inertia: np.ndarray, attitude: np.ndarray, momentum: np.ndarray,
                times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Attitudes (time, 3, 3), body to space, and spatial angular momenta (time, 3) at `times`, from those at time 0.

    inertia: principal moments (3,) along the body's axes, kg m2; momentum: spatial, kg m2/s.
    """
    times = np.asarray(times, dtype=np.float64)
    momenta = np.tile(momentum, (len(times), 1))
    size = float(np.linalg.norm(momentum))
    if size == 0.0:
        return np.tile(attitude, (len(times), 1, 1)), momenta
    axes = _principal_frame(inertia, attitude.T @ momentum)
    start = attitude @ axes
    motion = _Circulation(np.abs(axes.T) @ inertia, start.T @ momentum, size)
    frames, precession = motion.at(np.concatenate([[0.0], times]))
    precession = precession - precession[0]
    c, s, zero, one = np.cos(precession), np.sin(precession), np.zeros_like(precession), np.ones_like(precession)
    turns = np.moveaxis(np.array([[c, -s, zero], [s, c, zero], [zero, zero, one]]), -1, 0)
    return start @ frames[0] @ turns[1:] @ np.swapaxes(frames[1:], 1, 2) @ axes.T, momenta


def _principal_frame(inertia: np.ndarray, body_momentum: np.ndarray) -> np.ndarray:
    """Rotation (3, 3) whose columns are the renumbered axes: the third is the one about which Pi circulates,
    the second the middle one."""
    small, middle, large = np.argsort(inertia, kind="stable")
    p, moments = body_momentum, inertia
    # Sign of |Pi|^2 - 2 T I_middle; equal moments leave only the axis of the other one.
    excess = p[large]**2*(1.0 - moments[middle]/moments[large]) - p[small]**2*(moments[middle]/moments[small] - 1.0)
    about_large = excess > 0.0 or (excess == 0.0 and moments[middle] == moments[small])
    order = (small, middle, large) if about_large else (large, middle, small)
    axes = np.eye(3)[:, order]
    axes[:, 0] *= np.linalg.det(axes)
    return axes


class _Circulation:
    """The motion in renumbered axes; moments (3,), p = Pi(0), size = |Pi|."""

    def __init__(self, moments: np.ndarray, p: np.ndarray, size: float):
        one, two, three = moments
        self.moments, self.size = moments, size
        # Squared ratio A_2/A_1, and what is subtracted from A_3^2 for each A_2^2; all moments equal: nothing
        # moves, any number will do.
        self.ratio = 1.0 if two == three else (1.0 - three/one)/(1.0 - three/two)
        flattening = 0.0 if one == two else (1.0 - one/two)/(1.0 - one/three)
        self.amplitude = np.hypot(p[0], p[1]/np.sqrt(self.ratio))
        self.axial = np.copysign(np.hypot(p[2], p[1]*np.sqrt(flattening)), p[2])
        self.complement = max((p[2]*p[2] - p[0]*p[0]*self.ratio*flattening)/self.axial**2, 0.0) if self.axial else 1.0
        self.rate = self.axial*(1.0/one - 1.0/three)/np.sqrt(self.ratio)
        sn, cn = (p[1]/np.sqrt(self.ratio)/self.amplitude, p[0]/self.amplitude) if self.amplitude else (0.0, 1.0)
        self.start = sn, cn, p[2]/self.axial if self.axial else 1.0
        self.steady = self.rate == 0.0 or (self.complement == 0.0 and cn == 0.0)
        if not self.steady:
            self.half_period = _first_kind(1.0, 0.0, self.complement) if self.complement > 0.0 else np.inf
            side = np.copysign(1.0, cn)
            behind = 0.0 if side > 0.0 else 2.0*np.copysign(self.half_period, sn)
            self.offset = behind + _first_kind(side*sn, side*cn, self.complement)

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Frames F (time, 3, 3) in renumbered body axes and angles of precession, up to a constant (time,)."""
        turns = zero = np.zeros_like(times)
        if self.steady:
            sn, cn, dn = (np.full_like(times, value) for value in self.start)
        else:
            u = self.rate*times + self.offset
            if np.isfinite(self.half_period):
                turns = np.round(u/(2.0*self.half_period))
                u = u - 2.0*turns*self.half_period
            sn, cn, dn = _jacobi(u, self.complement)
        sign = 1.0 - 2.0*np.mod(turns, 2.0)
        across, along = sign*cn, sign*np.sqrt(self.ratio)*sn
        width = np.hypot(across, along)
        cosine, sine = self.axial*dn/self.size, self.amplitude*width/self.size
        x, y = across/width, along/width
        columns = np.array([[cosine*x, cosine*y, -sine], [-y, x, zero], [sine*x, sine*y, cosine]])
        return np.moveaxis(columns, (0, 1), (2, 1)), self._precession(times, turns, sn, cn)

    def _precession(self, times: np.ndarray, turns: np.ndarray, sn: np.ndarray, cn: np.ndarray) -> np.ndarray:
        """Integral of L (1/I_1 + (1/I_2 - 1/I_1) weight), weight = ratio sn^2/(cn^2 + ratio sn^2)."""
        one, two, _ = self.moments
        excess, ratio = self.size*(1.0/two - 1.0/one), self.ratio
        if self.steady or excess == 0.0:
            return (self.size/one + excess*ratio*sn*sn/(cn*cn + ratio*sn*sn))*times
        integral = _third_kind(sn, cn, self.complement, ratio)
        if np.any(turns):
            integral = integral + 2.0*turns*_third_kind(1.0, 0.0, self.complement, ratio)
        return self.size/one*times + excess*ratio/self.rate*integral


def _first_kind(s: float, c: float, complement: float) -> float:
    """F(phi | 1 - complement) for sin phi = s, cos phi = c >= 0."""
    from scipy.special import elliprf

    return float(s*elliprf(c*c, c*c + complement*s*s, 1.0))


def _third_kind(s: np.ndarray | float, c: np.ndarray | float, complement: float, ratio: float) -> np.ndarray:
    """Integral of sin^2/((1 - n sin^2) sqrt(1 - m sin^2)) from 0 to the angle of sine s and cosine c >= 0; 1 - m =
    complement, 1 - n = ratio."""
    from scipy.special import elliprj

    return s*s*s/3.0*elliprj(c*c, c*c + complement*s*s, 1.0, c*c + ratio*s*s)


def _jacobi(u: np.ndarray, complement: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """sn, cn, dn of u for the parameter 1 - complement, by descending Gauss transformations (Bulirsch 1965).

    scipy takes the parameter itself: near 1 its rounding is magnified by the square root of 1/complement.
    """
    if complement == 0.0:
        return np.tanh(u), 1.0/np.cosh(u), 1.0/np.cosh(u)
    a, b, levels = 1.0, np.sqrt(complement), []
    while True:
        levels.append((a, b))
        if abs(a - b) <= 1e-9*a:
            break
        a, b = 0.5*(a + b), np.sqrt(a*b)
    mean = 0.5*(a + b)
    sine, cosine = np.sin(mean*u), np.cos(mean*u)
    rest = sine == 0.0
    x = cosine/np.where(rest, 1.0, sine)
    c, dn = mean*x, np.ones_like(u)
    for a, b in reversed(levels):
        x = x*c
        c = c*dn
        dn = (b + x)/(a + x)
        x = c/a
    sn = np.copysign(1.0/np.sqrt(c*c + 1.0), sine)
    return np.where(rest, 0.0, sn), np.where(rest, 1.0, c*sn), np.where(rest, 1.0, dn)
