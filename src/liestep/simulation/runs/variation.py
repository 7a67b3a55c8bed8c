"""Derivatives of a run's end with respect to its start, as an xarray data set."""
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from liestep.errors import InputError, unknown
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.runs.numbers import positive
from liestep.simulation.runs.specification import RunSpecification, specify
from liestep.simulation.tangents.directions import Direction, span

if TYPE_CHECKING:
    import xarray


def tangent(problem: str, integrator: str, *, step: float, t_end: float, preset: str | None = None,
            parameters: Mapping[str, Any] | None = None, initial: Mapping[str, Any] | None = None,
            options: Mapping[str, Any] | None = None,
            directions: Sequence[Mapping[str, Any]] | None = None) -> "xarray.Dataset":
    """Derivatives of the state at t_end with respect to the start, by complex steps: right to round-off, whatever the
    step of the integrator. Arguments as for `simulate`; fixed steps only.

    Args:
        directions: derivatives of the initial state fields, one mapping for each direction; fields that are left out
            are zero (default: a basis of the tangent space at the start).

    Returns:
        Data set with the dimension `direction`: the state fields at t_end, d_<field> for the derivatives of each in the
        units of the field, and start_<field> for the directions.

    Raises:
        InputError: a wrong argument, in one sentence.
        IntegrationError: the run stopped before t_end.
    """
    import xarray

    from liestep.simulation.tangents.flow import tangents

    spec = specify(problem, integrator, step=step, t_end=positive("t_end", t_end), preset=preset, parameters=parameters,
                   initial=initial, options=options)
    assert spec.steps is not None
    assert spec.step is not None
    standard = formulate_standard(spec.sheet, spec.parameters, spec.initial)
    chosen = (span(spec.sheet, spec.parameters, spec.initial) if directions is None
              else [_direction(spec, number, given) for number, given in enumerate(directions)])
    moved = tangents(spec, spec.initial, chosen, spec.t_end)
    moved.advance(spec.step, 0, spec.steps)
    state, derivatives = moved.fields()
    found = {}
    for part in moved.formulated.fields:
        about = {"units": part.units, "long_name": part.long_name}
        found[part.name] = (part.dims, state[part.name], about)
        found[f"d_{part.name}"] = (("direction", *part.dims), derivatives[part.name],
                                   about | {"long_name": f"derivative of {part.long_name}"})
    for part in standard.fields:
        if part.name in spec.initial:
            found[f"start_{part.name}"] = (("direction", *part.dims), np.stack([one[part.name] for one in chosen]),
                                           {"units": part.units, "long_name": f"direction of {part.long_name}"})
    return xarray.Dataset(found, attrs={"problem": problem, "integrator": integrator, "step": spec.step,
                                        "t_end": spec.t_end})


def _direction(spec: RunSpecification, number: int, given: Mapping[str, Any]) -> Direction:
    """A direction with all fields; raises InputError for unknown fields and other shapes."""
    found = {name: np.zeros_like(value) for name, value in spec.initial.items()}
    for name, values in given.items():
        if name not in found:
            raise InputError(f"direction {number}: {unknown('initial state field', name, found)}")
        try:
            found[name] = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"direction {number}: {name} must be numbers") from None
        if found[name].shape != spec.initial[name].shape:
            raise InputError(f"direction {number}: {name} must be of shape {spec.initial[name].shape}, not"
                             f" {found[name].shape}")
    return found
