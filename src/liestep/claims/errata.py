"""Errata of the papers: what is printed, what is correct, and numbers computed here that tell the two apart.
`papers/<paper>/errata.yaml`, or `config/errata/<paper>.yaml`, holds the statements. Evidence functions lie in the
modules that the paper declares, see `liestep.study.plan.papers`."""
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Literal

from pydantic import Field, SkipValidation, model_validator

from liestep.claims.selection import CodeFile
from liestep.errors import InputError, unknown
from liestep.files.textfiles import TableRow
from liestep.study.plan.names import ERRATA, named_files, paper_folders
from liestep.study.plan.papers import given, paper_module, paper_of_file, papers
from liestep.study.plan.yamlfile import Count, Line, Strict, line_of, read_yaml, validated

COLUMNS = ("paper", "erratum", "place", "printed", "correct", "kind", "evidence", "confirmed", "code")
TEXT_ONLY = "text only"  # evidence of an entry that no computation can decide, before the reason


@dataclass(frozen=True)
class Evidence:
    """Numbers that decide between the printed and the corrected form. confirmed: the numbers agree with the column
    `correct` and not with `printed` (for "no erratum": with the printed form). text: the sentence that shows them, a
    format string over `numbers`."""

    confirmed: bool
    text: str
    numbers: Mapping[str, SkipValidation[float]]

    def __post_init__(self) -> None:
        str(self)  # it raises here, where the paper's line is known

    def __str__(self) -> str:
        return self.text.format(**self.numbers)


Check = Callable[[], Evidence]


class Erratum(Strict):
    """One entry of a paper's errata."""

    number: Count = Field(description="number by which code and texts cite it")
    part: str = Field("", pattern=r"^[a-z]?$", description="letter, where an erratum has several parts")
    place: str = Field(description="equation, example or page")
    printed: str = Field(description="what the paper prints")
    correct: str = Field(description="what is right, or how it is read here")
    kind: Literal["misprint", "ambiguity", "physics", "no erratum"] = Field(
        description="misprint: the paper means the right thing; ambiguity: it can be read in two ways or leaves"
        " something out; physics: what is printed was meant and is wrong; no erratum: looks wrong and is right")
    code: list[CodeFile] = Field([], description="files of a public code that the entry rests on: owner/name of the"
                                 " repository, path, commit")
    check: str | None = Field(None, description="name of the evidence function")
    text_only: Annotated[str, Line] = Field("", description="of an entry without check: why no computation can show it")

    @model_validator(mode="after")
    def _shown(self) -> "Erratum":
        if (self.check is None) != bool(self.text_only):
            raise ValueError("an erratum has either an evidence function (key check) or the reason why no computation"
                             " can show it (key text_only)")
        return self

    @property
    def id(self) -> str:
        return f"{self.number}{self.part}"


class ErrataFile(Strict):
    """All errata of one paper."""

    paper: str = Field(description="id of the paper")
    citation: str = Field(description="full citation")
    errata: list[Erratum] = Field(min_length=1, description="the entries")


def errata_files(config: Path) -> dict[str, Path]:
    """Paper -> errata file, sorted: papers/PAPER/errata.yaml or config/errata/PAPER.yaml. Raises InputError: both."""
    files = {path.stem: path for path in named_files(Path(config)/"errata", "the name of an errata file")}
    for paper, folder in paper_folders(config).items():
        path = folder/f"{ERRATA}.yaml"
        if path.exists() or path.is_symlink():
            if paper in files:
                raise InputError(f"{files[paper]} and {path} are both the errata of {paper}; keep one of the two")
            files[paper] = path
    return dict(sorted(files.items()))


def checks(paper: str) -> dict[str, Check]:
    """Evidence functions of a paper by name."""
    functions: dict[str, Check] = {}
    if known := papers().get(paper):
        for name in known.evidence:
            functions |= evidence_of(paper_module(known, name))
    return functions


def evidence_of(module: ModuleType) -> dict[str, Check]:
    """Public functions of a module itself that return `Evidence` and can be called without arguments, by name."""
    return {name: function for name, function in vars(module).items()
            if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
            and inspect.signature(function).return_annotation in (Evidence, "Evidence")
            and all(given.default is not given.empty for given in inspect.signature(function).parameters.values())}


def load_errata(paper: str, config: Path) -> ErrataFile:
    """Validated errata of a paper from its file. Raises InputError: no such file; or file, line, key and what is
    allowed."""
    known = errata_files(config)
    if paper not in known:
        raise InputError(unknown("paper with errata", paper, known))
    path = known[paper]
    paper_of_file(path)
    content, lines = read_yaml(path)
    errata = validated(ErrataFile, path, content, lines)
    available, seen = checks(paper), set()
    for number, entry in enumerate(errata.errata):
        if entry.check is not None and entry.check not in available:
            line = line_of(("errata", number, "check"), lines)
            raise InputError(f"{path}, line {line}: {unknown('check', entry.check, available)}; a check is a function"
                             f" of the paper's evidence with `-> Evidence`, called without arguments")
        if entry.id in seen:
            raise InputError(f"{path}, line {line_of(('errata', number, 'number'), lines)}: erratum"
                             f" {entry.id} appears twice")
        seen.add(entry.id)
    return errata


def errata_table(paper: str, config: Path) -> list[TableRow]:
    """One row per erratum, columns COLUMNS; `confirmed` is None where the evidence is TEXT_ONLY and the reason. Every
    evidence is computed by this call (short simulations, random data with fixed seeds); errors as `load_errata`."""
    errata, available, rows = load_errata(paper, config), checks(paper), []
    for entry in errata.errata:
        evidence = given(Evidence, available[entry.check]) if entry.check else None
        rows.append({"paper": errata.paper, "erratum": entry.id, "place": entry.place, "printed": entry.printed,
                     "correct": entry.correct, "kind": entry.kind, "code": "; ".join(entry.code),
                     "evidence": str(evidence or f"{TEXT_ONLY}: {entry.text_only}"),
                     "confirmed": None if evidence is None else bool(evidence.confirmed)})
    return rows
