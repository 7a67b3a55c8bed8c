"""A commented study file to start from, which runs as it is."""
from pathlib import Path

from liestep.errors import InputError
from liestep.simulation.catalogue import method, ranked, sheet, systems_to_try
from liestep.simulation.runs.specification import applicable, start_of
from liestep.study.plan.names import require_name
from liestep.study.plan.plan import study_names

STUDIES = "studies"
FIRST_T_END = 2.0  # s, of the starting file

TEMPLATE = """\
# A study: every integrator below runs on every problem below at every step. Check it with
# `liestep check {name}`, make it with
# `snakemake --config studies={name}`; results are in results/{name}. All keys: `liestep describe study`.
title: "{title} by three integrators"
description: "What this study shows, in a sentence or two."

problems:
  main:                              # a name of your own: it stands in paths and tables
    system: {problem:<20}     # `liestep list` names all of them
    preset: {preset:<20}     # `liestep describe {problem}` shows presets, parameters, units
    t_end: {t_end:<20}      # s
    # parameters: {{{parameter}: ...}}        # replaces parameters of the preset
    # initial: {{{field}: ...}}              # replaces parts of its start
    # label: "How tables and figures call it"

integrators:                         # `liestep list {problem}` names those that run on it
{integrators}
  # slow_one:                        # the same method again with other options gets a name of its own
  #   id: {first}
  #   options: {{}}                    # `liestep describe {first}`
  #   steps: [0.01, 0.005]           # overrides the steps of the study

# numbers of steps in t_end; or a list of steps, or {{from: 0.04, to: 0.001, ratio: 0.5}}
steps: {{counts: [50, 100, 200, 500, 1000, 2000, 5000]}}
# tolerances: [1e-4, 1e-6, 1e-8]     # for adaptive integrators such as ode45
samples: 51                          # stored times, both ends included; must divide all numbers of steps
reference: true                      # two independent engines, for state errors and orders
tables: [orders, energy, momentum, work]   # and drift, growth, horizons, exponents
figures: [convergence, energy_error, momentum_error, work_precision]
# animations: [main/{first}/h{step:.6g}]  # films of runs: problem/integrator/resolution
# timing: true                       # seconds too: every run once more, alone on the machine
# replicas: 3                        # floor of round-off: runs started 1 ulp apart
"""


def new_study(name: str, config: Path, problem: str | None = None, preset: str | None = None) -> Path:
    """Write <config>/studies/<name>.yaml for a problem, by default that which is shown first; returns its path. Raises
    InputError: a name that cannot be one, an unknown problem or preset, or the file exists or cannot be written."""
    require_name("the name of a study", name)
    for other in study_names(config):
        if name.startswith(f"{other}/") or other.startswith(f"{name}/"):
            raise InputError(f"the results of study {name} and of study {other} would lie in each other's folders;"
                             " choose another name")
    path = Path(config)/STUDIES/f"{name}.yaml"
    text = study_text(name, problem or systems_to_try()[0], preset)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{path} exists; choose another name or remove it") from None
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    return path


def study_text(name: str, problem: str, preset: str | None = None) -> str:
    """Content of the file. Raises InputError for an unknown problem or preset."""
    facts = sheet(problem)
    start = start_of(problem, preset=preset)
    able = [key for key in ranked("shown") if applicable(problem, key)][:3]
    lines = [f"  {key + ':':<35}# {method(key).summary}" for key in able]
    return TEMPLATE.format(name=name, title=facts.title, problem=problem, preset=preset or facts.default,
                           first=able[0], t_end=min(start.t_end, FIRST_T_END), parameter=next(iter(facts.parameters)),
                           field=next(iter(start.initial)), step=min(start.t_end, FIRST_T_END)/500,
                           integrators="\n".join(lines))
