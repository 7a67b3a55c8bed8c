"""Systems from plain functions, `liestep.system`: docs/my_system.md.

The functions run once on symbols, what they compute is differentiated, and the text of a plugin is written, which is
loaded as any other. So every integrator, check and study works on it, and the hash of the text is its identity.
"""
import hashlib
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, overload

import numpy as np

from liestep.compile.cache import cache_root
from liestep.compile.tracing import plain_component
from liestep.errors import InputError, arguments_named, number_or_nan
from liestep.figures.interactive.calls import public
from liestep.files.textfiles import write_text_atomically
from liestep.mechanics.contracts.sheet import Sheet
from liestep.mechanics.formulations import formulate_standard
from liestep.mechanics.formulations.probed import plain
from liestep.plain import families, mechanisms
from liestep.plain.blackbox import called
from liestep.plain.families import Given
from liestep.plain.kinds import SHARED, documented, kind, meant, named_start
from liestep.plain.parts import summed
from liestep.simulation.catalogue import add_plugin, method, own_integrators, own_systems, plugin_entries, sheet
from liestep.simulation.many import call
from liestep.simulation.plugins.loading import ID, load_plugin
from liestep.simulation.plugins.trial import first_start
from liestep.simulation.runs import simulation
from liestep.simulation.runs.numbers import mapping

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from liestep.mechanics.formulations.multibody.assembly import Joint
    from liestep.mechanics.formulations.multibody.family import Body
    from liestep.mechanics.formulations.multibody.force_elements import Element
    from liestep.tools.recommend.search import Recommendation

MOST_LOST, LONGEST_ID = 4.0, 100  # digits; letters of a name
Functions = Mapping[str, Callable]
_latest: set[str] = set()  # names, which mean the latest definition


class Start(Protocol):
    """Values by name: a mapping, or a Series of pandas."""

    def keys(self) -> Iterable[Any]: ...
    def __getitem__(self, key: Any, /) -> Any: ...


class System:
    """A system from plain functions, which stands wherever an id does. It can be pickled, for pools and clusters.

    id: its name and the hash of its equations. source: the text of its plugin, which `save` writes. operations: of its
    equations. sheet: its fact sheet.
    """

    def __init__(self, id: str, source: str = "", operations: int = 0):
        self.id, self.source, self.operations = id, source, operations

    def __str__(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return f"System({self.id!r})"

    def __hash__(self) -> int:
        return hash(self.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, System | str) and str(other) == self.id

    def __reduce__(self) -> tuple[Callable[..., "System"], tuple[Any, ...]]:
        if not self.source:
            raise InputError(f"{self} is called in plain Python, and no other process knows it: define it there")
        return _unpickled, (type(self), version("liestep"), vars(self))

    @classmethod
    def of(cls, name: str, text: str) -> Self:
        """The system of a plugin's text, under a name that means the latest definition in a session. Raises InputError:
        the name is none, or is taken."""
        _require_free(name)
        system = cls(f"{name}_{hashlib.sha256(text.encode()).hexdigest()[:8]}", text)
        system._register()
        entry = plugin_entries()[system.id]
        add_plugin(entry.module, entry.content, {name: system.sheet}, {})
        _latest.add(name)
        return system

    def _register(self) -> None:
        """Make its id known to this process."""
        path = cache_root()/"plain"/f"{self}.py"
        with suppress(InputError, OSError):  # for other processes and readers of sentences: this one needs no file
            if not path.is_file() or path.read_bytes() != self.source.encode():
                write_text_atomically(path, self.source)
        load_plugin(path, derived=self.source)

    @property
    def sheet(self) -> Sheet:
        return sheet(self.id)

    simulate = public(simulation.simulate)
    ensemble = public(call.ensemble)

    def tangent(self, integrator: str, **arguments: Any) -> Any:
        """As `liestep.tangent` of this system.

        Args:
            integrator: id of one with fixed steps, see `list_integrators()`.
            arguments: the others of `liestep.tangent` by name; the default of t_end is that of the definition.
        """
        return public(simulation.tangent)(self, integrator, **{"t_end": self.sheet.presets["own"].t_end, **arguments})

    def recommend(self, *, error: float | None = None, **arguments: Any) -> "Recommendation":
        """As `liestep.recommend` of this system.

        Args:
            error: largest distance from the reference; must be given.
            arguments: the others of `liestep.recommend` by name.
        """
        from liestep.tools.recommend.tournament import recommend

        return public(recommend)(self.id, **(arguments if error is None else {"error": error, **arguments}))

    def integrators(self) -> list[str]:
        """Ids of the integrators that run on it."""
        from liestep.simulation.runs.specification import offered

        methods = offered(self.id)
        return methods if self.source else [name for name in methods if self._without_derivatives(name)]

    def _without_derivatives(self, integrator: str) -> bool:
        """Whether an integrator makes a step of a function that is called."""
        with suppress(InputError, TypeError), warnings.catch_warnings(action="ignore"):
            size = {"tolerance": 1e-3} if method(integrator).adaptive else {"steps": 3}
            return bool(self.simulate(integrator, t_end=1e-3*self.sheet.presets["own"].t_end, samples=2, **size))
        return False

    def check(self) -> list[Any]:
        """As `liestep check-system`: rows with `check`, `found` and `ok`; the first one says how many digits the
        derived equations lose at the start."""
        from liestep.tools.inspect.check_system import Row, check_system

        lost = lost_digits(self.sheet)
        return [Row("digits", f"the equations lose {lost:.1f} of 16 digits at the start, allowed {MOST_LOST:g}",
                    lost <= MOST_LOST), *check_system(self.id)]

    def save(self, path: str | Path) -> Path:
        """Write its plugin, which a study can name under `plugins`. Raises InputError: there is none of a black box.

        Args:
            path: of the file; it ends with .py.
        """
        if not self.source:
            raise InputError(f"{self} is called in plain Python: no text says what it computes")
        write_text_atomically(Path(path), self.source)
        return Path(path)


def _unpickled(kind: type[System], written_by: str, about: Mapping[str, Any]) -> System:
    """A system in the process that unpickles it. Raises InputError: it was pickled by another version."""
    if written_by != version("liestep"):
        raise InputError(f"the system {about['id']} was pickled by liestep {written_by}, and this is liestep"
                         f" {version('liestep')}: define it again, or load the plugin that its save() writes")
    system = kind.__new__(kind)
    vars(system).update(about)
    if system.id not in plugin_entries():
        system._register()
    return system


def _require_free(name: str) -> None:
    if not isinstance(name, str) or not ID.fullmatch(name) or len(name) > LONGEST_ID:
        raise InputError(f"name {name!r:.{LONGEST_ID}} must be letters, digits and underscores, at most {LONGEST_ID}")
    if name in {*own_systems(), *own_integrators(), *plugin_entries()} - _latest:
        raise InputError(f"{name} is a system or an integrator already; choose another name")


# Kinds of systems: general ones first, because of kinds that fit equally well the first is meant.
@overload
@kind("a Lagrangian system", families.lagrangian, "q v")
def system(name: str, *, lagrangian: Callable, start: Start, force: Callable | None = None,
           energy: Callable | None = None, invariants: Functions | None = None, parameters: Start | None = None,
           t_end: float = 10.0) -> System:
    """General coordinates q with a Lagrangian, at most quadratic in v = dq/dt; the state is q and dL/dv.

    Args:
        lagrangian: L(t, q, v, p), in J.
        start: q and v, (n,), in m or rad, m/s or rad/s.
        force: generalised force (t, q, v, p), (n,), in N or N m (default: none).
        energy: of (q, momentum, v, p), in J (default: v dL/dv - L; 0 where t is in it).
        invariants: further functions of (q, momentum, v, p) by name, in units of your own (default: none).
    """


@overload
@kind("a Hamiltonian system", families.hamiltonian, "q momentum")
def system(name: str, *, hamiltonian: Callable, start: Start, force: Callable | None = None,
           energy: Callable | None = None, invariants: Functions | None = None, parameters: Start | None = None,
           t_end: float = 10.0) -> System:
    """Hamilton's equations of q and momentum.

    Args:
        hamiltonian: H(t, q, momentum, p), in J.
        start: q and momentum, (n,), in m or rad, kg m/s or kg m2/s.
        force: generalised force (t, q, momentum, v, p) with v = dH/dmomentum, (n,), in N or N m (default: none).
        energy: of (q, momentum, v, p), in J (default: H; 0 where t is in it).
        invariants: further functions of (q, momentum, v, p) by name, in units of your own (default: none).
    """


@overload
@kind("a system of first order", families.first_order, "y")
def system(name: str, *, rhs: Callable, start: Start, energy: Callable | None = None,
           invariants: Functions | None = None, parameters: Start | None = None, t_end: float = 10.0) -> System:
    """Equations of first order, dy/dt = rhs.

    Args:
        rhs: dy/dt of (t, y, p), (n,), in the units of y per s.
        start: y, (n,), in units of your own.
        energy: of (y, p), in J (default: none).
        invariants: further functions of (y, p) by name, in units of your own (default: none).
    """


@overload
@kind("a sum of parts", summed, "y")
def system(name: str, *, parts: Sequence[Callable], start: Start, energy: Callable | None = None,
           invariants: Functions | None = None, parameters: Start | None = None, t_end: float = 10.0) -> System:
    """dy/dt = the sum of parts whose flows are known, for splittings (docs/splittings.md); no part depends on t.

    Args:
        parts: two or more. A function of (h, y, p) is the flow of a part: y after h, h in s, also negative. One of
            (y, p) is the rate of a shear, (n,), which depends on no number of y that it moves: its flow follows.
        start: y, (n,), in units of your own.
        energy: of (y, p), in J (default: none).
        invariants: further functions of (y, p) by name, in units of your own (default: none).
    """


@overload
@kind("a black box of first order", called, "y")
def system(name: str, *, rhs: Callable, blackbox: bool, start: Start, parameters: Start | None = None,
           t_end: float = 10.0) -> System:
    """Equations of first order whose function is called as it is, in plain Python, because it cannot run on symbols
    (compiled or foreign code). Methods that need no derivative run on it (`list_integrators()`); its id holds in this
    process only.

    Args:
        rhs: dy/dt of (t, y, p), (n,), in the units of y per s.
        blackbox: True.
        start: y, (n,), in units of your own.
    """


@overload
@kind("a field on groups", families.field, "R q x")
def system(name: str, *, field: Callable, start: Start, energy: Callable | None = None,
           invariants: Functions | None = None, parameters: Start | None = None, t_end: float = 10.0) -> System:
    """A field on rotations R, unit vectors q and vectors x: dR/dt = hat(w) R, dq/dt = w x q, dx/dt = u. With an x for
    each R, option `action: se3` takes the two as rigid motions.

    Args:
        field: of (t, R, q, x, p): w of R, spatial, and w of q, (3,) or (n, 3), in rad/s, and u, in the units of x per
            s; a tuple of those that there are.
        start: any of R, (3, 3) or (n, 3, 3), q and x, (3,) or (n, 3), x in units of your own.
        energy: of (R, q, x, p), in J (default: none).
        invariants: further functions of (R, q, x, p) by name, in units of your own (default: none).
    """


@overload
@kind("a black box on groups", called, "R q x")
def system(name: str, *, field: Callable, blackbox: bool, start: Start, parameters: Start | None = None,
           t_end: float = 10.0) -> System:
    """A field on rotations, unit vectors and vectors whose function is called as it is, as a black box of first order.

    Args:
        field: of (t, R, q, x, p): w of R and of q in rad/s, and dx/dt, as above.
        blackbox: True.
        start: any of R, q and x, as above.
    """


@overload
@kind("particles in a magnetic field", families.particles, "x v")
def system(name: str, *, magnetic: Callable, start: Start, mass: "ArrayLike" = 1.0, potential: Callable | None = None,
           force: Callable | None = None, invariants: Functions | None = None, parameters: Start | None = None,
           t_end: float = 10.0) -> System:
    """Particles with m dv/dt = v x magnetic + force - dV/dx.

    Args:
        magnetic: field times charge of (t, x, p), (3,) or (n, 3), in kg/s.
        start: x and v (default of v: at rest), (3,) or (n, 3), in m and m/s.
        mass: a number or (n,), in kg.
        potential: V(t, x, p), in J (default: none).
        force: of (t, x, p), (3,) or (n, 3), in N (default: none).
        invariants: further functions of (x, v, p) by name, in units of your own (default: none).
    """


@overload
@kind("points on spheres", families.spheres, "q v omega")
def system(name: str, *, mass: "ArrayLike | Callable", start: Start, potential: Callable | None = None,
           force: Callable | None = None, parameters: Start | None = None, t_end: float = 10.0) -> System:
    """Points on spheres, the directions q of pendulums: kinetic energy sum M_ij dq_i/dt.dq_j/dt / 2.

    Args:
        mass: M in kg m2: a number, (n,) or (n, n), or a function of p that gives one.
        start: q, unit vectors, (3,) or (n, 3), and v = dq/dt or omega in rad/s (default: at rest), orthogonal to them.
        potential: V(q, p), in J (default: none).
        force: of (t, q, v, omega, p), (3,) or (n, 3), in N m, of which the part along the sphere acts (default: none).
    """


@overload
@kind("a body about a fixed point", families.fixed_body, "R rate angular_momentum")
def system(name: str, *, inertia: "ArrayLike", start: Start, potential: Callable | None = None,
           torque: Callable | None = None, parameters: Start | None = None, t_end: float = 10.0) -> System:
    """A rigid body about a fixed point. Columns of R are the body's axes in space.

    Args:
        inertia: principal moments about the fixed point, (3,), or the matrix (3, 3), in kg m2.
        start: R, (3, 3), and rate, in the body, in rad/s, or angular_momentum, spatial, in kg m2/s (default: at rest).
        potential: V(R, p), in J (default: none).
        torque: spatial, of (t, R, omega, p), omega spatial, (3,), in N m (default: none).
    """


@overload
@kind("free bodies", families.rigid_bodies, "x v R rate angular_momentum")
def system(name: str, *, inertia: "ArrayLike", start: Start, mass: "ArrayLike" = 1.0, potential: Callable | None = None,
           force: Callable | None = None, torque: Callable | None = None, parameters: Start | None = None,
           t_end: float = 10.0) -> System:
    """Free rigid bodies, told by x in the start. Columns of R are a body's axes in space.

    Args:
        inertia: principal moments about the centres of mass, (3,) or (n, 3), or matrices, (3, 3) or (n, 3, 3) (of
            three bodies (3, 3) is moments), in kg m2.
        start: x, the centres of mass, (3,) or (n, 3), in m; v in m/s; R, (3, 3) or (n, 3, 3); rate, in the body, in
            rad/s, or angular_momentum, spatial, in kg m2/s (default but for x: at rest, unturned).
        mass: a number or (n,), in kg.
        potential: V(x, R, p), in J (default: none).
        force: of (x, v, R, omega, p), omega spatial, (3,) or (n, 3), in N (default: none).
        torque: spatial, about the centres of mass, of (x, v, R, omega, p), (3,) or (n, 3), in N m (default: none).
    """


@overload
@kind("a mechanism", mechanisms.written)
def system(name: str, *, bodies: "Body | Sequence[Body]", joints: "Joint | Sequence[Joint]" = (),
           elements: "Element | Sequence[Element]" = (), gravity: "ArrayLike" = (0.0, 0.0, 0.0), fit: bool = False,
           potential: Callable | None = None, force: Callable | None = None, torque: Callable | None = None,
           parameters: Start | None = None, t_end: float = 10.0) -> System:
    """Bodies with joints and force elements, made by functions of `liestep.extend` (docs/own_mechanism.md). The start
    stands in each `Body`.

    Args:
        bodies: `Body` or a list of them.
        joints: of the bodies with each other and with GROUND.
        elements: springs, dampers, motors and other forces between them.
        gravity: acceleration, (3,), in m/s2.
        fit: move bodies to the nearest start that fits the joints, as `consistent_start`.
        potential: V(x, R, p) of all bodies, x (n, 3), R (n, 3, 3), in J (default: none).
        force: at the centres of mass, of (t, x, v, R, omega, p), (n, 3), in N (default: none).
        torque: spatial, of (t, x, v, R, omega, p), (n, 3), in N m (default: none).
    """


@arguments_named
@documented
def system(name: str, *, start: Start | None = None, parameters: Start | None = None, t_end: float = 10.0,
           **given: Any) -> System:
    """Make a system of plain functions in numpy and math. Their arguments are known by name, those that a function does
    not need are left out; p holds the parameters (p.g), which stay free. Which arguments there are tells what it is: a
    Lagrangian or Hamiltonian system, one of first order, a field on groups, particles, points on spheres, bodies or a
    mechanism, below. docs/my_system.md has examples.

    Args:
        name: of the system; it means the latest definition in a session. The id has the hash of the equations behind.
        start: the initial state by names, see each kind.
        parameters: numbers and arrays by name, in units of your own (default: none).
        t_end: of runs that say none, in s (default 10).

    Returns:
        An id, which has the methods `simulate`, `recommend`, `tangent`, `check`, `integrators` and `save`.

    Raises:
        InputError: arguments of different kinds, a function that cannot be traced, with its line, or data that make no
            system.
    """
    _require_free(name)
    parameters, start = mapping("parameters", parameters), mapping("start", start)
    for what, value in {"start": start, "parameters": parameters, "invariants": given.get("invariants")}.items():
        if value is not None and not (isinstance(value, Mapping) and all(isinstance(key, str) for key in value)):
            raise InputError(f"{what} must be a dictionary of names, not {value!r:.60}")
    if not 0.0 < number_or_nan(t_end) < math.inf:
        raise InputError(f"t_end must be a positive number of seconds, not {t_end!r}")
    start = named_start(start)
    given = {key: value for key, value in {**given, "start": start or None}.items()
             if value is not None and value is not False}
    chosen = meant(given)
    functions = Given(**{key: given.get(key) for key in Given._fields})
    if chosen.made is called:
        return System(called(name, parameters, start, t_end, functions.rhs, functions.field))
    if chosen.made is mechanisms.written:
        parts = {key: given.get(key, argument.default) for key, argument in chosen.signature.parameters.items()
                 if key not in (*SHARED, *Given._fields)}
        text, count = mechanisms.written(name, parameters, t_end, functions, **parts)
    else:
        text, count = families.written(chosen, name, parameters, start, t_end, functions)
    system = System.of(name, text)
    system.operations = count
    return system


def lost_digits(facts: Sheet) -> float:
    """How many digits the right-hand side of a system at the start of its first preset lacks, against the same code in
    50 digits."""
    from liestep.tools.certify.number import functions_of, numbers

    formulated, kind = formulate_standard(facts, *first_start(facts)), numbers(50)
    rates, exact = np.zeros(formulated.start.shape), np.zeros(formulated.start.shape, dtype=object)
    many = np.array([kind.of(float(x)) for x in formulated.start.flat], dtype=object).reshape(formulated.start.shape)
    with np.errstate(all="ignore"):
        plain(formulated.problem).rhs(0.0, formulated.start.copy(), rates)
        plain_component(formulated.problem, functions_of(50)).rhs(kind.of(0.0), many, exact)
    gap = max(abs(float(a - kind.of(float(b)))) for a, b in zip(exact.flat, rates.flat, strict=True))
    size = max(abs(float(x)) for x in exact.flat) or 1.0
    return max(0.0, 16.0 + math.log10(gap/size)) if gap else 0.0
