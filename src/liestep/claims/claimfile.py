"""Schema of claims files: statements of a paper with criteria that are written before the result. The claims of a paper
are in one file, config/claims/<paper>.yaml, or in several, config/claims/<paper>/*.yaml, in the order of their
names."""
import inspect
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, create_model, model_validator

from liestep.claims.criteria import CRITERIA, criteria_in
from liestep.claims.criteria.base import Criterion, Limits
from liestep.claims.selection import CodeFile, RunChoice
from liestep.errors import InputError, unknown
from liestep.study.plan.names import CLAIMS, named_files, paper_folders
from liestep.study.plan.papers import paper_code, paper_module, paper_of_file
from liestep.study.plan.yamlfile import Line, Once, Positive, Real, Strict, line_of, read_yaml, validated

BY_CHANCE = 0.001  # probability of a match by chance up to which a scan speaks for what it found
VERDICTS = {word: said.replace("BY_CHANCE", f"{BY_CHANCE:g}") for word, said in tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")).items()}  # what each word means
OWN = ("met", "missed")  # words for claims of our own, and for no others
UNJUDGED = ("undetermined", "not testable")  # without a criterion
LONGEST_QUOTE = 25  # words
NAMED = 12  # characters of a source, at least, by which somebody finds it
FIRST, FIRST_OF_ALL = 8, 40  # most headlines of a paper and of all papers
LARGER = re.compile(r"\b(larger|greater|longer|higher|(?<!no )more)\b")  # than the compared runs: equal is not enough
LEANS = re.compile(r"(the same|and|or|but|so|it|its|they|their|them|this|that|these|those)\b", re.IGNORECASE)
PARTICULAR = re.compile(r"\b(examples?|figures?|figs?\.|tables?)\b", re.IGNORECASE)  # in the source of a claim
if TYPE_CHECKING:
    AnyCriterion = Criterion
else:
    AnyCriterion = Annotated[reduce(or_, CRITERIA.values()), Field(discriminator="kind")]
DECIDES = "when the claim counts as met; committed before the run"


class Scan(Strict):
    """How a datum was found that a paper does not print: everything that was tried, as runs of studies. From them
    follows how often a setting gives the printed number by chance."""

    over: list[str] = Field(min_length=1, description="what was varied, one entry for each datum")
    runs: list[RunChoice] = Field(min_length=1, description="all settings that were tried, each a run")
    ends: Positive | None = Field(None, description="every multiple of this time (s) was tried as the end, too; needs"
                                  " all steps of the runs as samples, and a quantity <invariant>_error_mean")
    jointly: Annotated[list[str], Once] = Field([], description="other claims whose printed number the same setting"
                                                " must give")


class Counterpart(Strict):
    """The runs that replace those of a claim to judge it on other data: what is not named stays."""

    data: Literal["printed", "corrected"] = Field(description="what the replaced runs have: the data as printed, or as"
                                                  " an erratum corrects them; the claim's own runs have the other ones")
    errata: str = Field(min_length=1, description="which erratum, and what it changes")
    study: dict[str, str] = Field({}, description="study -> study")
    problem: dict[str, str] = Field({}, description="key of a problem -> key of another one")
    integrator: dict[str, str] = Field({}, description="key of an integrator -> key of another one")
    resolution: dict[str, str] = Field({}, description="label of a resolution -> another one")

    @model_validator(mode="after")
    def _replaces(self) -> "Counterpart":
        if not (self.study or self.problem or self.integrator or self.resolution):
            raise ValueError("a counterpart needs what it replaces: study, problem, integrator or resolution")
        return self

    def of(self, choice: RunChoice) -> RunChoice:
        """The choice of the other runs; `method` is that of the new key."""
        replaced = {name: getattr(self, name).get(getattr(choice, name), getattr(choice, name))
                 for name in ("study", "problem", "integrator", "resolution")}
        return choice.model_copy(update=replaced)


def _alone(statement: str) -> str:
    """Raises ValueError for a statement that begins with a word for what another one says."""
    if leans := LEANS.match(statement):
        raise ValueError(f"must say what it is about, and not begin with {leans[0]!r}: it is read alone")
    return statement


class Claim(Strict):
    """One statement of a paper."""

    id: str = Field(pattern=r"^[a-z0-9_]+$", description="name of the claim")
    statement: Annotated[str, AfterValidator(_alone)] = Field(description="what the paper says, in our words; read"
                                                              " alone, without the statement before")
    quote: Annotated[str, Line] = Field("", description="the paper's own words at the place in source, at most"
                                        f" {LONGEST_QUOTE}; words that are left out are ...")
    source: str = Field(description="where: section, equation, figure")
    asserted_by: Literal["paper", "derived", "own", "external"] = Field(
        description="who says it. paper: a sentence or number of the paper; derived: it follows from its text; own: a"
        " control or generalisation of ours; external: another code or text")
    group: str = Field("", pattern=r"^[a-z0-9_]*$", description="name of the statement that this claim judges together"
                       " with the others of the group: it counts once, by the type that groups gives it")
    scope: Literal["experiment", "general"] = Field(
        "experiment", description="experiment: a statement about one experiment, to be judged with its data; general:"
        " about every system or start, which any data may judge")
    printed: Real | None = Field(None, description="printed number, if there is one")
    units: str = Field("", description="units of the printed number, or of a quantity of the paper; none without")
    accuracy: Real | None = Field(None, gt=0, description="external only: how accurate the other code says that its"
                                  " number is")
    licence: str = Field("", description="external only: under which licence the number is public")
    runs: list[RunChoice] = Field([], description="the runs that decide")
    against: list[RunChoice] = Field([], description="ratio, same_state, largest_step, share: the runs to compare with")
    quantity: str = Field("", description="column of metrics.csv, or energy_change, an invariant of the drift table,"
                          " or (state, same_state, share) a variable of the runs' files")
    criterion: AnyCriterion = Field(description=DECIDES)
    verdict: Literal["reproduced", "recovered", "calibrated", "confirmed", "undetermined", "not testable"] = Field(
        "reproduced", description="verdict when the criterion is met; reproduced needs the data that the paper prints."
        " A claim of our own has none: it is met or missed."
        " Without a criterion (kind none): undetermined, for what could be judged but is not yet or lacks data, or not"
        " testable; the reason stands in setting")
    scan: Scan | None = Field(None, description="recovered and calibrated: how the datum was found that the paper does"
                              " not print")
    counterpart: Counterpart | None = Field(None, description="the same claim on the data as printed, where its runs"
                                            " have the corrected ones, or the other way round")
    code: list[CodeFile] = Field([], description="files of a public code that the claim rests on: owner/name of the"
                                 " repository, path, commit")
    known: bool = Field(description="whether the outcome was known beforehand from a trial, or could be: the runs"
                        " were there before what decides was written or changed")
    setting: str = Field("", description="data that the paper does not print, and how they were chosen")

    @model_validator(mode="after")
    def _complete(self) -> "Claim":
        rule, own, judged = self.criterion, self.asserted_by == "own", self.criterion.kind != "none"
        needs = rule.needs
        external, word = self.asserted_by == "external", self.verdict
        searched = word == "recovered" or (word == "calibrated" and needs.number == "printed")
        other, runs = self.counterpart, [*self.runs, *self.against]
        for wrong, sentence in (
                (len(self.quote.replace("...", " ").split()) > LONGEST_QUOTE,
                 f"a quote has at most {LONGEST_QUOTE} words"),
                (own and self.quote, "a claim of our own quotes nobody (key quote)"),
                (own and "verdict" in self.model_fields_set and word not in UNJUDGED,
                 f"a claim of our own is met or missed, never {word}: leave the key verdict out"),
                (not external and self.accuracy is not None, "accuracy is for claims asserted by external"),
                (not external and self.licence, "licence is for claims asserted by external"),
                (external and needs.number != "none" and self.accuracy is None,
                 "a number of another code needs the accuracy that the code says it has (key accuracy)"),
                (self.accuracy is not None and not self.licence,
                 "a number of another code needs the licence of its source (key licence)"),
                (external and len(self.source) < NAMED, "a claim asserted by external names its source (key source)"),
                (not judged and word not in UNJUDGED,
                 "criterion none needs the verdict undetermined or not testable"),
                (not judged and not self.setting, "criterion none needs the reason (key setting)"),
                (judged and word in UNJUDGED, f"verdict {word} is for claims without a criterion (kind none)"),
                (self.scope == "general" and (self.printed is not None or PARTICULAR.search(self.source)),
                 "a general statement has no printed number and its source is no example, figure or table"),
                (searched and self.scan is None, f"verdict {word} needs the scan that found the datum (key scan)"),
                (self.scan is not None and not (searched and needs.number == "printed"),
                 "a scan belongs to the verdicts recovered and calibrated with a criterion that needs a printed number,"
                 " such as digits"),
                (other is not None and all(other.of(choice) == choice for choice in runs),
                 "the counterpart replaces none of the claim's runs"),
                (needs.runs != "none" and not self.runs, f"criterion {rule.kind} needs runs"),
                (needs.number == "printed" and not self.printed,
                 f"criterion {rule.kind} needs a printed number other than zero"),
                (needs.against and not self.against,
                 f"criterion {rule.kind} needs the runs to compare with (key against)")):
            if wrong:
                raise ValueError(sentence)
        return self

    @model_validator(mode="after")
    def _can_fail(self) -> "Claim":
        rule = self.criterion
        if not isinstance(rule, Limits):
            return self
        low, high = rule.domain(self.quantity)
        if rule.holds(np.array([low, high])).all():
            raise ValueError(f"the criterion cannot fail: every number from {low:g} to {high:g} is {rule.bounds}")
        limits = rule.of_ratios
        larger = LARGER.search(self.statement) if self.against and limits.at_most is None else None
        if larger and limits.at_least is not None and limits.at_least <= 1.0:
            raise ValueError(f"a claim that says {larger.group()} needs at_least above 1, not {limits.at_least:g}")
        return self

    @property
    def choices(self) -> list[RunChoice]:
        """All runs that the claim names."""
        other = self.on_other_data()
        return [*self.runs, *self.against, *(self.scan.runs if self.scan else ()),
                *([*other.runs, *other.against] if other else ())]

    def on_other_data(self) -> "Claim | None":
        """The claim with the runs of its counterpart; None without one."""
        if self.counterpart is None:
            return None
        replaced = {name: [self.counterpart.of(choice) for choice in getattr(self, name)]
                    for name in ("runs", "against")}
        return self.model_copy(update={**replaced, "counterpart": None, "scan": None})

    @property
    def counted(self) -> str:
        """Among whose statements the claim counts: what follows from the paper's text is the paper's."""
        return "paper" if self.asserted_by == "derived" else self.asserted_by


class Group(Strict):
    """How the claims of a group judge their statement together."""

    type: Literal["parts", "readings", "universal"] = Field(
        description="parts: all must hold, the weakest word counts; readings: of the same words, any that holds is"
        " named, and where others fail reproduced becomes confirmed, because we chose; universal: instances of a"
        " statement about all, which one counterexample refutes")
    reason: Annotated[str, Line] = Field(min_length=1, description="why, from the wording of the statement")


class Headline(Strict):
    """What a reader should see first: one statement or one misprint. Verdict and number are those of the results."""

    about: str = Field("", description="what the paper is about: a claim that is in no group, or a group of claims")
    finding: str = Field("", description="what else is found, likewise: the verdict says whether it held")
    misprint: str = Field("", pattern=r"^erratum \d+[a-z]?$", description="an erratum of the paper: erratum 5a")
    figure: str = Field("", pattern=r"^(.+/[^/]+)?$", description="the picture, study/figure, of a study whose runs"
                        " decide; a misprint shows both formulas instead")
    says: Annotated[str, Line] = Field("", description="the sentence, where that of the claim, or of the first of its"
                                       " group, or the erratum's place and what is correct do not say it to a stranger")

    @model_validator(mode="after")
    def _one(self) -> "Headline":
        if sum(map(bool, (self.about, self.finding, self.misprint))) != 1:
            raise ValueError("a headline has one of the keys about, finding and misprint")
        if bool(self.figure) == bool(self.misprint):
            raise ValueError("a misprint shows both formulas, every other headline a picture of runs that decide (key"
                             " figure)")
        return self

    @property
    def name(self) -> str:
        return self.about or self.finding or self.misprint


class ClaimFile(Strict):
    """All claims of one paper, or a part of them."""

    paper: str = Field(description="id of the paper")
    citation: str = Field("", description="full citation (default: that of the paper)")
    groups: dict[str, Group] = Field({}, description="the groups of the claims by their names")
    claims: list[Claim] = Field(description="the statements")
    headlines: list[Headline] = Field([], description=f"what a reader should see first, at most {FIRST} of a paper and"
                                      f" {FIRST_OF_ALL} of all")

    def judging(self, name: str) -> list[Claim]:
        """The claims that judge a statement: those of a group, or the claim that is in none."""
        return [claim for claim in self.claims if (claim.group or claim.id) == name]


@cache
def claim_file_with(*own: type[Criterion]) -> type[ClaimFile]:
    """The class of claims files that know the criteria of a paper, too."""
    if not own:
        return ClaimFile
    kinds: Any = Annotated[reduce(or_, (*CRITERIA.values(), *own)), Field(discriminator="kind")]
    claim: Any = create_model("Claim", __base__=Claim, criterion=(kinds, Field(description=DECIDES)))
    return create_model("ClaimFile", __base__=ClaimFile, claims=(list[claim], Field(description="the statements")))


Part = tuple[Path, ClaimFile, dict[tuple, int]]


def claim_files(config: Path) -> dict[str, tuple[Path, ...]]:
    """Paper -> claims files, in order: papers/PAPER/claims/*.yaml, or below config/claims. Raises InputError: both."""
    folder = config/CLAIMS
    found: dict[str, tuple[Path, ...]] = {}
    files = named_files(folder, "the name of a claims file")
    for path in sorted(files, key=lambda path: (path.parent != folder, path)):
        paper = path.stem if path.parent == folder else path.parent.name
        if path.parent != folder and found.get(paper, (path,))[0].parent == folder:
            raise InputError(f"{folder}: the claims of {paper} are in {paper}.yaml and in the folder {paper}; keep one"
                             " of the two")
        found[paper] = (*found.get(paper, ()), path)
    for paper, place in paper_folders(config).items():
        if paths := named_files(place/CLAIMS, "the name of a claims file"):
            if paper in found:
                raise InputError(f"{found[paper][0]} and {paths[0]} are both claims of {paper}; keep them in one place")
            found[paper] = tuple(paths)
    return dict(sorted(found.items()))


def load_claims(paths: Iterable[Path]) -> ClaimFile:
    """Validated claims of a paper from its files. Raises InputError: file, line, key, and what is allowed; a claim that
    appears twice; files of two papers."""
    claims: dict[str, Claim] = {}
    leading: dict[str, Claim] = {}  # the first of each group, or the one in none
    parts = list(map(load_part, paths))
    first = parts[0][1]
    groups = _groups(parts)
    for path, part, lines in parts:
        if part.paper != first.paper:
            raise InputError(f"{path}, line {line_of(('paper',), lines)}: paper is {part.paper}, in {parts[0][0].name}"
                             f" it is {first.paper}; the files of a folder are of one paper")
        for k, claim in enumerate(part.claims):
            place = f"{path}, line {line_of(('claims', k, 'id'), lines)}: claim {claim.id}"
            if claim.id in claims:
                raise InputError(f"{place} appears twice")
            if claim.counted == "paper" and not claim.quote:
                raise InputError(f"{place} is asserted by {claim.asserted_by}: show the paper's words (key quote)")
            if claim.group and claim.group not in groups:
                raise InputError(f"{path}, line {line_of(('claims', k, 'group'), lines)}: group {claim.group} of claim"
                                 f" {claim.id} has no type; give it one under groups")
            if (other := leading.setdefault(claim.group or claim.id, claim)).counted != claim.counted:
                raise InputError(f"{place} is asserted by {claim.asserted_by}, {other.id} of the same group by"
                                 f" {other.asserted_by}; a group is of the paper (paper, derived), own, or external")
            claims[claim.id] = claim
    _require_joint(first.paper, claims)
    known = paper_of_file(parts[0][0])
    citation = first.citation or (known.citation if known else "")
    whole = ClaimFile(paper=first.paper, citation=citation, groups=groups, claims=list(claims.values()),
                      headlines=[item for _, part, _ in parts for item in part.headlines])
    seen: list[str] = []

    def wrong(item: Headline) -> str:
        seen.append(item.name)
        if len(seen) > FIRST or seen.count(seen[-1]) > 1:
            return f"{seen[-1]} appears twice" if len(seen) <= FIRST else f"more than {FIRST} of a paper"
        if not item.misprint and seen[-1] not in leading:
            return unknown("group, or claim in no group", seen[-1], leading)
        study = item.figure.rpartition("/")[0]
        ran = {choice.study for claim in whole.judging(item.name) for choice in (*claim.runs, *claim.against)}
        return "" if item.misprint or study in ran else (
            f"the figure {item.figure} is of no run of {item.name}; its runs are of {', '.join(sorted(ran)) or 'none'}")

    require_headlines(parts, wrong)
    return whole


def load_part(path: Path) -> Part:
    """A claims file, its content and the lines of its keys; errors as `read_yaml` and `validated`."""
    content, lines = read_yaml(path)
    paper = paper_of_file(path)
    own = criteria_in(paper_module(paper, paper.criteria)) if paper and paper.criteria else {}
    for kind, item in own.items():
        if not isinstance(kind, str) or CRITERIA.get(kind, item) is not item:
            raise InputError(f"{inspect.getfile(item)}: kind of {item.__name__} must be Literal[a name that no other"
                             " criterion has]")
    with paper_code(next(iter(own.values()), None)):
        return path, validated(claim_file_with(*own.values()), path, content, lines), lines


def require_headlines(parts: Iterable[Part], wrong: Callable[[Headline], str]) -> None:
    """Raises InputError with file and line for a headline of which `wrong` gives a sentence."""
    for path, part, lines in parts:
        for k, item in enumerate(part.headlines):
            if said := wrong(item):
                raise InputError(f"{path}, line {line_of(('headlines', k), lines)}: headline: {said}")


def place_of(name: str, paths: Iterable[Path]) -> str:
    """File and line of a claim that is in one of the files."""
    return next(f"{path}, line {line_of(('claims', k, 'id'), lines)}" for path in paths
                for file, lines in [read_yaml(path)] for k, claim in enumerate(file["claims"]) if claim["id"] == name)


def _groups(parts: list[Part]) -> dict[str, Group]:
    """The groups of all files; raises InputError for one that appears twice or has no claims."""
    groups: dict[str, Group] = {}
    used = {claim.group for _, part, _ in parts for claim in part.claims}
    for path, part, lines in parts:
        for name in part.groups:
            if name in groups or name not in used:
                raise InputError(f"{path}, line {line_of(('groups', name), lines)}: group {name}"
                                 f" {'appears twice' if name in groups else 'has no claims'}")
        groups |= part.groups
    return groups


def _require_joint(paper: str, claims: Mapping[str, Claim]) -> None:
    """Raises InputError for a scan that names a claim which is not there or has no printed number."""
    for claim in claims.values():
        for name in claim.scan.jointly if claim.scan else ():
            if name not in claims:
                raise InputError(f"claim {claim.id} of {paper}: scan: {unknown('claim', name, claims)}")
            if claims[name].criterion.needs.number != "printed":
                raise InputError(f"claim {claim.id} of {paper}: scan: claim {name} has no criterion that needs a"
                                 " printed number, such as digits")
