"""Reference engine: heyoka's adaptive Taylor series of the equations that a system declares, else of its traced vector
field."""
import numpy as np

from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.symbolic import SeriesEquations, traced_field
from liestep.simulation.references.sizes import Field, characteristic_time, largest, start_sizes
from liestep.simulation.runs.specification import RunSpecification

LARGEST_RATIO = 64.0  # of the size of a field to the unit of its variables; above, the step's control sees little else


class TaylorSeries:
    """A compiled series of differential equations.

    heyoka's control of the step looks at the largest number of all: each field is counted in its own unit, a power of
    two near its size, unless all sizes are near one."""

    def __init__(self, equations: SeriesEquations, tolerance: float | None, groups: np.ndarray, sizes: np.ndarray):
        """tolerance is that of the step size control; None: round-off. groups: which field each variable belongs to;
        sizes: of these at the start."""
        self.equations, self.tolerance, self.groups = equations, tolerance, groups
        self._compile(sizes)

    def _compile(self, sizes: np.ndarray) -> None:
        import heyoka

        self.sizes, moves = sizes, sizes > 0.0
        units = np.ones(len(sizes))
        if not ((sizes[moves] < LARGEST_RATIO) & (sizes[moves] > 1.0/LARGEST_RATIO)).all():
            units[moves] = 2.0**np.round(np.log2(sizes[moves]))
        self.units = units[self.groups]
        scaled = {str(name): unit*name for (name, _), unit in zip(self.equations.equations, self.units, strict=True)
                  if unit != 1.0}
        equations = [(name, heyoka.subs(rate, scaled)/unit if scaled else rate)
                     for (name, rate), unit in zip(self.equations.equations, self.units, strict=True)]
        # Compact mode and light optimisation: the rod of 10 elements compiles in 4 s, with the
        # defaults in 10 s and more.
        self.series = heyoka.taylor_adaptive(
            equations, (self.equations.start/self.units).tolist(), compact_mode=True, opt_level=1, high_accuracy=True,
            **({} if self.tolerance is None else {"tol": self.tolerance}))

    def trajectory(self, times: np.ndarray) -> np.ndarray:
        """Rows of the standard form at `times` (the first one is the start), (time, m, d).

        Raises:
            RuntimeError: the integration stopped before the last time.
        """
        import heyoka

        while True:
            self.series.time, self.series.state[:] = 0.0, self.equations.start/self.units
            outcome, *_, states = self.series.propagate_grid(np.ascontiguousarray(times))
            if outcome != heyoka.taylor_outcome.time_limit:
                raise RuntimeError(f"the Taylor series stopped at t = {self.series.time:.6g}")
            values = states.reshape(len(times), -1)*self.units
            sizes = np.maximum(self.sizes, largest(self.groups, values.T))
            if (largest(self.groups, states.reshape(len(times), -1).T) <= LARGEST_RATIO).all():
                return self.equations.to_rows(values)
            self._compile(sizes)  # of the whole motion


def taylor_series(run: RunSpecification, f: Field, tolerance: float | None = None) -> TaylorSeries:
    """The series of a system from one start; f: its vector field.

    Raises:
        NotSymbolic: the equations cannot be written as expressions, or they would be too large.
    """
    facts = run.sheet
    formulated = formulate(facts, run.parameters, run.initial, "vector_field", {})
    equations = (traced_field(formulated) if facts.series is None else facts.series(run.parameters, run.initial))
    sizes = start_sizes(f, formulated, characteristic_time(f, formulated, run.t_end))
    # variables of a system's own series are those of the rows, or their rates
    groups = np.repeat(formulated.groups, formulated.start.shape[1])[:len(equations.start)]
    return TaylorSeries(equations, tolerance, groups, sizes)
