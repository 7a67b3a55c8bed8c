"""The tournament: classes are opened one after the other, methods by falling order, the best are timed in turns."""
from dataclasses import replace
from math import inf, isfinite

from liestep.errors import InputError
from liestep.files.terminal import progress_bar
from liestep.mechanics.contracts.method import sentence
from liestep.mechanics.contracts.sheet import Fields, Parameters
from liestep.simulation.catalogue import Identified, integrator_calls, method
from liestep.simulation.runs.execution import Progress, RunTooLong
from liestep.study.tables.choice import KEEP, Choice, choose
from liestep.study.tables.timing import timer
from liestep.tools.recommend import BUDGET
from liestep.tools.recommend.classes import MethodGroup, bound, compile_classes, groups
from liestep.tools.recommend.search import USABLE, Candidate, Recommendation, keeps, search
from liestep.tools.recommend.trials import (
    INTERVALS,
    QUARTER,
    SHARE,
    TOLERANCE,
    Demand,
    Trials,
    agree,
    engines,
    named,
    request,
)

FAR = 5.0   # classes of methods that won (`Places.won_from`) are opened first up to a bound of so many times the best
TEST = 50              # the first part of the horizon, by which the time of the whole is estimated
IN_TURNS, TURNS = 3, 5
AT_ONCE = 2            # classes that are opened together
WORTH = 0.8            # a class is compiled only if its bound is below this times the best cost: it takes seconds
MOST_OPENED = 4        # so many classes are opened after those of the engines; more only if they have machine code


def recommend(problem: str | Identified, *, error: float, preset: str | None = None,
              parameters: Parameters | None = None, initial: Fields | None = None, t_end: float | None = None,
              keep: str | None = None, budget: float = BUDGET, progress: bool = False) -> Recommendation:
    """Find the integrator, and its step or tolerance, that reaches an error in the least processor time: a tournament
    of compiled runs over the whole horizon, against a reference on which two methods of different classes agree.

    Args:
        problem: a system or its id, see `list_systems()`.
        error: largest distance from the reference at up to ten times in each of 20 parts of the horizon: of unit
            vectors the chord, of attitudes the angle in rad, of others relative to their largest size; 1e-14 to 0.1.
        preset: of named parameters, start and t_end (default: the system's).
        parameters: that replace those of the preset, in the units of `liestep describe PROBLEM` (default: none).
        initial: state fields that replace those of the preset, as for `simulate` (default: none).
        t_end: the horizon in s (default: that of the preset).
        keep: only methods that declare to conserve "energy" (measured over ten horizons), "momentum", "manifold" or
            "symplectic", the symplectic form (default: all).
        budget: processor time in s that runs may take, compiling left out. Where the horizon is beyond it, a quarter
            is run and the error at the end is what a power law predicts, with a margin of 3: `verified` is False.
        progress: show a bar on the terminal or below the cell.

    Returns:
        Recommendation with `integrator`, `step` or `tolerance`, `options`, `error`, `seconds`, `table`, `verified`,
        `choice` (runner-up and ties); `print` shows it. It takes a second or two, and longer where machine
        code has to be compiled.

    Raises:
        InputError: a wrong argument, or no reference: the references part before t_end (chaos; the sentence names the
            time), or one of them stopped.

    Example:
        best = liestep.recommend("spherical_pendulum_chain", preset="paper_scaled", error=1e-6, t_end=10.0)
        data = liestep.simulate("spherical_pendulum_chain", best.integrator, preset="paper_scaled", t_end=10.0,
                                step=best.step, tolerance=best.tolerance, options=best.options)
    """
    asked = request(str(problem), error=error, preset=preset, parameters=parameters, initial=initial, t_end=t_end,
                    keep=keep, budget=budget)
    with progress_bar(f"methods on {asked.problem}", progress) as shown:
        return Tournament(asked, shown).hold()


class Tournament:
    """One request, and what has been found so far. Raises InputError where there is no reference."""

    def __init__(self, asked: Demand, progress: Progress | None = None):
        self.asked, self.progress = asked, progress
        self.table: list[Candidate] = []
        self.opened = 0
        able, self.eligible = [], []
        for name in integrator_calls():
            reason = asked.declared(name).lacks(asked.facts, asked.start.parameters)
            if (reason is not None and reason.formulation) or not method(name).places.recommended:
                continue
            if reason is not None or method(name).fictitious:
                self._refuse(name, reason.reason if reason else "not tried: its tolerance is a step of fictitious time,"
                             " for close encounters")
                continue
            able.append(name)
            kept = asked.kept(name)
            if asked.keep and kept.isdisjoint(KEEP[asked.keep]):
                self._refuse(name, f"does not keep the {named(asked.keep)}: it conserves {sentence(sorted(kept))}")
            else:
                self.eligible.append(name)
        self.candidates = len(self.table) + len(self.eligible)
        self.engines = engines(asked, tuple(able))
        if not self.eligible:
            raise InputError(f"no integrator that runs on {asked.problem} declares to keep the {named(asked.keep)}:"
                             " keep is another word, or nothing")

    def _refuse(self, name: str, why: str) -> None:
        self.table.append(Candidate(name, why, method(name).order))

    def hold(self) -> Recommendation:
        names = dict.fromkeys((*self.engines, *self.eligible))
        classes = groups(self.asked, names)
        first = [group for group in classes if set(self.engines) & set(group.names)]
        compile_classes(self.asked, first)
        trials = self._trials()
        gap = float(agree(trials, *self.engines).max())
        for group in sorted(first, key=lambda group: -method(group.names[0]).order):
            self._play(trials, group)
        rest = [group for group in classes if group not in first]
        while rest:
            rest = self._open(trials, rest)
        choice = self._in_turns(trials)
        kept = ""
        while self.asked.keep and choice.winner is not None:
            row = self._row(choice.winner)
            holds, kept = keeps(self.asked, trials, row)
            if holds:
                break
            row.reason, row.seconds = kept, inf
            choice = self._chosen()
        return self._answer(choice, trials, gap, kept)

    def _trials(self) -> Trials:
        """Trials over the whole horizon, or over its first quarter where the whole is beyond the budget."""
        short = Trials(replace(self.asked, t_end=self.asked.t_end/TEST))
        limit = self.asked.limit
        try:
            _, seconds = short.outcome(self.engines[0], TOLERANCE)
        except RunTooLong as error:
            raise InputError(f"{self.asked.problem} has no reference within the budget of {self.asked.budget:g} s:"
                             f" {self.engines[0]} on a part of the horizon of 1/{TEST}: {error}; ask for a shorter"
                             " t_end or for a larger budget") from None
        whole = TEST*seconds
        if not isfinite(whole) or whole <= limit:
            return Trials(self.asked)
        if whole <= QUARTER*limit:
            return Trials(replace(self.asked, t_end=self.asked.t_end/QUARTER), pilot=True)
        raise InputError(f"a reference up to t = {self.asked.t_end:g} s would take {whole:.2g} s, and a quarter of it"
                         f" is more than a run may take of the budget of {self.asked.budget:g} s; ask for t_end up to"
                         f" {self.asked.t_end*QUARTER*limit/whole:.3g} s, or for a budget of"
                         f" {whole*SHARE/QUARTER:.3g} s")

    def _play(self, trials: Trials, group: MethodGroup) -> None:
        """Search step or tolerance with each eligible method of a class."""
        for name in group.names:
            if name not in self.eligible:
                continue
            if self.progress:
                self.progress(len(self.table)/self.candidates)
            if trials.over:
                self._refuse(name, f"not tried: the budget of {self.asked.budget:g} s is spent")
                continue
            first = trials.request.error if method(name).adaptive else self._first_steps(trials, name)
            self.table.append(search(trials, name, first, self._best(), self.asked.limit))

    def _first_steps(self, trials: Trials, name: str) -> float:
        """Number of steps to begin with: what a method of the nearest order needed, else so many that a method of order
        8 has a small error."""
        order = method(name).order
        known = [(row.order, row.size) for row in self.table if row.size is not None and not row.adaptive]
        if known:
            near, size = min(known, key=lambda row: abs(row[0] - order))
            steps = size if near >= order else 0.5*size
        else:
            steps = 0.25*trials.reference_steps
        return float(INTERVALS*max(1, round(steps/INTERVALS), -(-method(name).fewest_steps//INTERVALS)))

    def _best(self) -> float:
        return min((row.seconds for row in self.table), default=inf)

    def _open(self, trials: Trials, rest: list[MethodGroup]) -> list[MethodGroup]:
        """Open the classes whose bound is least, if it is below the best cost, by a share where they have no machine
        code; returns those that are left. A class that has it costs little: such ones are opened however many there
        are."""
        measured = [row for row in self.table if row.tried and 0.0 < row.tried[-1].error < USABLE
                    and trials.work.get(row.integrator)]
        best = self._best()
        bounds = {group: min(bound(trials, name, measured) for name in group.names) for group in rest}
        bounds |= {group: 0.0 for group in rest if bounds[group] < FAR*best and self._won(group)}
        ranked = sorted(rest, key=lambda group: (
            bounds[group], not any(method(name).places.likely for name in group.names)))
        ready = sum(group.compiled and bounds[group] < best for group in ranked)
        left = max(0, MOST_OPENED - self.opened - ready)
        worth = {group: best if group.compiled else WORTH*best for group in ranked}
        able = [group for k, group in enumerate(ranked)
                if bounds[group] < worth[group] and (group.compiled or k < left or self._won(group))]
        opened = able[:AT_ONCE]
        if opened and not trials.over:
            compile_classes(self.asked, opened)
            self.opened += len(opened)
            for group in opened:
                self._play(trials, group)
            return [group for group in ranked if group not in opened]
        for group in ranked:
            ratio = bounds[group]/best
            why = (f"it would cost at least {ratio:.2g} times the best" if ratio >= 1.0 else
                   f"it would be at most {1.0/ratio:.2g} times as fast" if bounds[group] >= worth[group] else
                   f"{self.opened} classes with a better bound were, or the budget is spent")
            for name in group.names:
                self._refuse(name, f"not compiled: {why}")
        return []

    def _won(self, group: MethodGroup) -> bool:
        return any(self.asked.error >= method(name).places.won_from for name in group.names)

    def _chosen(self) -> Choice:
        rows = [{"integrator": row.integrator, "error": row.error, "seconds": row.seconds} for row in self.table]
        return choose(rows, self.asked.error)

    def _row(self, name: str) -> Candidate:
        return next(row for row in self.table if row.integrator == name)

    def _in_turns(self, trials: Trials) -> Choice:
        met = sorted((row for row in self.table if isfinite(row.seconds)), key=lambda row: row.seconds)[:IN_TURNS]
        clocks = {row.integrator: timer(trials.request.run(row.integrator, row.size))
                  for row in met if row.size is not None}
        taken: dict[str, list[float]] = {name: [] for name in clocks}
        for _ in range(TURNS):
            if trials.over:
                break
            for name, (once, share) in clocks.items():
                seconds = once()
                taken[name].append(seconds/share)
                trials.spent += seconds
        for row in met:
            row.seconds = min(taken[row.integrator], default=row.seconds)
        return self._chosen()

    def _answer(self, choice: Choice, trials: Trials, gap: float, kept: str) -> Recommendation:
        if choice.winner is None:
            why = "; ".join(f"{row.integrator} {row.reason}" for row in self.table if row.tried)
            raise InputError(f"no integrator reaches the error {self.asked.error:g} on {self.asked.problem}"
                             f"{f' and keeps the {named(self.asked.keep)}' if self.asked.keep else ''}: {why}")
        best, parts = self._row(choice.winner), QUARTER if trials.pilot else 1
        assert best.size is not None
        for row in self.table:
            if parts > 1 and row.size is not None:
                row.seconds *= parts
                row.size = row.size if row.adaptive else row.size*parts
        return Recommendation(
            self.asked.problem, self.asked.t_end, choice.winner, None if best.adaptive else self.asked.t_end/best.size,
            best.size if best.adaptive else None, self.asked.options(choice.winner),
            best.error, best.seconds, choice, gap, not trials.pilot, kept, tuple(self.table))
