"""One run from Python, as an xarray data set."""
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from liestep.core.status import IntegrationError, Status
from liestep.errors import InputError
from liestep.runs.content import Content, carry_out
from liestep.runs.estimate import require_memory
from liestep.runs.specification import specify

if TYPE_CHECKING:
    import xarray


def simulate(problem: str, integrator: str, *, step: float | None = None, tolerance: float | None = None,
             t_end: float | None = None, preset: str | None = None, parameters: Mapping[str, Any] | None = None,
             initial: Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None,
             samples: int | None = None, on_failure: str = "raise",
             **more: Any) -> "xarray.Dataset":
    """Run one simulation and return its data set (the same variables and attributes as a run's file).

    Args:
        problem: id of a system, see `systems()`.
        integrator: id of an integrator, see `integrators(problem)`.
        step: step size of a fixed-step integrator; must divide t_end.
        tolerance: relative tolerance of an adaptive integrator (`options={"atol": ...}` is the absolute one).
        t_end: end time in s (default: that of the preset).
        preset: named parameters, initial state and t_end of the system (default: the system's default
            preset); the other arguments override it.
        parameters: replace those of the preset, in the units of the sheet.
        initial: state fields that replace those of the preset; shapes, units and frames as in
            `liestep describe`.
        options: options of the integrator and of the system's form, see `liestep describe`.
        samples: number of equally spaced output times, both ends included.
        on_failure: "raise", or "return" for the truncated data set with `attrs["status"]`.
        more: outputs, statistics_every, replicas, ensemble, log_steps as in a study.

    Returns:
        Data set with the dimension `time` (s): state fields, energy (J), momentum map, residuals; statistics over all
        steps and counters are attributes.

    Raises:
        InputError: a wrong argument, in one sentence, or a run that does not fit the memory.
        IntegrationError: the run stopped before t_end and on_failure is "raise".
    """
    if on_failure not in ("raise", "return"):
        raise InputError(f"on_failure is {on_failure!r}; allowed are raise, return")
    spec = specify(problem, integrator, step=step, tolerance=tolerance, t_end=t_end, preset=preset,
                   parameters=parameters, initial=initial, options=options, samples=samples, **more)
    require_memory(spec)
    content = carry_out(spec)
    if content.attributes["status"] != "ok" and on_failure == "raise":
        raise IntegrationError(Status[content.attributes["status"].upper()], content.attributes["time_reached"],
                               f"{integrator} on {problem} ")
    return to_dataset(content)


def to_dataset(content: Content) -> "xarray.Dataset":
    """xarray data set of a run's content, `time` as a coordinate."""
    import xarray

    data = xarray.Dataset({name: (dims, values, attributes)
                           for name, (dims, values, attributes) in content.variables.items()},
                          attrs=content.attributes)
    return data.set_coords("time")
