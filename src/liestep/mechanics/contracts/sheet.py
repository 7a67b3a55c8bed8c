"""What a system file declares beside its equations: parameters, presets, conservation laws. One `SHEET` per file.

Families (`liestep.mechanics.formulations.spheres.forms`, `liestep.mechanics.formulations.fixed_body.forms`) are
functions that return a sheet with all forms of their systems; a system of no family lists its forms itself. A system is
known everywhere under its file name.
"""
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.form import Form
from liestep.mechanics.contracts.parameters import CellParameters, Cells, Parameter, Preset, once, real_array

Parameters = Mapping[str, Any]
State = Mapping[str, np.ndarray]
Options = Mapping[str, Any]


class Runner(Protocol):
    """What a system may ask of the method that is to run on it."""

    @property
    def formulation(self) -> str: ...

    @property
    def takes_forces(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Fact sheet of a mechanical system. Fields from `mass` on are None where a system has nothing of the kind.

    manifold(parameters, state) raises InputError for a start that is off the manifold. kinetic_energy(parameters,
    fields) takes fields with a leading time and gives (time,). Rows below are those of the standard form.
    """

    title: str
    equations: str
    parameters: Mapping[str, Parameter]
    build: Callable[[Parameters], Any]            # checked parameters -> the system's NamedTuple
    # which components of the momentum map (x, y, z) the motion conserves
    conserved_momentum: Callable[[Parameters], tuple[bool, bool, bool]]
    state_shapes: Callable[[Parameters], Mapping[str, tuple[int, ...]]]  # name of each state field -> shape
    manifold: Callable[[Parameters, State], None]
    kinetic_energy: Callable[[Parameters, State], np.ndarray]
    forms: Mapping[str, Form]                     # id of a formulation -> form
    # the system's own presets; the catalogue adds those of papers, which live with the papers
    presets: Mapping[str, Preset] = field(default_factory=dict)
    default_preset: str = ""                      # "": the first
    citation: str = ""
    # raises InputError where single parameters are fine, together not
    combination: Callable[[Parameters], None] = lambda parameters: None
    standard_form: str = "vector_field"           # in which references, judgements and descriptions see the state
    # the two engines of references; the trajectory of the first is kept
    engines: tuple[str, str] | Callable[[Parameters], tuple[str, str]] = ("dop853", "taylor")
    # id of an integrator of high order that stands in for an engine that cannot treat the system
    fallback: str | Callable[[Parameters], str | None] | None = None
    # whether forces have so few derivatives that the fallback engine converges irregularly
    irregular: Callable[[Parameters], bool] = lambda parameters: False
    mass: Callable[[Parameters], np.ndarray] | None = None  # constant mass matrix, (n,) if it is diagonal, or (n, n)
    moments: Callable[[Parameters], np.ndarray] | None = None  # of rigid bodies: principal moments of inertia (n, 3)
    # (parameters, start) -> function (options, counters) -> floating-point operations of a run
    cost: Callable[[Parameters, State], Callable[[Mapping[str, Any], Mapping[str, Any]], float]] | None = None
    # (parameters, start) -> equations of a Taylor series; None: those of the vector field
    series: Callable[[Parameters, State], Any] | None = None
    exact: Callable[[Parameters, State, np.ndarray], np.ndarray] | None = None  # (parameters, start, times) -> rows
    # (parameters, state) -> the nearest state on the manifold; raises InputError where there is none
    nearest_start: Callable[[Parameters, State], dict[str, np.ndarray]] | None = None
    # parameters (..., 3) that have to be turned with the state when all of space is turned, for the same motion; None
    # where that is no symmetry
    symmetries: tuple[str, ...] | None = None
    # (parameters, method) -> why the method cannot run at these parameters, in words; None where it can
    requires: Callable[[Mapping[str, Any], Runner], str | None] | None = None
    # largest step in s at which explicit maps of kicks and drifts are stable; None where the forces say nothing
    largest_step: Callable[[Parameters], float] | None = None

    def check(self, parameters: Mapping[str, Any], cells: Cells | None = None) -> Parameters:
        """All parameters, checked and normalised; of further ones of `cells` those alone that differ.

        Raises:
            InputError: unknown, missing or wrong parameter, or a combination that makes no system.
        """
        for name in parameters:
            if name not in self.parameters:
                raise InputError(unknown("parameter", name, self.parameters))
        sizes: dict[str, int] = {}
        checked: dict[str, Any] = CellParameters(cells) if cells else {}
        varied = cells.varied if cells and cells.checked else self.parameters
        for name, rule in self.parameters.items():
            if name not in varied or not rule.applies(name, parameters, checked):
                continue
            given = parameters.get(name, rule.default)
            if given is None:
                raise InputError(f"parameter {name} is missing")
            checked[name] = rule.check(name, given, sizes, partial(self._excepted, name, given))
        once(self.combination, checked)
        if cells and not cells.checked:
            cells.checked = dict(checked)
        return checked

    @property
    def default(self) -> str:
        """Name of the preset that is meant when none is named."""
        return self.default_preset or next(iter(self.presets))

    def _excepted(self, name: str, value: Any) -> bool:
        """Whether a preset states an exception for exactly this value (of a run's file too: it is checked again)."""
        return any(name in preset.exceptions and np.array_equal(preset.parameters[name], value)
                   for preset in self.presets.values())

    def check_initial(self, parameters: Parameters, initial: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """All initial fields as float64 arrays.

        Raises:
            InputError: wrong names or shapes, not finite, or off the manifold by more than MANIFOLD_TOLERANCE.
        """
        state: dict[str, np.ndarray] = once(self._fields, parameters, initial)
        once(self.manifold, parameters, state)
        return state

    def _fields(self, parameters: Parameters, initial: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """All of the right shapes."""
        shapes = self.state_shapes(parameters)
        for name in initial:
            if name not in shapes:
                raise InputError(unknown("initial state field", name, shapes))
        state = {}
        for name, shape in shapes.items():
            if name not in initial:
                raise InputError(f"initial state field {name} is missing")
            state[name] = np.ascontiguousarray(real_array(f"initial {name}", initial[name]))
            if state[name].shape != shape:
                raise InputError(f"initial {name} must be of shape {shape}, not {state[name].shape}")
            if not np.all(np.isfinite(state[name])):
                raise InputError(f"initial {name} must be finite numbers")
        return state

    def engines_for(self, parameters: Parameters) -> tuple[str, str]:
        """Engines of references at checked parameters."""
        return self.engines(parameters) if callable(self.engines) else self.engines

    def fallback_for(self, parameters: Parameters) -> str | None:
        """Fallback engine at checked parameters."""
        return self.fallback(parameters) if callable(self.fallback) else self.fallback
