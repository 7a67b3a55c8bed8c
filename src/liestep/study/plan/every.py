"""Studies of all that there is: every integrator on every system, with the pairs that are refused and why."""
from collections.abc import Collection, Iterator

from liestep.errors import InputError
from liestep.mechanics.contracts.method import choices
from liestep.simulation.catalogue import integrator_calls, method, own_integrators, own_systems, system_ids
from liestep.simulation.runs.specification import Start, specify, start_of
from liestep.study.plan.config import IntegratorConfig, ProblemConfig, StudyConfig

NotApplicable = dict[tuple[str, str], str]   # (problem, integrator) -> sentence


def expanded(config: StudyConfig, plugins: Collection[str]) -> tuple[StudyConfig, NotApplicable]:
    """The study with the systems and integrators that `every_system` and `every_integrator` add, of the package and of
    its own plugins, each problem with those that can run on it, and why the others cannot. Raises InputError:
    parameters or start of a problem are wrong."""
    problems, integrators = dict(config.problems), dict(config.integrators)
    if config.every_system:
        named = {setup.system for setup in problems.values()}
        problems |= {name: ProblemConfig(system=name) for name in system_ids()  # type: ignore[call-arg]
                     if (name in plugins or name in own_systems()) and name not in named}
    if not config.every_integrator:
        return config.model_copy(update={"problems": problems}), {}
    for call in integrator_calls():
        name, _, more = call.partition(" ")
        if name in plugins or name in own_integrators():
            _add(integrators, name, choices(more))
    refused: NotApplicable = {}
    for key, setup in problems.items():
        if setup.integrators is None:
            start = start_of(setup.system, preset=setup.preset, parameters=setup.parameters, initial=setup.initial)
            sentences = dict(_refusals(setup, start, integrators))
            refused |= {(key, name): sentence for name, sentence in sentences.items()}
            problems[key] = setup.model_copy(update={"integrators": [n for n in integrators if n not in sentences]})
    return config.model_copy(update={"problems": problems, "integrators": integrators}), refused


def _add(integrators: dict[str, IntegratorConfig | None], name: str, options: dict[str, str]) -> None:
    """An integrator with the options of a call under a key of both, unless a key has them already."""
    for key, entry in integrators.items():
        given = {option: str(value) for option, value in (entry.options if entry else {}).items()}
        if ((entry.id if entry else None) or key) == name and given == options:
            return
    integrators["_".join((name, *options.values()))] = IntegratorConfig.model_validate({"id": name, "options": options})


def _refusals(setup: ProblemConfig, start: Start, integrators: dict[str, IntegratorConfig | None]
              ) -> Iterator[tuple[str, str]]:
    """Keys of the integrators that cannot run on a problem, with the reason."""
    for key, entry in integrators.items():
        name = (entry.id if entry else None) or key
        declared = method(name)
        reason = declared.lacks(start.system.item, start.parameters)
        if reason is not None:
            yield key, reason.reason
            continue
        size = {"tolerance": 1e-6} if declared.adaptive else {"steps": declared.fewest_steps}
        try:
            specify(setup.system, name, options=entry.options if entry else {}, start=start, t_end=setup.t_end or
                    start.t_end, **size)
        except InputError as error:
            yield key, str(error)
