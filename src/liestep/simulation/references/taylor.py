"""Reference engine: heyoka's adaptive Taylor series of the equations that a system declares, else of its traced vector
field."""
import numpy as np

from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.symbolic import SeriesEquations, traced_field
from liestep.simulation.runs.specification import RunSpecification


class TaylorSeries:
    """A compiled series of differential equations."""

    def __init__(self, series: SeriesEquations, tolerance: float | None):
        """tolerance is that of the step size control; None: round-off."""
        import heyoka

        self.start, self.to_rows = series.start, series.to_rows
        # Compact mode and light optimisation: the rod of 10 elements compiles in 4 s, with the
        # defaults in 10 s and more.
        self.series = heyoka.taylor_adaptive(series.equations, self.start.tolist(), compact_mode=True, opt_level=1,
                                             high_accuracy=True, **({} if tolerance is None else {"tol": tolerance}))

    def trajectory(self, times: np.ndarray) -> np.ndarray:
        """Rows of the standard form at `times` (the first one is the start), (time, m, d).

        Raises:
            RuntimeError: the integration stopped before the last time.
        """
        import heyoka

        self.series.time, self.series.state[:] = 0.0, self.start
        outcome, *_, states = self.series.propagate_grid(np.ascontiguousarray(times))
        if outcome != heyoka.taylor_outcome.time_limit:
            raise RuntimeError(f"the Taylor series stopped at t = {self.series.time:.6g}")
        return self.to_rows(states.reshape(len(times), -1))


def taylor_series(run: RunSpecification, tolerance: float | None = None) -> TaylorSeries:
    """The series of a system from one start.

    Raises:
        NotSymbolic: the equations cannot be written as expressions, or they would be too large.
    """
    facts = run.sheet
    if facts.series is not None:
        return TaylorSeries(facts.series(run.parameters, run.initial), tolerance)
    return TaylorSeries(traced_field(formulate(facts, run.parameters, run.initial, "vector_field", {})), tolerance)
