"""From a study file to its cells: every run with its specification and the file it is kept in."""
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import FunctionType
from typing import Any

from liestep.errors import InputError, unknown
from liestep.files.records import short_hash
from liestep.mechanics.contracts.method import Method, choices
from liestep.mechanics.contracts.sheet import Options
from liestep.simulation import catalogue
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.endings.events import Control
from liestep.simulation.plugins.loading import find_plugin, load_plugin, require_named
from liestep.simulation.runs.estimate import Estimate, estimate
from liestep.simulation.runs.maps import ParameterMap, Request, ensemble_shards, first_of, require_map, shards
from liestep.simulation.runs.specification import CheckedStart, options_of, specify, start_of
from liestep.simulation.runs.specified import RunSpecification
from liestep.study.plan.budget import Cap, cap_of, fictitious_steps, step_counts
from liestep.study.plan.config import (
    ControlConfig,
    IntegratorConfig,
    Ladder,
    ProblemConfig,
    Settings,
    StudyConfig,
    load_study_config,
)
from liestep.study.plan.maps import is_map, map_of, require_reduced, require_settings, require_shown
from liestep.study.plan.names import require_name, study_files
from liestep.study.plan.papers import paper_of_file
from liestep.study.plan.yamlfile import line_of
from liestep.study.tables.kinds import modules_of

SETTINGS = tuple(Settings.model_fields)
# settings that do nothing for an adaptive method (True) or one of fixed steps (False)
ADAPTIVE = ("outputs", "log_steps", "max_step")
MEANINGLESS = {True: ("steps", "statistics_every", "exponents"), False: ("tolerances", *ADAPTIVE)}


@dataclass(frozen=True)
class Cell:
    """One run of a study: (problem, integrator, resolution) by their keys, its file, and what makes its specification.
    `known` and `sized` are the fingerprint and the estimate where an earlier start has found them."""

    study: str
    problem: str
    integrator: str
    resolution: str
    path: Path
    specified: Callable[[], RunSpecification]
    known: str = ""
    sized: Estimate | None = None

    @cached_property
    def spec(self) -> RunSpecification:
        return self.specified()

    @cached_property
    def fingerprint(self) -> str:
        """Changes when the specification or a used source changes."""
        return self.known or f"{self.spec.sha256}:{self.spec.source_hash}"

    @cached_property
    def estimate(self) -> Estimate:
        return self.sized or estimate(self.spec)


@dataclass(frozen=True)
class Sweep:
    """All cells of one (problem, integrator) of a study: one process makes them."""

    study: str
    problem: str
    integrator: str
    cells: tuple[Cell, ...]

    @cached_property
    def fingerprint(self) -> str:
        """Changes when a cell comes or goes, or its specification or a used source changes."""
        return short_hash(" ".join(cell.fingerprint for cell in self.cells))


class Study:
    """A validated study.

    Args:
        path: the YAML file.
        name: its id, for example "twospheres2009/example1"; results lie in `folder`.
    """

    def __init__(self, path: Path, name: str, results: Path):
        self.path, self.name = Path(path), name
        self.results, self.folder = Path(results), Path(results)/name
        self.stated, self._lines = load_study_config(self.path)  # what the file says
        self.paper = paper_of_file(self.path)
        for number, table in enumerate(self.stated.tables):
            if table not in (known := modules_of(self.paper)):
                raise self.complain(("tables", number), unknown("table", table, known))
        self._plugins = self._load_plugins()  # ids
        self.code = "".join(catalogue.plugin_entries()[name].content for name in self._plugins)
        self._known: dict[tuple[str, str], Sweep] = {}
        self._starts: dict[str, CheckedStart] = {}  # by problem
        self._maps: dict[str, ParameterMap | None] = {}
        self._caps: dict[tuple[str, int], Cap] = {}  # by problem and most operations
        require_shown(self.stated, self.complain)

    @cached_property
    def _expanded(self) -> tuple[StudyConfig, dict[tuple[str, str], str]]:
        return expanded(self.stated, self._plugins) if self.stated.every_integrator else (self.stated, {})

    @property
    def config(self) -> StudyConfig:
        """With the integrators that `every_integrator` adds: a start that finds its plan does not ask for them."""
        return self._expanded[0]

    @property
    def not_applicable(self) -> dict[tuple[str, str], str]:
        """(problem, integrator) -> sentence."""
        return self._expanded[1]

    @classmethod
    def find(cls, name: str, config: Path = Path("config"), results: Path = Path("results")) -> "Study":
        """Study by id or by the path of its file. Raises InputError: no such study; names the closest one."""
        known = study_files(config)
        if name.endswith((".yaml", ".yml")):
            path = Path(name)
            key = next((key for key, file in known.items() if file.resolve() == path.resolve()), path.stem)
            return cls(path, require_name("the name of a study", key), results)
        if not known:
            raise InputError(f"there is no study in {Path(config)/'studies'}: call it in the repository, or name the"
                             " folder with --config")
        if name not in known:
            raise InputError(unknown("study", name, known))
        return cls(known[name], name, results)

    def complain(self, place: tuple, message: object) -> InputError:
        key = ".".join(level if level.isprintable() else repr(level) for level in map(str, place))
        return InputError(f"{self.path}, line {line_of(place, self._lines)}: {key}: {message}")

    def _about(self, error: InputError, *places: tuple) -> tuple:
        """The key that a sentence is about: its first word that is a key directly below one of the places;
        otherwise the last place."""
        below = {(place, str(key[-1])): key for place in places for key in self._lines if key and key[:-1] == place}
        for word in re.findall(r"\w+", str(error)):
            for place in places:
                for name in (word, f"{word}s"):  # step, tolerance, option
                    if (place, name) in below:
                        return below[place, name]
        return places[-1]

    def _load_plugins(self) -> tuple[str, ...]:
        """Make systems and integrators of the study's files known, relative to the study file or working directory."""
        loaded: list[str] = []
        for number, text in enumerate(self.stated.plugins):
            try:
                loaded += load_plugin(find_plugin(text, self.path.parent, Path()))
            except InputError as error:
                raise self.complain(("plugins", number), error) from None
        return tuple(loaded)

    def integrator_id(self, key: str) -> str:
        return self.config.integrators[key].id or key

    def pairs(self) -> Iterator[tuple[str, ProblemConfig, str, IntegratorConfig]]:
        """All (problem, integrator) pairs by key."""
        for problem, setup in self.config.problems.items():
            chosen = setup.integrators if setup.integrators is not None else list(self.config.integrators)
            for place, names in ((("problems", problem, "integrators"), chosen),
                                 (("problems", problem, "overrides"), setup.overrides)):
                for key in names:
                    if key not in self.config.integrators:
                        raise self.complain((*place, key), unknown("integrator key", key, self.config.integrators))
            for key in chosen:
                yield problem, setup, key, self.config.integrators[key]

    def setting(self, name: str, setup: ProblemConfig, key: str, entry: IntegratorConfig) -> Any:
        """Value of a setting: that of the pair if it has one, else of the integrator, the problem, the study."""
        for level in (setup.overrides.get(key), entry, setup, self.config):
            value = getattr(level, name, None) if level is not None else None
            if value is not None:
                return value
        return None

    @cached_property
    def sweeps(self) -> tuple[Sweep, ...]:
        """All sweeps with their cells. Raises InputError: an entry that makes no valid run; file, line and key."""
        return tuple(self._planned(*pair) for pair in self.pairs())

    def _planned(self, problem: str, setup: ProblemConfig, key: str, entry: IntegratorConfig) -> Sweep:
        if (problem, key) not in self._known:
            self._known[problem, key] = self._sweep(problem, setup, key, entry)
        return self._known[problem, key]

    @property
    def cells(self) -> list[Cell]:
        return [cell for sweep in self.sweeps for cell in sweep.cells]

    def select(self, problem: str, integrator: str | None = None, resolutions: list[str] | None = None) -> list[Cell]:
        """Cells of a problem, of one of its sweeps, or some cells of a sweep by resolution label. Raises InputError:
        unknown problem, integrator or resolution of this study."""
        for what, name, known in (("problem", problem, self.config.problems),
                                  ("integrator", integrator, self.config.integrators)):
            if name is not None and name not in known:
                raise InputError(f"{self.path}: {unknown(what, name, known)}")
        chosen = [pair for pair in self.pairs() if pair[0] == problem and integrator in (None, pair[2])]
        if not chosen:
            raise InputError(f"{self.path}: {integrator} does not run on {problem} in this study")
        cells = [cell for pair in chosen for cell in self._planned(*pair).cells]
        labels = [cell.resolution for cell in cells]
        for name in resolutions or ():
            if name not in labels:
                raise InputError(f"{self.path}: {unknown('resolution', name, labels)}")
        return [cell for cell in cells if not resolutions or cell.resolution in resolutions]

    def run_path(self, problem: str, integrator: str, resolution: str) -> Path:
        """File of a run."""
        return self.folder/"runs"/problem/integrator/f"{resolution}.nc"

    def reference_path(self, problem: str) -> Path:
        """File of the reference of a problem."""
        return self.folder/"references"/f"{problem}.nc"

    def planned_before(self, problem: str, integrator: str, found: Mapping[str, Sequence[Any]]) -> Sweep:
        """A sweep whose fingerprints and estimates by resolution are known; its runs are specified when somebody asks
        for it."""
        def specified(label: str) -> RunSpecification:
            return self.select(problem, integrator, [label])[0].spec

        return Sweep(self.name, problem, integrator, tuple(
            Cell(self.name, problem, integrator, label, self.run_path(problem, integrator, label),
                 partial(specified, label), known, Estimate(*sizes)) for label, (known, *sizes) in found.items()))

    def _start(self, problem: str, setup: ProblemConfig) -> CheckedStart:
        """Parameters and initial state of a problem, checked once for all its runs; of a map, of its first values."""
        if problem not in self._starts:
            place = ("problems", problem)
            try:
                require_named(setup.system, self._plugins)
                facts = sheet(setup.system)
            except InputError as error:
                raise self.complain((*place, "system"), error) from None
            owner = catalogue.preset_owner(setup.system, setup.preset or "")
            if owner and owner != (self.paper.id if self.paper else None):
                raise self.complain((*place, "preset"), f"{setup.preset} is a preset of the paper {owner}, for its"
                                    " studies alone")
            if setup.preset is not None and setup.preset not in facts.presets:
                raise self.complain((*place, "preset"),
                                    unknown(f"preset of {setup.system}", setup.preset, facts.presets))
            try:
                mapped = self._maps[problem] = map_of(setup)
                if mapped is not None:
                    self._starts[problem] = require_map(mapped, setup.system, self._request(setup))
                else:
                    self._starts[problem] = _start_of(setup)
            except InputError as error:
                last = (*place, "sample" if setup.sample else "grid") if is_map(setup) else place
                raise self.complain(self._about(error, (*place, "parameters"), (*place, "initial"), last),
                                    error) from None
        return self._starts[problem]

    @staticmethod
    def _sizes(make: Callable[..., RunSpecification], declared: Method, ladder: Ladder | None,
               budgets: list[int] | None, t_end: float, samples: int | None) -> Sequence[float]:
        """Tolerances, or numbers of steps; `make` gives a run of one of them."""
        if ladder is not None:
            return ladder.expand() if declared.adaptive else ladder.step_counts(t_end)
        assert budgets is not None
        if declared.fictitious:
            return fictitious_steps(make(tolerance=1e-3*t_end), budgets)
        return step_counts(make(steps=declared.fewest_steps), budgets, max(1, (samples or 2) - 1),
                           declared.fewest_steps)

    def _cap(self, problem: str, setup: ProblemConfig, most: int) -> Cap:
        """Most operations of a run on a problem, whose evaluations are counted once."""
        if (problem, most) not in self._caps:
            self._caps[problem, most] = cap_of(self._start(problem, setup), most)
        return self._caps[problem, most]

    def capped(self, problem: str, integrator: str) -> str:
        """A sentence where the budgets of evaluations of a pair were cut by its operations; else empty."""
        setup = self.config.problems[problem]
        entry = self.config.integrators[integrator]
        budgets, most, steps = (self.setting(name, setup, integrator, entry)
                                for name in ("evaluations", "operations", "steps"))
        declared = method(self.integrator_id(integrator))
        spends = not steps and (declared.fictitious or not declared.adaptive)
        return self._cap(problem, setup, most).sentence(budgets) if budgets and most and spends else ""

    def _request(self, setup: ProblemConfig, entry: IntegratorConfig | None = None) -> Request:
        return Request(setup.preset, setup.parameters, setup.initial, entry.options if entry else {})

    def _settings(self, setup: ProblemConfig, key: str, entry: IntegratorConfig, adaptive: bool) -> dict[str, Any]:
        """All settings of a pair. Raises InputError for its own ones that mean nothing for the method."""
        kind = "adaptive" if adaptive else "of fixed steps"
        for level in (setup.overrides.get(key), entry):
            for name in MEANINGLESS[adaptive]:
                if level is not None and getattr(level, name) is not None:
                    raise InputError(f"{name} means nothing for {key}, which is {kind}; leave it out")
        return {setting: self.setting(setting, setup, key, entry) for setting in SETTINGS}

    def _control(self, asked: ControlConfig) -> dict[str, Any]:
        """Arguments of a run. Raises InputError: no such function, it has no digest, or a reference is asked for."""
        files = [vars(sys.modules[catalogue.plugin_entries()[name].module]) for name in self._plugins]
        known = {name: item for file in files for name, item in file.items() if isinstance(item, FunctionType)}
        if asked.function not in known:
            raise InputError(f"control: {unknown('function of plugins', asked.function, known)}")
        made = Control(known[asked.function], asked.sample)
        if why := made.identity().get("unknown"):
            raise InputError(f"control {asked.function} is not reproducible, and studies take what is: {why}")
        if self.config.reference:
            raise InputError("control: references know no control; leave out reference")
        return {"control": made.function, "sample": made.sample}

    def _sweep(self, problem: str, setup: ProblemConfig, key: str, entry: IntegratorConfig) -> Sweep:
        place, name, start = ("problems", problem), self.integrator_id(key), self._start(problem, setup)
        try:
            require_named(name, self._plugins)
            declared = method(name)
        except InputError as error:
            raise self.complain(("integrators", key), error) from None
        adaptive = declared.adaptive
        cells: dict[str, Cell] = {}
        word = "tolerances" if adaptive else "steps"
        try:
            settings, parameters = self._settings(setup, key, entry, adaptive), self._maps[problem]
            ladder = {rungs: settings.pop(rungs) for rungs in ("steps", "tolerances")}[word]
            budgets, most = settings.pop("evaluations"), settings.pop("operations")
            budgets = self._cap(problem, setup, most).cut(budgets) if budgets and most else budgets
            own = (level.tolerances for level in (setup.overrides.get(key), entry) if level is not None)
            if declared.fictitious and budgets is not None and not any(own):
                ladder = None  # the study's tolerances are errors
            if parameters is not None:
                require_settings(settings)
            ensemble, sides = settings.pop("ensemble"), settings.pop("grid")
            members = ensemble and ensemble.model_dump()
            if isinstance(sides, list):  # of starts; a map has no members
                members = {"turns": [side.model_dump() for side in sides]}
            if settings["reduced"]:
                settings |= require_reduced(settings, adaptive, parameters is not None or members is not None)
            if ladder is None and (budgets is None or (adaptive and not declared.fictitious)):
                raise self.complain(place, f"{word} are missing for {key}: give them at the study, the problem, the"
                                    " integrator or the pair")
            t_end = setup.t_end if setup.t_end is not None else start.t_end
            common = {setting: value for setting, value in settings.items() if value is not None
                      and setting not in (("exponents",) if adaptive else ADAPTIVE)}
            common |= {"ensemble": members} | (self._control(setup.control) if setup.control else {})
            make = partial(specify, setup.system, name, t_end=t_end, start=start,
                           options=options_of(name, start, entry.options))
            for size in self._sizes(make, declared, ladder, budgets, t_end, settings["samples"]):
                spec = make(**common | {"tolerance" if adaptive else "steps": size})
                label = f"tol{spec.tolerance:.6g}" if adaptive else f"h{spec.step:.6g}"
                if label in cells:
                    raise InputError(f"{word} give the resolution {label} twice")
                parts = (ensemble_shards(spec) if parameters is None
                         else shards(spec, parameters, self._request(setup, entry)))
                made = {f"{label}_{first_of(shard)}" if first_of(shard) else label: shard for shard in parts}
                cells |= {label: Cell(self.name, problem, key, label, self.run_path(problem, key, label),
                                      partial(lambda spec: spec, shard)) for label, shard in made.items()}
        except InputError as error:
            if str(error).startswith(f"{self.path}, line "):
                raise
            found_at = self._about(error, (*place, "overrides", key), ("integrators", key, "options"),
                                   ("integrators", key), place, ())
            raise self.complain(found_at or place, f"{key} on {problem}: {error}") from None
        return Sweep(self.name, problem, key, tuple(cells.values()))


_started: dict[tuple[Any, ...], CheckedStart] = {}


def _start_of(setup: ProblemConfig) -> CheckedStart:
    """The start of a problem, checked once for all studies that have it."""
    key = id(sheet(setup.system)), setup.preset, repr(setup.parameters), repr(setup.initial)
    if key not in _started:  # and holds the sheet, whose id is no other's then
        _started[key] = start_of(setup.system, preset=setup.preset, parameters=setup.parameters, initial=setup.initial)
    return _started[key]


def expanded(config: StudyConfig, plugins: Collection[str]) -> tuple[StudyConfig, dict[tuple[str, str], str]]:
    """The study with the integrators that `every_integrator` adds, of the package and of its own plugins, for problems
    that name none; and by (problem, integrator) why others cannot run there. Raises InputError: parameters or start of
    a problem are wrong."""
    problems, integrators = dict(config.problems), dict(config.integrators)
    for call in catalogue.integrator_calls():
        name, _, more = call.partition(" ")
        options = choices(more)
        there = [(entry.id or key, {option: str(value) for option, value in entry.options.items()})
                 for key, entry in integrators.items()]
        if (name in plugins or name in catalogue.own_integrators()) and (name, options) not in there:
            integrators["_".join((name, *options.values()))] = IntegratorConfig.model_validate(
                {"id": name, "options": options})
    refused: dict[tuple[str, str], str] = {}
    for key, setup in problems.items():
        if setup.integrators is None:
            start = _start_of(setup)
            found = {name: _refusal(setup, start, entry.id or name, entry.options)
                     for name, entry in integrators.items()}
            refused |= {(key, name): sentence for name, sentence in found.items() if sentence is not None}
            able = [name for name, sentence in found.items() if sentence is None]
            problems[key] = setup.model_copy(update={"integrators": able})
    return config.model_copy(update={"problems": problems, "integrators": integrators}), refused


def _refusal(setup: ProblemConfig, start: CheckedStart, name: str, options: Options) -> str | None:
    """Why an integrator cannot run on a problem; None if it can."""
    declared = method(name)
    if (reason := declared.lacks(start.system.item, start.parameters)) is not None:
        return reason.reason
    size = {"tolerance": 1e-6} if declared.adaptive else {"steps": declared.fewest_steps}
    try:
        specify(setup.system, name, options=options, start=start, t_end=setup.t_end or start.t_end, **size)
    except InputError as error:
        return str(error)
    return None


EXPLICIT = "rigid_bodies"  # formulation whose maps kick and drift


def warnings(study: Study) -> Iterator[str]:
    """One sentence for each problem and integrator with steps above the largest stable one of the system."""
    for problem, integrator in dict.fromkeys((cell.problem, cell.integrator) for cell in study.cells):
        specs = [cell.spec for cell in study.select(problem, integrator)]
        facts = specs[0].sheet
        if facts.largest_step is None or specs[0].method.formulation != EXPLICIT:
            continue
        limit = facts.largest_step(specs[0].parameters)
        above = sorted({spec.step for spec in specs if spec.step is not None and spec.step > limit})
        if above:
            listed = ", ".join(f"{step:.4g}" for step in above)
            yield (f"step {listed} of {integrator} on {problem} is above {limit:.4g} s, where explicit steps are"
                   f" unstable: its runs may end early")
