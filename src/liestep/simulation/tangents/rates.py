"""Lyapunov exponents from the growth of derivatives. Light to import: nothing here is compiled."""
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

GROUPS = 20   # parts of a run whose spread is the uncertainty: few and long, because neighbours are alike


class Exponent(NamedTuple):
    """A mean rate of growth (1/s), and the standard error of that mean over parts of the run."""

    rate: float
    uncertainty: float


def exponents(grown: np.ndarray, t_end: float) -> list[Exponent]:
    """Exponents with their uncertainties from the growth (blocks, k) in equal parts of a run of length t_end (s)."""
    groups = min(GROUPS, len(grown))
    rates = np.stack([part.sum(axis=0)/(len(part)*t_end/len(grown)) for part in np.array_split(grown, groups)])
    spread = rates.std(axis=0, ddof=1)/np.sqrt(groups) if groups > 1 else np.full(grown.shape[1], np.nan)
    return [Exponent(float(rate), float(u)) for rate, u in zip(grown.sum(axis=0)/t_end, spread, strict=True)]


def pair_sums(rates: Iterable[float]) -> np.ndarray:
    """Sums of the largest and the smallest exponent, the second of each, and so on, the middle one of an odd number
    with itself: zero for a Hamiltonian system, k in any order to ((k + 1) // 2,)."""
    ordered = np.sort(np.array(list(rates)))
    return (ordered + ordered[::-1])[:(len(ordered) + 1)//2]
