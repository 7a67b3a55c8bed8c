"""`liestep.recommend` judged on the problems of `recommend_cases` by an exhaustive ladder: every integrator, steps or
tolerances in the ratio 2^(1/4), until the error is met.

Errors are against a reference of other engines (scipy and heyoka, `liestep.reference`), at up to 2.5 times as many
times as the tournament looked at.
"""
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from math import ceil, inf
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recommend_cases import CASES, Case
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.simulation.catalogue import integrator_calls, method
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.references.reference import compute_reference, specify_reference
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specification import specify
from liestep.study.tables.timing import timer
from liestep.tools.recommend.trials import FINER, INTERVALS, Demand, Trials, distances, request

RATIO = 2.0**0.25
HOPELESS = 6.0         # an integrator is dropped when a run costs so many times what the recommended one does
MET, DEAR = 2.0, 1.5   # what is allowed: error over the one asked for, cost over the best
TURNS, BEST = 9, 3
MOST_TIMES = 25        # of the strict error in each interval: the tournament looks at ten at most


CALL = """
import json, os, sys, time
import liestep
told = json.loads(sys.argv[1])
if told["file"]:
    liestep.load_plugin(told["file"])
begin, wall = os.times(), time.perf_counter()
best = liestep.recommend(told["system"], preset=told["preset"], parameters=told["parameters"], error=told["error"],
                         t_end=told["t_end"])
end = os.times()
size = told["t_end"]/best.step if best.step else best.tolerance
print(json.dumps({"integrator": best.integrator, "size": size, "error": best.error, "verified": best.verified,
                  "cpu": sum(end[:4]) - sum(begin[:4]), "wall": time.perf_counter() - wall}))
"""


def judge(folder: Path) -> Iterator[dict[str, Any]]:
    """A row for each case; the machine code of each system begins in an empty folder below `folder`."""
    answers: list[tuple[dict[str, Any] | None, dict[str, Any]]] = []
    cold: set[str] = set()
    for case in CASES:
        os.environ["LIESTEP_CACHE"] = str(folder/case.system)
        first = _asked(case)
        answers.append((None if case.system in cold else first, _asked(case)))
        cold.add(case.system)
        print(json.dumps([case, *answers[-1]]), file=sys.stderr, flush=True)
    for case, (first, warm) in zip(CASES, answers, strict=True):
        os.environ["LIESTEP_CACHE"] = str(folder/case.system)
        if case.plugin:
            load_plugin(case.file())
        row = _row(case, first, warm)
        print(json.dumps(row), file=sys.stderr, flush=True)
        yield row


def _asked(case: Case) -> dict[str, Any]:
    """The recommendation by a process of its own, with the seconds that it took."""
    told = json.dumps(case._asdict() | {"parameters": dict(case.parameters),
                                        "file": case.file()})
    done = subprocess.run([sys.executable, "-c", CALL, told], capture_output=True, text=True, check=False)
    if done.returncode:
        return {"integrator": "refused", "why": done.stderr.strip().splitlines()[-1]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _row(case: Case, first: dict[str, Any] | None, warm: dict[str, Any]) -> dict[str, Any]:
    head: dict[str, Any] = {"problem": case.system, "preset": case.preset, "asked": case.error, "t_end": case.t_end,
                            "cold s": first["cpu"] if first and "cpu" in first else "",
                            "warm s": warm.get("cpu", ""), "recommended": warm["integrator"]}
    empty = {"error/asked": inf, "best": warm.get("why", ""), "cost/best": inf, "met": False, "cheap": False}
    if "cpu" not in warm:
        return head | empty
    asked = request(case.system, error=case.error, preset=case.preset, parameters=dict(case.parameters),
                    t_end=case.t_end)
    strict = _strict_error(asked, case, warm)
    costs = {(warm["integrator"], warm["size"]): inf} | _ladder(asked, case, warm)
    ranked = sorted(costs, key=lambda key: costs[key])[:BEST]
    seconds = _in_turns(asked, dict.fromkeys([(warm["integrator"], warm["size"]), *ranked]))
    mine = seconds[warm["integrator"], warm["size"]]
    best = min(seconds, key=lambda key: seconds[key])
    return head | {"error/asked": strict/case.error, "best": best[0], "cost/best": mine/seconds[best],
                   "met": strict <= MET*case.error, "cheap": mine <= DEAR*seconds[best]}


def _reference(case: Case, samples: int) -> Any:
    return compute_reference(specify_reference(case.system, preset=case.preset, parameters=dict(case.parameters),
                                               t_end=case.t_end, samples=samples))


def _strict_error(asked: Demand, case: Case, warm: dict[str, Any]) -> float:
    """Error of the recommended run at as many times as its steps allow."""
    spec = asked.run(warm["integrator"], warm["size"])
    finer = MOST_TIMES
    if spec.steps is not None:
        finer = max(k for k in range(1, MOST_TIMES + 1) if (spec.steps//INTERVALS) % k == 0)
    samples = finer*INTERVALS + 1
    content = _reference(case, samples)
    size: dict[str, Any] = ({"steps": spec.steps} if spec.steps is not None else
                            {"tolerance": spec.tolerance, "options": {key: spec.options[key] for key in ("atol",)
                                                                      if key in spec.options}})
    found = run_once(specify(case.system, warm["integrator"], start=asked.start, t_end=case.t_end, samples=samples,
                             **size))
    fields = tuple(part for part in found.formulated.error_fields if part.counted)
    return float(distances(fields, found.formulated.to_fields(found.outputs.states),
                           {part.name: content.variables[part.name][1] for part in fields}).max())


def _ladder(asked: Demand, case: Case, warm: dict[str, Any]) -> dict[tuple[str, float], float]:
    """(integrator, size) -> seconds of the first rung of each integrator that meets the error."""
    content = _reference(case, FINER[0]*INTERVALS + 1)
    trials = Trials(asked)
    outcome, limit = trials.outcome(warm["integrator"], warm["size"])
    trials.fields = tuple(part for part in outcome.formulated.error_fields if part.counted)
    trials.reference = {part.name: np.asarray(content.variables[part.name][1]) for part in trials.fields}
    found = {}
    for name in integrator_calls():
        if not method(name).places.recommended or asked.declared(name).lacks(asked.facts, asked.start.parameters):
            continue
        try:
            size, seconds = _first_rung(trials, name, HOPELESS*limit)
        except InputError:
            continue
        found[name, size] = seconds
    return {key: seconds for key, seconds in found.items() if seconds < inf}


def _first_rung(trials: Trials, name: str, hopeless: float) -> tuple[float, float]:
    wanted, adaptive = trials.request.error, method(name).adaptive
    size = min(0.1, 100.0*wanted) if adaptive else float(INTERVALS*ceil(method(name).fewest_steps/INTERVALS))
    while size > 1e-15:
        outcome, seconds = trials.outcome(name, size)
        if outcome.status == Status.OK and trials.error(outcome) <= wanted:
            return size, seconds
        if hopeless < seconds < inf:
            break
        size = size/RATIO if adaptive else float(INTERVALS*ceil(size*RATIO/INTERVALS))
        if size > 1e7:
            break
    return size, inf


def _in_turns(asked: Demand, keys: dict[tuple[str, float], Any]) -> dict[tuple[str, float], float]:
    clocks = {key: timer(asked.run(*key)) for key in keys}
    taken: dict[tuple[str, float], list[float]] = {key: [] for key in keys}
    for _ in range(TURNS):
        for key, (once, share) in clocks.items():
            taken[key].append(once()/share)
    return {key: min(times) for key, times in taken.items()}


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the rows come to."""
    times = {name: [row[name] for row in rows if row[name] != ""] for name in ("cold s", "warm s")}
    return [{"problems": len(rows), f"error within {MET:g}": sum(row["met"] for row in rows),
             f"cost within {DEAR:g}": sum(row["cheap"] for row in rows),
             "refused": sum(row["recommended"] == "refused" for row in rows),
             **{f"longest {name}": max(found, default=inf) for name, found in times.items()}}]


def tables(folder: Path) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Sections of the page."""
    begin, rows = time.perf_counter(), list(judge(folder))
    print(f"{time.perf_counter() - begin:.0f} s", file=sys.stderr)
    return [("Recommendations beside an exhaustive ladder", "recommend", rows),
            ("What they come to", "recommend_summary", summary(rows))]
