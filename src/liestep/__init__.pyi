"""The public names of `liestep` for type checkers, and for itself: it loads each when it is used."""
from liestep import lgt as lgt
from liestep.api.functions import (
    compare as compare, consistent_start as consistent_start, ensemble as ensemble,
    list_integrators as list_integrators, list_systems as list_systems, open_run as open_run, plot as plot,
    recommend as recommend, reference as reference, simulate as simulate, tangent as tangent,
)
from liestep.compile.status import IntegrationError as IntegrationError
from liestep.errors import InputError as InputError
from liestep.plain import System as System, solvers, system as system
from liestep.plain.robots import from_mjcf as from_mjcf, from_urdf as from_urdf
from liestep.plain.solvers import solve as solve
from liestep.simulation.endings.events import Event as Event
from liestep.simulation.endings.impacts import Impact as Impact
from liestep.simulation.plugins.loading import load_plugin as load_plugin
from liestep.study.tables.order import observed_order as observed_order

__version__: str
scipy = solvers
