"""All names that the folder of a paper imports: figures, evidence, quantities and tables (docs/replicate.md). What
needs more than these imports rooms of liestep, which may change without notice."""
from typing import TYPE_CHECKING, Any

from liestep.compile.sources import places, public_name

if TYPE_CHECKING:
    from liestep.claims.criteria.base import Criterion, Judgement
    from liestep.claims.errata import Evidence
    from liestep.compile.status import Status
    from liestep.errors import InputError
    from liestep.figures.labels import EndLabel, end_labels
    from liestep.figures.marks import DASHDOT, DASHED, DOTTED, SOLID, Mark, mark_of, marks, shade, variant
    from liestep.figures.panels import cells, hollow, label_of, legend_below, line_handle, logarithmic, slope_triangle
    from liestep.figures.scenes.looks import COLOURS, directions, parameters, snapshots, trail
    from liestep.figures.scenes.space import Scene, View, graticule, mix, sphere_body, triad
    from liestep.figures.style import DOUBLE, SINGLE, Results, drawing, first_run, ladder, new_figure, subplots
    from liestep.mechanics.contracts.sheet import Parameters, Preset
    from liestep.simulation.catalogue import method, sheet
    from liestep.simulation.runs.files import RunFile
    from liestep.simulation.runs.simulation import simulate
    from liestep.simulation.runs.specification import start_of
    from liestep.study.plan.papers import Paper
    from liestep.study.tables.kinds import Table

__all__ = sorted(places(__name__))  # of the lines above: what imports a name depends on its module alone


def __getattr__(name: str) -> Any:
    return public_name(__name__, name)  # to declare a paper needs none of what draws
