"""Whether a run keeps what its method declares to conserve: measured, for the energy over ten horizons."""
from dataclasses import replace
from math import inf, sqrt

import numpy as np

from liestep.compile.status import Status
from liestep.simulation.runs.content import stopped
from liestep.simulation.runs.execution import Outcome, RunTooLong
from liestep.tools.recommend.request import Request
from liestep.tools.recommend.search import Candidate
from liestep.tools.recommend.trials import Trials

HORIZONS = 10
GROWN = 5.0             # a steady drift grows ten times over ten horizons, round-off by 3, what is bounded by 1 to 2
ROUND_OFF = 100.0       # units in the last place per square root of a step, below which growth is round-off
LOST = 1e-9             # largest relative error of what is kept to round-off


class Keeping:
    """The check of one request; `found` says in words what the last one showed."""

    def __init__(self, asked: Request, trials: Trials):
        self.asked, self.trials, self.pilot, self.found = asked, trials, trials.pilot, ""

    def holds(self, row: Candidate) -> bool:
        """Whether the method of a row of the table keeps what was asked, with its step or tolerance."""
        assert row.size is not None
        if self.asked.keep == "symplectic":  # no run of one start shows it: `liestep certify` does
            self.found = "declared symplectic"
            return True
        long = self.asked.keep == "energy"
        horizons = HORIZONS if long and not self.pilot else 1
        asked = self.asked.shorter(self.asked.t_end/(4 if self.pilot and not long else 1)*horizons)
        factor = round(asked.t_end/self.asked.t_end*(4 if self.pilot else 1)) or 1
        spec = replace(asked.run(row.integrator, row.size if row.adaptive else row.size*factor), statistics_every=1)
        try:
            found = self.trials.run(spec)
        except RunTooLong as error:
            self.found = f"not checked whether it keeps the {self.asked.keep} in {horizons} horizons: {error}"
            return False
        self.trials.counted(row.integrator, found)
        if found.status != Status.OK:
            self.found = f"does not keep the {self.asked.keep}: within {horizons} horizons it {stopped(found)}"
            return False
        return self._energy(found, horizons) if long else self._exact(found)

    def _energy(self, found: Outcome, horizons: int) -> bool:
        """Compare the largest deviation in all horizons with that in the first one."""
        recorder = found.accepted or found.outputs
        low, high = (part.reshape(-1, part.shape[-1])[:, 0] for part in (recorder.block_low, recorder.block_high))
        sizes = np.maximum(np.abs(low), np.abs(high))[recorder.block_count.ravel() > 0]
        first, whole = float(sizes[:max(1, len(sizes)//HORIZONS)].max()), float(sizes.max())
        start = float(found.outputs.series[0, 0])  # energy in J, less the work where there is any
        if whole <= ROUND_OFF*np.finfo(float).eps*sqrt(found.steps)*max(abs(start), whole):
            self.found = f"energy kept to round-off, {whole:.1e} J in {horizons} horizons"
            return True
        ratio = whole/first if first else inf
        self.found = (f"energy error {first:.2g} J in the first tenth of {horizons*self.asked.t_end:g} s, {whole:.2g} J"
                      f" in all: {'it drifts' if ratio > GROWN else 'no drift'}")
        return ratio <= GROWN

    def _exact(self, found: Outcome) -> bool:
        """The momentum or the residuals of the manifold, relative to their size."""
        worst, recorder = 0.0, found.accepted or found.outputs
        for part in found.formulated.observables:
            largest = np.asarray(recorder.largest)[part.columns]
            if self.asked.keep == "momentum" and part.name == "momentum_map":
                kept = largest[list(part.conserved)]
                worst = max(worst, float(kept.max(initial=0.0))/(found.formulated.momentum_scale or 1.0))
            if self.asked.keep == "manifold" and part.kind == "residual" and part.units == "1":
                worst = max(worst, float(largest.max(initial=0.0)))
        self.found = (f"{self.asked.keep} kept to {worst:.1e}" if worst <= LOST else
                      f"does not keep the {self.asked.keep} here: lost {worst:.1e}")
        return worst <= LOST
