"""Seconds to reach the same error at the end of a motion, beside heyoka's Taylor integrator.

All runs are compiled before they are timed, in turns of alternating order in one process, in processor time of the
thread; the smallest of the repeats counts. heyoka, with its default code generation, integrates the equations that
references give it, twelve numbers for a body, and where there is one also the form that suits it, `heyoka natural`:
a unit quaternion and half the rates in the body, seven numbers, or for bodies on a sphere one power of each pair's
cosine. Ours are the loops of runs, with the observables of every accepted step, called as ensembles call them, without
a look at the types of the arguments. What a call of a loop takes that is at its end already (arguments and start; 2 to
3 us for ours, 1 us for heyoka's) is the same for any length of motion: ratios leave it out, those "with call" have it
on both sides, and it stands in columns of its own."""
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks import tables
from liestep.compile.cache import loop_for
from liestep.compile.driver import advance_adaptive, new_memory
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.symbolic import SeriesEquations, traced_field
from liestep.simulation.catalogue import sheet
from liestep.simulation.machine_code.straight import for_loop
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.runs.execution import build, new_recorder
from liestep.simulation.runs.specification import CheckedStart, specify, start_of

TOP = Path(__file__).resolve().parents[1]
# label, system, preset or parameters and initial state, end
FIVE: dict[str, Any] = {  # no pair is closer than 30 degrees to one point or to antipodes
    "parameters": {"mass": [1.0]*5, "gamma": 0.2},
    "initial": {"q": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-0.6, -0.8, 0.0], [0.48, -0.6, -0.64]],
                "omega": [[0.0, 0.96, -0.52], [0.17, 0.0, 0.7], [0.96, -0.17, 0.0], [-0.04, 0.03, 1.22],
                          [0.6, 0.48, 0.0]]}}
Preset = str | dict[str, Any]
Problem = tuple[str, str, Preset, float]
PROBLEMS: tuple[Problem, ...] = (
    ("free body", "free_rigid_body", "asymmetric", 5.0), ("free body, 50 s", "free_rigid_body", "asymmetric", 50.0),
    ("heavy top", "heavy_top", "asymmetric", 2.0), ("satellite", "satellite", "default", 4.0),
    ("double pendulum", "spherical_pendulum_chain", "orders", 2.0),
    ("three bodies", "sphere_nbody", "paper", 2.0), ("five bodies", "sphere_nbody", FIVE, 2.0),
    ("quadrotors", "quadrotor_payload", "no_moment", 1.0), ("rod", "elastic_rod", "paper", 0.02))
PLUGINS = {"satellite": "docs/examples/satellite.py",
           "quadrotor_payload": "papers/liegroup2021/studies/quadrotor_payload.py"}
PEERS = ("heyoka", "heyoka natural")
NATURAL = ("free_rigid_body", "heavy_top", "satellite", "sphere_nbody")
MULTIPLIERS = ("elastic_rod",)  # systems whose accelerations are found faster with multipliers than by default
HORIZONS = (1, 10, 100)  # times the end
AT_HORIZONS = 1e-6       # error
# the third and fourth where a system has the form
METHODS = ("taylor", "taylor order=raised", "taylor form=quaternion", "taylor extension=printed", "dop853", "rkmk853",
           "lie_taylor")
# those above 1e-4 for errors of 1e-4: Taylor series err less than their tolerance
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
TARGETS = (1e-4, 1e-8, 1e-11)
LEAST = 0.01  # seconds of one measurement


class Run(NamedTuple):
    """A compiled run: `call` makes it, `idle` calls it at its end already, `fields` reads its last state."""

    call: Callable[[], None]
    idle: Callable[[], None]
    fields: Callable[[], Mapping[str, np.ndarray]]


Code = Callable[[float], Run]  # of a tolerance


class Curves(NamedTuple):
    """Errors, seconds of the motion and of the call, and defects, by (code, tolerance); the disagreement of two
    references, below which errors say nothing."""

    errors: dict[tuple[str, float], float]
    seconds: dict[tuple[str, float], float]
    calls: dict[str, float]
    defects: dict[tuple[str, float], float]
    floor: float

    def at(self, code: str, target: float) -> float:
        return _at([(error, self.seconds[key]) for key, error in self.errors.items()
                    if key[0] == code and error < math.inf], target)

    def row(self, target: float) -> dict[str, Any]:
        """Seconds at an error; NaN for a code that does not reach it, or where the floor is not well below it."""
        codes = tuple(self.calls)
        at = {code: self.at(code, target) if self.floor < 0.1*target else math.nan for code in codes}
        called = {code: at[code] + self.calls[code] for code in codes}
        reached = {code: value for code, value in at.items() if value == value}
        return {**{f"{peer} us": 1e6*at[peer] for peer in PEERS if peer in codes},
                **{f"{code}/{peer}{words}": found[code]/found[peer]
                   for words, found in (("", at), (" with call", called))
                   for peer in PEERS if peer in codes for code in codes if code not in PEERS[:PEERS.index(peer) + 1]},
                **{f"defect {code}": max((value for key, value in self.defects.items()
                                          if key[0] == code and value < math.inf), default=math.nan) for code in codes},
                **{f"call {code} us": 1e6*self.calls[code] for code in codes},
                "fastest": min(reached, key=lambda code: reached[code]) if reached else "none", "floor": self.floor}


def compare(problems: Sequence[Problem] = PROBLEMS, repeats: int = 15) -> Iterator[dict[str, Any]]:
    """One row for each problem and error."""
    for label, system, preset, t_end in problems:
        found = curves(system, preset, t_end, repeats)
        for target in TARGETS:
            yield {"problem": label, "error": target, **found.row(target)}


def horizons(problems: Sequence[Problem] = PROBLEMS, repeats: int = 5) -> Iterator[dict[str, Any]]:
    """One row for each problem and horizon, at one error."""
    for label, system, preset, t_end in problems:
        for times in HORIZONS:
            yield {"problem": label, "s": times*t_end,
                   **curves(system, preset, times*t_end, repeats).row(AT_HORIZONS)}


def start_at(system: str, preset: Preset) -> CheckedStart:
    """The start of a problem: of a preset, or of given numbers."""
    if system in PLUGINS:
        load_plugin(TOP/PLUGINS[system])
    return start_of(system, **(preset if isinstance(preset, dict) else {"preset": preset}))


def curves(system: str, preset: Preset, t_end: float, repeats: int, codes: Mapping[str, Code] | None = None,
           tolerances: Sequence[float] = TOLERANCES, clock: Callable[[], float] = time.thread_time) -> Curves:
    """Codes (ours and heyoka without) with all tolerances on one motion."""
    start = start_at(system, preset)
    codes = codes or {"heyoka": partial(peer, system, start, t_end),
                      **({"heyoka natural": partial(natural_peer, system, start, t_end)} if system in NATURAL else {}),
                      **{name: partial(ours, system, start, name, t_end) for name in METHODS
                         if runs_on(system, start, name)}}
    exact, other = peer(system, start, t_end, 1e-18), ours(system, start, "taylor", t_end, 1e-15)
    exact.call()
    other.call()
    reference = {name: value.copy() for name, value in exact.fields().items() if name in start.initial}
    runs = {(name, tolerance): code(tolerance) for name, code in codes.items() for tolerance in tolerances}
    idle = {name: runs[name, tolerances[0]].idle for name in codes}
    seconds = timed([run.call for run in runs.values()] + list(idle.values()), repeats, clock)
    fixed = dict(zip(idle, seconds[len(runs):], strict=True))
    errors, defects = {}, {}
    for key, run in runs.items():
        run.call()
        found = run.fields()
        errors[key], defects[key] = distance(found, reference), defect(found)
    named = (*PEERS, *METHODS) if set(METHODS) & set(fixed) else PEERS
    fixed |= {name: math.nan for name in named if name not in fixed}  # what cannot run has columns too
    return Curves(errors, {key: value - fixed[key[0]] for key, value in zip(runs, seconds, strict=False)}, fixed,
                  defects, distance(other.fields(), reference))


def runs_on(system: str, start: CheckedStart, name: str) -> bool:
    name, options = called(name)
    try:
        specify(system, name, start=start, tolerance=TOLERANCES[-1], t_end=1.0, samples=2, options=options)
    except InputError:
        return False
    return True


def called(name: str) -> tuple[str, dict[str, Any]]:
    """Id and options of a name in METHODS."""
    name, *choices = name.split()
    return name, dict(choice.split("=") for choice in choices)


def distance(fields: Mapping[str, np.ndarray], reference: Mapping[str, np.ndarray]) -> float:
    """Largest difference of any number, relative to the largest of its field or to 1."""
    return max(float(np.abs(fields[name] - value).max()/max(1.0, np.abs(value).max()))
               for name, value in reference.items())


def summary(rows: Sequence[Mapping[str, Any]], calls: str, codes: Sequence[str] = METHODS) -> list[dict[str, Any]]:
    """One row for each problem: heyoka's time in us on its best form at each error, and the times of codes over it.

    calls: "" for steps alone, " with call" for the whole call.
    """
    found = []
    for problem in dict.fromkeys(row["problem"] for row in rows):
        own = [row for row in rows if row["problem"] == problem]
        best = " natural" if own[0]["heyoka natural us"] == own[0]["heyoka natural us"] else ""
        per = {name: ", ".join(tables.number(row[f"{name}/heyoka{best}{calls}"]) for row in own).replace("nan", "none")
               for name in codes if f"call {name} us" in own[0]}
        spent = (row[f"heyoka{best} us"] + (row[f"call heyoka{best} us"] if calls else 0.0) for row in own)
        found.append({"problem": problem, "heyoka's form": "natural" if best else "matrix",
                      "heyoka us": ", ".join(map(tables.number, spent)), **per})
    return found


def words(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Who wins where, from the table."""
    found = []
    for name in (*PEERS, *METHODS):
        places = [f"{row['problem']} at {row['error']:.0e}" for row in rows if row["fastest"] == name]
        if places:
            found.append(f"{name} is the fastest for {', '.join(places)}.")
    return found


def ours(system: str, start: CheckedStart, name: str, t_end: float, tolerance: float) -> Run:
    """A method of the core with start and end as its only outputs."""
    name, options = called(name)
    if name == "dop853":
        options["atol"] = tolerance
    if system in MULTIPLIERS:
        options["mass"] = "multipliers"
    formulated, method = build(specify(system, name, start=start, tolerance=tolerance, t_end=t_end, samples=2,
                                       options=options))
    problem, y, seen = formulated.problem, formulated.start.copy(), formulated.observables
    baseline = np.zeros(formulated.width)
    accepted = new_recorder(y.shape, baseline, 1, 0, observables=seen)
    outputs = new_recorder(y.shape, baseline, 1, 2, observables=seen, integrals=accepted.integrals, steps=False)
    work, out, log = method.workspace(problem, y), np.zeros_like(y), np.zeros((100_000, 2))
    problem, method = for_loop(formulated, method)
    loop, memory = loop_for(advance_adaptive, method, problem, outputs, accepted, work), new_memory()
    arguments = method, problem, outputs, accepted, y, out, memory, log, t_end, t_end, work, 0.0, 1.0
    code = loop.ready(*arguments)

    first, over = new_memory(), np.array([t_end, 0.0, 0.0, 1.0, np.inf])

    def call(begin: np.ndarray = first) -> None:
        y[:], memory[:] = formulated.start, begin
        status, _ = code(*arguments)
        if status != Status.OK:
            y[:] = np.nan  # it reaches no error

    return Run(call, lambda: call(over),
               lambda: {key: value[0] for key, value in formulated.to_fields(y[None]).items()})


def peer(system: str, start: CheckedStart, t_end: float, tolerance: float) -> Run:
    """heyoka's adaptive Taylor integrator."""
    import heyoka

    facts = sheet(system)
    field = formulate(facts, start.parameters, start.initial, "vector_field", {})
    series: SeriesEquations = (facts.series(start.parameters, start.initial) if facts.series is not None
                               else traced_field(field))
    flow = heyoka.taylor_adaptive(series.equations, series.start.tolist(), tol=tolerance)
    return _run_of(flow, series.start, t_end, lambda state: {
        key: value[0] for key, value in field.to_fields(series.to_rows(state[None])).items()})


def natural_peer(system: str, start: CheckedStart, t_end: float, tolerance: float) -> Run:
    """heyoka's integrator on a body about a fixed point, see `natural`, or on bodies on a sphere, see `pairs`."""
    import heyoka

    equations, first = pairs(start) if system == "sphere_nbody" else natural(start)
    flow = heyoka.taylor_adaptive(equations, first, tol=tolerance)

    def directions(state: np.ndarray) -> Mapping[str, np.ndarray]:
        q, v = state.reshape(2, -1, 3)
        return {"q": q, "omega": np.cross(q, v)}

    def attitude(state: np.ndarray) -> Mapping[str, np.ndarray]:
        turn = turned(*state[:4]).astype(float)
        return {"attitude": turn, "angular_momentum": turn @ (2.0*start.parameters["inertia"]*state[4:])}

    return _run_of(flow, first, t_end, directions if system == "sphere_nbody" else attitude)


def pairs(start: CheckedStart) -> tuple[list[Any], np.ndarray]:
    """heyoka's equations of bodies on a sphere and their start: q_i'' = sum_j f (q_j - c q_i)/m_i - |q_i'|^2 q_i with
    c = q_i.q_j, f = gamma (1 - c^2)^(-3/2), twospheres2009 eq. (33)."""
    import heyoka

    mass, n = start.parameters["mass"], len(start.parameters["mass"])
    q, v = (np.array(heyoka.make_vars(*(f"{name}{i}" for i in range(3*n))), dtype=object).reshape(n, 3)
            for name in "qv")
    pulls: list[list[Any]] = [[] for _ in range(n)]
    along: list[list[Any]] = [[heyoka.sum(list(one*one))] for one in v]
    for i, j in combinations(range(n), 2):
        c = heyoka.sum(list(q[i]*q[j]))
        f = start.parameters["gamma"]*(1.0 - c*c)**-1.5
        for one, other in ((i, j), (j, i)):
            own = f/mass[one] if mass[one] != 1.0 else f
            pulls[one].append(own*q[other])
            along[one].append(own*c)
    rates = [heyoka.sum([pull[k] for pull in pulls[i]]) - heyoka.sum(along[i])*q[i, k]
             for i in range(n) for k in range(3)]
    first = np.array([start.initial["q"], np.cross(start.initial["omega"], start.initial["q"])])
    return list(zip([*q.flat, *v.flat], [*v.flat, *rates], strict=True)), first.ravel()


def natural(start: CheckedStart) -> tuple[list[Any], np.ndarray]:
    """heyoka's equations of a body about a fixed point, q' = q (0, u) with half the rates u in the body, J u' = 2 J u x
    u + (arm x Q^T gravity + 3 k e x J e)/2 - drag u, e = Q^T e_3, and their start: a unit quaternion and half the
    rates."""
    import heyoka

    values = start.parameters
    moments, (w, x, y, z, *rates) = values["inertia"], heyoka.make_vars("w", "x", "y", "z", "a", "b", "c")
    arm = values["mass"]*values["length"]*values["axis"] if "mass" in values else np.zeros(3)
    down = turned(w, x, y, z).T @ values["gravity"] if "mass" in values else np.zeros(3)
    earth = turned(w, x, y, z)[2] if "drag" in values else np.zeros(3)
    rate, drag = (3.0*values["rate"], values["drag"]) if "drag" in values else (0.0, 0.0)
    a, b, c = rates
    slopes = [-(x*a + y*b + z*c), w*a + y*c - z*b, w*b + z*a - x*c, w*c + x*b - y*a]
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        spread = moments[i] - moments[j]
        slopes.append(2.0*spread/moments[k]*(rates[i]*rates[j]) - 0.5*rate*spread/moments[k]*(earth[i]*earth[j])
                      + 0.5/moments[k]*(arm[i]*down[j] - arm[j]*down[i]) - drag/moments[k]*rates[k])
    attitude = start.initial["attitude"]
    first = np.concatenate([np.roll(Rotation.from_matrix(attitude).as_quat(), 1),
                            attitude.T @ start.initial["angular_momentum"]/(2.0*moments)])
    return list(zip((w, x, y, z, *rates), slopes, strict=True)), first


def turned(w: Any, x: Any, y: Any, z: Any) -> np.ndarray:
    """Rotation matrix of a unit quaternion, whatever its numbers are."""
    return np.array([[w*w + x*x - y*y - z*z, 2.0*(x*y - w*z), 2.0*(x*z + w*y)],
                     [2.0*(x*y + w*z), w*w - x*x + y*y - z*z, 2.0*(y*z - w*x)],
                     [2.0*(x*z - w*y), 2.0*(y*z + w*x), w*w - x*x - y*y + z*z]])


def _run_of(flow: Any, start: np.ndarray, t_end: float, fields: Callable[[np.ndarray], Mapping[str, np.ndarray]]
            ) -> Run:
    def call(t: float = 0.0) -> None:
        flow.time, flow.state[:] = t, start
        flow.propagate_until(t_end)

    return Run(call, lambda: call(t_end), lambda: fields(flow.state.copy()))


def defect(fields: Mapping[str, np.ndarray]) -> float:
    """Largest distance of lengths of directions and of products of axes from those on the manifold."""
    found = []
    if "q" in fields:
        found.append(np.abs(1.0 - np.sum(fields["q"]**2, axis=-1)).max())
    if "attitude" in fields:
        turns = fields["attitude"].reshape(-1, 3, 3)
        found.append(np.abs(np.swapaxes(turns, 1, 2) @ turns - np.eye(3)).max())
    return float(max(found))


def timed(calls: Sequence[Callable[[], None]], repeats: int,
          clock: Callable[[], float] = time.thread_time) -> list[float]:
    """Smallest processor time of each call over the turns, whose order alternates."""
    best = [_seconds(call, 1, clock) for call in calls]
    for turn in range(repeats):
        for i in range(len(calls)) if turn % 2 else reversed(range(len(calls))):
            best[i] = min(best[i], _seconds(calls[i], max(1, int(LEAST/max(best[i], 1e-7))), clock))
    return best


def _seconds(call: Callable[[], None], count: int, clock: Callable[[], float]) -> float:
    begin = clock()
    for _ in range(count):
        call()
    return (clock() - begin)/count


def _at(curve: Sequence[tuple[float, float]], error: float) -> float:
    """Seconds at an error, between its neighbours on logarithmic scales. The largest tolerance may have a smaller
    error: then its seconds; NaN where no run has so small an error."""
    if not curve:
        return math.nan
    errors, seconds = zip(*sorted(curve), strict=True)
    if errors[0] > error:
        return math.nan
    return math.exp(np.interp(math.log(error), np.log(np.maximum(errors, 1e-17)), np.log(seconds)))
