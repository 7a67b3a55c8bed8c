"""Entries of a study that stand for several: integrators with lists of options, problems with several horizons."""
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

from liestep.study.plan.names import LONGEST

if TYPE_CHECKING:
    from liestep.study.plan.config import IntegratorConfig, ProblemConfig


def word_of(value: Any) -> str:
    """A value of an option as a part of a key."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text.replace(".", "p").replace("-", "m").replace("+", "")


def combinations(key: str, entry: "IntegratorConfig") -> "dict[str, IntegratorConfig]":
    """Keys and entries of all combinations of `vary`; the first option varies slowest.

    Raises:
        ValueError: an option is given twice, or a key is too long.
    """
    if both := entry.vary.keys() & entry.options.keys():
        raise ValueError(f"integrators.{key}: option {min(both)} stands under options and under vary")
    found = {}
    for values in product(*entry.vary.values()):
        name = "_".join([key, *map(word_of, values)])
        if len(name) > LONGEST:
            raise ValueError(f"integrators.{key}: vary makes a key of more than {LONGEST} letters, {name}")
        label = f"{entry.label or key}: {', '.join(map(str, values))}"
        found[name] = entry.model_copy(update={"id": entry.id or key, "label": label, "vary": {}, "options": {
            **entry.options, **dict(zip(entry.vary, values, strict=True))}})
    return found


def each_horizon(problems: "Mapping[str, ProblemConfig]", budgets: list[int] | None) -> "dict[str, ProblemConfig]":
    """Problems with one horizon each. A horizon of n periods spends n times the evaluations, of the problem or else
    those of the study, `budgets`.

    Raises:
        ValueError: horizons without a period, or together with an end; a key twice, or too long.
    """
    found: dict[str, ProblemConfig] = {}
    for key, problem in problems.items():
        made = {key: problem}
        if problem.horizons is not None:
            if problem.period is None or problem.t_end is not None:
                raise ValueError(f"problems.{key}: horizons need a period, and no t_end")
            own = problem.evaluations or budgets
            label = problem.label or key
            made = {f"{key}_{n}": problem.model_copy(update={
                "horizons": None, "t_end": n*problem.period, "label": f"{label}, {n} periods",
                "evaluations": own and [n*budget for budget in own]}) for n in problem.horizons}
        if twice := found.keys() & made.keys():
            raise ValueError(f"two problems have the key {min(twice)}")
        if long := [name for name in made if len(name) > LONGEST]:
            raise ValueError(f"problems.{key}: horizons make a key of more than {LONGEST} letters, {long[0]}")
        found |= made
    return found
