"""Moments of inertia of a spinning top from noisy attitudes, with 95 % intervals, by scipy's least squares."""
import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation
from scipy.stats import t

import liestep

NOISE = 0.01  # rad about each axis
TRUE = np.array([1.0, 1.4, 2.0])  # kg m^2


def attitudes(inertia: np.ndarray) -> Rotation:
    """At 41 instants in 2 s."""
    run = liestep.simulate("heavy_top", "rkmk", preset="asymmetric", parameters={"inertia": inertia.tolist()},
                           step=0.01, t_end=2.0, samples=41)
    return Rotation.from_matrix(run["attitude"].values)


def fit(measured: Rotation, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moments, and half the length of their 95 % intervals: the noise is judged by what is left."""
    found = least_squares(lambda inertia: (attitudes(inertia)*measured.inv()).as_rotvec().ravel(), guess)
    freedom = len(found.fun) - len(guess)
    covariance = np.linalg.inv(found.jac.T @ found.jac)*(found.fun @ found.fun/freedom)
    return found.x, t.ppf(0.975, freedom)*np.sqrt(np.diag(covariance))


def trial(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A fit of what is measured with the noise of a seed."""
    noise = np.random.default_rng(seed).normal(scale=NOISE, size=(41, 3))
    return fit(Rotation.from_rotvec(noise)*attitudes(TRUE), 1.2*TRUE)


if __name__ == "__main__":
    for moment, width in zip(*trial(0), strict=True):
        print(f"{moment:.4f} +- {width:.4f} kg m^2")
