"""The public names of `liestep.paper` for type checkers, and for itself: it loads each when it is used."""
from liestep.claims.criteria.base import (
    KIND as KIND, STOPPED as STOPPED, Criterion as Criterion, Judgement as Judgement, Limits as Limits, Needs as Needs,
)
from liestep.claims.criteria.features import OfSamples as OfSamples
from liestep.claims.criteria.numbers import Bounds as Bounds
from liestep.claims.errata import Evidence as Evidence
from liestep.claims.selection import Question as Question
from liestep.compile.status import Status as Status
from liestep.errors import InputError as InputError
from liestep.figures.labels import EndLabel as EndLabel, end_labels as end_labels
from liestep.figures.marks import (
    DASHDOT as DASHDOT, DASHED as DASHED, DOTTED as DOTTED, SOLID as SOLID, Mark as Mark, mark_of as mark_of,
    marks as marks, shade as shade, variant as variant,
)
from liestep.figures.panels import (
    cells as cells, grid as grid, hollow as hollow, label_of as label_of, legend_below as legend_below,
    line_handle as line_handle, logarithmic as logarithmic, number as number, slope_triangle as slope_triangle,
)
from liestep.figures.scenes.looks import (
    COLOURS as COLOURS, directions as directions, parameters as parameters, snapshots as snapshots, trail as trail,
)
from liestep.figures.scenes.space import (
    Scene as Scene, View as View, graticule as graticule, mix as mix, sphere_body as sphere_body, triad as triad,
)
from liestep.figures.style import (
    DOUBLE as DOUBLE, SINGLE as SINGLE, Results as Results, drawing as drawing, first_run as first_run,
    ladder as ladder, new_figure as new_figure, subplots as subplots,
)
from liestep.mechanics.contracts.sheet import Parameters as Parameters, Preset as Preset
from liestep.simulation.catalogue import method as method, sheet as sheet
from liestep.simulation.runs.files import RunFile as RunFile
from liestep.simulation.runs.simulation import simulate as simulate
from liestep.simulation.runs.specification import start_of as start_of
from liestep.study.plan.papers import Paper as Paper
from liestep.study.tables.kinds import Table as Table
