"""Evidence on what rodrigues2021 says of its maps: symplectic form, symmetry, operations, charts. One step of the
package's own maps on the printed pendulum, in plain Python."""
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.claims.errata import Evidence
from liestep.compile.counters import new_counters
from liestep.compile.rows import Vector
from liestep.compile.status import Status
from liestep.compile.tracing import Functions, plain_component
from liestep.geometry.rodrigues import EXACT, EXPONENTIAL, NEWMARK, increment
from liestep.integrators.rigid_split import DiscreteTurn, discrete_turn
from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.counting import Counted
from liestep.mechanics.formulations.probed import plain
from liestep.papers.rodrigues2021.evidence.discrete import rotation, vee
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.runs.specification import complete_options, start_of
from liestep.study.tables.vectors import hat

STEP, NUDGE, SHORT = 0.1, 1e-3, 0.0125
QUARTER = 2.0  # h|w| of a turn by pi/2 of (25)
DISSIPATES = ("campello", {"phi": 0.5})
VARIATIONAL: Mapping[str, tuple[str, dict[str, Any]]] = {
    "(23)": ("rodrigues drift=exact", {}), "(25)": ("rodrigues", {}), "exponential": ("rodrigues drift=exp", {}),
    "(27)": ("rodrigues kick=whole", {}), "(30)": ("rodrigues kick=whole", {"drift": "exact"}), "LGVI": ("lgvi", {}),
    "five turns": ("dlm", {})}
FIRST_ORDER = ("(27)", "(30)")


def map_of(name: str, options: Mapping[str, Any], initial: Mapping[str, Any] | None = None) -> tuple[Callable,
                                                                                                      np.ndarray]:
    """(map of rows (4, 3) by a step, start) of an integrator on the printed pendulum."""
    facts, start = sheet("heavy_top"), start_of("heavy_top", preset="rodrigues2021", initial=initial)
    found = formulate(facts, start.parameters, start.initial, "rigid_bodies", {})
    declared, problem = method(name), plain(found.problem)
    chosen = complete_options(declared, facts, start.parameters, options)
    component = plain(declared.build(chosen, None, 1.0))

    def step(y: np.ndarray, h: float = STEP, steps: int = 1) -> np.ndarray:
        y = y.copy()
        work = component.workspace(problem, y)
        status = component.start(problem, 0.0, y, h, work)
        for _ in range(steps):
            status = component.step(problem, 0.0, y, h, work) if status == Status.OK else status
        y[3] = y[3] if status == Status.OK else np.nan
        return y

    return step, found.start


def _moved(y: np.ndarray, tangent: np.ndarray, s: float) -> np.ndarray:
    """Rows displaced by s times a spatial turn and a change of the angular momentum, (2, 3)."""
    turn = rotation(s*tangent[0])
    return np.concatenate([y[:3] @ turn.T, y[3:] + s*tangent[1]])


def _form(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Symplectic form of T*SO(3) at the angular momentum y[3], spatial."""
    return float(a[0] @ b[1] - b[0] @ a[1] - y[3] @ np.cross(a[0], b[0]))


def _pushed(step: Callable, y: np.ndarray, new: np.ndarray, tangent: np.ndarray) -> np.ndarray:
    """A tangent at the end of a step, by differences of fourth order."""
    found = np.zeros((2, 3))
    for weight, k in ((8.0, 1), (-8.0, -1), (-1.0, 2), (1.0, -2)):
        z = step(_moved(y, tangent, k*NUDGE))
        turn = z[:3].T @ new[:3]
        found += weight*np.stack([vee(0.5*(turn - turn.T)), z[3] - new[3]])
    return found/(12.0*NUDGE)


def defect(name: str, options: Mapping[str, Any]) -> float:
    """Largest change of the symplectic form in a step, over all pairs of a basis of tangents."""
    step, start = map_of(name, options)
    y = step(start, 0.1, 7)
    new, basis = step(y), list(np.eye(6).reshape(6, 2, 3))
    images = [_pushed(step, y, new, tangent) for tangent in basis]
    return max(abs(_form(new, images[i], images[j]) - _form(y, basis[i], basis[j])) for i in range(6) for j in range(i))


def symplectic() -> Evidence:
    """Defects of the symplectic form of every variational map, and of Campello's with phi = 1/2."""
    found = {name: defect(*entry) for name, entry in VARIATIONAL.items()}
    other = defect(*DISSIPATES)
    numbers = {"worst": max(found.values()), "other": other}
    return Evidence(numbers["worst"] <= 1e-9 and other >= 1e-5,
                    f"one step of h = {STEP}: the form changes by at most {{worst:.1g}} (differences) for"
                    f" {', '.join(found)}; by {{other:.2g}} for (26) with phi = 1/2", numbers)


def symmetric() -> Evidence:
    """Every map of second order forward and back; those of first order do not return."""
    gaps = {}
    for name, entry in VARIATIONAL.items():
        step, y = map_of(*entry)
        gaps[name] = float(np.abs(step(step(y, STEP, 5), -STEP, 5) - y).max())
    numbers = {"second": max(gap for name, gap in gaps.items() if name not in FIRST_ORDER),
               "first": min(gaps[name] for name in FIRST_ORDER)}
    return Evidence(numbers["second"] <= 1e-13 and numbers["first"] >= 1e-3,
                    "5 steps forth and back return to {second:.1g} for (23), (25), the exponential drift, the LGVI and"
                    " the five turns; (27) and (30) miss the start by {first:.2g}", numbers)


def euler_symmetric() -> Evidence:
    """The statement that every map of a discrete Lagrangian is symmetric, for (27) and (30): refuted."""
    found = symmetric()
    return Evidence(found.numbers["first"] <= 1e-13, "5 steps of (27) and (30) forth and back miss the start by"
                    " {first:.2g}", found.numbers)


class Tally:
    """Counts operations and calls of trigonometric functions of plain Python code."""

    def __init__(self) -> None:
        self.operations, self.trigonometric, self.roots = [0], [0], [0]

    def number(self, value: float) -> Counted:
        return Counted(value, self.operations)

    def functions(self) -> Functions:
        def counted(function: Callable[[float], float], tally: list[int]) -> Callable[[Any], Any]:
            def call(x: Any) -> Any:
                tally[0] += 1
                return Counted(function(float(x)), self.operations)
            return call

        return Functions(sqrt=counted(math.sqrt, self.roots), sin=counted(math.sin, self.trigonometric),
                         cos=counted(math.cos, self.trigonometric))


def of_increment(rule: int, angle: float) -> Tally:
    """Operations of the two coefficients of a drift by a rule, for a turn of about `angle`."""
    tally = Tally()
    part = Increment(rule, 1.0)
    h, w = tally.number(0.5), (tally.number(0.0), tally.number(0.6*angle/0.5), tally.number(0.8*angle/0.5))
    plain_component(part, tally.functions()).turn(h, w)
    return tally


class Increment(NamedTuple):
    """A drift's rule as a component."""

    rule: int
    unused: float

    def turn(self, h: float, w: Vector) -> tuple[float, float]:
        return increment(self.rule, h, w)


def no_trigonometry() -> Evidence:
    """The drifts of (23) and (25) call no trigonometric function, whatever the angle; the exponential one does."""
    small, large = ({rule: of_increment(rule, angle) for rule in (EXACT, NEWMARK, EXPONENTIAL)} for angle in (0.1, 0.9))
    numbers = {"printed": max(part[rule].trigonometric[0] for part in (small, large) for rule in (EXACT, NEWMARK)),
               "exponential": large[EXPONENTIAL].trigonometric[0], "root": large[EXACT].roots[0]}
    return Evidence(numbers["printed"] == 0 and numbers["exponential"] > 0,
                    "calls of sine and cosine in a drift: {printed} for (23), which takes {root} square root, and (25);"
                    " {exponential} for the exponential at large angles", numbers)


def overhead() -> Evidence:
    """Operations of the coefficients of a drift: the exponential, by series or by sine and cosine, over (25)."""
    counts = {rule: of_increment(rule, 0.1).operations[0] for rule in (EXACT, NEWMARK, EXPONENTIAL)}
    numbers = {"newmark": counts[NEWMARK], "exact": counts[EXACT], "series": counts[EXPONENTIAL],
               "ratio": counts[EXPONENTIAL]/counts[NEWMARK]}
    return Evidence(numbers["ratio"] >= 1.5,
                    "operations for the two coefficients of a turn: {newmark} for (25), {exact} for (23), {series} for"
                    " the exponential by series ({ratio:.1f} times); the rest of a step is the same", numbers)


def quaternion_form() -> Evidence:
    """(25) as q <- (1, h w/2) q divided by its length, against R(h w): no trigonometric function, one square root."""
    w, h = np.array([0.3, -1.1, 0.8]), 0.7
    tally, q = Tally(), np.array([0.5, -0.5, 0.1, 0.7])/1.0
    root = tally.functions().sqrt
    u = [tally.number(float(0.5*h*x)) for x in w]
    a, b, c, d = (tally.number(float(x)) for x in q)
    moved = [a - (u[0]*b + u[1]*c + u[2]*d), b + (u[0]*a + u[1]*d - u[2]*c), c + (u[1]*a + u[2]*b - u[0]*d),
             d + (u[2]*a + u[0]*c - u[1]*b)]
    length = root(moved[0]*moved[0] + moved[1]*moved[1] + moved[2]*moved[2] + moved[3]*moved[3])
    new = np.array([float(part/length) for part in moved])
    gap = float(np.abs(matrix(new) - rotation(h*w) @ matrix(q)).max())
    numbers = {"gap": gap, "trigonometric": tally.trigonometric[0], "roots": tally.roots[0],
               "operations": tally.operations[0]}
    return Evidence(gap <= 1e-15 and numbers["trigonometric"] == 0,
                    "q <- normalise(q + h/2 (0, w) q) is the drift of (25) to {gap:.1g}, with {operations} operations,"
                    " {roots} square root and {trigonometric} sines or cosines", numbers)


def matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrix of a quaternion of any length, scalar part first."""
    w, v = q[0], q[1:]
    skew = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return ((w*w - v @ v)*np.eye(3) + 2.0*np.outer(v, v) + 2.0*w*skew)/(q @ q)


def chart_limits() -> Evidence:
    """A turn by pi/2 in each step of (25): alpha ends at pi, modified parameters at 2 pi; the matrix goes on."""
    numbers = {}
    for chart in ("alpha", "modified", "none"):
        component = plain(method("rodrigues").build(
            {"chart": chart, "drift": "newmark", "kick": "half", "weights": "one"}, None, 1.0))
        facts = sheet("free_rigid_body")
        start = start_of("free_rigid_body", preset="asymmetric", parameters={"inertia": [1.0, 1.0, 1.0]},
                         initial={"attitude": np.eye(3), "angular_momentum": [0.0, 0.0, QUARTER]})
        found = formulate(facts, start.parameters, start.initial, "rigid_bodies", {})
        y, problem, steps = found.start.copy(), plain(found.problem), 0
        work = component.workspace(problem, y)
        component.start(problem, 0.0, y, 1.0, work)
        while steps < 6 and component.step(problem, 0.0, y, 1.0, work) == Status.OK:
            steps += 1
        numbers[chart] = steps
    return Evidence((numbers["alpha"], numbers["modified"], numbers["none"]) == (1, 3, 6),
                    "steps of pi/2 that complete: {alpha} with alpha, whose next one would end at pi, {modified} with"
                    " modified parameters, whose next one would end at 2 pi, all {none} with the matrix", numbers)


def closed_form(momentum: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """(3, 3): the rotation of (23) for the momentum h P in the body, of any moments."""
    w = momentum/moments
    s, c = increment(EXACT, 1.0, tuple(w))
    skew = hat(w)
    return np.eye(3) + s*skew + c*skew @ skew


def implicit_equation() -> Evidence:
    """Residual of the equation h hat(P) = F J_d - J_d F^T of Lee, Leok and McClamroch for F of the closed form (23),
    relative to h P: for three equal moments, as the paper's bodies have them, and for three different ones."""
    momentum, numbers = np.array([0.03, -0.05, 0.02]), {}
    for name, moments in (("equal", np.array([0.7, 0.7, 0.7])), ("different", np.array([0.9, 0.7, 0.5]))):
        dyadic, turn = np.diag(0.5*moments.sum() - moments), closed_form(momentum, moments)
        gap = vee(turn @ dyadic - dyadic @ turn.T) - momentum
        numbers[name] = float(np.linalg.norm(gap)/np.linalg.norm(momentum))
    return Evidence(min(numbers.values()) >= 1e-12, "the closed form (23) leaves of the implicit equation {equal:.1g}"
                    " for three equal moments, {different:.1g} for three different ones: only these require its"
                    " solution", numbers)


def newton_updates() -> Evidence:
    """Largest error of the vector of a turn after one and after two updates of Newton's method, as the LGVI makes them,
    along 800 steps of the pendulum; the truth is (23)."""
    step, y = map_of("lgvi", {})
    errors = []
    for _ in range(800):
        y = step(y, SHORT)
        momentum = SHORT*y[3]  # of equal moments of one: the same in the body
        length = float(np.linalg.norm(momentum))
        exact = momentum/length*2.0*math.tan(0.5*math.asin(length))
        turns = (discrete_turn(DiscreteTurn(0.0, updates), (1.0, 1.0, 1.0), tuple(momentum), new_counters())[1]
                 for updates in (1, 2))
        errors.append([float(np.linalg.norm(turn - exact))/length for turn in turns])
    one, two = np.max(errors, axis=0)
    numbers = {"one": float(one), "two": float(two), "tolerance": method("lgvi").options["tolerance"].default}
    return Evidence(one > numbers["tolerance"] >= two, "after one update of Newton's method the turn of a step is off"
                    " by {one:.1g} of itself, after two by {two:.1g}; the tolerance is {tolerance:.1g}", numbers)
