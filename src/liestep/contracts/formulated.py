"""What every formulation of a system offers: the component, its first state, and how rows are read as
named fields and observables."""
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Observable:
    """A group of columns of `observe`: an invariant (deviation from its initial value) or a
    residual (deviation from zero).

    `mean` and `largest` name the statistics over all points, None for none. `conserved` says of each column whether the
    exact motion keeps it; empty for residuals.
    """

    name: str
    columns: slice
    units: str
    long_name: str
    residual: bool
    mean: str | None
    largest: str | None
    conserved: tuple[bool, ...] = ()


@dataclass(frozen=True)
class StateField:
    """One named part of the state.

    norm: what its error is. "direction": largest distance of vectors; "relative": the same, divided by the largest
    length along the reference; "attitude": Frobenius norm over sqrt(2); "derived": follows from other fields and
    has no error of its own.
    """

    name: str
    units: str
    long_name: str
    dims: tuple[str, ...] = ("body", "xyz")
    norm: str = "direction"

    def distance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """(time,): largest distance over bodies, not scaled."""
        squares = (a - b)**2
        if self.norm == "attitude":
            size = np.sqrt(0.5*squares.sum(axis=(-2, -1)))
        else:
            size = np.sqrt(squares.sum(axis=-1))
        return size.reshape(len(size), prod(size.shape[1:])).max(axis=1)

    def scale(self, reference: np.ndarray) -> float:
        """What distances are divided by; 1 where the reference stays at zero."""
        if self.norm != "relative":
            return 1.0
        return float(np.sqrt(np.sum(reference*reference, axis=-1)).max()) or 1.0


@dataclass(frozen=True)
class Formulated:
    """A system ready for an integrator: the component, its first state, and how to read its rows."""

    problem: Any
    start: np.ndarray                                     # (m, 3)
    fields: tuple[StateField, ...]
    observables: tuple[Observable, ...]
    to_fields: Callable[[np.ndarray], dict[str, np.ndarray]]  # (samples, m, 3) -> name: (samples, *dims)
    # size of the terms that are summed in the momentum, at the start
    momentum_scale: float

    @property
    def width(self) -> int:
        """Number of columns of `observe`."""
        return self.observables[-1].columns.stop

    @property
    def error_fields(self) -> list[StateField]:
        """The fields whose distance from a reference is the state error."""
        return [part for part in self.fields if part.norm != "derived"]

    @property
    def momentum_axes(self) -> str:
        """Axes of the conserved components of the momentum map; empty where there is none."""
        flags = next((part.conserved for part in self.observables if part.name == "momentum_map"), ())
        return "".join(axis for axis, flag in zip("xyz", flags, strict=False) if flag)

    @property
    def attributes(self) -> dict[str, Any]:
        """What files say about fields and observables: `invariants` are the scalar ones that the exact motion keeps."""
        return {
            "momentum_scale": self.momentum_scale, "momentum_conserved": self.momentum_axes or "none",
            "invariants": " ".join(part.name for part in self.observables if part.conserved == (True,)),
            "error_norms": " ".join(f"{part.name}:{part.norm}" for part in self.error_fields)}
