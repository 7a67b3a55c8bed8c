"""Schema of a study file (config/studies/**/*.yaml). The JSON Schema in workflow/schemas is generated from these classes."""
import math
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from liestep.study.yamlfile import line_of, read_yaml
from liestep.systems.sheet import InputError, unknown

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(gt=0)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Ladder(Strict):
    """A list of values, a geometric ladder, or (for steps) numbers of steps in t_end. Exactly one form."""

    values: list[Positive] = Field([], description="the values themselves")
    counts: list[Count] = Field([], description="steps only: numbers of steps in t_end")
    start: Positive | None = Field(None, alias="from", description="first value of a geometric ladder")
    stop: Positive | None = Field(None, alias="to", description="last value of a geometric ladder")
    ratio: Positive | None = Field(None, description="factor between neighbours of a geometric ladder")

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict:
        """The JSON schema of the mapping, or of a plain list."""
        mapping = handler.resolve_ref_schema(handler(core_schema))
        return {"anyOf": [{"type": "array", "items": mapping["properties"]["values"]["items"], "minItems": 1}, mapping]}

    @model_validator(mode="before")
    @classmethod
    def _plain_list(cls, value: Any) -> Any:
        return {"values": value} if isinstance(value, list) else value

    @model_validator(mode="after")
    def _one_form(self) -> "Ladder":
        geometric = self.start is not None and self.stop is not None and self.ratio is not None
        partly = any(item is not None for item in (self.start, self.stop, self.ratio))
        if sum((bool(self.values), bool(self.counts), geometric)) != 1 or (partly and not geometric):
            raise ValueError("give exactly one of: a list of values, counts, or from/to/ratio together")
        if geometric and (self.ratio == 1.0 or (self.ratio > 1.0) != (self.stop >= self.start)):
            raise ValueError("ratio must lead from `from` to `to`: above 1 to grow, below 1 to shrink")
        return self

    def expand(self) -> list[float]:
        """The values of a list or geometric ladder; `to` is included when the ladder meets it within 1 %."""
        if self.values:
            return list(self.values)
        count = math.floor(math.log(self.stop/self.start)/math.log(self.ratio) + 0.01)
        return [self.start*self.ratio**k for k in range(count + 1)]

    def step_counts(self, t_end: float) -> list[int]:
        """Numbers of steps; the rungs of a geometric ladder are rounded to whole numbers of steps."""
        if self.counts:
            return list(self.counts)
        from liestep.study.specification import whole_steps

        if self.values:
            return [whole_steps(t_end, step) for step in self.values]
        return [max(1, round(t_end/step)) for step in self.expand()]


class EnsembleConfig(Strict):
    """Runs from perturbed starts, one file with a member dimension."""

    members: Count = Field(description="number of members; member 0 is unperturbed")
    amplitude: Positive = Field(description="size of the tangent perturbation of q and omega")
    seed: int = Field(0, ge=0, description="seed of the perturbations")


class Settings(Strict):
    """Settings that may stand at the study, at a problem, at an integrator, or at a pair; the more special one wins."""

    steps: Ladder | None = Field(None, description="step sizes of the fixed-step integrators: list, {counts: [...]}, or {from, to, ratio}")
    tolerances: Ladder | None = Field(None, description="relative tolerances of the adaptive integrators")
    samples: Count | None = Field(None, description="equally spaced stored times, both ends included (default: at most 1001)")
    outputs: Count | None = Field(None, description="adaptive: number of output points of the statistics (default: samples)")
    statistics_every: Count | None = Field(None, description="fixed steps: every so many steps count for the statistics (default 1)")
    replicas: Count | None = Field(None, description="runs started 1 ulp apart; their spread is stored (default 1)")
    ensemble: EnsembleConfig | None = Field(None, description="perturbed starts")
    log_steps: bool | None = Field(None, description="adaptive: store all accepted steps (default false)")


class PairConfig(Settings):
    """Settings of one problem-integrator pair."""


class ProblemConfig(Settings):
    """One problem of a study: a system with a preset, overridden where needed."""

    system: str = Field(description="id of a system, see `liestep list`")
    preset: str | None = Field(None, description="named parameters, initial state and t_end (default: the system's first)")
    parameters: dict[str, Any] = Field({}, description="parameters that replace those of the preset")
    initial: dict[str, Any] = Field({}, description="initial state fields that replace those of the preset")
    t_end: Positive | None = Field(None, description="end time in s (default: of the preset)")
    label: str | None = Field(None, description="how tables and figures call it (default: the key)")
    integrators: list[str] | None = Field(None, description="keys of the integrators that run on it (default: all of the study)")
    overrides: dict[str, PairConfig] = Field({}, description="settings of single integrators on this problem, by key")


class IntegratorConfig(Settings):
    """One integrator of a study with its options."""

    id: str | None = Field(None, description="id of an integrator (default: the key)")
    options: dict[str, Any] = Field({}, description="options, see `liestep describe`")
    label: str | None = Field(None, description="how tables and figures call it (default: the registered label)")


class StudyConfig(Settings):
    """A study: a grid of runs, its reference, the tables and figures it wants."""

    title: str = Field(description="one line, heading of its tables and page")
    description: str = Field("", description="what the study shows")
    problems: dict[Name, ProblemConfig] = Field(min_length=1, description="key -> problem; the key names folders and table rows")
    integrators: dict[Name, IntegratorConfig | None] = Field(min_length=1, description="key -> integrator; the key names folders and table rows")
    reference: bool = Field(False, description="compute reference solutions and state errors")
    timing: bool = Field(False, description="time every run alone (for work-precision in seconds)")
    tables: list[Literal["orders", "energy", "momentum", "drift", "crossover", "growth", "horizons", "work"]] = Field(
        ["energy", "momentum"], description="tables wanted besides metrics.csv")
    figures: list[str] = Field([], description="figures wanted: names of generic figures or paper.figure, see config/README.md")
    animations: list[str] = Field([], description="runs of which a film (GIF) is made: problem/integrator/resolution, for example bodies/rk4/h0.01")
    plugins: list[str] = Field([], description="files with own systems or integrators")


def load_study_config(path: Path) -> tuple[StudyConfig, dict[tuple, int]]:
    """Validated content of a study file and the lines of its keys.

    Raises:
        InputError: file, line, key, what is allowed, and the closest match.
    """
    content, lines = read_yaml(path)
    if not isinstance(content, dict):
        raise InputError(f"{path}, line 1: a study is a mapping with the keys {', '.join(StudyConfig.model_fields)}")
    try:
        return StudyConfig.model_validate(content), lines
    except ValidationError as error:
        raise InputError(f"{path}, {complaint(error, content, lines, StudyConfig)}") from None


def complaint(error: ValidationError, content: Any, lines: dict[tuple, int], root: type[BaseModel]) -> str:
    """One sentence for the first complaint of a schema (unknown keys first): line, key, what is allowed, closest match."""
    problem = min(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
    place = _place(problem["loc"], content)
    key = ".".join(map(str, place))
    line = line_of(place, lines)
    if problem["type"] == "extra_forbidden":
        return f"line {line}: {unknown('key', str(place[-1]), _allowed_keys(place[:-1], root))}"
    if problem["type"] == "missing":
        return f"line {line}: key {key} is missing"
    if problem["type"] == "string_pattern_mismatch":
        return f"line {line}: key {key} must be a name of letters, digits and underscores"
    message = problem["msg"].removeprefix("Value error, ")
    value = f", not {problem['input']!r}" if not isinstance(problem["input"], dict | list) else ""
    return f"line {line}: {key}: {message[:1].lower() + message[1:]}{value}"


def _place(location: tuple, content: Any) -> tuple:
    """The part of pydantic's location that exists in the file (it also names classes and union tags)."""
    place: list = []
    for number, part in enumerate(location):
        last = number == len(location) - 1
        known = (isinstance(content, dict) and part in content) or (isinstance(content, list) and isinstance(part, int) and part < len(content))
        if known:
            content = content[part]
            place.append(part)
        elif last and isinstance(content, dict) and isinstance(part, str):
            place.append(part)  # a missing key
    return tuple(place)


def _allowed_keys(place: tuple, root: type[BaseModel]) -> list[str]:
    """Keys that the schema knows at a place of the file: follows fields through mappings, lists and unions."""
    models = [root]
    for part in place:
        following = []
        for model in models:
            by_alias = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
            following += _models(by_alias[part]) if part in by_alias else [model]  # a key of a mapping or an index: same class
        models = following
    return sorted({field.alias or name for model in models for name, field in model.model_fields.items()})


def _models(annotation: Any) -> list[type[BaseModel]]:
    """All schema classes inside an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]
