"""What the Snakemake workflow makes: the studies that config.yaml asks for, their products, and what each product
depends on. Everything is checked here, before the first job runs."""
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from liestep.claims.claimfile import (
    FIRST_OF_ALL,
    Claim,
    Headline,
    claim_files,
    load_claims,
    load_part,
    place_of,
    require_headlines,
)
from liestep.claims.criteria.computed import Computed
from liestep.claims.errata import errata_files, load_errata
from liestep.claims.history import history_file, load_history
from liestep.claims.quantities import require_claim
from liestep.compile.sources import package_hash
from liestep.errors import InputError, unknown
from liestep.figures.commands import require_figure
from liestep.files.records import short_hash
from liestep.simulation.runs.estimate import Estimate, require_disk, require_held
from liestep.study.plan.maps import CELLS, is_reduced
from liestep.study.plan.names import PAPERS, REPORT_FOLDER, belonging, page_of, selected, study_files
from liestep.study.plan.papers import paper_code
from liestep.study.plan.plan import Cell, Study, Sweep
from liestep.study.plan.yamlfile import Strict, complaint, read_yaml
from liestep.study.tables.kinds import table_of
from liestep.study.tables.quantities import quantities_of
from liestep.workflow.plans import Plans, content_hash

# most problems that share a process; runs share one only with problems of the same system, whose code they share
TOGETHER = 6
TIMED = 1_000_000  # priority of jobs on the way to times, above all seconds of runs


@dataclass(frozen=True)
class Reference:
    """Reference of one problem of a study: its file, and a text that changes when it is out of date."""

    problem: str
    path: Path
    fingerprint: str


@dataclass(frozen=True)
class JobBatch:
    """Runs or references that one job makes. `arguments` of the command are a study, problems with commas between them
    and, for some of their runs, an integrator; `mark` is an empty file that Snakemake puts there when all files are
    made, and looks at instead of the files: it would need seconds for thousands, and it removes the outputs of a job
    that fails, so that of ten hours on a node that dies in the last minute nothing would be left."""

    arguments: tuple[str, ...]
    paths: tuple[Path, ...]
    mark: Path
    fingerprint: str

    @classmethod
    def of(cls, folder: Path, arguments: tuple[str, ...], paths: Iterable[Path],
           fingerprints: Iterable[str]) -> "JobBatch":
        """Batch of files with these fingerprints, whose mark is in a folder."""
        _, problems, *integrator = arguments
        label = ".".join((brief(problems), *integrator))
        return cls(arguments, tuple(paths), folder/f"{label}.made", short_hash(" ".join(fingerprints)))

    @property
    def study(self) -> str:
        return self.arguments[0]

    @property
    def size(self) -> int:
        """Number of files."""
        return len(self.paths)


@dataclass(frozen=True)
class Animation:
    """Film of one run of a study."""

    cell: Cell
    path: Path  # its stem has the keys of the run


def together(problems: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Groups of problem keys, of (key, system) pairs: at most TOGETHER problems of one system in each group. Neighbours
    in the file go to different groups: problems usually grow along the file, and groups should take equal times."""
    by_system: dict[str, list[str]] = {}
    for problem, system in problems:
        by_system.setdefault(system, []).append(problem)
    return [group for keys in by_system.values() for group in equal_groups(keys)]


def equal_groups(keys: list[str]) -> list[tuple[str, ...]]:
    """The keys in as few groups of at most TOGETHER as possible, neighbours in different groups."""
    count = -(-len(keys)//TOGETHER)
    return [tuple(keys[i::count]) for i in range(count)]


def brief(problems: str) -> str:
    """Short name of a list of problems, which no problem can have."""
    first, *others = problems.split(",")
    return f"{first}+{len(others)}_more" if others else first


CONFIG, RESULTS = Path("config"), Path("results")
SELECTION = "selection"  # folder of the results for what a call for some of the studies makes of all of them
FIGURE_FILES = ("pdf", "png", "caption.txt", "caption.rst")  # suffixes of the files of a figure
# names of products of several studies, of all or of a selection
COMMON = re.compile(rf"({SELECTION}/)?((claims|errata)\.(csv|md)|report\.html|{REPORT_FOLDER}/[^/]+\.html)")


def tell_jobs(results: Path) -> None:
    """Say where results lie to the jobs that this process starts. Raises InputError: it was told another place."""
    told = os.environ.setdefault("LIESTEP_RESULTS", str(results))
    if told != str(results):
        raise InputError(f"LIESTEP_RESULTS is {told}, not {results}: one workflow can use liestep once")


class WorkflowConfig(Strict):
    """config/config.yaml."""

    studies: str | list[str] = Field("all", description="studies to make: ids, folders such as twospheres2009 and"
                                     " patterns such as mine/*, with commas between them; or all: every file below"
                                     " config/studies and papers/*/studies")
    apart: list[str] = Field([], description="papers whose studies `all` leaves out; they are made when named")
    granularity: Literal["problem", "sweep", "run"] = Field(
        "problem", description="which runs one job makes. problem: all of a problem of a study, or of up to 6 with the"
        " same system (a process costs 1 s, a further integrator in it 0.04 s); sweep: those of one integrator on a"
        " problem; run: one, for long runs and clusters. The files are the same.")


class StudyProducts:
    """Files of one study."""

    def __init__(self, study: Study, plans: Plans | None = None):
        self.study, self.name, self.folder = study, study.name, study.folder
        self.figures = study.stated.figures
        for name in self.figures:
            try:
                require_figure(name, study.paper)
            except InputError as error:
                raise study.complain(("figures",), error) from None
        quantities_of(self.name)  # of two papers, or a module that cannot be imported: said before the first run
        self.sweeps, self.references = self._planned(plans)
        self.runs = [cell.path for cell in self.cells]
        self.animations = [self._animation(text) for text in study.stated.animations]
        self.timings = [self.folder/"timings.csv"] if study.stated.timing else []
        self.tables = [self.folder/f"{name}.csv" for name in dict.fromkeys(("metrics", *study.stated.tables))]
        for name in study.stated.tables:
            table = table_of(name, study.paper)
            assert table is not None
            self.tables += [self.folder/f"{table.timed[0]}.csv"] if table.timed and study.stated.timing else []
            self.tables += [self.folder/f"{name}.md"] if table.page else []
        self.tables += [self.folder/CELLS] if is_reduced(study.stated) else []
        self.page = self.folder/"tables.md"
        # Labels and lists of figures and tables are in no run's specification. The runs are in here although
        # they are inputs: a run made by hand leaves no trace that Snakemake could compare, and stale tables
        # must fail rather than stay.
        self.fingerprint = short_hash(
            " ".join((study.path.read_text("utf-8"), *(sweep.fingerprint for sweep in self.sweeps),
                      *(reference.fingerprint for reference in self.references))))

    @property
    def rule(self) -> str:
        """Name of the rule that makes tables and figures; two studies never share it."""
        plain = re.fullmatch(r"[A-Za-z0-9]+(/[A-Za-z0-9]+)*", self.name)
        return re.sub(r"\W", "_", f"products_{self.name}" + ("" if plain else f"__{short_hash(self.name)}"))

    @property
    def cells(self) -> list[Cell]:
        return [cell for sweep in self.sweeps for cell in sweep.cells]

    def _planned(self, plans: Plans | None) -> tuple[tuple[Sweep, ...], list[Reference]]:
        """Sweeps and references, as an earlier start planned them if the study file and all sources are the same."""
        study = self.study
        made_from = content_hash([study.path], study.path.parent) + package_hash() + study.code
        plans = None if study.paper and study.paper.presets else plans  # which are not among the sources
        before = plans.find(self.name, made_from) if plans else None
        if before is not None and _fits(before, study):
            return (tuple(study.planned_before(*entry) for entry in before["sweeps"]),
                    [Reference(key, study.reference_path(key), known)
                     for key, known in before["references"].items()])
        from liestep.simulation.references.reference import study_reference

        wanted = study.stated.problems if study.stated.reference else ()
        made = {problem: study_reference(study, problem) for problem in wanted}
        sweeps = study.sweeps
        references = [Reference(problem, path, f"{spec.sha256}:{spec.source_hash}")
                      for problem, (path, spec) in made.items()]
        if plans:
            plans.keep(self.name, made_from, {"sweeps": [[sweep.problem, sweep.integrator, {
                    cell.resolution: (cell.fingerprint, *vars(cell.estimate).values()) for cell in sweep.cells}]
                    for sweep in sweeps],
                "references": {entry.problem: entry.fingerprint for entry in references}})
        return sweeps, references

    def _animation(self, text: str) -> Animation:
        """Film of the run that an entry of the key `animations` names. Raises InputError: file, line, what is wrong."""
        try:
            parts = text.split("/")
            if len(parts) == 2:  # its first step or tolerance
                parts.append(self.study.select(parts[0], parts[1])[0].resolution)
            if len(parts) != 3:
                raise InputError(f"{text!r} must be problem/integrator or problem/integrator/resolution, for example"
                                 " bodies/rk4/h0.01")
            before = [cell for cell in self.cells if cell.known
                      and [cell.problem, cell.integrator, cell.resolution] == parts]
            cell, = before or self.study.select(parts[0], parts[1], parts[2:])
            if not before and cell.spec.ensemble is not None:
                raise InputError(f"{text} is an ensemble; animations are of single runs")
        except InputError as error:
            raise self.study.complain(("animations",), str(error).removeprefix(f"{self.study.path}: ")) from None
        return Animation(cell, self.folder/"animations"/f"{'.'.join(parts)}.gif")

    def figure(self, name: str, kind: str) -> Path:
        return self.folder/"figures"/f"{name}.{kind}"

    def caption(self, name: str) -> str:
        """Template with the figure's caption, absolute: Snakemake's report looks for relative ones beside the rules."""
        return str(self.figure(name, "caption.rst").absolute())

    def log(self, *parts: str) -> Path:
        return self.folder/"logs"/f"{'.'.join(parts)}.log"


class Workflow:
    """All that `snakemake` makes.

    Args:
        config: content of config.yaml with the changes of the command line.
        room: whether what is not there must fit memory and disk.

    Raises:
        InputError: a wrong key, an unknown study, or an error in one of the studies or claims.
    """

    def __init__(self, config: Mapping[str, Any], folder: Path = CONFIG, results: Path = RESULTS, room: bool = True):
        self.folder, self.results = folder, results
        try:
            self.config = WorkflowConfig.model_validate(config)
        except ValidationError as error:
            sentence = complaint(error, config, {}, WorkflowConfig).removeprefix("line 1: ")
            raise InputError(f"{folder}/config.yaml or --config: {sentence}") from None
        wanted, known = self.config.studies, study_files(folder)
        usual = [name for name in known if name.partition("/")[0] not in self.config.apart]
        everything = {"studies": "all", **require_config(folder/"config.yaml")}["studies"]
        try:
            names, asked = (usual if chosen == "all" else selected(chosen, known) for chosen in (wanted, everything))
        except InputError as error:
            raise InputError(f"{folder}/config.yaml or --config: {error}") from None
        self.selection = not set(asked) <= set(names)
        self.unselected = [name for name in known if name not in names]
        self.plans = Plans(results)
        self.studies = [StudyProducts(Study(known[name], name, results), self.plans) for name in names]
        self.seconds: dict[Path, float] = {}  # by run that is to be made
        self.estimate = require_room(self.studies, results, self.seconds) if room else Estimate()
        self.sweeps = [sweep for products in self.studies for sweep in products.sweeps]
        self.cells = {cell.path: cell for sweep in self.sweeps for cell in sweep.cells}
        self.batches = [batch for products in self.studies for batch in self._batches(products)]
        self.references = [batch for products in self.studies for batch in self._reference_batches(products)]
        self.marks = {batch.mark: batch for batch in (*self.batches, *self.references)}
        self.films = {film.path: film for products in self.studies for film in products.animations}
        self.claims, self.computed, self.lacking = self._claims()
        self.errata = {paper: path for paper, path in errata_files(folder).items()
                       if set(usual) <= set(names) or any(name.startswith(f"{paper}/") for name in names)}

    def priority(self, mark: Path) -> int:
        """Of the job of a mark: the longest runs first, and before them those whose times are taken afterwards, by one
        job after another."""
        batch = self.marks[mark]
        timed = any(products.timings for products in self.studies if products.name == batch.study)
        return int(sum(self.seconds.get(path, 0.0) for path in batch.paths)) + TIMED*timed

    def forget_lost(self) -> None:
        """Remove the mark of every job of which a run or a reference is missing, so that Snakemake starts it again.
        Where it cannot be removed nothing can be made either, which the job says."""
        for mark, batch in self.marks.items():
            if not all(path.is_file() for path in batch.paths):
                with suppress(OSError):
                    mark.unlink()

    def _batches(self, products: StudyProducts) -> Iterator[JobBatch]:
        """Runs that share a job."""
        sweeps: dict[tuple[str, ...], list[Sweep]] = {}
        if self.config.granularity == "sweep":
            sweeps = {(sweep.problem, sweep.integrator): [sweep] for sweep in products.sweeps}
        else:
            systems = {sweep.problem: products.study.stated.problems[sweep.problem].system for sweep in products.sweeps}
            for keys in together(systems.items()):
                sweeps[",".join(keys),] = [sweep for key in keys for sweep in products.sweeps if sweep.problem == key]
        for place, found in sweeps.items():
            yield JobBatch.of(products.folder/"runs", (products.name, *place),
                           (cell.path for sweep in found for cell in sweep.cells),
                           (sweep.fingerprint for sweep in found))

    def _reference_batches(self, products: StudyProducts) -> Iterator[JobBatch]:
        """References that share a job, of any systems: loading the engines takes most of the time of such a process."""
        known = {reference.problem: reference for reference in products.references}
        alone = self.config.granularity != "problem"
        for keys in ((key,) for key in known) if alone else equal_groups(list(known)):
            entries = [known[key] for key in keys]
            yield JobBatch.of(products.folder/"references", (products.name, ",".join(keys)),
                           (reference.path for reference in entries), (reference.fingerprint for reference in entries))

    def _claims(self) -> tuple[dict[str, list[str]], list[str], dict[str, list[str]]]:
        """Papers with the ids of the studies that their claims refer to, those of which all studies are made; papers
        whose evidence claims ask for; papers of which some studies are made, with the others. The runs are checked."""
        made_from = "".join((*(content_hash(place.rglob("*.*"), place) for place in (
            self.folder, self.folder.parent/PAPERS)), package_hash(),
            *(products.study.code for products in self.studies)))
        key = f"claims {self.config.studies}"
        if (claims := self.plans.find(key, made_from)) is None:
            self.plans.keep(key, made_from, claims := self._checked_claims())
        return claims

    def _checked_claims(self) -> tuple[dict[str, list[str]], list[str], dict[str, list[str]]]:
        studies = {products.name: products.study for products in self.studies}
        plans, computed, lacking, first = {}, set(), {}, 0
        for paper, paths in claim_files(self.folder).items():
            path = paths[0] if len(paths) == 1 else paths[0].parent
            file = load_claims(paths)
            if file.paper != paper:
                raise InputError(f"{path}: paper is {file.paper}; it must be {paper}, as the file or folder is called")
            needed = {choice.study for claim in file.claims for choice in claim.choices}
            missing = sorted(needed - studies.keys())
            if missing and self.config.studies == "all" and paper not in self.config.apart:
                raise InputError(f"{path}: {unknown('study', missing[0], studies)}")
            if missing:
                if needed & studies.keys():
                    lacking[paper] = missing
                continue
            load_history(self.folder, paper, paths)
            plans[paper] = sorted(needed)
            for claim in file.claims:
                if isinstance(claim.criterion, Computed):
                    computed.add(claim.criterion.paper)
                _require_claim(claim, paths, studies)
            first += len(file.headlines)
            if first > FIRST_OF_ALL:
                raise InputError(f"{path}: headlines: {first} with those of the papers before; at most {FIRST_OF_ALL}")
            if file.headlines:
                self._require_headlines(paper, paths, file.headlines)
        return plans, sorted(computed), lacking

    @property
    def unjudged(self) -> list[str]:
        """Of each paper whose claims have no verdict because some of their studies are not made, a sentence."""
        return [f"no verdict on the claims of {paper}, which also need the studies {', '.join(names)}"
                for paper, names in self.lacking.items()]

    def _require_headlines(self, paper: str, paths: tuple[Path, ...], found: Iterable[Headline]) -> None:
        """Raises InputError for an unknown erratum or figure; without its study a card has no picture."""
        errata = ([f"erratum {entry.id}" for entry in load_errata(paper, self.folder).errata]
                  if paper in errata_files(self.folder) else [])
        figures = {products.name: products.figures for products in self.studies}

        def wrong(item: Headline) -> str:
            study, _, name = item.figure.rpartition("/")
            if item.misprint:
                return "" if item.misprint in errata else unknown("misprint", item.misprint, errata)
            known = figures.get(study, [name])
            return "" if name in known else unknown(f"figure of {study}", name, known)

        require_headlines(map(load_part, paths) if any(map(wrong, found)) else (), wrong)  # read again, for the line

    @property
    def claim_files(self) -> dict[str, tuple[Path, ...]]:
        """Paper -> files of its claims, those that are judged."""
        return {paper: paths for paper, paths in claim_files(self.folder).items() if paper in self.claims}

    @property
    def claim_inputs(self) -> list[Path]:
        """Files that people and the log wrote on the claims that are judged: claims and their history."""
        histories = [history_file(self.folder, paper) for paper in self.claims]
        return [*(path for paths in self.claim_files.values() for path in paths),
                *(path for path in histories if path.is_file())]

    @property
    def claimed(self) -> list[StudyProducts]:
        """Studies that claims refer to."""
        names = {name for needed in self.claims.values() for name in needed}
        return [products for products in self.studies if products.name in names]

    @property
    def common(self) -> Path:
        """Folder of what is made of several studies: the verdicts and the report."""
        return self.results/SELECTION if self.selection else self.results

    @property
    def verdicts(self) -> list[Path]:
        kinds = ["claims"]*bool(self.claims) + ["errata"]*bool(self.errata)
        return [self.common/f"{kind}.{suffix}" for kind in kinds for suffix in ("csv", "md")]

    @property
    def pages(self) -> list[str]:
        """Keys of the report's pages: papers with claims or errata, then other folders of studies."""
        papers = sorted({*self.claims, *self.errata})
        return list(dict.fromkeys((*papers, *(page_of(products.name) for products in self.studies))))

    @property
    def reports(self) -> list[Path]:
        """Files of the report: the index and a page for each paper and each folder of own studies."""
        return [self.common/"report.html", *(self.common/REPORT_FOLDER/f"{key}.html" for key in self.pages)]

    @property
    def targets(self) -> list[Path]:
        """Everything that is asked for but the runs and references."""
        paths = [*self.reports, *self.verdicts]
        for products in self.studies:
            paths += [*products.tables, products.page]
            paths += [products.figure(name, kind) for name in products.figures for kind in FIGURE_FILES]
            paths += [film.path for film in products.animations]
        return paths


def _require_claim(claim: Claim, paths: Sequence[Path], studies: Mapping[str, Study]) -> None:
    try:
        with paper_code(type(claim.criterion)):
            require_claim(claim, studies)
    except InputError as error:
        raise InputError(f"{place_of(claim.id, paths)}: claim {claim.id}: {error}") from None


def claims_on(study: Study, config: Path, results: Path) -> int:
    """Number of the claims that name runs of a study. Raises InputError: one of them is wrong; file and line."""
    studies, count = {study.name: study}, 0
    for paths in claim_files(config).values():
        for claim in load_claims(paths).claims:
            needed = {choice.study for choice in claim.choices}
            if study.name in needed:
                studies |= {name: Study.find(name, config, results) for name in needed - studies.keys()}
                _require_claim(claim, paths, studies)
                count += 1
    return count


def _fits(plan: Any, study: Study) -> bool:
    """Whether what an earlier start has planned can be of this study: its names become paths."""
    keys = study.stated
    try:
        return plan["references"].keys() == set(keys.problems if keys.reference else ()) and all(
            problem in keys.problems and integrator.isidentifier() and not any(
                "/" in label or len(known) != 1 + len(fields(Estimate)) for label, known in cells.items())
            for problem, integrator, cells in plan["sweeps"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def require_room(studies: Iterable[StudyProducts], results: Path, seconds: dict[Path, float] | None = None) -> Estimate:
    """What the runs that are not there take, in `seconds` each. Raises InputError: more than the memory or the disk
    holds."""
    needed = Estimate()
    for products in studies:
        for cell in products.cells:
            if not cell.path.is_file():
                needed += (estimate := require_held(
                    cell.estimate, f"{products.study.path}: {cell.problem} {cell.integrator} {cell.resolution}"))
                if seconds is not None:
                    seconds[cell.path] = estimate.seconds
    require_disk(needed.size, results)
    return needed


def require_config(path: Path) -> Mapping[str, Any]:
    """Content of config.yaml, which may be missing or empty. Raises InputError: no mapping, or malformed."""
    content = read_yaml(path)[0] if path.exists() or path.is_symlink() else None
    if not isinstance(content, Mapping | None):
        raise InputError(f"{path}, line 1: must be a mapping with the keys {', '.join(WorkflowConfig.model_fields)}")
    return content or {}


def asked_for(targets: Iterable[str], folder: Path, results: Path) -> list[str] | None:
    """Studies of which files are asked for on the command line; None where anything else is asked for, too."""
    paths = [Path(os.path.relpath(text, results)) for text in targets if "/" in text]
    return belonging(paths, study_files(folder)) if len(paths) == len(list(targets)) else None


def configured(config: Path, results: Path, studies: list[str]) -> Workflow:
    """The workflow of config.yaml, with other studies if any are given; errors as `Workflow`."""
    content = require_config(config/"config.yaml")
    return Workflow({**content, **({"studies": studies} if studies else {})}, config, results)
