"""`liestep check-system`: the checks of built-in systems on any system, with a readable result. Only implicit
integrators use derivatives of torques: a wrong one changes no trajectory of the other checks."""
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import quaternion_matrix, rotation_quaternion
from liestep.mechanics.contracts.sheet import Options, Sheet
from liestep.mechanics.formulations import formulate, formulate_standard
from liestep.mechanics.formulations.probed import plain
from liestep.mechanics.formulations.rigid_bodies.components import RigidBodies
from liestep.simulation.catalogue import method, own_integrators, ranked, sheet, systems_to_try
from liestep.simulation.plugins.trial import try_applied, try_force
from liestep.simulation.references.engines import EngineError, characteristic_time, dop853, right_hand_side
from liestep.simulation.references.reference import observed
from liestep.simulation.runs import specification
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specified import RunSpecification
from liestep.study.tables.order import observed_order

DIRECTIONS = 5
FORCE_LIMIT, SLOPE_LIMIT = 1e-7, 1e-8  # largest relative errors of forces and torques, of torque_slope
STEP, TURN = 1e-4, 1e-3  # of the differences of energies; of torques, rad
AWAY, MOST = 0.02, 4     # of the random state from the start; bodies that are tried


def slope(function: Callable[[float], np.ndarray | float], step: float) -> Any:
    """Derivative at 0 by central differences of order 4."""
    near, far = (function(s) - function(-s) for s in (step, 2.0*step))
    return (8.0*near - far)/(12.0*step)


def turned(y: np.ndarray, u: np.ndarray, body: int = 0) -> np.ndarray:
    """The state with the attitude of a body, three rows, turned by exp(hat u)."""
    out, rows = y.copy(), slice(3*body, 3*body + 3)
    out[rows] = y[rows] @ quaternion_matrix(rotation_quaternion(np.asarray(u))).T
    return out


def force_error(facts: Sheet, run: RunSpecification) -> float | None:
    """Largest relative error of forces and torques of rigid bodies at a state near the start, against slopes of all
    energies; None for systems without energies of their own."""
    if "rigid_bodies" not in facts.forms:
        return None
    form = formulate(facts, run.parameters, run.initial, "rigid_bodies", {})
    if not isinstance(form.problem, RigidBodies):
        return None
    generator = np.random.Generator(np.random.PCG64(1))
    problem, n = plain(form.problem), form.problem.masses.size
    y, out = form.start, np.zeros((2*n, 3))
    for i in range(n):
        y = turned(y, AWAY*generator.standard_normal(3), i)
    if problem.moves:
        y[4*n:5*n] += AWAY*generator.standard_normal((n, 3))
    if not problem.forces(y, out):
        return float("inf")

    def energy(i: int, axis: np.ndarray, moved: bool, s: float) -> float:
        there = y.copy() if moved else turned(y, s*axis, i)
        if moved:
            there[4*n + i] += s*axis
        problem.system.forces(there, np.zeros_like(out), problem.parts)
        return float(problem.parts.sum())

    gaps = [abs(slope(partial(energy, i, axis, moved), STEP) + float(out[n + i if moved else i] @ axis))
            for i in generator.permutation(n)[:MOST] for axis in np.eye(3)
            for moved in ((False, True) if problem.moves else (False,))]
    return max(gaps)/max(float(np.abs(out).max()), 1e-300)


def torque_slopes(facts: Sheet, run: RunSpecification) -> Iterator[tuple[str, float]]:
    """(formulation, relative error of torque_slope against differences of torque) of every formulation with both that
    the system has at the parameters: the largest over random attitudes and directions."""
    for formulation in facts.forms:
        try:
            form = formulate(facts, run.parameters, run.initial, formulation, {})
        except InputError:
            continue
        if not hasattr(form.problem, "torque_slope"):
            continue
        generator, problem, gaps, sizes = np.random.Generator(np.random.PCG64(1)), plain(form.problem), [], [1e-300]
        for _ in range(DIRECTIONS):
            y, u = turned(form.start, generator.standard_normal(3)), generator.standard_normal(3)
            expected = slope(partial(lambda of, y, u, s: np.array(of.torque(turned(y, s*u))), problem, y, u), TURN)
            told = np.array(problem.torque_slope(y, tuple(u)))
            gaps.append(float(np.abs(told - expected).max()))
            sizes += [float(np.abs(values).max()) for values in (told, expected, np.array(problem.torque(y)))]
        yield formulation, max(gaps)/max(sizes)


SAMPLES = 6
DISPLACEMENT = 1e-3
GRADIENT_LIMIT = 1e-8     # largest relative error of a gradient against differences of order 4
TORQUE_LIMIT = 1e-12      # largest sum of all torques about an axis whose momentum is conserved, relative
INVARIANT_LIMIT = 1e-10   # relative drift along the reference
AGREE_LIMIT = 1e-6        # largest relative distance of accurate runs in different formulations
ORDER_LIMIT = 0.25
TURNS = 4.0               # t_end in characteristic times of the start
COUNTS = tuple(SAMPLES - 1 << k for k in range(1, 9))  # 10 .. 1280 steps
FLOOR = 1e-13
WEIGHTS = "s4"  # of those that have this option


@dataclass(frozen=True)
class Row:
    """One check: what, the measured number in words, whether it is as it must be (None: not tried)."""

    check: str
    found: str
    ok: bool | None


def limited(check: str, what: str, value: float, limit: float) -> Row:
    """A number that must not be above a limit."""
    return Row(check, f"{what} {value:.1e}, allowed {limit:.0e}", bool(value <= limit))


def check_system(name: str, preset: str | None = None) -> list[Row]:
    """All checks of a system at a preset (default: its first). Raises InputError: unknown system or preset, or code
    that cannot be compiled."""
    facts = sheet(name)
    checks = _gradient_checks if "sphere_lagrangian" in facts.forms else _slope_checks
    rows = list(checks(name, preset, facts))
    if any(not row.ok for row in rows):
        return [*rows, Row("invariants, formulations, orders", "not tried: mend the gradient or the flags first", None)]
    try:
        return [*rows, *ReferenceChecks(name, preset).rows()]
    except EngineError as error:
        return [*rows, Row("reference", f"none: {error}", False)]


def check_integrator(name: str) -> list[Row]:
    """Observed orders of a fixed-step integrator on two built-in systems that it can run on (or the one there is).
    Raises InputError: it is adaptive, or its code cannot be compiled."""
    if method(name).adaptive:
        return [Row(f"order of {name}", "not tried: the steps are adaptive", None)]
    able = [key for key in systems_to_try() if specification.applicable(key, name)]
    return [ReferenceChecks(key, None).order(name) for key in able[:2]]


def table(name: str, rows: list[Row]) -> str:
    width = max(len(row.check) for row in rows)
    words = {True: "ok", False: "WRONG", None: "-"}
    lines = [f"{row.check:{width}}  {words[row.ok]:5}  {row.found}" for row in rows]
    wrong = sum(row.ok is False for row in rows)
    return "\n".join([f"{name}:", *lines,
                      "all checks passed" if not wrong else f"{wrong} of {len(rows)} checks failed"])


def _gradient_checks(name: str, preset: str | None, facts: Sheet) -> Iterator[Row]:
    """Gradient against central differences, of many bodies in three random components (they take long in plain Python);
    torques about the axes of conserved momentum."""
    begin = specification.start_of(name, preset=preset)
    system = plain(formulate(facts, begin.parameters, begin.initial, "sphere_lagrangian", {}).problem)
    start = begin.initial["q"]
    generator = np.random.Generator(np.random.PCG64(1))
    wrong, where, torque = 0.0, "", np.zeros(3)
    powers: list[float] = []
    for _ in range(DIRECTIONS):
        q = start + 0.05*generator.standard_normal(start.shape)
        q /= np.linalg.norm(q, axis=1)[:, None]
        gradient = np.full_like(q, np.nan)
        system.gradient(q, gradient)
        slopes = gradient.copy()
        for place in (np.ndindex(q.shape) if q.size <= 60 else
                      [(int(generator.integers(q.shape[0])), int(generator.integers(3))) for _ in range(3)]):
            unit = np.zeros_like(q)
            unit[place] = 1.0
            slopes[place] = slope(partial(lambda q, unit, s: system.potential(q + s*unit), q, unit), DISPLACEMENT)
        gap = np.abs(slopes - gradient)/max(float(np.abs(gradient).max()), float(np.abs(slopes).max()), 1e-300)
        worst = np.unravel_index(int(np.argmax(np.where(np.isnan(gap), np.inf, gap))), gap.shape)
        if not gap[worst] <= wrong:
            wrong, where = (float(gap[worst]), f"body {worst[0]}, component {'xyz'[worst[1]]}: {gradient[worst]:.8g},"
                            f" differences {slopes[worst]:.8g}")
        if system.forced():
            omega = np.cross(q, generator.standard_normal(q.shape))
            force = try_force(system.system, q, omega, float(generator.uniform(0.0, 10.0)))
            powers.append(float(np.sum(force*np.cross(omega, q))))
            gradient = gradient - force
        torques = np.cross(q, gradient)
        torque = np.maximum(torque, np.abs(torques.sum(axis=0))/max(float(np.abs(torques).sum()), 1e-300))
    row = limited("gradient against finite differences", "relative error", wrong, GRADIENT_LIMIT)
    yield row if row.ok else replace(row, found=f"{row.found}; {where}")
    if powers:
        yield Row("force: finite, all rows written, q and omega left alone",
                  f"in {len(powers)} states; power {min(powers):.3g} to {max(powers):.3g} W", True)
    yield from _momentum_checks(facts, begin, torque)


def _momentum_checks(facts: Sheet, begin: specification.CheckedStart, torque: np.ndarray) -> Iterator[Row]:
    """Whether the torque (3,), relative to all torques, vanishes about the axes whose momentum is declared conserved,
    and about no other."""
    for axis, flag, size in zip("xyz", facts.conserved_momentum(begin.parameters), torque, strict=True):
        kept = size <= TORQUE_LIMIT
        yield Row(f"momentum about {axis}", f"declared {'' if flag else 'not '}conserved, the torque"
                  f" {'vanishes' if kept else f'is {size:.1e} of all torques'}", bool(flag) == bool(kept))


def _slope_checks(name: str, preset: str | None, facts: Sheet) -> Iterator[Row]:
    """Forces of rigid bodies against differences; derivatives of torques, which only implicit integrators use."""
    yield from _applied_checks(name, preset, facts)
    run = specification.specify_problem(name, preset=preset)
    wrong = force_error(facts, run)
    if wrong is not None:
        yield limited("forces and torques against finite differences", "relative error", wrong, FORCE_LIMIT)
    for formulation, wrong in torque_slopes(facts, run):
        yield Row(f"torque_slope of {formulation}", f"differs by {wrong:.1e} from differences of the torque, allowed"
                  f" {SLOPE_LIMIT:.0e}", wrong <= SLOPE_LIMIT)


def _applied_checks(name: str, preset: str | None, facts: Sheet) -> Iterator[Row]:
    """The applied torque of a body, and its momentum flags with both torques; nothing for other systems."""
    begin = specification.start_of(name, preset=preset)
    if "cotangent_rotation" not in facts.forms:
        return
    form = formulate(facts, begin.parameters, begin.initial, "cotangent_rotation", {})
    body = plain(form.problem)
    if not hasattr(getattr(body, "system", None), "applied"):
        return
    generator, total, size, powers = np.random.Generator(np.random.PCG64(1)), np.zeros(3), 0.0, []
    for _ in range(DIRECTIONS):
        y, t = form.start.copy(), float(generator.uniform(0.0, 10.0))
        y[:3] = y[:3] @ np.linalg.qr(generator.standard_normal((3, 3)))[0]
        y[3] += generator.standard_normal(3)*np.linalg.norm(y[3])
        torque, power = try_applied(body, y, t)
        both = np.array([np.array(body.torque(y)), torque])
        total, size = np.maximum(total, np.abs(both.sum(axis=0))), max(size, float(np.abs(both).max()))
        powers.append(power)
    yield Row("applied: a tuple of finite numbers, attitude left alone",
              f"in {DIRECTIONS} states; power {min(powers):.3g} to {max(powers):.3g} W", True)
    yield from _momentum_checks(facts, begin, total/(size or 1.0))


class ReferenceChecks:
    """Runs over a short time from a preset against their reference: invariants, formulations, orders."""

    def __init__(self, name: str, preset: str | None):
        self.name, self.preset, self.facts = name, preset, sheet(name)
        run = specification.specify_problem(name, preset=preset, samples=SAMPLES)
        f, y = right_hand_side(run)
        if not f(0.0, y).any():
            raise InputError(f"{name}: nothing moves at the start of this preset, which shows nothing; choose another"
                             " one")
        self.formulated = formulate_standard(self.facts, run.parameters, run.initial)
        self.t_end = min(run.t_end, TURNS*characteristic_time(f, self.formulated, run.t_end))
        self.run = run = specification.specify_problem(name, preset=preset, samples=SAMPLES, t_end=self.t_end)
        self.reference = dop853(run, np.linspace(0.0, self.t_end, SAMPLES))
        self.fields = self.formulated.to_fields(self.reference)

    def rows(self) -> Iterator[Row]:
        yield from self._invariants()
        yield from self._agreement()
        able = [name for name in dict.fromkeys((*ranked("shown"), *own_integrators()))
                if specification.applicable(self.name, name, self.run.parameters) and not method(name).adaptive]
        yield from map(self.order, able[:3])

    def _invariants(self) -> Iterator[Row]:
        """Drift of everything conserved along the reference, relative to its scale; residuals."""
        values = observed(self.formulated, self.reference)
        kinetic = float(np.abs(self.facts.kinetic_energy(self.run.parameters, self.fields)).max())
        scales = {"energy": kinetic, "momentum_map": self.formulated.momentum_scale}
        for observable in self.formulated.observables:
            columns = values[:, observable.columns]
            if observable.kind == "plain":
                continue
            if observable.kind == "residual":
                yield limited(observable.name, "along the reference", float(np.abs(columns).max()), INVARIANT_LIMIT)
                continue
            kept = columns[:, list(observable.conserved)]
            if kept.size:
                scale = max(scales.get(observable.name, 0.0), float(np.abs(kept).max())) or 1.0
                yield limited(observable.name, "relative drift along the reference",
                              float(np.abs(kept - kept[0]).max())/scale, INVARIANT_LIMIT)

    def error(self, integrator: str, steps: int, **options: Any) -> float:
        """Largest error of the state fields against the reference, in their norms; inf for a run that stops."""
        spec = specification.specify(self.name, integrator, preset=self.preset, steps=steps, samples=SAMPLES,
                                     t_end=self.t_end, options=options)
        outcome = run_once(spec)
        if outcome.status != Status.OK:
            return np.inf
        fields = outcome.formulated.to_fields(outcome.outputs.states)
        return max(float(field.distance(fields[field.name], self.fields[field.name]).max())
                   / field.measure.scale(self.fields[field.name])
                   for field in outcome.formulated.error_fields if field.counted and field.name in self.fields)

    def _agreement(self) -> Iterator[Row]:
        """Accurate runs in every formulation, form and action give the same motion."""
        for formulation, form in self.facts.forms.items():
            integrator = next(iter(ranked("shown", formulation)), None)
            if integrator is None or not specification.applicable(self.name, integrator, self.run.parameters):
                continue
            # the words of options that change what is integrated
            word = next((name for name in ("form", "action", "coordinates") if name in form.options), "")
            composed = {"weights": WEIGHTS} if "weights" in method(integrator).options else {}
            for choice in form.options[word].choices if word else ("",):
                label = formulation + (f", {word} {choice}" if choice else "")
                options = {word: choice} if choice else {}
                try:
                    form.complete(self.run.parameters, options)
                except InputError as error:
                    yield Row(label, f"not tried: {error}", None)
                    continue
                yield self._agrees(label, integrator, options | composed)

    def _agrees(self, label: str, integrator: str, options: Options) -> Row:
        """Accurate runs, or errors that fall by 4 with half the step where no order above 2 is to be had."""
        declared, gap = method(integrator), self.error(integrator, COUNTS[-1], **options)
        found = f"{integrator} with {COUNTS[-1]} steps differs by {gap:.1e} from DOP853"
        place = self.facts, self.run.parameters
        options_of_run = specification.complete_options(declared, *place, options)
        if gap > AGREE_LIMIT and declared.order_of(options_of_run, *place) == 2:
            ratio = self.error(integrator, COUNTS[-2], **options)/gap
            return Row(label, f"{found}, with half as many by {ratio:.2f} times this: of order 2", 3.5 <= ratio <= 4.5)
        return Row(label, f"{found}, allowed {AGREE_LIMIT:.0e}", gap <= AGREE_LIMIT)

    def order(self, name: str) -> Row:
        """Observed order of an integrator beside its order in theory."""
        declared, errors = method(name), [self.error(name, count) for count in COUNTS]
        place = self.facts, self.run.parameters
        options = specification.complete_options(declared, *place, {})
        theory, symmetric = declared.order_of(options, *place), declared.symmetric_of(options, *place)
        order = observed_order([self.t_end/count for count in COUNTS], errors, floor=FLOOR, theory=theory,
                               symmetric=symmetric)
        label = f"order of {name}" + (f" on {self.name}" if name not in own_integrators() else "")
        if np.isnan(order.order):
            return Row(label, f"none: {order.reason}", False)
        return Row(label, f"{order.order:.2f} +- {order.uncertainty:.2f}, in theory {theory} ({order.classification})",
                   abs(order.order - theory) <= ORDER_LIMIT)
