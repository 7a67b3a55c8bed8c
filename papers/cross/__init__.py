"""The cross study: what the five papers leave open, on all of their problems by all of their methods."""
from liestep.paper import Paper

PAPER = Paper(
    id="cross",
    citation="Statements of several texts on geometric integrators: the source stands with each",
    figures={f"cross.{name}": "figures" for name in (
        "winners", "leaders", "leaders_seconds", "price_of_manifold", "order_and_form", "encounter", "equal_cost",
        "crossover_time", "validity")},
    tables={name: f"tables.{name}" for name in ("crossover_time", "ensembles", "which", "validity", "matrix")},
    criteria="criteria",
    names={"VI": "variational integrator on spheres", "CF4": "commutator-free method of order 4",
           "DMV": "discrete Moser-Veselov map", "SLGI": "symplectic Lie group integrator",
           "LGVI": "Lie group variational integrator", "EML": "energy-momentum scheme from Livens' principle",
           "exact free motion": "splitting into the force and the exact motion of the free body",
           "great circles": "splitting into the force and motion along great circles"},
)
