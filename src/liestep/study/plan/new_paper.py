"""The folder of a paper to start from, which runs as it is."""
import shutil
from pathlib import Path

from liestep.errors import InputError
from liestep.study.plan.names import PAPERS, STUDIES, require_paper_id

FILES = {
    "README.md": """\
# {id}

What is replicated: *author, title, journal, year*. Made by `snakemake --config studies={id}`.
""",
    "__init__.py": '''\
"""The paper {id}: author, title."""
from liestep.paper import Paper

PAPER = Paper(
    id="{id}",
    citation="Author: Title. Journal (year)",
    figures={{"{id}.figure1": "figures"}},  # name of a figure -> module here that has its function
    evidence=("evidence",),      # modules with functions that show misprints
    quantities="quantities",     # module with columns that this paper defines
)
''',
    "figures.py": '''\
"""Figures of the paper {id}."""
from liestep.paper import DOUBLE, Results, drawing, label_of, logarithmic, marks, subplots


@drawing("{{title}}: energy over time. {{runs}}")
def figure1(results: Results):
    """The energy at the stored times of each run."""
    figure, axes = subplots(DOUBLE, 70.0)
    styles = marks(results)
    for key in results.config.integrators:
        cell = results.study.select("main", key)[0]
        file = results.file(cell.problem, key, cell.resolution)
        axes.plot(file["time"], file["energy"], label=styles[key].label, **styles[key].line)
    axes.set(xlabel="time (s)", ylabel="energy (J)", title=label_of(results, "main"))
    axes.legend()
    return figure
''',
    "quantities.py": '''\
"""Columns of metrics.csv that only {id} defines."""
from liestep.paper import RunFile


def lowest(file: RunFile, reference: RunFile | None) -> dict[str, float]:
    """The lowest stored energy (J)."""
    return {{"{id}_lowest_energy": float(file["energy"].min())}}


QUANTITIES, NAMES, VARIABLES = (lowest,), ("{id}_lowest_energy",), ("energy",)
''',
    "evidence.py": '''\
"""Numbers that tell what {id} prints from what is right."""
from liestep.paper import Evidence


def half_angle() -> Evidence:
    """An example: is 1 - cos(x) printed for 2 sin(x)^2, or for 2 sin(x/2)^2?"""
    from math import cos, sin

    left, printed, right = 1.0 - cos(0.7), 2.0*sin(0.7)**2, 2.0*sin(0.35)**2
    return Evidence(abs(left - right) < 1e-15 < abs(left - printed),
                    "1 - cos 0.7 is {{left:.6f}}, as printed {{printed:.6f}}, corrected {{right:.6f}}",
                    {{"left": left, "printed": printed, "right": right}})
''',
    "errata.yaml": """\
paper: {id}
citation: "Author: Title. Journal (year)"
errata:
  - number: 1
    place: "eq. (1)"
    printed: "1 - cos x = 2 sin^2 x"
    correct: "1 - cos x = 2 sin^2(x/2)"
    kind: misprint
    check: half_angle            # the function of evidence.py
""",
    "studies/first.yaml": """\
# All keys: `liestep describe study`; systems and integrators: `liestep list`.
title: "A spherical pendulum by two methods"
problems:
  main: {{system: spherical_pendulum_chain, preset: paper_scaled, t_end: 2.0}}
integrators: {{vi_sphere: , rk4: }}
steps: [0.02]
samples: 51
figures: [{id}.figure1]
""",
    "claims/first.yaml": """\
# All keys and criteria: `liestep describe claims`.
paper: {id}
claims:
  - id: stays_on_sphere
    statement: "the variational integrator stays on the sphere"
    source: "section 1"
    asserted_by: own             # or paper, with a `quote` of at most 25 words
    scope: general
    runs: [{{study: {id}/first, problem: main, integrator: vi_sphere}}]
    quantity: unit_length_error_max
    criterion: {{kind: limit, at_most: 1.0e-12}}
    known: true                  # false: written before its runs
    setting: "largest |1 - q.q| over all steps"
""",
}


def new_paper(name: str, config: Path) -> Path:
    """Write the commented folder of a paper beside the folder `config`; returns it. Raises InputError: a name that can
    be no id, the paper or studies with this id exist, or it cannot be written."""
    folder = Path(config).parent/PAPERS/name
    require_paper_id(name, folder)
    for taken in (folder, Path(config)/STUDIES/name):
        if taken.exists() or taken.is_symlink():
            raise InputError(f"{taken} exists; choose another id or remove it")
    part = folder.with_name(f".{name}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        for file, text in FILES.items():
            (part/file).parent.mkdir(parents=True, exist_ok=True)
            (part/file).write_text(text.format(id=name), "utf-8")
        part.rename(folder)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror or error}") from None
    return folder
