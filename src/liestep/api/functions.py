"""The public Python functions."""
import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import liestep.simulation.plugins  # noqa: F401  the catalogue finds those of installed packages
from liestep.errors import InputError
from liestep.figures.interactive.calls import public
from liestep.files.extras import extras
from liestep.mechanics.contracts.sheet import Parameters
from liestep.simulation.catalogue import Identified, integrator_ids, method, sheet, system_ids
from liestep.simulation.runs import simulation
from liestep.simulation.runs.specification import first_state, offered

__all__ = ["compare", "consistent_start", "ensemble", "list_integrators", "list_systems", "open_run", "plot",
           "recommend", "reference", "simulate", "tangent"]

simulate = public(simulation.simulate)
tangent = public(simulation.tangent)

if TYPE_CHECKING:
    import numpy
    import xarray

    from liestep.figures.interactive.datasets import open_run
    from liestep.figures.interactive.plots import compare, plot
    from liestep.simulation.many.call import ensemble
    from liestep.tools.recommend.tournament import recommend


@public
def reference(problem: str | Identified, *, preset: str | None = None, parameters: Parameters | None = None,
              initial: Mapping[str, Any] | None = None, t_end: float | None = None, samples: int = 51,
              engines: Sequence[str] | None = None) -> "xarray.Dataset":
    """Compute a reference solution with two engines; their disagreement is part of it.

    Args:
        problem: a system or its id, see `list_systems()`.
        preset: of named parameters, start and t_end (default: the system's).
        parameters: that replace those of the preset, in the units of `liestep describe PROBLEM` (default: none).
        initial: state fields that replace those of the preset, as for `simulate` (default: none).
        t_end: end time in s (default: that of the preset).
        samples: number of equally spaced output times, both ends included (default 51).
        engines: two of dop853, taylor, composition, exact (default: those of the system); the first
            one's trajectory is kept.

    Returns:
        Data set with the dimension `time` (s, `samples` equally spaced times from 0 to t_end): the state fields in the
        units of `liestep describe PROBLEM`, `energy` (J), and disagreement_<field>, the distance of the two
        engines divided by the attribute scale_<field>. The attribute energy_scale is the largest kinetic energy (J).

    Raises:
        InputError: a wrong argument, or an engine stopped before t_end.
    """
    from liestep.simulation.references.reference import compute_reference, specify_reference

    return simulation.to_dataset(compute_reference(specify_reference(
        str(problem), preset=preset, parameters=parameters, initial=initial, t_end=t_end, samples=samples,
        engines=engines)))


@public
def consistent_start(problem: str | Identified, *, preset: str | None = None, parameters: Parameters | None = None,
                     initial: Mapping[str, Any] | None = None) -> "dict[str, numpy.ndarray]":
    """The start nearest to the given one, in the metric of the masses, that fits the joints of a mechanism: to be given
    as `initial` to `simulate`.

    Args:
        problem: id of a system with joints, see `list_systems()`.
        preset: of named parameters, start and t_end (default: the system's).
        parameters: that replace those of the preset, in the units of `liestep describe PROBLEM` (default: none).
        initial: state fields that replace those of the preset, as for `simulate` (default: none).

    Returns:
        All state fields by name, in the units of `liestep describe PROBLEM`.

    Raises:
        InputError: a wrong argument, a system without joints, or no start near the given one fits.
    """
    facts = sheet(problem)
    if facts.nearest_start is None:
        able = ", ".join(name for name in system_ids() if sheet(name).nearest_start is not None)
        raise InputError(f"{problem} has no joints that a start could miss; systems with joints: {able}")
    chosen = facts.presets[preset or facts.default]
    checked = facts.check({**chosen.parameters, **(parameters or {})})
    return facts.nearest_start(checked, facts.fields(checked, first_state(checked, facts, chosen, initial or {})))


@public
def list_systems() -> dict[str, str]:
    """Titles of all systems by their ids, which `simulate` and `reference` take as `problem`; plugins included."""
    return {name: sheet(name).title for name in system_ids()}


@public
def list_integrators(problem: str | Identified | None = None) -> dict[str, dict[str, Any]]:
    """Integrators by their ids: for each a mapping with `summary`, `order` (with default options) and `conserves`.

    Args:
        problem: only integrators that run on this system with the parameters of one of its presets (default: all).

    Raises:
        InputError: unknown system; the sentence names the closest one.
    """
    return {name: {"summary": method(name).summary, "order": method(name).order, "conserves": method(name).sentence}
            for name in (integrator_ids() if problem is None else offered(str(problem)))}


def __getattr__(name: str) -> Any:
    """Functions that need matplotlib, xarray or what single runs do not, when they are asked for; without matplotlib
    they say so when they are called."""
    places = {"compare": "figures.interactive.plots", "open_run": "figures.interactive.datasets",
              "plot": "figures.interactive.plots", "ensemble": "simulation.many.call",
              "recommend": "tools.recommend.tournament"}
    if name not in places:
        raise AttributeError(f"module 'liestep.api.functions' has no attribute {name!r}")
    try:
        return public(getattr(importlib.import_module(f"liestep.{places[name]}"), name))
    except ModuleNotFoundError as error:
        missing = error

        @extras()
        def unable(*_: Any, **__: Any) -> Any:
            raise missing

        return unable
