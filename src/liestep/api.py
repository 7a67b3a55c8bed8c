"""The public Python functions."""
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from liestep.core.status import IntegrationError, Status
from liestep.integrators import integrator_ids, method
from liestep.study.content import Content, carry_out
from liestep.study.specification import applicable, specify
from liestep.systems import sheet, system_ids
from liestep.systems.sheet import InputError

if TYPE_CHECKING:
    import xarray


def simulate(problem: str, integrator: str, *, step: float | None = None, tolerance: float | None = None, t_end: float | None = None,
             preset: str | None = None, parameters: Mapping[str, Any] | None = None, initial: Mapping[str, Any] | None = None,
             options: Mapping[str, Any] | None = None, samples: int | None = None, on_failure: str = "raise",
             **more: Any) -> "xarray.Dataset":
    """Run one simulation and return its data set (the same variables and attributes as a run's file).

    Args:
        problem: id of a system, see `systems()`.
        integrator: id of an integrator, see `integrators(problem)`.
        step: step size of a fixed-step integrator; must divide t_end.
        tolerance: relative tolerance of an adaptive integrator (`options={"atol": ...}` is the absolute one).
        preset: named parameters, initial state and t_end of the system (default: its first); the other arguments override it.
        samples: number of equally spaced output times, both ends included.
        on_failure: "raise", or "return" for the truncated data set with `attrs["status"]`.
        more: outputs, statistics_every, replicas, ensemble, log_steps as in a study.

    Raises:
        InputError: a wrong argument, in one sentence.
        IntegrationError: the run stopped before t_end and on_failure is "raise".
    """
    if on_failure not in ("raise", "return"):
        raise InputError(f"on_failure is {on_failure!r}; allowed are raise, return")
    spec = specify(problem, integrator, step=step, tolerance=tolerance, t_end=t_end, preset=preset, parameters=parameters, initial=initial,
                   options=options, samples=samples, **more)
    content = carry_out(spec)
    if content.attributes["status"] != "ok" and on_failure == "raise":
        raise IntegrationError(Status[content.attributes["status"].upper()], content.attributes["time_reached"],
                               f"{integrator} on {problem} ")
    return to_dataset(content)


def reference(problem: str, *, preset: str | None = None, parameters: Mapping[str, Any] | None = None, initial: Mapping[str, Any] | None = None,
              t_end: float | None = None, samples: int = 51, engines: Sequence[str] | None = None) -> "xarray.Dataset":
    """Compute a reference solution with two engines; their disagreement is part of it. Arguments as for `simulate`.

    Args:
        engines: two of dop853, taylor, composition, exact (default: those of the system); the first one's trajectory is kept.

    Returns:
        The state, energy and disagreement_<field> of the two engines (divided by attribute scale_<field>) at `samples` times;
        attribute energy_scale is the largest kinetic energy.

    Raises:
        InputError: a wrong argument, or an engine stopped before t_end.
    """
    from liestep.study.reference import compute_reference, specify_reference

    return to_dataset(compute_reference(specify_reference(problem, preset=preset, parameters=parameters, initial=initial, t_end=t_end,
                                                          samples=samples, engines=engines)))


def to_dataset(content: Content) -> "xarray.Dataset":
    """xarray data set of a run's content, `time` as a coordinate."""
    import xarray

    data = xarray.Dataset({name: (dims, values, attributes) for name, (dims, values, attributes) in content.variables.items()},
                          attrs=content.attributes)
    return data.set_coords("time")


def systems() -> dict[str, str]:
    """id -> title of every system."""
    return {name: sheet(name).title for name in system_ids()}


def integrators(problem: str | None = None) -> dict[str, dict[str, Any]]:
    """id -> summary, order and conserved quantities of every integrator (of those that run on `problem`)."""
    return {name: {"summary": method(name).summary, "order": method(name).order, "conserves": method(name).conserves}
            for name in integrator_ids() if problem is None or applicable(problem, name)}
