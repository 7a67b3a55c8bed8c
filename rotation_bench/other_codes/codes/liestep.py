"""liestep itself, by the same rules: run by `run_once`, which builds the run anew and observes the energy at every
step. It runs in the environment of this package, not in that of the other codes."""
from typing import Any, NamedTuple

from rotation_bench.other_codes.contract import Method, Problem, Run, States, file_name
from rotation_bench.other_codes.problems import CASES

DISTRIBUTION = "liestep"


class Choice(NamedTuple):
    """An integrator with options and its order; adaptive ones have none."""

    integrator: str
    options: dict[str, Any]
    order: int | None
    symmetric: bool = True


CHOICES = {"exact_split, rkn6a": Choice("exact_split", {"splitting": "rkn6a"}, 6),
           "exact_split, strang": Choice("exact_split", {"splitting": "strang"}, 2),
           "dmv 10, rkn6a": Choice("dmv", {"order": 10, "splitting": "rkn6a"}, 6),
           "dmv 2, strang": Choice("dmv", {"order": 2, "splitting": "strang"}, 2),
           "body_midpoint": Choice("body_midpoint", {}, 2), "lie_midpoint": Choice("lie_midpoint", {}, 2),
           "rkmk4": Choice("rkmk", {}, 4, symmetric=False), "dop853": Choice("dop853", {}, None, symmetric=False)}
METHODS = {name: Method(choice.order, f"{choice.integrator} {choice.options or 'with defaults'}, attitude as a matrix",
                        tolerances=choice.order is None, symmetric=choice.symmetric)
           for name, choice in CHOICES.items()}


def labels() -> dict[str, str]:
    """Methods by the file names of their runs, labelled as in all figures of liestep."""
    from liestep.figures.marks import label_of_method

    return {file_name(name): label_of_method(choice.integrator, choice.options) for name, choice in CHOICES.items()}


def prepare(problem: Problem, name: str, size: float) -> Run:
    from liestep.compile.counters import EVALUATIONS
    from liestep.compile.status import Status
    from liestep.simulation.runs.execution import run_once
    from liestep.simulation.runs.specification import specify

    case, choice = CASES[problem.name], CHOICES[name]
    adaptive = METHODS[name].tolerances
    spec = specify(case.system, choice.integrator, preset=case.preset, t_end=problem.t_end, samples=problem.samples,
                   steps=None if adaptive else int(size), tolerance=size if adaptive else None,
                   options={"atol": size} if adaptive else choice.options)

    def run() -> States:
        outcome = run_once(spec)
        if outcome.status != Status.OK:
            raise ArithmeticError(f"stopped at t = {outcome.time_reached:g} s: {outcome.status.name}")
        fields = outcome.formulated.to_fields(outcome.outputs.states)
        return States(fields["attitude"], fields["angular_momentum"],
                      max(outcome.counters[name] for name in EVALUATIONS))

    return run
