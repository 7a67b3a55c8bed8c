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
    names={"RKN": "Runge-Kutta-Nyström",
           "exact free motion": "splitting into the force and the exact motion of the free body"},
)
