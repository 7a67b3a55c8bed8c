"""From bodies, joints, force elements and plain functions to the text of a plugin: `liestep.system(bodies=...)`. Curves
and surfaces of joints are plain functions: their derivatives stand in the text of the component, and run in plain
Python while the mechanism is put together."""
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liestep.errors import InputError
from liestep.mechanics.contracts.manifold import MANIFOLD_TOLERANCE
from liestep.mechanics.contracts.sheet import SYMMETRY_TOLERANCE, Parameters, invariant_axes, real_array
from liestep.mechanics.formulations.multibody.assembly import GROUND, Assembly, Joint, Rows, Shape
from liestep.mechanics.formulations.multibody.family import (
    Body,
    at_state,
    body_state,
    check_joints,
    nearest_start,
    stacked,
)
from liestep.mechanics.formulations.multibody.force_elements import Element
from liestep.mechanics.formulations.multibody.mechanism import MOVING, PLACE, TURN, VELOCITY, Kind
from liestep.plain.arrays import frozen, place
from liestep.plain.families import MOST_WRITTEN, Given, Writer, cross, entries
from liestep.plain.loops import lines, operations
from liestep.plain.symbols import Scalar, evaluated, gradient

POINTS = (32, 64, 128, 256, 512)  # intervals from whose ends the nearest point of a curve is looked for
STRAIGHT = 0.5                    # least cosine between the tangents of two of them
ALIKE, PARALLEL = 1e-9, 0.999     # ends that are one, relative to the curve's size; cosine of an axis along a tangent


class JointFunctions:
    """The functions of joints, in the place of the component that is not written yet."""

    works = False

    def __init__(self, w: Writer):
        self.w = w
        self.targets: list[list[tuple[str, Scalar]]] = []

    def held(self, k: int, x: Sequence[float] | np.ndarray, out: np.ndarray) -> None:
        """As `multibody.elements.NoOwn.held`."""
        values = evaluated([found for _, found in self.targets[k]], self.w.values | {
            f"x[{c}]": float(x[c]) for c in range(3)})
        rows = np.reshape(values, (-1, 3))
        out[:len(rows)] = rows

    def write(self) -> None:
        """The method of the component."""
        written = [line for k, block in enumerate(self.targets)
                   for line in (f"        if k == {k}:", *lines(block, "            "))]
        self.w.add("held(self, k, x, out)", [*written, "        pass"], [x for block in self.targets for _, x in block])

    def filled(self, joints: Sequence[Joint], state: Mapping[str, np.ndarray]) -> list[Joint]:
        """The joints with the numbers that their rows need instead of functions. Raises InputError: as `Writer.call`,
        or a function that makes no curve."""
        return [joint if all(row.function is None for row in joint.rows) else
                replace(joint, rows=self._rows(f"curve of joint {k} ({joint.name})", joint, state))
                for k, joint in enumerate(joints)]

    def _rows(self, what: str, joint: Joint, state: Mapping[str, np.ndarray]) -> tuple[Rows, ...]:
        bare, first = [replace(row, function=None) for row in joint.rows], len(self.targets)
        function, vectors = joint.rows[0].function, bare[0].vectors
        assert function is not None
        if vectors[4][1] > vectors[4][0]:
            x = self.w.symbol("x[0]", vectors[4][0])
            point = list(self.w.call(what, function, (3,), s=x))
            rates = [gradient(c, [x])[0] for c in point]
            self.targets.append(entries("out", [point, rates, [gradient(c, [x])[0] for c in rates]]))
            axis, intervals, closed = self._searched(what + place(function), *vectors[4][:2])
            span = np.append(vectors[4][:2], intervals)
            return tuple(replace(row, vectors=(*vectors[:2], axis, vectors[3], span, np.array([first, closed, which])))
                         for which, row in enumerate(bare))
        turn, at, end = (state["attitude"][joint.a], state["position"][joint.a], joint.b) if joint.a != GROUND else (
            np.eye(3), np.zeros(3), joint.b)
        far = vectors[1] if end == GROUND else state["position"][end] + state["attitude"][end] @ vectors[1]
        xs = self.w.array("x", turn.T @ (far - at) - vectors[0])
        shape = (2,) if len(bare) == 2 else ()
        for value in np.ravel(self.w.call(what, function, shape, x=xs)):
            size = np.linalg.norm(evaluated(gradient(value, list(xs)), self.w.values))
            if not 0.0 < size < np.inf:
                raise InputError(f"{what} has a gradient of length {size:.3g} at the start: it must not vanish where"
                                 f" the function is zero{place(function)}")
            value = value/float(size)  # so that what is off is a length
            slope = gradient(value, list(xs))
            self.targets.append(entries("out", [[value, 0.0, 0.0], slope, *(gradient(c, list(xs)) for c in slope)]))
        return tuple(replace(row, vectors=(*vectors[:5], np.array([first + which, 0.0, 0.0])))
                     for which, row in enumerate(bare))

    def _searched(self, what: str, first: float, last: float) -> tuple[np.ndarray, int, int]:
        """An axis along no tangent; in how many intervals the nearest point is looked for; 1 of a closed curve."""
        out = np.zeros((5, 3))
        for intervals in POINTS:
            between = np.linspace(first, last, 4*intervals + 1)
            seen = np.empty((len(between), 3, 3))
            for k, s in enumerate(between):
                self.held(len(self.targets) - 1, (s, 0.0, 0.0), out)
                seen[k] = out[:3]
            speed = np.linalg.norm(seen[:, 1], axis=1)
            size = np.abs(seen[:, 0] - seen[0, 0]).max()
            if not (np.isfinite(seen).all() and speed.min() > ALIKE*speed.max()):
                raise InputError(f"{what} must be finite and have a tangent everywhere in its span, and does not at s ="
                                 f" {between[np.nanargmin(speed)]:.6g}")
            tangents, every = seen[:, 1]/speed[:, None], seen[::4, 0]
            closed = bool(np.abs(seen[-1] - seen[0]).max(axis=1)[0] < ALIKE*size and tangents[-1] @ tangents[0] > 0.9)
            nearest = np.argmin(np.sum((seen[:, None, 0] - every)**2, axis=2), axis=1)
            off = np.abs(nearest - np.arange(len(between))/4.0)
            off = np.minimum(off, intervals - off) if closed else off
            if off.max() <= 1.0 and np.sum(tangents[:-4]*tangents[4:], axis=1).min() > STRAIGHT:
                break
        else:
            raise InputError(f"{what} comes near itself or bends too sharply: its nearest point is not found among"
                             f" {intervals} of it")
        candidates = [np.linalg.svd(tangents)[2][-1], *np.eye(3), *np.linalg.qr(np.vander(np.arange(1.0, 4.0)))[0]]
        worst = [np.abs(tangents @ axis).max() for axis in candidates]
        if min(worst) > PARALLEL:
            raise InputError(f"{what} turns its tangent into every direction: give it in parts")
        return candidates[int(np.argmin(worst))], intervals, int(closed)


def literal(value: Any) -> str:
    """Python text of plain data: numbers, arrays, tuples and dataclasses of them."""
    if is_dataclass(value):
        inner = ", ".join(literal(getattr(value, field.name)) for field in fields(value))
        return f"{type(value).__name__}({inner})"
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r})"
    if isinstance(value, tuple | list):
        return f"({''.join(f'{literal(item)}, ' for item in value)})"
    return repr(value.item() if isinstance(value, np.generic) else value)


def _parts(what: str, kind: type, given: Any) -> list[Any]:
    items = list(given) if isinstance(given, list | tuple) else [given]
    for k, item in enumerate(items):
        if not isinstance(item, kind):
            raise InputError(f"{what} must be a list of {kind.__name__}, and number {k} is {type(item).__name__}; they"
                             f" are made by functions of liestep.extend")
    return items


def _array(what: str, value: ArrayLike, *shapes: tuple[int, ...]) -> np.ndarray:
    array = real_array(what, value)
    if array.shape not in shapes or not np.isfinite(array).all():
        wrong = f"of shape {array.shape}" if array.shape not in shapes else str(array.tolist())
        wanted = f"finite numbers of shape {' or '.join(map(str, shapes))}" if shapes[0] else "a finite number"
        raise InputError(f"{what} must be {wanted}, not {wrong}")
    return array


def assembled(held: JointFunctions, bodies: Sequence[Body], joints: Sequence[Joint], elements: Sequence[Element],
              gravity: ArrayLike, fit: bool) -> tuple[Assembly, dict[str, np.ndarray]]:
    """The assembly, with numbers for the functions of joints, which it holds, and of elements, and its start, moved to
    the joints if it shall fit.
    Raises InputError: as `Assembly` and `check_joints`, or data of the wrong kind or shape."""
    bodies = _parts("bodies", Body, bodies)
    if not bodies:
        raise InputError("bodies must hold one Body at least")
    inertia, mass, states = [], [], []
    for k, body in enumerate(bodies):
        matrix = _array(f"inertia of body {k}", body.inertia, (3,), (3, 3))
        inertia.append(np.diag(matrix) if matrix.ndim == 1 else 0.5*(matrix + matrix.T))
        mass.append(float(_array(f"mass of body {k}", body.mass, ())))
        moments = np.linalg.eigvalsh(inertia[-1])
        skew = np.abs(matrix - matrix.T).max()
        if not (mass[-1] > 0.0 and moments[0] > 0.0 and skew <= SYMMETRY_TOLERANCE*moments[2]):
            raise InputError(f"body {k} must have a positive mass and a symmetric positive definite inertia")
        if moments[2] > (moments[0] + moments[1])*(1.0 + 1e-9):
            shown = ", ".join(f"{x:.6g}" for x in moments)
            raise InputError(f"no body has the moments {shown} of body {k}: one is more than the sum of the others")
        x, v, rate = (_array(f"{name} of body {k}", getattr(body, name), (3,)) for name in ("x", "v", "rate"))
        states.append(body_state(_array(f"R of body {k}", body.R, (3, 3)), rate, np.zeros(3), x, v))
    numbers = count()
    numbered = [element if element.function is None else replace(element, number=next(numbers))
                for element in _parts("elements", Element, elements)]
    shapes = tuple(replace(shape, body=k) for k, body in enumerate(bodies)
                   for shape in _parts(f"shape of body {k}", Shape, body.shape))
    assembly = Assembly(np.array(mass), np.array(inertia), np.zeros((len(bodies), 3)), _array("gravity", gravity, (3,)),
                     tuple(_parts("joints", Joint, joints)), tuple(numbered), shapes=shapes)
    start = stacked(states)
    joined = tuple(held.filled(assembly.joints, start))
    if held.targets:
        assembly = replace(assembly, joints=joined, own=held)
    start = nearest_start(assembly, start) if fit else start
    try:
        check_joints(assembly, start, MANIFOLD_TOLERANCE)
    except InputError as error:
        raise InputError(f"{str(error).partition(';')[0]}; fit=True moves the bodies to the nearest start that fits, as"
                         " liestep.consistent_start does") from None
    return assembly, start


def _kept(assembly: Assembly, own: bool) -> tuple[bool, bool, bool]:
    """Components of the angular momentum about the origin that nothing changes."""
    ends = [(joint.a, joint.b) for joint in assembly.joints] + [(element.a, element.b) for element in assembly.elements]
    if own or any(GROUND in pair for pair in ends) or any(rows.kind == Kind.GEAR for _, rows in assembly.groups):
        return False, False, False
    return invariant_axes([assembly.gravity])


def _methods(w: Writer, given: Given, assembly: Assembly, scratch: np.ndarray, lengths: Mapping[int, float]) -> None:
    """The component's methods: laws of elements, forces and torques, potential."""
    n = len(assembly.mass)
    s = w.array("s", scratch[:MOVING*n])
    seen = {"x": frozen([s[MOVING*i + PLACE] for i in range(n)]),
            "R": frozen([s[MOVING*i:MOVING*i + 3].T for i in range(n)])}
    moving = {"v": frozen([s[MOVING*i + VELOCITY] for i in range(n)]),
              "omega": frozen([s[MOVING*i + TURN] for i in range(n)])}
    added = np.full((2*n, 3), 0.0, dtype=object)
    power: Scalar = 0.0
    for at, name, rates in ((0, "torque", "omega"), (1, "force", "v")):
        if getattr(given, name):
            added[at::2] = w.call(name, getattr(given, name), (n, 3), t=w.t, **seen, **moving)
            power = power + sum((added[at::2]*moving[rates]).flat)
    v = w.call("potential", given.potential, (), **seen) if given.potential else 0.0
    slope = np.reshape(gradient(v, list(s.flat)), s.shape)
    for i in range(n):
        m = MOVING*i
        terms = [cross(s[m + k], slope[m + k]) for k in range(3)]
        added[2*i] = [x - sum([term[c] for term in terms]) for c, x in enumerate(added[2*i])]
        added[2*i + 1] = added[2*i + 1] - slope[m + PLACE]
    w.method("forces(self, t, s, out)", [*((f"{target} +", x) for target, x in entries("out", added)
                                           if not (isinstance(x, float) and x == 0.0)), ("", power)])
    w.method("potential(self, s)", [("", v)])
    written: list[str] = []
    for element in assembly.elements:
        if element.function is not None:
            found = w.call(f"function of the {element.name}", element.function, (), t=w.t, rate=w.symbol("rate", 0.0),
                           x=w.symbol("q", lengths[element.number]))
            written += [f"        if k == {element.number}:", *lines([("", found)], "            ")]
            w.outs.append(found)
    w.add("law(self, k, q, rate, t)", [*written, "        return 0.0"], [])


def written(name: str, parameters: Parameters, t_end: float, given: Given, **parts: Any) -> tuple[str, int]:
    """The text of the plugin of the `parts` of `assembled`, and the number of operations of the functions."""
    w = Writer(name, parameters, {}, t_end)
    held = JointFunctions(w)
    assembly, start = assembled(held, **parts)
    n = len(assembly.mass)
    laws = [element for element in assembly.elements if element.function is not None]
    own = bool(laws or held.targets or given.potential or given.force or given.torque)
    seen_as = f", shapes={literal(assembly.shapes)}" if assembly.shapes else ""  # else the texts are those of before
    imports = f"Assembly Element Joint Rows {'Shape ' if seen_as else ''}multibody"
    text = f"System({', '.join(f'p[{key!r}]' for key in w.parameters) or '0.0'})" if own else "None"
    if own:
        mechanism = at_state(assembly, start)
        lengths = {element.number: float(mechanism.elements.coordinate(k, mechanism.scratch)[0])
                   for k, element in enumerate(assembly.elements) if element.function is not None}
        _methods(w, given, assembly, mechanism.scratch, lengths)
        held.write()
    # what the class says of itself in plain Python
    w.lines.append(f"\n    works = {bool(laws or given.force or given.torque)}")
    plain = tuple(replace(element, function=None) for element in assembly.elements)
    more = ["", "", "def assembly(p):", f"    return Assembly({literal(assembly.mass)}, {literal(assembly.inertia)},",
            f"        {literal(assembly.center_of_mass)}, {literal(assembly.gravity)},",
            f"        {literal(assembly.joints)},", f"        {literal(plain)}, {text}, shows=True{seen_as})"]
    size = operations(w.outs)
    if size > MOST_WRITTEN:
        raise InputError(f"the forces are {size} operations, more than {MOST_WRITTEN}: use force elements"
                         f"{place(given.force or given.potential)}")
    return w.text(imports, w.returned(**start), more, [
        "multibody(", f"build=assembly, bodies=lambda p: {n}, conserved_momentum=lambda p: {_kept(assembly, own)!r})"
    ]), size
