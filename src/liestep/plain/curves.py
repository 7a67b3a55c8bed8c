"""Curves and surfaces of joints, which are plain functions: their derivatives as text of the component, and in plain
Python while the mechanism is put together."""
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from liestep.errors import InputError
from liestep.mechanics.formulations.multibody.assembly import GROUND, Joint, Rows
from liestep.plain.arrays import place
from liestep.plain.families import Writer, entries
from liestep.plain.loops import lines
from liestep.plain.symbols import evaluated, gradient

POINTS = (32, 64, 128, 256, 512)  # intervals from whose ends the nearest point of a curve is looked for
STRAIGHT = 0.5                    # least cosine between the tangents of two of them
ALIKE, PARALLEL = 1e-9, 0.999     # ends that are one, relative to the curve's size; cosine of an axis along a tangent


class Held:
    """The functions of joints, in the place of the component that is not written yet."""

    works = False

    def __init__(self, w: Writer):
        self.w = w
        self.targets: list[list[tuple[str, Any]]] = []

    def held(self, k: int, x: Any, out: np.ndarray) -> None:
        """As `multibody.elements.NoOwn.held`."""
        values = evaluated([found for _, found in self.targets[k]], self.w.values | {
            f"x[{c}]": float(x[c]) for c in range(3)})
        rows = np.reshape(values, (-1, 3))
        out[:len(rows)] = rows

    def write(self) -> None:
        """The method of the component."""
        written = [line for k, part in enumerate(self.targets)
                   for line in (f"        if k == {k}:", *lines(part, "            "))]
        self.w.add("held(self, k, x, out)", [*written, "        pass"], [x for part in self.targets for _, x in part])

    def filled(self, joints: Sequence[Joint], state: Mapping[str, np.ndarray]) -> list[Joint]:
        """The joints with the numbers that their rows need instead of functions. Raises InputError: as `Writer.call`,
        or a function that makes no curve."""
        return [joint if all(one.function is None for one in joint.rows) else
                replace(joint, rows=self._rows(f"curve of joint {k} ({joint.name})", joint, state))
                for k, joint in enumerate(joints)]

    def _rows(self, what: str, joint: Joint, state: Mapping[str, np.ndarray]) -> tuple[Rows, ...]:
        bare, first = [replace(one, function=None) for one in joint.rows], len(self.targets)
        function, vectors = joint.rows[0].function, bare[0].vectors
        assert function is not None
        if vectors[4][1] > vectors[4][0]:
            x = self.w.symbol("x[0]", vectors[4][0])
            point = list(self.w.call(what, function, (3,), s=x))
            rates = [gradient(c, [x])[0] for c in point]
            self.targets.append(entries("out", [point, rates, [gradient(c, [x])[0] for c in rates]]))
            axis, count, closed = self._searched(what + place(function), *vectors[4][:2])
            span = np.append(vectors[4][:2], count)
            return tuple(replace(one, vectors=(*vectors[:2], axis, vectors[3], span, np.array([first, closed, which])))
                         for which, one in enumerate(bare))
        turn, at, end = (state["attitude"][joint.a], state["position"][joint.a], joint.b) if joint.a != GROUND else (
            np.eye(3), np.zeros(3), joint.b)
        far = vectors[1] if end == GROUND else state["position"][end] + state["attitude"][end] @ vectors[1]
        xs = self.w.array("x", turn.T @ (far - at) - vectors[0])
        shape = (2,) if len(bare) == 2 else ()
        for value in np.ravel(self.w.call(what, function, shape, x=xs)):
            size = np.linalg.norm(evaluated(gradient(value, list(xs)), self.w.values))
            if not 0.0 < size < np.inf:
                raise InputError(f"{what} has a gradient of length {size:.3g} at the start: it must not vanish where"
                                 f" the function is zero{place(function)}")
            value = value/float(size)  # so that what is off is a length
            slope = gradient(value, list(xs))
            self.targets.append(entries("out", [[value, 0.0, 0.0], slope, *(gradient(c, list(xs)) for c in slope)]))
        return tuple(replace(one, vectors=(*vectors[:5], np.array([first + which, 0.0, 0.0])))
                     for which, one in enumerate(bare))

    def _searched(self, what: str, first: float, last: float) -> tuple[np.ndarray, int, int]:
        """An axis along no tangent; in how many intervals the nearest point is looked for; 1 of a closed curve."""
        out = np.zeros((5, 3))
        for count in POINTS:
            between = np.linspace(first, last, 4*count + 1)
            seen = np.empty((len(between), 3, 3))
            for k, s in enumerate(between):
                self.held(len(self.targets) - 1, (s, 0.0, 0.0), out)
                seen[k] = out[:3]
            speed = np.linalg.norm(seen[:, 1], axis=1)
            size = np.abs(seen[:, 0] - seen[0, 0]).max()
            if not (np.isfinite(seen).all() and speed.min() > ALIKE*speed.max()):
                raise InputError(f"{what} must be finite and have a tangent everywhere in its span, and does not at s ="
                                 f" {between[np.nanargmin(speed)]:.6g}")
            tangents, every = seen[:, 1]/speed[:, None], seen[::4, 0]
            closed = bool(np.abs(seen[-1] - seen[0]).max(axis=1)[0] < ALIKE*size and tangents[-1] @ tangents[0] > 0.9)
            nearest = np.argmin(np.sum((seen[:, None, 0] - every)**2, axis=2), axis=1)
            off = np.abs(nearest - np.arange(len(between))/4.0)
            off = np.minimum(off, count - off) if closed else off
            if off.max() <= 1.0 and np.sum(tangents[:-4]*tangents[4:], axis=1).min() > STRAIGHT:
                break
        else:
            raise InputError(f"{what} comes near itself or bends too sharply: its nearest point is not found among"
                             f" {count} of it")
        candidates = [np.linalg.svd(tangents)[2][-1], *np.eye(3), *np.linalg.qr(np.vander(np.arange(1.0, 4.0)))[0]]
        worst = [np.abs(tangents @ axis).max() for axis in candidates]
        if min(worst) > PARALLEL:
            raise InputError(f"{what} turns its tangent into every direction: give it in parts")
        return candidates[int(np.argmin(worst))], count, int(closed)
