"""Numbers of a run that only rodrigues2021 defines: its relative errors of energy and trajectory, eqs. (35) to (38),
and what the impact of a ring does to it. The norm of the reference is integrated from splines of order 8 through its
samples, in pieces between the places where a body is turned by pi: there the square of the principal angle has a kink.
(37) takes the root of a difference of squares, which halves the order of whatever it measures; the last column is the
error of the trajectory itself."""
import json
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from liestep.paper import RunFile, sheet

TERMS = ("rotation", "bending", "shear", "axial", "contact", "wall")
FLAT = 1e-3  # share of the kinetic energy of translation that may be lost while it still counts as flat
VARIABLES = ("energy", "h1_norm_squared", "position", "velocity", "attitude", "angular_momentum", "time",
             "translation_energy", *(f"{term}_energy" for term in TERMS))
DEGREE = 7
_known: dict[str, tuple["Trajectory", float]] = {}
FIELDS = ("position", "velocity", "angular_velocity")


class Trajectory(NamedTuple):
    """Samples: time (t,), squares (t,) of positions and velocities, quaternions (t, n, 4) whose sign does not jump."""

    time: np.ndarray
    squares: np.ndarray
    quaternions: np.ndarray

    def norm_squared(self) -> float:
        """Eq. (35), squared."""
        total = float(_spline(self.time, self.squares).integrate(self.time[0], self.time[-1]))
        for body in np.moveaxis(self.quaternions, 1, 0):
            total += self._turning(body)
        return total

    def _turning(self, body: np.ndarray) -> float:
        """Integral of the squared principal angle of one body (t, 4)."""
        angle = 2.0*np.arctan2(np.linalg.norm(body[:, 1:], axis=1), body[:, 0])  # 0 to 2 pi, smooth at pi
        start, end = self.time[0], self.time[-1]
        cuts = [start, *_roots(self.time, body[:, 0]), end]
        near, far = (_spline(self.time, part*part) for part in (angle, 2.0*np.pi - angle))
        total = 0.0
        for a, b in pairwise(cuts):
            side = near if _spline(self.time, body[:, 0])(0.5*(a + b)) > 0.0 else far
            total += float(side.integrate(a, b))
        return total

    def density(self, times: np.ndarray) -> np.ndarray:
        """The integrand of eq. (35) at any times (k,)."""
        total: np.ndarray = _spline(self.time, self.squares)(times)
        for body in np.moveaxis(self.quaternions, 1, 0):
            angle = _spline(self.time, 2.0*np.arctan2(np.linalg.norm(body[:, 1:], axis=1), body[:, 0]))(times)
            total = total + np.minimum(angle, 2.0*np.pi - angle)**2
        return total


def _spline(time: np.ndarray, values: np.ndarray) -> Any:
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(time, values, k=min(DEGREE, len(time) - 1 - len(time) % 2))


def _roots(time: np.ndarray, values: np.ndarray) -> list[float]:
    """Times at which samples of a smooth function pass through zero."""
    from scipy.optimize import brentq

    places = np.flatnonzero(values[:-1]*values[1:] < 0.0)
    if not places.size:
        return []
    spline = _spline(time, values)
    return [float(brentq(spline, time[k], time[k + 1], xtol=1e-14)) for k in places]


def bodies(file: RunFile) -> dict[str, np.ndarray]:
    """Fields with a body axis (t, n, ...): attitude, angular_velocity, and position and velocity where there are."""
    many = file["attitude"].ndim == 4
    attitude = file["attitude"] if many else file["attitude"][:, None]
    momentum = file["angular_momentum"] if many else file["angular_momentum"][:, None]
    found: dict[str, np.ndarray] = {name: file[name] for name in FIELDS[:2] if name in file.variables}
    turned = np.einsum("tnij,tni->tnj", attitude, momentum)/moments(file)
    return {**found, "attitude": attitude, "angular_velocity": np.einsum("tnij,tnj->tni", attitude, turned)}


def moments(file: RunFile) -> np.ndarray:
    """Principal moments (n, 3) of the bodies of a run or reference."""
    specification = json.loads(file.attributes["specification"])
    facts = sheet(specification["problem"])
    assert facts.moments is not None
    return facts.moments(facts.check(specification["parameters"]))


def motion(file: RunFile) -> Trajectory:
    """Samples of a run or reference as `Trajectory`."""
    from scipy.spatial.transform import Rotation

    found = bodies(file)
    attitude = found["attitude"]
    quaternions = Rotation.from_matrix(attitude.reshape(-1, 3, 3)).as_quat()[:, [3, 0, 1, 2]]
    quaternions = quaternions.reshape(*attitude.shape[:2], 4)
    jumps = np.sign(np.sum(quaternions[1:]*quaternions[:-1], axis=2))
    quaternions[1:] *= np.cumprod(np.where(jumps < 0.0, -1.0, 1.0), axis=0)[..., None]
    quaternions *= np.where(quaternions[:1, :, :1] < 0.0, -1.0, 1.0)
    squares = sum(np.sum(found[name]**2, axis=(1, 2)) for name in FIELDS if name in found)
    return Trajectory(file["time"], np.asarray(squares), quaternions)


def energy_error(file: RunFile) -> float:
    """Eq. (38) by the trapezoidal rule over every step, from the stored mean square, which counts both ends wholly."""
    if "energy_error_mean_square" not in file.attributes or file["time"].size == 0:
        return float("nan")
    energy, points = file["energy"], int(file.attributes["statistics_points"])
    last = energy[-1] - energy[0]
    square = file.attributes["energy_error_mean_square"]*points - 0.5*last*last
    return float(np.sqrt(max(square, 0.0)/max(points - 1, 1))/abs(energy[0]))


def trajectory_error(file: RunFile, reference: RunFile, norm: float) -> float:
    """|q_h - q|/|q| in H1 over the common samples, by the trapezoidal rule; the angle is that of R_h R^T."""
    one, two, time = bodies(file), bodies(reference), file["time"]
    turn = np.einsum("tnij,tnkj->tnik", one["attitude"], two["attitude"][:len(time)])
    chord = np.sqrt(0.5)*np.linalg.norm(one["attitude"] - two["attitude"][:len(time)], axis=(2, 3))
    angle = 2.0*np.arctan2(0.5*chord, np.sqrt(np.maximum(0.25*(1.0 + np.trace(turn, axis1=2, axis2=3)), 0.0)))
    density = np.sum(angle**2, axis=1)
    for name in FIELDS:
        if name in one:
            density = density + np.sum((one[name] - two[name][:len(time)])**2, axis=(1, 2))
    return float(np.sqrt(np.trapezoid(density, time)/norm))


def _exact(reference: RunFile) -> tuple[Trajectory, float]:
    """Trajectory and squared norm of a reference, computed once for all runs of a problem."""
    key = reference.attributes["run_sha256"]
    if key not in _known:
        _known.clear()
        exact = motion(reference)
        _known[key] = exact, exact.norm_squared()
    return _known[key]


def errors(file: RunFile, reference: RunFile | None) -> dict[str, float]:
    """energy_error_h0: (38). h1_norm_error: (37). h1_norm_error_sampled: (37) of the exact motion of one body on the
    run's own steps. h1_error: of the trajectory itself."""
    if "h1_norm_squared" not in file.variables:
        return {}
    found = {"energy_error_h0": energy_error(file)}
    if reference is None or file.attributes["status"] != "ok":
        return found
    exact, norm = _exact(reference)
    found["h1_norm_error"] = float(np.sqrt(abs(file["h1_norm_squared"][-1] - norm)/norm))
    if "step" in file.attributes and file["attitude"].ndim == 3:
        grid = np.linspace(0.0, file["time"][-1], round(file["time"][-1]/file.attributes["step"]) + 1)
        found["h1_norm_error_sampled"] = float(np.sqrt(abs(np.trapezoid(exact.density(grid), grid) - norm)/norm))
    return found | {"h1_error": trajectory_error(file, reference, norm)}


def impact(file: RunFile, reference: RunFile | None) -> dict[str, float]:
    """Of particles before a wall, from the samples. energy_largest: largest |H| (J). flat_until: time of the last
    sample before the kinetic energy of translation has changed by FLAT of itself (s). diameter_change: largest |D/D(0)
    - 1| of the extents D along x and y. rebound_speed: mean velocity along x at the end (m/s). share_<term>: largest
    share of each energy in the total at the start."""
    if "wall_energy" not in file.variables or file["time"].size == 0:
        return {}
    energy, place, moving = file["energy"], file["position"], file["translation_energy"]
    extent = np.ptp(place[..., :2], axis=1)
    changed = np.flatnonzero(np.abs(moving - moving[0]) > FLAT*moving[0])
    last = changed[0] - 1 if changed.size else moving.size - 1
    return {"energy_largest": float(np.abs(energy).max()), "flat_until": float(file["time"][max(last, 0)]),
            "diameter_change": float(np.abs(extent/extent[0] - 1.0).max()),
            "rebound_speed": float(file["velocity"][-1, :, 0].mean()),
            **{f"share_{term}": float(file[f"{term}_energy"].max()/energy[0]) for term in TERMS}}


QUANTITIES = (errors, impact)
NAMES = ("energy_error_h0", "h1_norm_error", "h1_norm_error_sampled", "h1_error", "energy_largest", "flat_until",
         "diameter_change", "rebound_speed", *(f"share_{term}" for term in TERMS))
