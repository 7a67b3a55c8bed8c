"""Schema of claims files: statements of a paper with criteria that are written before the result.

The claims of a paper are in one file, config/claims/<paper>.yaml, or in several, config/claims/<paper>/*.yaml, in the
order of their names.
"""
from collections.abc import Iterable
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from liestep.catalogue import papers
from liestep.claims.criteria import CRITERIA
from liestep.claims.criteria.base import Criterion
from liestep.claims.selection import RunChoice
from liestep.errors import InputError
from liestep.study.complaints import complaint
from liestep.study.config import NotNegative, Real, Strict
from liestep.study.names import named_files
from liestep.study.yamlfile import line_of, read_yaml

VERDICTS = ("reproduced", "recovered", "calibrated", "qualitative", "not reproduced", "not testable")
if TYPE_CHECKING:
    AnyCriterion = Criterion
else:
    AnyCriterion = Annotated[reduce(or_, CRITERIA.values()), Field(discriminator="kind")]


class Claim(Strict):
    """One statement of a paper."""

    id: str = Field(pattern=r"^[a-z0-9_]+$", description="name of the claim")
    statement: str = Field(description="what the paper says, in our words")
    source: str = Field(description="where: section, equation, figure")
    printed: Real | None = Field(None, description="printed number, if there is one")
    units: str = Field("", description="units of the printed number")
    runs: list[RunChoice] = Field([], description="the runs that decide")
    against: list[RunChoice] = Field([], description="ratio and same_state: the runs to compare with")
    quantity: str = Field("", description="column of metrics.csv, or energy_change, an invariant of the drift table,"
                          " or (extremum, state, same_state, share, quantile) a variable of the runs' files")
    criterion: AnyCriterion = Field(description="when the claim counts as reproduced; committed before the run")
    verdict: Literal["reproduced", "recovered", "calibrated", "qualitative"] = Field(
        "reproduced", description="verdict when the criterion is met")
    scanned: NotNegative = Field(0, description="recovered only: number of settings that were scanned to find a datum")
    known: bool = Field(description="whether the outcome was known beforehand from a trial")
    setting: str = Field("", description="data that the paper does not print, and how they were chosen")

    @model_validator(mode="after")
    def _complete(self) -> "Claim":
        rule = self.criterion
        if rule.needs_runs and not self.runs:
            raise ValueError(f"criterion {rule.kind} needs runs")
        if rule.needs_printed and not self.printed:
            raise ValueError(f"criterion {rule.kind} needs a printed number other than zero")
        if rule.needs_against and not self.against:
            raise ValueError(f"criterion {rule.kind} needs the runs to compare with (key against)")
        return self


class ClaimFile(Strict):
    """All claims of one paper, or a part of them."""

    paper: str = Field(description="id of the paper")
    citation: str = Field("", description="full citation (default: that of the paper's package)")
    claims: list[Claim] = Field(description="the statements")


def claim_files(config: Path) -> dict[str, tuple[Path, ...]]:
    """Paper -> its claims files in the folder `config`, in their order.

    Raises:
        InputError: a paper has a file and a folder.
    """
    folder = config/"claims"
    found: dict[str, tuple[Path, ...]] = {}
    files = named_files(folder, "the name of a claims file")
    for path in sorted(files, key=lambda path: (path.parent != folder, path)):
        paper = path.stem if path.parent == folder else path.parent.name
        if path.parent != folder and found.get(paper, (path,))[0].parent == folder:
            raise InputError(f"{folder}: the claims of {paper} are in {paper}.yaml and in the folder {paper}; keep one"
                             " of the two")
        found[paper] = (*found.get(paper, ()), path)
    return dict(sorted(found.items()))


def load_claims(paths: Iterable[Path]) -> ClaimFile:
    """Validated claims of a paper from its files.

    Raises:
        InputError: file, line, key, and what is allowed; a claim that appears twice; files of two papers.
    """
    found: dict[str, Claim] = {}
    parts = [(path, *_load(path)) for path in paths]
    first = parts[0][1]
    for path, part, lines in parts:
        if part.paper != first.paper:
            raise InputError(f"{path}, line {line_of(('paper',), lines)}: paper is {part.paper}, in {parts[0][0].name}"
                             f" it is {first.paper}; the files of a folder are of one paper")
        for claim in part.claims:
            if claim.id in found:
                raise InputError(f"{path}: claim {claim.id} appears twice")
            found[claim.id] = claim
    known = papers().get(first.paper)
    citation = first.citation or (known.citation if known else "")
    return ClaimFile(paper=first.paper, citation=citation, claims=list(found.values()))


def _load(path: Path) -> tuple[ClaimFile, dict[tuple, int]]:
    content, lines = read_yaml(path)
    try:
        return ClaimFile.model_validate(content), lines
    except ValidationError as error:
        raise InputError(f"{path}, {complaint(error, content, lines, ClaimFile)}") from None
