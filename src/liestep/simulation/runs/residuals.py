"""Whether residuals and the error of conserved energy stay small beside their own sizes: one rule for every run."""
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

import numpy as np

from liestep.mechanics.contracts.formulated import JOINTS, Formulated, Joints, Observable
from liestep.simulation.runs.specified import RunSpecification

ALLOWED = 0.01  # of the own size of a residual or an energy; runs that are farther off have a warning
MOST = 20  # samples that are looked at
Seen = Callable[[], Mapping[str, np.ndarray]]  # makes times, fields and observables at the samples of a run


def warning_of(spec: RunSpecification, formulated: Formulated, numbers: Mapping[str, float], seen: Seen) -> str:
    """What is off by more than ALLOWED of its own size, by how much, and what helps; "" where nothing is. numbers:
    statistics over all steps. Sizes: of residuals what their observables declare, of joints the mechanism's length
    (directions: 1), of an energy the largest of kinetic and potential energy at the samples."""
    found: list[str] = []
    for part in formulated.observables:
        off = _largest(part, numbers)
        mechanical = _mechanical(part, seen()) if part.is_energy and off > 0.0 else np.zeros(1)
        if not off > _bound(part, np.abs(mechanical).max(initial=0.0)):
            continue
        if part.is_energy:
            kinetic = spec.sheet.kinetic_energy(spec.parameters, dict(seen()))
            terms = np.abs([*kinetic, *(mechanical - kinetic)])
            if off > ALLOWED*(size := float(terms[np.isfinite(terms)].max(initial=0.0))):
                found.append(f"{part.name} is off by up to {off:.3g}, {_share(off, size)}, the largest kinetic or"
                             " potential energy: take a smaller step or tolerance")
        elif part.size == JOINTS:
            assert formulated.joints is not None
            found += _of_joints(spec, formulated.joints, off, seen)
        else:
            found.append(f"{part.name} ({part.long_name}) is up to {off:.3g}, {_share(off, float(part.size or 0.0))}:"
                         " take a smaller step or tolerance, or an integrator that keeps it")
    return "; ".join(found)


def _share(off: float, size: float) -> str:
    return f"{100.0*off/size if size > 0.0 else np.inf:.3g} % of {size:.3g} (warned of above {100.0*ALLOWED:g} %)"


def _largest(part: Observable, numbers: Mapping[str, Any]) -> Any:
    """Of the deviations of what the exact motion keeps over all counted points and accepted steps; 0 without any."""
    if part.kind == "plain" or "max" not in part.asked:
        return 0.0
    kept = part.conserved or (True,)*part.width
    largest = [numbers[name] for one, flag in zip(part.statistic("max"), kept, strict=True) if flag
             for name in (one, f"{one}_accepted") if name in numbers]
    return reduce(np.maximum, largest, 0.0)


def _bound(part: Observable, energy: Any) -> Any:
    """Up to where nothing is said of it: more than half of an energy T + V is T or V."""
    return (0.5*ALLOWED*energy if part.is_energy else
            0.0 if part.size == JOINTS else np.inf if part.size is None else ALLOWED*float(part.size))


def suspects(formulated: Formulated, numbers: Mapping[str, np.ndarray], energies: np.ndarray) -> np.ndarray:
    """Numbers of those runs of a batch that may have a warning. energies: (n, samples) of the first observable."""
    suspicious, total = np.zeros(len(energies), dtype=bool), np.nanmax(np.abs(energies), axis=1, initial=0.0)
    for part in formulated.observables:
        suspicious |= _largest(part, numbers) > _bound(part, total)
    return np.flatnonzero(suspicious)


def _mechanical(part: Observable, seen: Mapping[str, np.ndarray]) -> np.ndarray:
    """T + V at the samples, where `part` may be less the work."""
    if "mechanical_energy" in seen:
        return seen["mechanical_energy"]
    return seen["energy"] + seen["work"] if part.name == "energy" and "work" in seen else seen["energy"]


def sampled(seen: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Up to MOST samples."""
    kept = np.unique(np.linspace(0, len(seen["time"]) - 1, MOST).round().astype(int))
    return {name: values[kept] for name, values in seen.items()}


def _of_joints(spec: RunSpecification, joints: Joints, off: float, seen: Seen) -> Iterator[str]:
    """The recorded residual is the largest of lengths and directions: which one it was, the samples tell."""
    length = joints.length(seen())
    if not off > ALLOWED*min(1.0, length):
        return
    gap, turn = joints.gaps(sampled(seen()))
    gap, turn = (off, turn) if off > 2.0*turn or gap >= turn else (gap, off)
    known = spec.sheet.forms[spec.method.formulation].options.get("stabilisation")
    remedy = (f" or options={{'stabilisation': {known.choices[-1]!r}}}"
              if known and spec.options.get("stabilisation") == "none" else "")
    worst = f"{gap:.3g} m, {_share(gap, length)}" if gap >= turn*length else (
        f"{turn:.3g} (directions), {_share(turn, 1.0)}")
    if max(gap/length, turn) > ALLOWED:
        yield f"joints are off by up to {worst}: take a smaller step or tolerance{remedy}"
