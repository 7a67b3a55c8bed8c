"""From a person's functions to the text of a plugin, one writer for each kind of system. Numbers of the start, of
closures and of defaults stand in the text, so that its hash is the identity of the system."""
import keyword
import re
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liestep.compile.straight.symbols import reachable
from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.manifold import check_tangent
from liestep.mechanics.contracts.sheet import Parameters, fitted, real_array
from liestep.mechanics.formulations.axes import principal
from liestep.mechanics.formulations.turning import PARTS, layout
from liestep.plain.agreement import agreed
from liestep.plain.arrays import Values, frozen, place, run, solve
from liestep.plain.kinds import Overload
from liestep.plain.loops import gradient_lines, lines, operations, row_lines, sum_lines
from liestep.plain.symbols import (
    PlainGraph,
    Scalar,
    Symbol,
    along,
    depending,
    depends,
    evaluated,
    gradient,
    input_text,
    pivots,
    substituted,
)

PLUGIN = Path(__file__).with_name("plugin.py.in")  # with the fields of `str.format`
FUNCTIONS = ("Parameter", "Preset", "atan2", "cos", "exp", "if_at_most", "if_equal", "if_less", "log", "quotient",
             "sin", "sqrt")
Start = Mapping[str, Any]
TAKEN = re.compile(r"(mechanical_)?energy|time(_reached)?|status|steps|member|growth|(impact_)?work|\w+_blocks|"
                   r"(accepted|event|parameter|spread)_\w+")  # what data call something else
MOST_WRITTEN = 20_000  # operations of a system
KEPT = 1e-9             # largest rate of a conserved function, relative to the sum of its terms


# what `liestep.system` was given besides name, parameters and start; None for what was not
Given = namedtuple("Given", "potential lagrangian hamiltonian magnetic rhs parts field mass inertia force torque energy"
                   " invariants")


class Writer:
    """The graph, symbols of the parameters, and the lines of the component."""

    def __init__(self, name: str, parameters: Parameters, start: Start, t_end: float):
        self.name, self.graph, self.start, self.t_end = name, PlainGraph(), start, t_end
        self.parameters = {key: _parameter(key, value) for key, value in parameters.items()}
        self.values = self.graph.values
        self.p = Values({key: self.array(f"self.p_{key}", value) for key, value in self.parameters.items()})
        self.graph.whole = {f"self.p_{key}": value for key, value in parameters.items() if isinstance(value, int)}
        self.t = self.symbol("t", 0.0)
        self.outs: list[Scalar] = []
        self.axes: np.ndarray | None = None  # principal ones of bodies (n, 3, 3), in those of a person
        self.kept = "rate" if "rate" in start else ""  # as in `Preset`
        self.rules: dict[str, str] = {}  # further arguments of `Parameter`, by keys
        self.lines = [f"    p_{key}: Any" for key in self.parameters] or ["    nothing: Any"]

    def symbol(self, name: str, value: float | np.ndarray, *index: int) -> Symbol:
        """The symbol of a number, or of the entry of an array, that the code calls `name`."""
        node = self.graph.node("input", name, *index)
        self.values[input_text(node)] = float(value)
        return node

    def array(self, name: str, values: ArrayLike) -> Any:
        """Symbols of an array that the code calls `name`, or of a number."""
        if isinstance(values, str):
            return values
        values = np.asarray(values, dtype=float)
        if not values.shape:
            return self.symbol(name, values)
        symbols_of = np.empty(values.shape, dtype=object)
        for index in np.ndindex(*values.shape):
            symbols_of[index] = self.symbol(name, values[index], *index)
        return frozen(symbols_of)

    def spun(self, moments: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Angular momenta of rates, in a person's axes of bodies."""
        if self.axes is None:
            return np.asarray(moments*rate)
        q = self.axes.reshape(*rate.shape, 3)
        return np.asarray((q @ (moments*(np.swapaxes(q, -1, -2) @ rate[..., None])[..., 0])[..., None])[..., 0])

    def seen(self, axes: np.ndarray, body: int = 0) -> np.ndarray:
        """An attitude of principal axes as that of a person's."""
        return axes if self.axes is None else frozen(axes @ self.axes[body].T)

    def call(self, what: str, function: Callable, shape: tuple[int, ...] | None, *,
             arranged: Callable[[Any], Any] = lambda found: found, **arguments: Any) -> Any:
        """What a person's function gives. Raises InputError: as `run`, `agreed` and `finite`."""
        found = run(function, what, {**arguments, "p": self.p}, shape, self.graph, arranged)
        return self.finite(what, function, agreed(self, what, function, arguments, found, arranged))

    def finite(self, what: str, function: Callable, found: Any) -> Any:
        """What was found, whose values at the start are finite."""
        with np.errstate(all="ignore"):
            values = np.array(evaluated(list(np.ravel(found)), self.values), dtype=float)
        if not np.isfinite(values).all():
            raise InputError(f"{what} is {values[~np.isfinite(values)][0]} at the start{place(function)}")
        return found

    def slopes(self, what: str, function: Callable, found: Scalar, inputs: Sequence[Symbol]) -> list[Any]:
        """Derivatives of what a person's function gives. Raises InputError: one is NaN or infinite at the start."""
        return self.finite(f"a derivative of {what}", function, gradient(found, inputs))

    def add(self, signature: str, written: list[str], outs: list[Scalar]) -> None:
        """A method whose lines are written, with the expressions in them."""
        self.outs += outs
        self.lines += ["", f"    def {signature}:", *written]

    def method(self, signature: str, results: Sequence[tuple[str, Scalar]], ends: str = "") -> None:
        self.add(signature, [*lines(results), *([f"        {ends}"] if ends else [])], [x for _, x in results])

    def function(self, name: str, values: np.ndarray) -> list[str]:
        """A function of checked parameters that gives an array."""
        return ["", "", f"def {name}(p):", "    self = build(p)", f"    out = np.zeros({np.shape(values)!r})",
                *lines(entries("out", values), "    "), "    return out"]

    def clock(self) -> list[str]:
        """The function of `Sheet.clock`; nothing where no such value depends on t alone."""
        states: list[Any] = [node for node in self.graph.nodes if node.op == "input" and node is not self.t
                  and not node.args[0].startswith("self.p_")]
        asked = [("choice", node.args[1] - node.args[2]) if node.op == "select" else (node.op, node.args[0])
                 for node in reachable(self.outs) if node.op in ("select", "exp", "inverse", "sin")
                 and all(getattr(x, "place", -1) not in self.graph.rounded for x in node.args[1:2])]
        alone = depending([x for _, x in asked], [self.t]) - depending([x for _, x in asked], states)
        found = [(what, x) for what, x in asked if isinstance(x, Symbol) and x.place in alone]
        if {what for what, _ in found} <= {"sin"}:
            return []
        return ["", "", "def clock(p, t):", "    self = build(p)", f"    out = np.zeros({len(found)})",
                *lines([(f"out[{k}]", x) for k, (_, x) in enumerate(found)], "    "),
                f"    return list(zip({[what for what, _ in found]!r}, out))"]

    def text(self, imports: str, start: Sequence[str], more: Sequence[str], sheet: Sequence[str]) -> str:
        """The plugin: component, start, further functions, sheet."""
        names = ", ".join(sorted({*FUNCTIONS, *imports.split()}))
        fixed = [key for key in self.parameters if f"self.p_{key}" in self.graph.fixed]
        rules = [f'    if p[{key!r}] != {float(self.parameters[key])!r}:\n        raise InputError("parameter {key} is'
                 ' an index, a power or number of repetitions in equations: define the system anew")' for key in fixed]
        names += (", InputError" if fixed else "") + (", in_axes" if self.axes is not None else "")
        axes = self.axes is not None and self.axes.reshape(*np.shape(self.parameters["inertia"]), 3).tolist()
        opening, closing = (f"in_axes({axes!r}, ", ")") if axes else ("", "")
        declared = [f"    {key!r}: Parameter('1', 'of the system', {np.shape(value)!r}{self.rules.get(key, '')}),\n"
                    for key, value in self.parameters.items() if key != "inertia" or np.shape(value)[-1:] != (3,)]
        declared += [f"    {key!r}: Parameter('kg m2', 'principal moments', {np.shape(value)!r}, 'moments'),\n"
                     for key, value in self.parameters.items() if key == "inertia" and np.shape(value)[-1:] == (3,)]
        given = {key: np.asarray(value).tolist() for key, value in self.parameters.items()}
        clock = "\n".join(["", *self.clock()])
        return PLUGIN.read_text("utf-8").format(
            name=self.name, imports=names, lines="\n".join(self.lines), more="\n".join(["", *more]), clock=clock,
            arguments=", ".join(f"p[{key!r}]" for key in self.parameters) or "0.0", start="\n".join(start),
            declared="".join(declared), rules="\n".join(rules or ["    pass"]), given=given, t_end=float(self.t_end),
            kept=f", kept={self.kept!r}" if self.kept else "",
            opening=opening, family=sheet[0], clocked=" clock=clock,"*bool(clock),
            options="".join(f"    {line}\n" for line in sheet[1:-1]), last=sheet[-1], closing=closing)

    def returned(self, **fields: np.ndarray) -> list[str]:
        """Lines of a start of plain numbers."""
        inner = ", ".join(f"{key!r}: np.array({np.asarray(value, dtype=float).tolist()!r})"
                          for key, value in fields.items())
        return [f"    return {{{inner}}}"]


def _parameter(name: str, value: ArrayLike) -> Any:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InputError(f"parameter {name!r} must be a name of Python")
    array = real_array(f"parameter {name}", value)
    if not np.isfinite(array).all():
        raise InputError(f"parameter {name} must be finite numbers")
    return float(array) if array.ndim == 0 else array


def field_of(start: Start, name: str, shape: tuple[int, ...] | None = None,
             default: ArrayLike | None = None, *, rows: bool = True) -> np.ndarray:
    """A field of the start. Raises InputError where it is missing, not finite or of another shape."""
    if name not in start and default is None:
        raise InputError(f"start lacks {name!r}; it has {', '.join(start) or 'nothing'}")
    value = fitted(real_array(f"start {name}", start.get(name, default)), shape)
    if not value.size:
        raise InputError(f"start {name} is empty")
    if value.ndim > 1 and not rows:
        raise InputError(f"start {name} must be of shape (n,), not {value.shape}: reshape it in the function")
    wrong = shape is not None and value.shape != shape
    if wrong or not np.isfinite(value).all():
        of = f" of shape {shape}, not {value.shape}" if wrong else ""
        raise InputError(f"start {name} must be finite numbers{of}")
    return value


def _several(start: Start, name: str, shape: tuple[int, ...] = (3,)) -> np.ndarray:
    """A field of one body or of several. Raises InputError: another shape."""
    value = field_of(start, name)
    if shape not in (value.shape, value.shape[1:]):
        raise InputError(f"start {name} must be of shape {shape} or (n, {str(shape)[1:]}, not {value.shape}")
    return value


def cross(u: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """u x v of anything with three entries."""
    return [u[1]*v[2] - u[2]*v[1], u[2]*v[0] - u[0]*v[2], u[0]*v[1] - u[1]*v[0]]


def entries(text: str, values: Any) -> list[tuple[str, Scalar]]:
    """Targets of all entries of an array."""
    values = np.asarray(values, dtype=object)
    return [(f"{text}[{', '.join(map(str, entry))}]", values[entry]) for entry in np.ndindex(*values.shape)]


def spheres(w: Writer, given: Given) -> str:
    """Points on spheres with V(q, p), a mass matrix and force(t, q, v, p)."""
    q0 = _several(w.start, "q")
    single, q0 = q0.ndim == 1, np.atleast_2d(q0)
    n = len(q0)
    shape = (3,) if single else (n, 3)
    v0 = field_of(w.start, "v", shape, np.zeros(shape)).reshape(n, 3)
    omega0 = field_of(w.start, "omega", shape, np.cross(q0, v0).reshape(shape)).reshape(n, 3)
    check_tangent("v", v0, "q", q0)
    q = w.array("q", q0)
    v = w.call("potential", given.potential, (), q=q[0] if single else q) if given.potential else 0.0
    w.add("potential(self, q)", *sum_lines(v, n))
    w.add("gradient(self, q, out)", *gradient_lines(v, q))
    if given.force:
        omega = w.array("omega", omega0)
        velocity = frozen([cross(omega[i], q[i]) for i in range(n)])
        f = w.call("force", given.force, shape, t=w.t, **{name: x[0] if single else x for name, x in (
            ("q", q), ("omega", omega), ("v", velocity))})
        w.add("force(self, t, q, omega, out)", *row_lines(np.reshape(f, (n, 3))))
    mass: Any = given.mass if callable(given.mass) else w.p.mass
    if callable(mass):
        mass = w.call("mass", mass, None)
    if np.shape(mass) in ((), (1,)):
        mass = np.broadcast_to(np.asarray(mass, dtype=object), (n,))
    if np.shape(mass) not in ((n,), (n, n)):
        raise InputError(f"mass must be a number, {n} numbers or a matrix {(n, n)}, not of shape {np.shape(mass)}")
    return w.text("spheres kept_on_spheres", w.returned(q=q0, omega=omega0), w.function("mass", mass), [
        "spheres(", f"build=build, mass=mass, conserved_momentum=lambda p: kept_on_spheres(build(p), {n}))"])


def fixed_body(w: Writer, given: Given) -> str:
    """A body about a fixed point with V(R, p); torque(t, R, omega, p) is applied beside it, spatial."""
    turn = field_of(w.start, "R", (3, 3))
    inertia, q = np.asarray(w.parameters["inertia"]), np.eye(3) if w.axes is None else w.axes[0]
    if inertia.shape != (3,):
        raise InputError(f"inertia must be the principal moments (3,) about the fixed point, or the matrix (3, 3), not"
                         f" of shape {inertia.shape}")
    if "angular_momentum" in w.start:
        momentum = field_of(w.start, "angular_momentum", (3,))
    else:
        momentum = turn @ w.spun(inertia, field_of(w.start, "rate", (3,), np.zeros(3)))
    start = w.returned(attitude=turn, angular_momentum=momentum)
    turn = turn @ q
    y = w.array("q", turn.T)
    axes = w.seen(y.T)
    v = w.call("potential", given.potential, (), R=axes) if given.potential else 0.0
    flat = list(y.flat)
    slope = np.reshape(w.slopes("potential", given.potential, v, flat), (3, 3))  # of row k, axis k of the body
    if given.torque is None and _is_linear(w, v, slope, y):
        return w.text("weighted_body", start, w.function("slopes", slope), ["weighted_body(", "slopes=slopes)"])
    terms = [cross(y[k], slope[k]) for k in range(3)]
    torque = [-sum([term[c] for term in terms]) for c in range(3)]
    w.lines.insert(0, "    inertia: Any")
    abc = ("a", "b", "c")
    w.method("torque(self, q)", list(zip(abc, torque, strict=True)), "return a, b, c")
    u = [w.symbol("u", 1.0, k) for k in range(3)]
    moved = [x for k in range(3) for x in cross(u, y[k])]
    w.method("torque_slope(self, q, u)", list(zip(abc, along(torque, flat, moved), strict=True)), "return a, b, c")
    if given.torque:
        with np.errstate(all="ignore"):  # moments that are zero are refused later
            rate = turn @ ((turn.T @ momentum)/inertia)
        applied = w.call("torque", given.torque, (3,), t=w.t, R=axes, omega=w.array("omega", rate))
        w.method("applied(self, t, q, omega)", list(zip(abc, applied, strict=True)), "return a, b, c")
    w.method("energy(self, q)", [("", v)])
    turned = [(y[j]*slope[k] - y[k]*slope[j]).sum() for j, k in ((1, 2), (2, 0), (0, 1))]
    w.method("body_torque(self, q)", list(zip(abc, turned, strict=True)), "return a, b, c")
    w.lines += ["", "    def observe(self, y, out):",
                "        out[0] = rotation_energy(self.inertia, y) + self.energy(y)",
                "        out[1], out[2], out[3] = row(y, 3)", "        out[4] = orthogonality_error(y)"]
    text = w.text("fixed_body kept_of_body orthogonality_error rotation_energy row", start, [], [
        "fixed_body(", "build=build, conserved_momentum=lambda p: kept_of_body(build(p)),",
        "invariants=lambda p, first: ())"])
    return text.replace("    return System(", "    return System(p['inertia'], ", 1)


def _is_linear(w: Writer, v: Scalar, slope: np.ndarray, y: np.ndarray) -> bool:
    """Whether V = -gravity.(R lever): its slopes do not depend on R and have rank one, and V holds nothing else, at
    other parameters too, which are moved at random."""
    flat, random = list(y.flat), np.random.default_rng(3)
    if any(depends(x, flat) for x in slope.flat):
        return False
    rest = v - sum([slope[k, i]*y[k, i] for k in range(3) for i in range(3)])
    for moved in (0.0, 0.1, 0.1, 0.1):
        values = {key: x*(1.0 + moved*random.standard_normal()) for key, x in w.values.items()}
        more, *found = evaluated([rest, *slope.flat], values)
        size = np.abs(found).max()
        if not (np.linalg.matrix_rank(np.reshape(found, (3, 3)), tol=1e-12*size) <= 1 and abs(more) <= 1e-12*size):
            return False
    return True


def rigid_bodies(w: Writer, given: Given) -> str:
    """Free bodies with V(x, R, p); force and torque (x, v, R, omega, p) are applied beside it, spatial, about the
    centres of mass."""
    x0 = _several(w.start, "x")
    single, x0 = x0.ndim == 1, np.atleast_2d(x0)
    n = len(x0)
    vector, matrix = ((3,), (3, 3)) if single else ((n, 3), (n, 3, 3))
    v0, rate = (field_of(w.start, name, vector, np.zeros(vector)).reshape(n, 3) for name in ("v", "rate"))
    turn = field_of(w.start, "R", matrix, np.broadcast_to(np.eye(3), matrix)).reshape(n, 3, 3)
    if "angular_momentum" in w.start:
        momentum = field_of(w.start, "angular_momentum", vector).reshape(n, 3)
    else:
        momentum = np.einsum("nij,nj->ni", turn, w.spun(w.parameters["inertia"], rate))
    start = w.returned(position=x0, velocity=v0, attitude=turn, angular_momentum=momentum)
    turn = turn if w.axes is None else turn @ w.axes
    y = w.array("y", np.concatenate([np.swapaxes(turn, 1, 2).reshape(-1, 3), momentum, x0, v0]))
    places, axes = y[4*n:5*n], frozen([w.seen(y[3*i:3*i + 3].T, i) for i in range(n)])
    v = w.call("potential", given.potential, (), x=places[0] if single else places,
               R=axes[0] if single else axes) if given.potential else 0.0
    slope = np.reshape(w.slopes("potential", given.potential, v, [*y[:3*n].flat, *places.flat]), (4*n, 3))
    turns = [[-sum([cross(y[3*i + k], slope[3*i + k])[c] for k in range(3)]) for c in range(3)] for i in range(n)]
    w.method("forces(self, y, out, energy)", [*entries("out", [*turns, *(-slope[3*n:])]), ("energy[0]", v)],
             "return True")
    if given.force or given.torque:
        omega = np.einsum("nij,nj->ni", turn, np.einsum("nij,ni->nj", turn, momentum)/w.parameters["inertia"])
        seen = {"x": places, "v": y[5*n:], "R": axes, "omega": w.array("rates", omega)}
        seen = {name: value[0] if single else value for name, value in seen.items()}
        torque, force = (np.reshape(w.call(name, function, vector, **seen), (n, 3)) if function else np.zeros((n, 3))
                         for name, function in (("torque", given.torque), ("force", given.force)))
        added = np.concatenate([torque, force])
        moving = np.concatenate([np.reshape(np.asarray(seen["omega"], dtype=object), (n, 3)), y[5*n:]])
        w.method("damp(self, y, rates, out)", [*((f"{target} +", x) for target, x in entries("out", added)),
                                               ("", sum((added*moving).flat))])
    return w.text("Kept rigid_bodies kept_of_bodies", start, [], [
        "rigid_bodies(", "build=build, masses=lambda p: p['mass'], moments=lambda p: p['inertia'],",
        f"kept=lambda p: Kept(*kept_of_bodies(build(p), {n})), potential={{'potential_energy': 'V'}})"])


def _observed(w: Writer, given: Given, energy: Scalar, conserved: bool, hamiltonian: Scalar | None = None,
              **state: Any) -> str:
    """Write `observe`, the columns of energy and named invariants of the state, and return what they are called, each
    with whether it is kept. The energy is zero for systems without one; it may be the Hamiltonian that is written."""
    kept = {"energy": energy}
    for name, function in (given.invariants or {}).items():
        if not name.isidentifier() or name in state or TAKEN.fullmatch(name):
            raise InputError(f"invariant {name!r} must be a name of Python, and none that data have, as time")
        kept[name] = w.call(f"invariant {name}", function, (), **state)
    if moving := [name for name, value in kept.items() if depends(value, [w.t])]:
        raise InputError(f"{moving[0]} depends on t by v, which does: of q and momentum it may be a function, not of t")
    values, written = entries("out", list(kept.values())), []
    if hamiltonian is not None and hamiltonian is energy:
        values, written = values[1:], ["        out[0] = self.hamiltonian(y)"]
    w.add("observe(self, y, out)", [*written, *lines(values)], [x for _, x in values])
    kept_as = conserved if isinstance(energy, Symbol) or energy else None
    return repr({name: name != "energy" or kept_as for name in kept})


def _kept_by(w: Writer, slope: Iterable[Scalar], rates: Iterable[Scalar], units: Sequence[np.ndarray] = ()) -> bool:
    """Whether a function with this slope stays constant, at the start and beside it, where nothing is zero. units: of
    rows y those that are orthonormal, and stay so."""
    size = max((abs(value) for name, value in w.values.items() if name[:2] == "y["), default=0.0) or 1.0
    for moved in (0.0, 0.01):
        place = {name: value + moved*(k % 5 + 1)*(value or size) for k, (name, value) in enumerate(w.values.items())
                 if name[:2] == "y[" or name == "t"}
        for rows in units:
            left, _, right = np.linalg.svd([[place[input_text(x)] for x in row] for row in rows], full_matrices=False)
            place |= zip(map(input_text, rows.flat), (left @ right).flat, strict=True)
        with np.errstate(all="ignore"):
            terms = np.multiply(*np.reshape(evaluated([*slope, *rates], {**w.values, **place}), (2, -1)))
        if abs(terms.sum()) > KEPT*np.abs(terms).sum():
            return False
    return True


def first_order(w: Writer, given: Given, summed: Callable[[np.ndarray], tuple[np.ndarray, str]] | None = None) -> str:
    """dy/dt = f(t, y, p). summed: of y, gives rates of parts instead, and further arguments of the sheet."""
    y0 = np.atleast_1d(field_of(w.start, "y", rows=False))
    y = w.array("y", y0[None])[0]
    rates, more = summed(y) if summed else (w.call("rhs", given.rhs, y0.shape, t=w.t, y=y), "")
    w.method("rates(self, t, y, out)", entries("out", rates[None]))
    energy = w.call("energy", given.energy, (), y=y) if given.energy else 0.0
    slope = gradient(energy, list(y)) if given.energy else []
    kept_energy = given.energy is not None and _kept_by(w, slope, rates)
    conservative = kept_energy and not any(depends(x, [w.t]) for x in rates)
    if conservative:
        w.method("slope(self, y, out)", entries("out", [slope]))
        w.method("hamiltonian(self, y)", [("", energy)])
    kept = _observed(w, given, energy, kept_energy, energy if conservative else None, y=y)
    return w.text("first_order", w.returned(y=y0), [], [
        "first_order(", f"build=build, size={len(y0)}, kept={kept}, conservative={conservative}{more})"])


def lagrangian(w: Writer, given: Given) -> str:
    """L(q, v, p), quadratic in v: rows q and dL/dv."""
    q0 = np.atleast_1d(field_of(w.start, "q", rows=False))
    n = len(q0)
    v0 = np.atleast_1d(field_of(w.start, "v", q0.shape))
    q, v = w.array("y", q0[None])[0], w.array("v", v0)
    found = w.call("lagrangian", given.lagrangian, (), q=q, v=v, t=w.t)
    by_v = gradient(found, list(v))
    matrix = np.array([gradient(x, list(v)) for x in by_v], dtype=object)
    for i, j in np.ndindex(n, n):
        matrix[i, j] = matrix[min(i, j), max(i, j)]  # it is symmetric
    where = place(given.lagrangian)
    asked = [x for node in reachable([found]) if node.op == "select" for x in node.args[1:3]]
    if any(depends(x, list(v)) for x in [*matrix.flat, *asked]):
        raise InputError(f"lagrangian is not quadratic in v: give a hamiltonian, or rhs{where}")
    at_start = np.reshape(evaluated(list(matrix.flat), w.values), (n, n))
    if np.linalg.matrix_rank(at_start) < n:
        raise InputError("lagrangian has a singular mass matrix d2L/dv2 at the start; Livens' methods (mpl, eml,"
                         " vi_livens) take such masses, on a mechanism of bodies and joints or a system with"
                         f" constraints{where}")
    momentum = list(w.array("y", np.array([q0, at_start @ v0]))[1])
    shift = substituted(by_v, {x.place: 0.0 for x in v})
    order = pivots(at_start)
    rate = list(solve(matrix[order], np.array([momentum[i] - shift[i] for i in order], dtype=object)))
    moving = {x.place: r for x, r in zip(v, rate, strict=True)}
    push = substituted(w.slopes("lagrangian", given.lagrangian, found, list(q)), moving)
    force = substituted(list(w.call("force", given.force, (n,), t=w.t, q=q, v=v)), moving) if given.force else []
    moves = depends(found, [w.t])
    w.kept = "v" if any(depends(x, [*q, w.t]) for x in by_v) else ""
    energy = 0.0 if moves else (sum([r*m for r, m in zip(rate, momentum, strict=True)])
                                - substituted([found], moving)[0])
    first = lines(entries("y[1]", substituted(by_v, {w.t.place: 0.0})), "    ")
    start = ["    self = build(p)", f"    y = np.array({[q0.tolist(), [0.0]*n]!r})",
             f"    v = np.array({v0.tolist()!r})", *first, "    return {'q': y[0], 'momentum': y[1]}"]
    return _canonical(w, given, q, momentum, rate, push, force, energy, not moves, start)


def hamiltonian(w: Writer, given: Given) -> str:
    """H(q, momentum, p): Hamilton's equations."""
    q0 = np.atleast_1d(field_of(w.start, "q", rows=False))
    p0 = np.atleast_1d(field_of(w.start, "momentum", q0.shape))
    q, momentum = w.array("y", np.array([q0, p0]))
    found = w.call("hamiltonian", given.hamiltonian, (), q=q, momentum=momentum, t=w.t)
    slopes = w.slopes("hamiltonian", given.hamiltonian, found, [*q, *momentum])
    push, rate = [-x for x in slopes[:len(q0)]], slopes[len(q0):]
    force = list(w.call("force", given.force, q0.shape, t=w.t, q=q, v=frozen(rate), momentum=momentum)
                 ) if given.force else []
    moves = depends(found, [w.t])
    return _canonical(w, given, q, list(momentum), rate, push, force, 0.0 if moves else found, not moves,
                      w.returned(q=q0, momentum=p0))


def _canonical(w: Writer, given: Given, q: np.ndarray, momentum: list[Symbol], rate: list[Scalar], push: list[Scalar],
               force: list[Scalar], energy: Scalar, conserved: bool, start: list[str]) -> str:
    """`energy` without the forces, which is conserved where nothing in it depends on time: then they do work."""
    if force:
        push = [a + b for a, b in zip(push, force, strict=True)]
    separable = not (any(depends(x, [*q, w.t]) for x in rate) or any(depends(x, momentum) for x in push))
    linear = not any(depends(x, momentum) for row in rate for x in gradient(row, momentum))
    worked = bool(force) and conserved and not given.energy and (linear or not separable)
    pushes = entries("out", np.array([rate, push, *([force] if worked else ())], dtype=object))[len(rate):]
    if separable:
        w.method("drift(self, y, out)", [(f"out[0, {j}]", x) for j, x in enumerate(rate)])
        w.method("kick(self, t, y, out)", pushes)
        w.lines += ["", "    def rates(self, t, y, out):", "        self.drift(y, out)", "        self.kick(t, y, out)"]
    else:
        w.method("rates(self, t, y, out)", [*((f"out[0, {j}]", x) for j, x in enumerate(rate)), *pushes])
    hamiltonian, conservative = energy, conserved and not force
    conserved = conservative or worked
    if given.energy:
        energy = w.call("energy", given.energy, (), q=q, momentum=frozen(momentum), v=frozen(rate))
        conserved = _kept_by(w, gradient(energy, [*q, *momentum]), [*rate, *push])
    if conservative:
        w.method("hamiltonian(self, y)", [("", hamiltonian)])
    kept = _observed(w, given, energy, conserved, hamiltonian if conservative else None, q=q,
                     momentum=frozen(momentum), v=frozen(rate))
    return w.text("canonical", start, [], [
        "canonical(", f"build=build, size={len(q)}, kept={kept}, conservative={conservative},",
        f"separable={separable}{', worked=True' if worked else ''})"])


def particles(w: Writer, given: Given) -> str:
    """m dv/dt = force(t, x, p) - dV/dx + v x magnetic(t, x, p)."""
    x0 = _several(w.start, "x")
    v0 = field_of(w.start, "v", x0.shape, np.zeros(x0.shape))
    n = x0.size//3
    y = w.array("y", np.concatenate([x0.reshape(n, 3), v0.reshape(n, 3)]))
    x = y[0] if x0.ndim == 1 else y[:n]
    mass = np.asarray(w.p.mass, dtype=object)
    if mass.shape not in ((), (1,), (n,)):
        raise InputError(f"mass must be a number or of shape {(n,)}, not of shape {mass.shape}")
    mass = np.broadcast_to(mass, (n,))
    b = np.reshape(w.call("magnetic", given.magnetic, x0.shape, t=w.t, x=x), (n, 3))
    potential = w.call("potential", given.potential, (), t=w.t, x=x) if given.potential else 0.0
    push = -np.reshape(np.array(gradient(potential, list(y[:n].flat)), dtype=object), (n, 3))
    if given.force:
        push = push + np.reshape(w.call("force", given.force, x0.shape, t=w.t, x=x), (n, 3))
    w.method("push(self, t, y, out)", entries("out", push/mass[:, None]))
    w.method("spin(self, t, y, out)", entries("out", b/mass[:, None]))
    conserved = given.force is None and not depends(potential, [w.t])
    energy = potential + sum([0.5*mass[i]*y[n + i, k]*y[n + i, k] for i in range(n) for k in range(3)])
    kept = _observed(w, given, energy if conserved else 0.0, conserved, x=x, v=y[1] if x0.ndim == 1 else y[n:])
    conservative = conserved and not any(depends(z, [w.t]) for z in b.flat)
    return w.text("charged", w.returned(position=x0, velocity=v0), [], [
        "charged(", f"build=build, shape={x0.shape!r}, kept={kept}, masses=lambda p: np.atleast_1d(p['mass']),",
        f"conservative={conservative})"])


def turned(start: Start) -> dict[str, np.ndarray]:
    """Attitudes R, unit vectors q and rows x of a start, those that there are. Raises InputError: another shape."""
    start_of = {letter: _several(start, letter, (3,)*len(PARTS[letter].dims)) for letter in PARTS if letter in start}
    if not {"R", "q"} & {*start_of}:
        raise InputError(f"start lacks R or q, what the field turns; it has {', '.join(start) or 'nothing'}")
    return start_of


def rates_of(found: Any, shapes: Mapping[str, tuple[int, ...]]) -> Any:
    """Rows of what a field gives: (w of R, w of q, rate of x), of those that there are, or all rows."""
    spans = [generators for _, generators in layout(shapes).values()]
    if not 1 < len(spans) == len(found):
        return found
    return [row for rates, rows in zip(found, spans, strict=True)
            for row in np.reshape(np.asarray(rates, dtype=object), (rows.stop - rows.start, 3))]


def field(w: Writer, given: Given) -> str:
    """dR/dt = hat(w) R, dq/dt = w x q and rows x of R^3: field(t, R, q, x, p) gives w, spatial, or (w, rate of x)."""
    start = turned(w.start)
    shapes = {letter: value.shape for letter, value in start.items()}
    y = w.array("y", np.concatenate([PARTS[letter].rows_of(value) for letter, value in start.items()]))
    places = layout(shapes)
    arguments = {letter: PARTS[letter].values_of(y[rows], shapes[letter]) for letter, (rows, _) in places.items()}
    number = max(generators.stop for _, generators in places.values())
    alone = shapes.get("q", (number, 3)[shapes.get("R") == (3, 3):]) if len(shapes) == 1 else (number, 3)
    found = np.reshape(w.call("field", given.field, alone, arranged=lambda found: rates_of(found, shapes), t=w.t,
                              **arguments), (number, 3))
    w.method("algebra(self, t, y, out)", entries("out", found), "return True")
    energy = w.call("energy", given.energy, (), **arguments) if given.energy else 0.0
    rates, units = np.zeros(y.shape, dtype=object), list[np.ndarray]()
    for letter, (rows, at) in places.items():
        each = 3 if letter == "R" else 1
        turns = np.repeat(found[at], each, axis=0)
        rates[rows] = turns if letter == "x" else np.cross(turns, y[rows])
        units += [] if letter == "x" else [*y[rows].reshape(-1, each, 3)]
    kept = _observed(w, given, energy, given.energy is not None and _kept_by(
        w, gradient(energy, [*y.flat]), [*rates.flat], units), **arguments)
    return w.text("turning", w.returned(**{PARTS[letter].name: value for letter, value in start.items()}), [], [
        "turning(", f"build=build, shapes={shapes!r}, kept={kept})"])


def written(kind: Overload, name: str, values: Parameters, start: Start, t_end: float, given: Given) -> tuple[str, int]:
    """The text of the plugin, and the number of its operations."""
    made, own = kind.made, dict(values)
    for key in ("mass", "inertia"):
        value = getattr(given, key)
        if callable(value) and (key, made) != ("mass", spheres):
            raise InputError(f"{key} must be numbers, not a function")
        if not (value is None or callable(value) or own.setdefault(key, value) is value or
                np.array_equal(own[key], value)):
            raise InputError(f"{key} is given twice, as an argument and as a parameter: leave out one")
    if made is particles:
        own.setdefault("mass", 1.0)
    if made is rigid_bodies:
        n = len(np.atleast_2d(_several(start, "x")))
        inertia = real_array("inertia", own.get("inertia", 1.0))
        matrices = inertia.ndim == 3 or (inertia.shape == (3, 3) and n != 3)
        for key, shape in (("mass", (n,)), ("inertia", (n, 3, 3) if matrices else (n, 3))):
            try:
                own[key] = np.broadcast_to(real_array(key, own.get(key, 1.0)), shape).copy()
            except ValueError:
                raise InputError(f"{key} must be numbers of shape {shape}, not {np.shape(own[key])}") from None
    axes = None
    if made in (fixed_body, rigid_bodies) and "inertia" in own:
        own["inertia"], axes = principal(own["inertia"], n if made is rigid_bodies else 0)
    w = Writer(name, own, start, t_end)
    w.axes = axes
    w.rules = {"mass": ", 'positive'"} if made in (particles, rigid_bodies) else {}
    text, count = made(w, given), operations(w.outs)
    for name in start:
        if name not in kind.fields:
            raise InputError(f"start: {unknown('name', name, kind.fields)}")
    for both in ("v", "omega"), ("rate", "angular_momentum"):
        if {*both} <= {*start}:
            raise InputError(f"start has {' and '.join(both)}: give one of them")
    if count > MOST_WRITTEN:
        raise InputError(f"the equations are {count} operations, more than {MOST_WRITTEN}, which would take minutes to"
                         " compile: write a plugin with loops, docs/own_system.md"
                         f"{place(next(filter(callable, given)))}")
    return text, count
