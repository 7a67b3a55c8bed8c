"""Systems from plain functions, `liestep.system`: docs/my_system.md.

The functions run once on symbols, what they compute is differentiated, and the text of a plugin is written, which is
loaded as any other. So every integrator, check and study works on it, and the hash of the text is its identity.
"""
import hashlib
import math
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from liestep.compile.cache import cache_root
from liestep.compile.tracing import plain_component
from liestep.errors import InputError, arguments_named, number_or_nan
from liestep.figures.interactive.calls import public
from liestep.files.textfiles import write_text_atomically
from liestep.mechanics.contracts.sheet import Sheet
from liestep.mechanics.formulations import formulate_standard
from liestep.mechanics.formulations.probed import plain
from liestep.plain import mechanisms
from liestep.plain.blackbox import called
from liestep.plain.families import Given, written
from liestep.simulation.catalogue import add_plugin, method, own_integrators, own_systems, plugin_entries, sheet
from liestep.simulation.plugins.loading import ID, load_plugin
from liestep.simulation.plugins.trial import first_start
from liestep.simulation.runs import simulation

if TYPE_CHECKING:
    from liestep.tools.recommend.search import Recommendation

MOST_LOST, LONGEST = 4.0, 100  # digits; letters of a name
_latest: set[str] = set()  # names, which mean the latest definition


class System(str):
    """The id of a system from plain functions, which stands wherever an id does, and what can be done with it.

    source: the text of its plugin, which `save` writes. operations: of its equations. sheet: its fact sheet.
    """

    source: str
    operations: int

    @classmethod
    def of(cls, name: str, text: str) -> Self:
        """The system of a plugin's text, under a name that means the latest definition in a session. Raises InputError:
        the name is none, or is taken."""
        _require_free(name)
        found = cls(f"{name}_{hashlib.sha256(text.encode()).hexdigest()[:8]}")
        found.source = text
        path = cache_root()/"plain"/f"{found}.py"
        with suppress(InputError, OSError):  # for other processes and readers of sentences: this one needs no file
            if not path.is_file() or path.read_bytes() != text.encode():
                write_text_atomically(path, text)
        load_plugin(path, derived=text)
        entry = plugin_entries()[found]
        add_plugin(entry.module, entry.content, {name: found.sheet}, {})
        _latest.add(name)
        return found

    @property
    def sheet(self) -> Sheet:
        return sheet(self)

    simulate = public(simulation.simulate)

    def tangent(self, integrator: str, **arguments: Any) -> Any:
        """As `liestep.tangent`; t_end is that of the definition."""
        return public(simulation.tangent)(self, integrator, **{"t_end": self.sheet.presets["own"].t_end, **arguments})

    def recommend(self, **arguments: Any) -> "Recommendation":
        """As `liestep.recommend`."""
        from liestep.tools.recommend.tournament import recommend

        return public(recommend)(self, **arguments)

    def integrators(self) -> list[str]:
        """Ids of the integrators that run on it."""
        from liestep.simulation.runs.specification import offered

        found = offered(self)
        return found if self.source else [name for name in found if self._without_derivatives(name)]

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
                    lost <= MOST_LOST), *check_system(self)]

    def save(self, path: str | Path) -> Path:
        """Write its plugin, which a study can name under `plugins`. Raises InputError: there is none of a black box."""
        if not self.source:
            raise InputError(f"{self} is called in plain Python: no text says what it computes")
        write_text_atomically(Path(path), self.source)
        return Path(path)


def _require_free(name: str) -> None:
    if not isinstance(name, str) or not ID.fullmatch(name) or len(name) > LONGEST:
        raise InputError(f"name {name!r:.{LONGEST}} must be letters, digits and underscores, at most {LONGEST}")
    if name in {*own_systems(), *own_integrators(), *plugin_entries()} - _latest:
        raise InputError(f"{name} is a system or an integrator already; choose another name")


def _require_named(t_end: float, **named: Any) -> None:
    for what, value in named.items():
        if value is not None and not (isinstance(value, Mapping) and all(isinstance(key, str) for key in value)):
            raise InputError(f"{what} must be a dictionary of names, not {value!r:.60}")
    if not 0.0 < number_or_nan(t_end) < math.inf:
        raise InputError(f"t_end must be a positive number of seconds, not {t_end!r}")


@arguments_named
def system(name: str, *, start: Mapping[str, Any] | None = None, parameters: Mapping[str, Any] | None = None,
           t_end: float = 10.0, potential: Callable | None = None, lagrangian: Callable | None = None,
           hamiltonian: Callable | None = None, rhs: Callable | None = None, field: Callable | None = None,
           magnetic: Callable | None = None, mass: Any = None, inertia: Any = None,
           force: Callable | None = None, torque: Callable | None = None, energy: Callable | None = None,
           invariants: Mapping[str, Callable] | None = None, bodies: Any = None, joints: Any = (), elements: Any = (),
           gravity: Any = (0.0, 0.0, 0.0), fit: bool = False, blackbox: bool = False) -> System:
    """Make a system of plain functions, in numpy and math, known. Their arguments are known by name; what a function
    does not need is left out. p holds the parameters (p.g), which stay free. It is one of

        potential(q, p), mass             points on spheres, q (n, 3)          start q, v or omega; force(t, q, v, p)
        potential(R, p), inertia          a body about a fixed point           start R, rate; torque(t, R, omega, p)
        potential(x, R, p), mass, inertia free bodies, x (n, 3), R (n, 3, 3)   start x, v, R, rate; force, torque
        lagrangian(q, v, p)               general coordinates, quadratic in v  start q, v; force(t, q, v, p)
        hamiltonian(q, momentum, p)       Hamilton's equations                 start q, momentum; force
        magnetic(t, x, p)                 v x B on particles of a mass         start x, v; potential(x, p), force
        rhs(t, y, p)                      dy/dt = f                            start y
        field(t, R, q, x, p)              dR/dt = hat(w) R, dq/dt = w x q      start any of R, q, x, one or n of each
        bodies, joints, elements, gravity a mechanism, docs/own_mechanism.md   in each `Body`; potential, force, torque

    Force and torque of free bodies are functions of (x, v, R, omega, p), of mechanisms of t too. Columns of R are the
    body's axes in space; torque, omega and w are spatial, a start's rate is in the body; v of points is dq/dt. mass
    is a number, (n,), a matrix (n, n) or mass(p). A field returns w of R, w of q (unit vectors), rate of x. rhs,
    field, lagrangian and hamiltonian may have energy and invariants {name: function} of the state, particles
    invariants.

    Args:
        name: of the system; it means the latest definition in a session. The id has the hash of the equations behind.
        start: the initial state. parameters: numbers and arrays by name. t_end: in s.
        fit: move bodies to the nearest start that fits the joints, as `consistent_start`.
        blackbox: call rhs or field as it is, in plain Python, if it cannot run on symbols (compiled or foreign code).
            Methods that need no derivative run on it (`integrators()`). Its id holds in this process only.

    Raises:
        InputError: a function that cannot be traced, with its line, or data that make no system.
    """
    _require_free(name)
    _require_named(t_end, start=start, parameters=parameters, invariants=invariants)
    given = Given(potential, lagrangian, hamiltonian, magnetic, rhs, field, mass, inertia, force, torque, energy,
                  invariants)
    if blackbox:
        if any(one is not None for one in (bodies, *given._replace(rhs=None, field=None))):
            raise InputError("blackbox=True takes rhs or field alone, without energy and invariants")
        found = System(called(name, parameters or {}, start or {}, t_end, rhs, field))
        found.source, found.operations = "", 0
        return found
    if bodies is not None:
        if start is not None:
            raise InputError("start is no argument of a mechanism, whose bodies have x, R, v and rate")
        text, count = mechanisms.written(name, parameters or {}, t_end, given, bodies, joints, elements, gravity, fit)
    elif joints or elements or fit or np.any(gravity):
        raise InputError("joints, elements, gravity and fit are for a mechanism: give its bodies")
    else:
        text, count = written(name, parameters or {}, start or {}, t_end, given)
    found = System.of(name, text)
    found.operations = count
    return found


def lost_digits(facts: Sheet) -> float:
    """How many digits the right-hand side of a system at the start of its first preset lacks, against the same code in
    50 digits."""
    from liestep.tools.certify.number import functions_of, numbers

    found, kind = formulate_standard(facts, *first_start(facts)), numbers(50)
    rates, exact = np.zeros(found.start.shape), np.zeros(found.start.shape, dtype=object)
    many = np.array([kind.of(float(x)) for x in found.start.flat], dtype=object).reshape(found.start.shape)
    with np.errstate(all="ignore"):
        plain(found.problem).rhs(0.0, found.start.copy(), rates)
        plain_component(found.problem, functions_of(50)).rhs(kind.of(0.0), many, exact)
    gap = max(abs(float(a - kind.of(float(b)))) for a, b in zip(exact.flat, rates.flat, strict=True))
    size = max(abs(float(x)) for x in exact.flat) or 1.0
    return max(0.0, 16.0 + math.log10(gap/size)) if gap else 0.0
