"""Starts of rigid bodies in absolute coordinates: turns, and states from places and velocities of other points."""
import numpy as np


def body_state(attitude: np.ndarray, rate: np.ndarray, point: np.ndarray, place: np.ndarray,
               velocity: np.ndarray) -> dict[str, np.ndarray]:
    """State of one body from place and velocity (spatial) of a material point, given from the reference point in body
    axes."""
    return {"attitude": attitude, "position": place - attitude @ point, "body_rate": rate,
            "velocity": velocity - attitude @ np.cross(rate, point)}


def stacked(bodies: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """State of several bodies."""
    return {name: np.array([body[name] for body in bodies]) for name in bodies[0]}
