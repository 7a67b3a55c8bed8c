"""The conical top of livens2025, section 5.4: sizes, moments, and its steady precession."""
import numpy as np

DENSITY, HEIGHT, RADIUS, DISTANCE, GRAVITY = 2700.0, 0.1, 0.05, 0.075, 9.81  # kg/m3, m, m, m, m/s2
MASS = DENSITY*np.pi*RADIUS**2*HEIGHT/3.0
ABOUT_CENTRE = 3.0/80.0*MASS*(4.0*RADIUS**2 + HEIGHT**2)  # (113); for these sizes the same about all axes
ABOUT_TIP = ABOUT_CENTRE + MASS*DISTANCE**2
AXIAL = 3.0/10.0*MASS*RADIUS**2
TILT, PRECESSION = np.pi/3.0, 10.0                        # rad, rad/s


def steady_spin(tilt: float, precession: float) -> float:
    """Spin (rad/s) at which the top precesses steadily, livens2025 eq. (118)."""
    weight = MASS*GRAVITY*DISTANCE
    return weight/(AXIAL*precession) + (ABOUT_TIP - AXIAL)/AXIAL*precession*np.cos(tilt)
