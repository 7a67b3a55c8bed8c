"""Schema of a study file (config/studies/**/*.yaml); the JSON Schema in workflow/schemas is made from these classes."""
import math
import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, Discriminator, Field, Tag, model_validator

from liestep.errors import InputError, unknown
from liestep.simulation.runs.numbers import MOST
from liestep.study.plan.names import LETTERS, twins
from liestep.study.plan.yamlfile import (
    Count,
    Line,
    Name,
    NotNegative,
    Once,
    Positive,
    Real,
    Strict,
    Text,
    line_of,
    read_yaml,
    validated,
)
from liestep.study.tables.kinds import NAMES

MOST_RUNGS = 10_000  # of a geometric ladder


def word_of(value: Any) -> str:
    """A value of an option as a part of a key."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text.replace(".", "p").replace("-", "m").replace("+", "")


def _words(values: list[Any]) -> list[Any]:
    """Raises ValueError for a value that cannot be a part of a key."""
    for value in values:
        if not re.fullmatch(r"\w+", word_of(value), re.ASCII):
            raise ValueError(f"{str(value)[:40]!r} must be letters, digits and _, or a number")
    return values


class Ladder(Strict):
    """A list of values, a geometric ladder, or (for steps) numbers of steps in t_end. Exactly one form."""

    values: list[Positive] = Field([], description="the values themselves")
    counts: list[Count] = Field([], description="steps only: numbers of steps in t_end")
    start: Positive | None = Field(None, alias="from", description="first value of a geometric ladder")
    stop: Positive | None = Field(None, alias="to", description="last value of a geometric ladder")
    ratio: Positive | None = Field(None, description="factor between neighbours of a geometric ladder")

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        """The JSON schema of the mapping, or of a plain list."""
        mapping = handler.resolve_ref_schema(handler(core_schema))
        return {"anyOf": [{"type": "array", "items": mapping["properties"]["values"]["items"], "minItems": 1}, mapping]}

    @model_validator(mode="before")
    @classmethod
    def _plain_list(cls, value: Any) -> Any:
        if not isinstance(value, dict | list | Ladder):
            raise ValueError("must be a list, or a mapping with counts, or with from, to and ratio")
        return {"values": value} if isinstance(value, list) else value

    @model_validator(mode="after")
    def _one_form(self) -> "Ladder":
        given = [item for item in (self.start, self.stop, self.ratio) if item is not None]
        if sum(map(bool, (self.values, self.counts, given))) != 1 or len(given) not in (0, 3):
            raise ValueError("give exactly one of: a list of values, counts, or from/to/ratio together")
        if not given:
            return self
        start, stop, ratio = given
        if ratio == 1.0 or (ratio > 1.0) != (stop >= start):
            raise ValueError("ratio must lead from `from` to `to`: above 1 to grow, below 1 to shrink")
        if abs(math.log(stop) - math.log(start)) > MOST_RUNGS*abs(math.log(ratio)):
            raise ValueError(f"from, to and ratio make more than {MOST_RUNGS} values")
        return self

    def expand(self) -> list[float]:
        """Values of a list or geometric ladder; `to` is met within 1 %. Raises InputError for counts."""
        if self.values:
            return list(self.values)
        if self.counts:
            raise InputError("tolerances have no counts of steps: give a list, or from/to/ratio")
        start, stop, ratio = cast(tuple[float, float, float], (self.start, self.stop, self.ratio))
        count = math.floor((math.log(stop) - math.log(start))/math.log(ratio) + 0.01)
        return [start*ratio**k for k in range(count + 1)]

    def step_counts(self, t_end: float) -> list[int]:
        """Numbers of steps; the rungs of a geometric ladder are rounded to whole numbers of steps."""
        if self.counts:
            return list(self.counts)
        from liestep.simulation.runs.specification import whole_steps

        if self.values:
            return [whole_steps(t_end, step) for step in self.values]
        return [max(1, round(t_end/step)) if t_end/step < MOST else whole_steps(t_end, step) for step in self.expand()]


class TurnConfig(Strict):
    """One side of a grid of starts: a vector of the start, turned by equally spaced angles."""

    field: str = Field(description="state field that holds the vector; fields tangent to it turn with it")
    index: NotNegative = Field(description="number of the vector")
    axis: Literal["x", "y", "z"] = Field(description="spatial axis")
    first: Real = Field(description="first angle (rad)")
    last: Real = Field(description="last angle (rad)")
    count: Count = Field(description="number of angles")


class SpanConfig(Strict):
    """Equally spaced values of a parameter."""

    start: Real = Field(alias="from", description="first value")
    stop: Real = Field(alias="to", description="last value")
    count: Count = Field(description="number of values")


class SampleConfig(Strict):
    """Points of a Latin hypercube over parameters: each of `count` equal parts of each range holds one point."""

    ranges: dict[str, Annotated[list[Real], Field(min_length=2, max_length=2)]] = Field(
        min_length=1, description="parameters, or single numbers of them (gravity.2) -> least and largest value")
    count: Count = Field(description="number of points")
    seed: NotNegative = Field(0, description="seed of the points")


def _form_of(value: Any) -> str:
    """Tag of the form that a value has: complaints are of this form only."""
    return "[mapping]" if isinstance(value, dict | BaseModel) else "[list]"


Values = Annotated[Annotated[list[Real], Field(min_length=1), Tag("[list]")] | Annotated[SpanConfig, Tag("[mapping]")],
                   Discriminator(_form_of)]
Turns = Annotated[list[TurnConfig], Field(min_length=1)]
Grid = Annotated[Annotated[Turns, Tag("[list]")]
                 | Annotated[dict[str, Values], Field(min_length=1), Tag("[mapping]")], Discriminator(_form_of)]


FEWEST, SURE = 16, 0.95  # members of an ensemble whose interval says something; share of them that a verdict needs


class EnsembleConfig(Strict):
    """Runs from perturbed starts, one file with a member dimension."""

    members: Count = Field(description="number of members; member 0 is unperturbed")
    amplitude: Positive = Field(description="size of the perturbation of each state field in its norm")
    seed: NotNegative = Field(0, description="seed of the perturbations")


class Settings(Strict):
    """Settings that may stand at the study, at a problem, at an integrator, or at a pair; the more special one wins."""

    steps: Ladder | None = Field(None, description="fixed step sizes: list, {counts: [...]}, or {from, to, ratio}")
    evaluations: Annotated[list[Count], Once] | None = Field(
        None, min_length=1, description="instead of steps: fixed steps that spend about so many evaluations of forces"
        " or right-hand sides in a run")
    operations: Count | None = Field(None, description="beside evaluations: most operations of the equations in a run")
    tolerances: Ladder | None = Field(None, description="relative tolerances of the adaptive integrators")
    samples: Count | None = Field(None, description="equally spaced stored times with both ends (default: <= 1001)")
    outputs: Count | None = Field(None, description="adaptive: output points of the statistics (default: samples)")
    statistics_every: Count | None = Field(None, description="fixed: every so many steps enter statistics (default 1)")
    replicas: Count | None = Field(None, description="runs started 1 ulp apart; their spread is stored (default 1)")
    ensemble: EnsembleConfig | None = Field(None, description="perturbed starts")
    grid: list[TurnConfig] | None = Field(None, min_length=1, description="starts on a grid in one file: an entry for"
                                          " each side, the last one fastest")
    exponents: Count | None = Field(None, description="fixed steps: how many largest Lyapunov exponents (default none)")
    log_steps: bool | None = Field(None, description="adaptive: store all accepted steps (default false)")
    max_step: Positive | None = Field(None, description="adaptive: longest step in s (default: any)")
    stops: list[Real] | None = Field(None, min_length=1, description="times at which steps end and integrators start"
                                     " anew, growing, such as those of jumps (default: none)")
    reduced: bool | None = Field(None, description="of maps and ensembles: keep last state, extrema, drift slope and"
                                 " status of each trajectory, no samples (default false)")


class PairConfig(Settings):
    """Settings of one problem-integrator pair."""


class ControlConfig(Strict):
    """A controller of a problem's runs, docs/control.md."""

    function: str = Field(description="name of a function of (t, state) in a file of `plugins`")
    sample: Positive = Field(description="for how long each of its values is held (s)")


class ProblemConfig(Settings):
    """One problem of a study: a system with a preset, overridden where needed."""

    system: str = Field(description="id of a system, see `liestep list`")
    preset: str | None = Field(None, description="named parameters, initial state and t_end (default: the first)")
    parameters: dict[str, Any] = Field({}, description="parameters that replace those of the preset")
    initial: dict[str, Any] = Field({}, description="initial state fields that replace those of the preset")
    t_end: Positive | None = Field(None, description="end time in s (default: of the preset)")
    label: Annotated[str | None, Line] = Field(None, description="how tables and figures call it (default: the key)")
    grid: Grid | None = Field(  # type: ignore[assignment]  # wider than that of Settings
        None, description="a map: parameters, or single numbers of them (gravity.2) -> list of values or {from, to,"
        " count}; one run for each combination, the last parameter fastest. Or turns, as at the study")
    sample: SampleConfig | None = Field(None, description="a map at random points of ranges of parameters")
    control: ControlConfig | None = Field(None, description="a function that sets parameters, docs/control.md;"
                                          " `reference` is no longer possible")
    period: Positive | None = Field(None, description="a period of the motion (s), in which tables count its times")
    horizons: Annotated[list[Count] | None, Once] = Field(
        None, min_length=1, description="numbers of periods: a problem KEY_n for each; evaluations are of one period")
    at: dict[Name, Real] = Field({}, max_length=1, description="where it lies on an axis of the table validity: name ->"
                                 " value, for example {spin: 50}; problems that name the same axis belong together")
    integrators: Annotated[list[str] | None, Once] = Field(
        None, min_length=1, description="keys of the integrators that run on it (default: all of the study)")
    overrides: dict[str, PairConfig] = Field({}, description="settings of single integrators on this problem, by key")


class IntegratorConfig(Settings):
    """One integrator of a study with its options."""

    id: str | None = Field(None, description="id of an integrator (default: the key)")
    options: dict[str, Any] = Field({}, description="options, see `liestep describe`")
    label: Annotated[str | None, Line] = Field(None, description="name in tables and figures (default: its method's)")
    variant: NotNegative | None = Field(None, description="look in figures among its variants (default: by order)")
    vary: dict[str, Annotated[list[Any], Field(min_length=1), AfterValidator(_words)]] = Field(
        {}, description="options -> lists of values: an integrator for each combination, its key and the values with _")


def combinations(key: str, entry: IntegratorConfig) -> dict[str, IntegratorConfig]:
    """Keys and entries of all combinations of `vary`, the first slowest. Raises ValueError: option twice, long key."""
    if both := entry.vary.keys() & entry.options.keys():
        raise ValueError(f"integrators.{key}: option {min(both)} stands under options and under vary")
    entries = {}
    for values in product(*entry.vary.values()):
        name = "_".join([key, *map(word_of, values)])
        if len(name) > LETTERS:
            raise ValueError(f"integrators.{key}: vary makes a key of more than {LETTERS} letters, {name}")
        label = f"{entry.label or key}: {', '.join(map(str, values))}"
        entries[name] = entry.model_copy(update={"id": entry.id or key, "label": label, "vary": {}, "options": {
            **entry.options, **dict(zip(entry.vary, values, strict=True))}})
    return entries


def each_horizon(problems: Mapping[str, ProblemConfig], budgets: list[int] | None) -> dict[str, ProblemConfig]:
    """Problems with one horizon each. A horizon of n periods spends n times the evaluations, of the problem or else
    those of the study, `budgets`. Raises ValueError: horizons without a period, or together with an end; a key twice,
    or too long."""
    single: dict[str, ProblemConfig] = {}
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
        if twice := single.keys() & made.keys():
            raise ValueError(f"two problems have the key {min(twice)}")
        if long := [name for name in made if len(name) > LETTERS]:
            raise ValueError(f"problems.{key}: horizons make a key of more than {LETTERS} letters, {long[0]}")
        single |= made
    return single


if TYPE_CHECKING:
    Entry = IntegratorConfig
else:
    Entry = IntegratorConfig | None  # of a key alone; `_varied` gives it one


MOST_LETTERS = 220


def _seen(text: str) -> str:
    """Raises ValueError: it is no sentence of this kind."""
    if not text.startswith("See ") or not text.endswith(".") or len(text) > MOST_LETTERS:
        raise ValueError("must be one sentence that begins with See, ends with a full stop and has at most"
                         f" {MOST_LETTERS} letters")
    return text


See = Annotated[str, Line, AfterValidator(_seen)]


class StudyConfig(Settings):
    """A study: a grid of runs, its reference, the tables and figures it wants."""

    title: Annotated[str, Line] = Field(description="one line, heading of its tables and page")
    description: Annotated[str, Text] = Field("", description="what the study shows")
    next: Annotated[str, Text] = Field("", description="what a reader may try next: a sentence, then the command")
    problems: dict[Name, ProblemConfig] = Field(min_length=1,
                                                description="key -> problem; the key names folders and table rows")
    integrators: dict[Name, Entry] = Field(min_length=1, description="key -> integrator; the key names folders and"
                                           " table rows")
    every_integrator: bool = Field(False, description="problems that name no integrators take all that can run on them,"
                                   " at their defaults, beside those of the study")
    reference: bool = Field(False, description="compute reference solutions and state errors")
    second_reference: Name | None = Field(None, description="key of an adaptive integrator with one tolerance that a"
                                          " paper takes as its reference: error_final_second is the error against it")
    map_quantity: Name = Field("energy_error_max", description="column of metrics.csv that the figure map shows")
    timing: bool = Field(False, description="time every run alone (for work-precision in seconds)")
    tables: Annotated[list[str], Once] = Field(["energy", "momentum"], description="tables beside metrics.csv: "
                                               + ", ".join(NAMES) + ", and those of the study's paper")
    figures: Annotated[list[str], Once] = Field([], description="figures, see `liestep describe figures`")
    see: dict[str, See] = Field({}, description="figure -> what a reader sees in it, first in its caption: one sentence"
                                f" that begins with See, of at most {MOST_LETTERS} letters")
    animations: Annotated[list[str], Once] = Field([], description="runs made into films (GIF), as bodies/rk4/h0.01, or"
                                                 " bodies/rk4 for the first step")
    plugins: Annotated[list[str], Once] = Field([], description="files with own systems or integrators")

    @model_validator(mode="after")
    def _varied(self) -> "StudyConfig":
        """Every entry with `vary` or `horizons` is replaced by what it stands for, wherever its key stands. Raises
        ValueError: a key twice, keys that would be one folder, an unknown second reference."""
        integrators: dict[str, IntegratorConfig] = {}
        keys: dict[str, list[str]] = {}
        for key, entry in self.integrators.items():
            entry = entry or IntegratorConfig.model_validate({})
            made = combinations(key, entry) if entry.vary else {key: entry}
            keys[key] = list(made)
            if twice := integrators.keys() & made.keys():
                raise ValueError(f"two integrators have the key {min(twice)}")
            integrators |= made
        problems = {name: problem.model_copy(update={
            "integrators": problem.integrators and [new for key in problem.integrators for new in keys.get(key, [key])],
            "overrides": {new: pair for key, pair in problem.overrides.items() for new in keys.get(key, [key])}})
            for name, problem in each_horizon(self.problems, self.evaluations).items()}
        if same := twins(integrators) or twins(problems):
            raise ValueError(f"the keys {same[0]} and {same[1]} differ in upper and lower case only, and would be one"
                             " folder on many disks; rename one")
        if strange := [name for name in self.see if name not in self.figures]:
            raise ValueError(f"see: {unknown('figure of this study', strange[0], self.figures)}")
        if self.second_reference is not None and self.second_reference not in integrators:
            raise ValueError(unknown("second_reference", self.second_reference, integrators))
        object.__setattr__(self, "integrators", integrators)
        object.__setattr__(self, "problems", problems)
        return self


def load_study_config(path: Path) -> tuple[StudyConfig, dict[tuple, int]]:
    """Validated study file and the lines of its keys. Raises InputError: file, line, key, what is allowed, closest."""
    content, lines = read_yaml(path)
    if not isinstance(content, dict):
        raise InputError(f"{path}, line 1: a study is a mapping with the keys {', '.join(StudyConfig.model_fields)}")
    config = validated(StudyConfig, path, content, lines)
    for made in config.integrators:
        for key in content["integrators"]:
            if made.startswith(f"{key}_"):  # lines of the entry whose combination it is
                for name, place in (((), ()), (("options",), ("vary",))):
                    lines.setdefault(("integrators", made, *name), line_of(("integrators", key, *place), lines))
    for made in set(config.problems).difference(content["problems"]):
        lines[("problems", made)] = line_of(("problems", made.rpartition("_")[0]), lines)
    return config, lines
