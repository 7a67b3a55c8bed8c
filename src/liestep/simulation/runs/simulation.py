"""One run from Python, or derivatives of its end with respect to its start, as an xarray data set."""
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from liestep.compile.interpreted import deciding
from liestep.compile.sources import derived_text
from liestep.compile.status import IntegrationError, Status
from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.sheet import Fields, Options, Parameters, real_array
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.catalogue import Identified
from liestep.simulation.endings.events import Event, Zero
from liestep.simulation.endings.going import AS_MADE, CALLED, Called, contents
from liestep.simulation.runs.content import ACCUMULATED, Content, limit_of
from liestep.simulation.runs.estimate import require_memory
from liestep.simulation.runs.numbers import positive
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.own_names import SAME, Named, own_names
from liestep.simulation.runs.specification import specify, specify_again
from liestep.simulation.runs.specified import RunSpecification

if TYPE_CHECKING:
    import xarray

    from liestep.simulation.tangents.directions import Direction


def simulate(problem: str | Identified, integrator: str, *, step: float | None = None, tolerance: float | None = None,
             t_end: float | None = None, preset: str | None = None, parameters: Parameters | None = None,
             initial: Fields | None = None, options: Options | None = None,
             samples: int | None = None, on_failure: str = "raise", steps: int | None = None, dense: bool = False,
             statistics_every: int = 1, outputs: int | None = None, log_steps: bool = False, exponents: int = 0,
             t_start: float | None = None, until: Zero | Event | None = None, times: Sequence[float] | None = None,
             progress: bool = False, events: Event | Sequence[Event] | None = None, control: Callable | None = None,
             sample: float | None = None, max_step: float | None = None,
             stops: Sequence[float] | None = None, compile: bool | Literal["auto"] = "auto") -> "xarray.Dataset":
    """Run one simulation and return its data set (the same variables and attributes as a run's file).

    Args:
        problem: a system or its id, see `list_systems()`.
        integrator: id of one, see `list_integrators(problem)`.
        step: of integrators with fixed steps, in s, positive; must divide the length of the run.
        tolerance: of adaptive integrators, relative (`options={"atol": ...}` is the absolute one).
        t_end: end time in s (default: t_start and the duration of the preset); before t_start the run goes backward.
        preset: of named parameters, start and t_end (default: the system's); other arguments override it.
        parameters: that replace those of the preset, in the units of `liestep describe PROBLEM` (default: none).
        initial: state fields that replace those of the preset (default: none). On spheres: `q` (n, 3), unit vectors,
            `omega` (n, 3) in rad/s, orthogonal to them. Bodies about a fixed point: `attitude` (3, 3), body to space,
            `angular_momentum` (3,) in kg m2/s, spatial. `liestep describe PROBLEM` lists others.
        options: of the integrator and of the system's form, by name, as `liestep describe` lists them (default: none).
        samples: number of equally spaced output times, both ends included (default: at most 1001).
        on_failure: "raise" (default), or "return" for the truncated data set.
        steps: their number, instead of `step` (default: none).
        dense: keep every step: `data.liestep.at(times)` is then one step of the method from the last one.
        statistics_every: statistics count every so many steps (default 1).
        outputs: of adaptive integrators, number of equally spaced points of statistics (default: as `samples`).
        log_steps: of adaptive integrators, keep accepted times and steps.
        exponents: so many Lyapunov exponents, in 1/s, by fixed steps.
        t_start: start time in s (default: 0).
        until: end the run where a function of the state is zero: `lambda state: state["q"][0, 2]`, or (name, index,
            value), or a `liestep.Event` of one (default: none).
        times: own output times in s, in the order of the run (default: those of `samples`).
        progress: show a bar.
        events: `liestep.Event` or `liestep.Impact`, or a list, at which the run goes on
            (docs/events.md; default: none).
        control: function of (t, state), t in s, that gives parameters (docs/control.md; default: none).
        sample: time between calls of `control`, which needs it, in s (default: none).
        max_step: longest step of adaptive integrators, in s (default: none).
        stops: times in s, in the order of the run, at which a step ends and the integrator starts anew, such as those
            of jumps and pulses; of fixed steps multiples of the step (default: none).
        compile: machine code for the time loop: True, False, or "auto" (default), once it pays (docs/platforms.md).

    Returns:
        Data set with the dimension `time` (s). Variables: the state fields, (time, body, xyz) for `q` and `omega`,
        (time, xyz, axis) for `attitude`; `energy` (time) in J; `momentum_map` (time, xyz) in kg m2/s where there is
        one; errors of the manifold such as `unit_length_error`; `<name>_blocks` (statistic, block, ...), mean, least
        and largest deviation of each of 100 parts. Attributes: `status`, `message`, counters such as
        `force_evaluations`, statistics over every step such as `energy_error_max`. `data.liestep.plot()` shows it.

    Raises:
        InputError: a wrong argument, in one sentence, or a run that does not fit the memory.
        IntegrationError: the run stopped before t_end and on_failure is "raise".

    Example:
        data = liestep.simulate("spherical_pendulum_chain", "vi_sphere", preset="paper_scaled", step=0.01, t_end=10.0)
    """
    if on_failure not in ("raise", "return"):
        raise InputError(f"on_failure is {on_failure!r}; allowed are raise, return")
    spec = specify_again(problem, integrator=integrator, step=step, tolerance=tolerance, t_end=t_end, preset=preset,
                         parameters=parameters, initial=initial, options=options, samples=samples, steps=steps,
                         statistics_every=statistics_every, outputs=outputs, log_steps=log_steps, exponents=exponents,
                         t_start=t_start, times=times, until=until, events=events, control=control, sample=sample,
                         max_step=max_step, stops=stops)
    return made(spec, dense, progress, on_failure, compile)


def made(spec: RunSpecification, dense: bool = False, progress: bool = False, on_failure: str = "raise",
         compile: bool | Literal["auto"] = "auto") -> "xarray.Dataset":
    """The data set of a run, see `simulate`."""
    require_memory(spec)
    with deciding(compile) as code:
        content = _content(spec, dense, progress)
    if content.attributes["status"] not in ("ok", ACCUMULATED) and on_failure == "raise":
        status, at = Status[content.attributes["status"].upper()], content.attributes["time_reached"]
        limit = limit_of(status, spec, content.attributes.get("zero", ""))
        raise IntegrationError(status, at, f"{spec.integrator} on {spec.problem}{limit and f' {limit},'} ")
    add_own_names(spec, content, content.variables["time"][1])
    data = to_dataset(content)
    data.encoding |= {CALLED: Called(spec, content.end), "code": str(code), AS_MADE: contents(data)}
    return data


def add_own_names(spec: RunSpecification, content: Content, time: np.ndarray,
                  members: Iterable[Parameters] = ()) -> None:
    """The state of a plain system under the names that its functions have, too. members: parameters of each where they
    differ."""
    if not derived_text(spec.system.module) and spec.system.content != spec.problem:
        return
    members = list(members)
    state = {name: values for name, (_, values, _) in content.variables.items()}
    states = [{name: values[k] for name, values in state.items() if values.ndim > 1} for k in range(len(members))]
    owns = [own_names(spec.sheet, one) for one in members]
    times = [time]*len(members) if "time" in state else time
    for name, one in own_names(spec.sheet, spec.parameters).items():
        dims, _, about = content.variables.get(one.field, ((), None, {}))
        if dims and (spec.control and dims[0] == "time" if one.dim else name in (*SAME, "omega")):
            values = (np.stack([Named(*each)[name] for each in zip(states, owns, times, strict=True)])
                      if members and one.read else Named(state, {name: one}, time)[name])
            content.add(name, ("time", one.dim) if one.dim else dims, values, one.units or about["units"],
                        one.long_name or about["long_name"])


def _content(spec: RunSpecification, dense: bool, progress: bool) -> Content:
    """The content of a run, with its nodes, at times of its own or up to an event."""
    if dense and spec.ending:
        other = "events" if spec.events else "control" if spec.control else "until" if spec.until else "times"
        raise InputError(f"give dense or {other}, not both: dense=True gives the state at any time of the whole run")
    if dense:
        from liestep.simulation.endings.between import with_nodes

        content = with_nodes(spec)
    else:
        from liestep.files.terminal import progress_bar

        with progress_bar(f"{spec.integrator} on {spec.problem}", progress) as shown:
            content = carry_out(spec, shown, interpreted=True)
    if "warning" in content.attributes:
        warnings.warn(content.attributes["warning"], stacklevel=5)  # of who called `liestep.simulate`
    return content


def to_dataset(content: Content) -> "xarray.Dataset":
    """xarray data set of a run's content, `time` as a coordinate. Its variables fit together: nothing is aligned, which
    would take longer than a short run."""
    from xarray import Dataset, Variable
    from xarray.indexes import PandasIndex

    made: dict[str, Variable] = {}
    for name, (dims, values, attributes) in content.variables.items():
        one = made[name] = object.__new__(Variable)  # as `Dataset._construct_direct`: its `__init__` checks dimensions
        one._dims, one._data, one._attrs, one._encoding = dims, values, dict(attributes), None
    indexes: dict[Any, Any] = {}
    if "time" in made:
        make = _index if len(made["time"].values) < 10_000 else _index.__wrapped__  # long ones are not kept
        indexes["time"] = PandasIndex(make(made["time"].values.tobytes()).view(), "time", fastpath=True)
        made |= indexes["time"].create_variables(made)
    sizes = dict(one for dims, values, _ in content.variables.values() for one in zip(dims, values.shape, strict=True))
    return Dataset._construct_direct(made, coord_names={*indexes}, dims=sizes, attrs=dict(content.attributes),
                                     indexes=indexes)


@lru_cache(maxsize=4)
def _index(times: bytes) -> Any:
    """Made once for equal times."""
    from pandas import Index

    return Index(np.frombuffer(times), name="time")


def tangent(problem: str | Identified, integrator: str, *, step: float, t_end: float, preset: str | None = None,
            parameters: Parameters | None = None, initial: Fields | None = None,
            options: Options | None = None, directions: Sequence[Fields] | None = None) -> "xarray.Dataset":
    """Derivatives of the state at t_end with respect to the start: right to round-off, whatever the
    step of the integrator.

    Args:
        problem: a system or its id, see `list_systems()`.
        integrator: id of one with fixed steps, see `list_integrators(problem)`.
        step: in s, positive; must divide t_end.
        t_end: end time in s; the run begins at 0.
        preset: of named parameters, start and t_end (default: the system's).
        parameters: that replace those of the preset, in the units of `liestep describe PROBLEM` (default: none).
        initial: state fields that replace those of the preset, as for `simulate` (default: none).
        options: of the integrator and of the system's form, as for `simulate` (default: none).
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

    from liestep.simulation.tangents.directions import span
    from liestep.simulation.tangents.exponents import tangents

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
    exponents = {}
    for part in moved.formulated.fields:
        about = {"units": part.units, "long_name": part.long_name}
        exponents[part.name] = (part.dims, state[part.name], about)
        exponents[f"d_{part.name}"] = (("direction", *part.dims), derivatives[part.name],
                                   about | {"long_name": f"derivative of {part.long_name}"})
    for part in standard.fields:
        if part.name in spec.initial:
            exponents[f"start_{part.name}"] = (("direction", *part.dims), np.stack([one[part.name] for one in chosen]),
                                           {"units": part.units, "long_name": f"direction of {part.long_name}"})
    return xarray.Dataset(exponents, attrs={"problem": str(problem), "integrator": integrator, "step": spec.step,
                                        "t_end": spec.t_end})


def _direction(spec: RunSpecification, number: int, given: Fields) -> "Direction":
    """A direction with all fields; raises InputError for unknown fields and other shapes."""
    direction = {name: np.zeros_like(value) for name, value in spec.initial.items()}
    for name, values in given.items():
        if name not in direction:
            raise InputError(f"direction {number}: {unknown('initial state field', name, direction)}")
        direction[name] = real_array(f"direction {number}: {name}", values)
        if direction[name].shape != spec.initial[name].shape:
            raise InputError(f"direction {number}: {name} must be of shape {spec.initial[name].shape}, not"
                             f" {direction[name].shape}")
    return direction
