"""What a system file declares beside its equations: parameters, presets, options, forms, conservation laws, in one
`SHEET` per file; what a number must be, and where it comes from; what calls that come again share.

Families (`liestep.mechanics.formulations.spheres.forms`, `liestep.mechanics.formulations.fixed_body.forms`) are
functions that return a sheet with all forms of their systems; a system of no family lists its forms itself. A system is
known everywhere under its file name."""
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import dropwhile
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from liestep.compile.roles import System
from liestep.errors import InputError, number_or_nan, require_plain, unknown
from liestep.mechanics.contracts.formulated import Formulated, quaternion_matrix
from liestep.mechanics.contracts.varied import NotAlike, Varied

Parameters = Mapping[str, Any]
State = Mapping[str, np.ndarray]
Options = Mapping[str, Any]
Fields = Mapping[str, ArrayLike]  # of a state, as a person gives them
Checked = float | str | np.ndarray  # of a parameter; whole numbers too
Cost = Callable[[Options, Mapping[str, int]], float]  # (options, counters) -> operations
R = TypeVar("R")

MOMENTS_TOLERANCE = 1e-12   # relative, of the triangle inequality: a flat body has I_3 = I_1 + I_2 up to rounding
SYMMETRY_TOLERANCE = 1e-12  # of a matrix, relative to its largest entry


def has_truth(value: Any) -> bool:
    """Whether a value, or a value in a list of lists, is true or false, which Python takes for 1 and 0."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype == bool)
    return isinstance(value, bool | np.bool_) or (isinstance(value, list | tuple) and any(map(has_truth, value)))


def real_array(name: str, value: Any) -> np.ndarray:
    """A new float64 array of what a person gave; attitudes of scipy's Rotation, and of {"w", "x", "y", "z"}.

    Raises:
        InputError: true or false, text, complex numbers, times, masked entries or quantities with units, which NumPy
            would convert without a word; a quaternion without parts or of length zero."""
    if hasattr(value, "as_matrix"):  # scipy's Rotation
        value = value.as_matrix()
    require_plain(name, value)
    if isinstance(value, Mapping):
        return _of_quaternion(name, value)
    if has_truth(value):
        raise InputError(f"{name} must be numbers, not true or false")
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f"{name} must be numbers, not a masked array: give its values with `.filled(...)` or `.data`")
    kind, array = "O", None
    try:
        given = np.array(value)
        kind = given.dtype.kind
        if kind not in "cSUmM" or not given.size:
            array = given.astype(np.float64)
    except NotAlike:
        return value  # type: ignore[no-any-return]  # Varied
    except (TypeError, ValueError, OverflowError):
        pass
    if array is None:
        shown = f", not {value!r}" if np.isscalar(value) else ""
        raise InputError(f"{name} must be {'real ' if kind == 'c' else ''}numbers{shown}")
    return array


def fitted(array: np.ndarray, shape: tuple[int, ...] | None) -> np.ndarray:
    """The array in a shape from which it differs by ones in front at most, else as it is: numbers of the only body may
    be given without its dimension."""
    if array.shape == shape:
        return array
    bare = [tuple(dropwhile((1).__eq__, sizes)) for sizes in (array.shape, shape or ())]
    return array.reshape(shape) if shape and bare[0] == bare[1] else array


def _of_quaternion(name: str, parts: Mapping[str, ArrayLike]) -> np.ndarray:
    """Attitudes (..., 3, 3) of quaternions of any length, told by the names of their parts, each (...)."""
    if {*parts} != {*"wxyz"}:
        raise InputError(f"{name} must be numbers, a Rotation of scipy, or a quaternion by the names of its parts, w,"
                         f" x, y and z, not {', '.join(map(str, parts)) or 'an empty mapping'}")
    values = [real_array(f"{name} {part}", parts[part]) for part in "wxyz"]
    if len({value.shape for value in values}) > 1:
        raise InputError(f"{name} has parts w, x, y, z of different shapes: {', '.join(str(v.shape) for v in values)}")
    quaternion = np.stack(values, axis=-1)
    length = np.linalg.norm(quaternion, axis=-1)[..., None]
    if not (length > 0.0).all() or not np.isfinite(length).all():
        raise InputError(f"{name} is a quaternion of length {float(length.min()):g}: it turns nothing")
    return quaternion_matrix(quaternion/length)


Needs = tuple[str, tuple[str, ...]]  # an owner before this one, its choices with which this one exists


def exists(kind: str, name: str, needs: Needs | None, given: Parameters, chosen: Parameters) -> bool:
    """Whether a parameter or an option exists beside those before it. Raises InputError when it is given and does
    not."""
    if needs is None or chosen[needs[0]] in needs[1]:
        return True
    if name in given:
        owner, words = needs
        raise InputError(f"{kind} {name} exists with {owner} {' or '.join(words)}, not {chosen[owner]}")
    return False


@dataclass(frozen=True)
class Parameter:
    """One named parameter: `shape` uses letters for sizes that must agree between parameters
    ("n", "m") and integers.

    rule:
        finite, positive, non-negative: of every number; index: whole numbers from 0; integer: those of any sign;
        moments: the last axis holds the three principal moments of inertia of a body, positive, none larger than the
        sum of the other two; inertia: the last two axes hold an inertia matrix (3, 3), symmetric, positive definite,
        with such moments; choice: one of `choices`.
    empty: the array may have no entries (its sizes named by letters are then zero).
    needs: with which choices of a parameter before it this one exists; elsewhere it is no part of a run.
    default: value of a parameter that need not be given."""

    units: str
    doc: str
    shape: tuple[str | int, ...] = ()
    rule: str = "finite"
    choices: tuple[str, ...] = ()
    empty: bool = False
    needs: Needs | None = None
    default: float | None = None

    def check(self, name: str, value: Any, sizes: dict[str, int],
              excepted: Callable[[], bool] = lambda: False) -> Checked:
        """Normalised value (float, contiguous float64, int64 or str). `excepted`: whether moments of inertia may break
        the triangle inequality, see `Preset.exceptions`.

        Raises:
            InputError: wrong type, shape, sign, or not finite; moments of inertia that no body has."""
        if type(value) is Varied:
            if self.rule in ("index", "integer", "choice"):
                raise NotAlike(f"{name} may change shapes")
            own = replace(self, shape=("members", *self.shape)).check(name, value.values, sizes, excepted)
            return Varied(np.asarray(own))  # type: ignore[return-value]
        if self.rule == "choice":
            if not isinstance(value, str) or value not in self.choices:
                raise InputError(f"parameter {name} is {value!r}; allowed are {', '.join(self.choices)}")
            return value
        whole = self.rule in ("index", "integer")
        array = self._shaped(name, real_array(f"parameter {name}", value), sizes)
        if not np.all(np.isfinite(array)):
            raise InputError(f"parameter {name} must be finite numbers")
        if self.rule in ("positive", "moments") and not np.all(array > 0.0):
            raise InputError(f"parameter {name} must be positive")
        if self.rule in ("non-negative", "index") and not np.all(array >= 0.0):
            raise InputError(f"parameter {name} must not be negative")
        if whole and not np.all((array == np.round(array)) & (np.abs(array) < 2**31)):
            raise InputError(f"parameter {name} must be integers "
                             + ("below 2^31" if self.rule == "index" else "between -2^31 and 2^31"))
        if self.rule in ("moments", "inertia"):
            _check_inertia(name, array, self.rule == "inertia", excepted)
        if not self.shape:
            return int(array) if whole else float(array)
        return np.ascontiguousarray(array.astype(np.int64 if whole else np.float64))

    def _shaped(self, name: str, array: np.ndarray, sizes: dict[str, int]) -> np.ndarray:
        """The array, with the declared shape; sizes named by letters are noted in `sizes`."""
        wanted = "a scalar" if not self.shape else "of shape (" + ", ".join(map(str, self.shape)) + ")"
        if self.empty and array.shape == (0,):  # [] for an array of any number of axes
            array = array.reshape([0 if isinstance(size, str) else size for size in self.shape])
        if array.ndim != len(self.shape):
            raise InputError(f"parameter {name} must be {wanted}, not of shape {array.shape}")
        for size, expected in zip(array.shape, self.shape, strict=True):
            expected = sizes.setdefault(expected, size) if isinstance(expected, str) else expected
            if size != expected:
                raise InputError(f"parameter {name} must be {wanted} with size {expected}, not of shape {array.shape}")
        if array.size == 0 and not self.empty:
            raise InputError(f"parameter {name} must not be empty")
        return array


def _check_inertia(name: str, array: np.ndarray, matrices: bool, excepted: Callable[[], bool]) -> None:
    """Raises InputError for principal moments (..., 3), or inertia matrices (..., 3, 3), that no body has."""
    single = array.ndim == (2 if matrices else 1)
    bodies = array.reshape(-1, 3, 3) if matrices else array.reshape(-1, 3)
    places = [f"parameter {name}" + ("" if single else f" of body {number}") for number in range(len(bodies))]
    found = np.sort([*map(_principal_moments, places, bodies)] if matrices else bodies).reshape(-1, 3)
    wrong = np.flatnonzero(found[:, 2] - found[:, 1] - found[:, 0] > MOMENTS_TOLERANCE*found[:, 2])
    if wrong.size and not excepted():
        least, middle, largest = found[wrong[0]]
        raise InputError(f"{places[wrong[0]]} is of no body: its largest principal moment {largest:.9g} is above the"
                         f" sum of the other two, {least:.9g} + {middle:.9g}")


def _principal_moments(where: str, matrix: np.ndarray) -> np.ndarray:
    """Eigenvalues (3,) of an inertia matrix. Raises InputError when it is not symmetric or not positive definite."""
    skew = float(np.abs(matrix - matrix.T).max())
    if skew > SYMMETRY_TOLERANCE*float(np.abs(matrix).max()):
        raise InputError(f"{where} must be a symmetric matrix; two entries differ by {skew:.3g}")
    moments = np.linalg.eigvalsh(0.5*(matrix + matrix.T))
    if not moments[0] > 0.0:
        raise InputError(f"{where} must be positive definite; its smallest principal moment is {moments[0]:.6g}")
    return moments


@dataclass(frozen=True)
class Preset:
    """Named parameters, initial state and end time of a system, each value with its source.

    kind: that of its weakest datum: "printed" (in the paper), "scaled" (equivalent units), "inferred" (deduced from the
    paper's numbers, its errata or its authors' code), "guess" (free choice), "own" (not from a paper). resolutions:
    time steps and tolerances that the paper prints for it."""

    doc: str
    citation: str
    kind: str
    parameters: Parameters
    initial: Callable[[Parameters], dict[str, np.ndarray]]  # parameters -> state fields
    t_end: float
    # parameter -> why a paper's printed moments of inertia are kept though no body has them; any other value is refused
    exceptions: Mapping[str, str] = field(default_factory=dict)
    resolutions: tuple[float, ...] = ()
    kept: str = ""  # a name of velocities that the start gives: they stay as they are where other fields are replaced


def own(doc: str, parameters: Parameters, initial: Callable[[Parameters], dict[str, np.ndarray]],
        t_end: float, citation: str = "none", **changes: ArrayLike) -> Preset:
    """A preset that is of no paper; `changes` replace some of the parameters."""
    return Preset(doc, citation, "own", {**parameters, **changes}, initial, t_end)


class Noted(Mapping[str, Any]):
    """Parameters, or a state, that note whether one of those in `varied` is asked for."""

    def __init__(self, held: Parameters, varied: frozenset[str]):
        self.held, self.varied, self.asked = held, varied, False

    def __getitem__(self, name: str) -> Any:
        self.asked |= name in self.varied
        return self.held[name]

    def __iter__(self) -> Iterator[str]:
        self.asked = True
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)


@dataclass
class Cells:
    """Runs that differ by the parameters in `varied` alone, with the checked ones of the first, and what they share:
    results by names of functions with their arguments; None of those that depend on the varied ones."""

    varied: frozenset[str]
    checked: Parameters = field(default_factory=dict)
    results: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any] | None] = field(default_factory=dict)


class CellParameters(dict[str, Any]):
    """Checked parameters of one of `cells`."""

    def __init__(self, cells: Cells):
        super().__init__(cells.checked)
        self.cells = cells


def once(function: Callable[..., R], parameters: Parameters, *others: Any) -> R:
    """`function(parameters, *others)`, made once for calls that come again, with the same others where it asks for
    none of the parameters that differ between them. Its result must not ask for parameters later."""
    if not isinstance(parameters, CellParameters):
        return function(parameters, *others)
    cells, name = parameters.cells, function.__qualname__
    if name not in cells.results:
        noted = Noted(parameters, cells.varied)
        try:
            result = function(noted, *others)
        except (AttributeError, TypeError):  # it asks for a dict, whose reading cannot be seen
            result, noted.asked = function(parameters, *others), True
        cells.results[name] = None if noted.asked else (function, others, result)
        return result
    known = cells.results[name]
    if known and known[0] == function and all(one is other or (isinstance(one, float) and one == other)
                                              for one, other in zip(known[1], others, strict=True)):
        return cast(R, known[2])
    return function(parameters, *others)


@dataclass(frozen=True)
class Option:
    """An option of an integrator or of a form: a choice, a number or a whole number (as its default is), or anything
    that `normalise` accepts.

    Checked values are JSON-ready: they belong to the specification of a run."""

    default: Any
    doc: str
    choices: tuple[str, ...] = ()
    numbers: str = ""  # "positive" | "finite" | "whole" (0, 1, 2, ...); default: positive, none beside choices
    normalise: Callable[[Any], Any] | None = None  # value -> canonical value; raises InputError
    values: str = ""   # what `normalise` accepts, in words
    # (parameters of the system, options before this one, the form's first) -> default, where it depends on them
    default_for: Callable[[Parameters, Options], Any] | None = None
    # options of forms: choices that act by the form's `project`, for which the method must call it (`Method.projects`)
    after_steps: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()  # those of `after_steps` that return to the whole manifold; (): the last one
    # of forms: with which choices of an option before it this one exists; elsewhere it is no part of a run
    needs: Needs | None = None
    later: bool = False  # at its default it is no part of the text of a run, as before it was known

    @property
    def allowed(self) -> str:
        """What can be given, the default first."""
        if self.normalise:
            return f"{self.default} | {self.values}"
        words = [str(self.default), *(choice for choice in self.choices if choice != self.default)]
        if not self.choices:
            return f"{self.default:g}, {self._rule}"
        return " | ".join([*words, *(["0, 1, 2, ..." if self.numbers == "whole" else f"{self.numbers} number"]
                                                    if self.numbers else [])])

    @property
    def _rule(self) -> str:
        return self.numbers or ("" if self.choices else "positive")

    def default_at(self, parameters: Parameters, options: Options) -> Any:
        """The default for a system with checked parameters, after the options before this one."""
        return self.default if self.default_for is None else self.default_for(parameters, options)

    def check(self, name: str, value: Any) -> Any:
        """Canonical value.

        Raises:
            InputError: the value is not allowed."""
        if self.normalise:
            return self.normalise(value)
        if isinstance(value, str) and value in self.choices:
            return value
        number = self._number(value) if self._rule else None
        if number is None:
            raise InputError(self._complaint(name, value))
        return number

    def require_projection(self, name: str, value: Any) -> None:
        """Raises InputError for a value that acts after each step; for methods that do not let it act."""
        if value in self.after_steps:
            rest = [choice for choice in self.choices if choice not in self.after_steps]
            raise InputError(f"option {name} is {value!r}, which acts after each step, and this method does not let it;"
                             f" allowed with this method {'is' if len(rest) == 1 else 'are'} {', '.join(rest)}")

    def _number(self, value: Any) -> float | None:
        """The number that a value stands for, None when it is none or not allowed."""
        kind = int if self.numbers == "whole" else float if self.choices else type(self.default)
        try:
            number = kind(float(value)) if not isinstance(value, bool) else None
        except (TypeError, ValueError, OverflowError):
            return None
        if number is None or number != float(value) or not abs(number) < float("inf"):
            return None
        return number if {"positive": number > 0, "whole": number >= 0, "finite": True}[self._rule] else None

    def _complaint(self, name: str, value: Any) -> str:
        if self.choices:
            numbers = "whole numbers from 0" if self.numbers == "whole" else f"{self.numbers} numbers"
            listed = ", ".join(self.choices) + (f" and {numbers}" if self.numbers else "")
            return f"option {name} is {value!r}; allowed are {listed}"
        sign = "positive " if self._rule == "positive" else ""
        word = "whole number" if isinstance(self.default, int) else "number"
        return f"option {name} must be a {sign}{word}, not {value!r}"


def whole_number(name: str, default: int, allowed: tuple[int, ...], doc: str) -> Option:
    """An option that is one of some whole numbers."""
    def normalise(value: Any) -> int:
        if number_or_nan(value) not in allowed:
            raise InputError(f"option {name} is {value!r}; allowed are {', '.join(map(str, allowed))}")
        return int(float(value))

    return Option(default, doc, normalise=normalise, values=" | ".join(map(str, sorted({*allowed} - {default}))))


def number_in(name: str, default: float | str, doc: str, words: str, allowed: Callable[[float], bool],
              instead: str = "") -> Option:
    """An option that is a number of some range, in words like "number from 0 to 1", or the word `instead`."""
    def normalise(value: Any) -> Any:
        if instead and value == instead:
            return value
        number = number_or_nan(value)
        if not allowed(number):
            raise InputError(f"option {name} must be {instead and f'{instead} or '}a {words}, not {value!r}")
        return number

    return Option(default, doc, normalise=normalise, values=f"any {words}")


@dataclass(frozen=True)
class Form:
    """`make(parameters, state, options)` formulates a system with checked parameters and initial state; `options` are
    those that the form understands, complete."""

    make: Callable[[Parameters, State, Options], Formulated]
    options: Mapping[str, Option] = field(default_factory=dict)
    # (parameters, options): raises InputError where single options are fine, together or on this system not
    combination: Callable[[Parameters, Options], None] = lambda parameters, options: None
    needs: tuple[str, ...] = ()  # modules that `make` imports for itself: sources of the runs with this form alone

    def complete(self, parameters: Parameters, given: Options) -> dict[str, Any]:
        """All options of the form that exist together, those that are not given at their defaults; other names are
        left out.

        Raises:
            InputError: a value or a combination is not allowed, or an option needs another choice of one before it."""
        chosen: dict[str, Any] = {}
        for name, option in self.options.items():
            if not exists("option", name, option.needs, given, chosen):
                continue
            chosen[name] = (option.check(name, given[name]) if name in given else option.default_at(parameters, chosen))
        self.combination(parameters, chosen)
        return chosen

    def preferred(self, parameters: Parameters, given: Options, wishes: Iterable[Options]) -> dict[str, Any]:
        """As `complete`, with the first of some choices that are allowed as defaults."""
        for wish in wishes:
            if all(name in self.options and value in self.options[name].choices for name, value in wish.items()):
                with suppress(InputError):
                    return self.complete(parameters, {**wish, **given})
        return self.complete(parameters, given)


def invariant_axes(vectors: Iterable[ArrayLike]) -> tuple[bool, bool, bool]:
    """For each coordinate axis: do rotations about it leave every vector unchanged, that is, is
    each one zero or along it?

    Compared exactly: a gravity of 1e-17 across an axis breaks the symmetry."""
    rows = [np.reshape(vector, (-1, 3)) for vector in vectors]
    across = [any(bool((row[:, i] != 0.0).any()) for row in rows for i in range(3) if i != k) for k in range(3)]
    return not across[0], not across[1], not across[2]


class Runner(Protocol):
    """What a system may ask of the method that is to run on it."""

    @property
    def formulation(self) -> str: ...

    @property
    def takes_forces(self) -> bool: ...


@dataclass(frozen=True)
class Trial:
    """A start on which `liestep certify` tries methods, in this order of all systems; `parameters` replace some of the
    preset's. use: first; instead, for methods that run on none of the first; further, for those that run on no other
    system of the first."""

    name: str
    preset: str
    parameters: Parameters = field(default_factory=dict)
    place: int = 0
    use: str = "first"


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Fact sheet of a mechanical system. Fields from `mass` on are None where a system has nothing of the kind.

    manifold(parameters, state) raises InputError for a start that is off the manifold. kinetic_energy(parameters,
    fields) takes fields with a leading time and gives (time,). Rows below are those of the standard form."""

    title: str
    equations: str
    parameters: Mapping[str, Parameter]
    build: Callable[[Parameters], System]         # checked parameters -> the system's NamedTuple
    # which components of the momentum map (x, y, z) the motion conserves
    conserved_momentum: Callable[[Parameters], tuple[bool, bool, bool]]
    state_shapes: Callable[[Parameters], Mapping[str, tuple[int, ...]]]  # name of each state field -> shape
    manifold: Callable[[Parameters, State], None]
    kinetic_energy: Callable[[Parameters, State], np.ndarray]
    forms: Mapping[str, Form]                     # id of a formulation -> form
    # the system's own presets; the catalogue adds those of papers, which live with the papers
    presets: Mapping[str, Preset] = field(default_factory=dict)
    default_preset: str = ""                      # "": the first
    citation: str = ""
    # raises InputError where single parameters are fine, together not
    combination: Callable[[Parameters], None] = lambda parameters: None
    standard_form: str = "vector_field"           # in which references, judgements and descriptions see the state
    # the two engines of references, the trajectory of the first is kept; None: `references.engines.USUAL`
    engines: tuple[str, str] | Callable[[Parameters], tuple[str, str]] | None = None
    # formulation whose integrator of high order (`Places.stands_in`) stands in for an engine that cannot treat the
    # system
    fallback: str | Callable[[Parameters], str | None] | None = None
    # whether forces have so few derivatives that the fallback engine converges irregularly
    irregular: Callable[[Parameters], bool] = lambda parameters: False
    mass: Callable[[Parameters], ArrayLike] | None = None  # constant mass matrix, (n,) if it is diagonal, or as (n, n)
    moments: Callable[[Parameters], np.ndarray] | None = None  # of rigid bodies: principal moments of inertia (n, 3)
    axes: np.ndarray | None = None  # (n, 3, 3), whose columns are these axes in the bodies; None: those of the bodies
    volume: bool = False  # whether each of its parts (formulation `parts`) keeps the volume of the state space
    # (parameters, start) -> function (options, counters) -> floating-point operations of a run
    cost: Callable[[Parameters, State], Cost] | None = None
    # (parameters, start) -> equations of a Taylor series; None: those of the vector field
    series: Callable[[Parameters, State], Any] | None = None
    exact: Callable[[Parameters, State, np.ndarray], np.ndarray] | None = None  # (parameters, start, times) -> rows
    stacked: bool = False  # whether `manifold` takes states (member, ...), too, and refuses them if one is off
    # (parameters, state) -> the nearest state on the manifold; raises InputError where there is none
    nearest_start: Callable[[Parameters, State], dict[str, np.ndarray]] | None = None
    # parameters (..., 3) that have to be turned with the state when all of space is turned, for the same motion; None
    # where that is no symmetry
    symmetries: tuple[str, ...] | None = None
    # (parameters, method) -> why the method cannot run at these parameters, in words; None where it can
    requires: Callable[[Parameters, Runner], str | None] | None = None
    # (parameters, t) -> what it compares t with, and arguments of exp and denominators that depend on t alone, as pairs
    # (what, value); `simulation.runs.stops`
    clock: Callable[[Parameters, float], list[tuple[str, float]]] | None = None
    # names beside those of fields: (field, units, meaning, function (state, t) that reads it, its dimension), made anew
    # for each run
    own: Callable[[], Mapping[str, tuple[Any, ...]]] = dict
    # how films draw it: a name of `MOTIONS`, or of a plugin a function (file of the run, parameters, films) -> its
    # `films.FilmScene`, films being the module `figures.films.motions`; "": by its state
    motion: str | Callable[[Any, Parameters, Any], Any] = ""
    shown: int | None = None      # place among the systems on which methods are tried first; None: after these
    trials: tuple[Trial, ...] = ()
    # largest step in s at which explicit maps of kicks and drifts are stable; None where the forces say nothing
    largest_step: Callable[[Parameters], float] | None = None

    def check(self, parameters: Parameters, cells: Cells | None = None) -> Parameters:
        """All parameters, checked and normalised; of further ones of `cells` those alone that differ.

        Raises:
            InputError: unknown, missing or wrong parameter, or a combination that makes no system."""
        for name in parameters:
            if name not in self.parameters:
                raise InputError(unknown("parameter", name, self.parameters))
        sizes: dict[str, int] = {}
        checked: dict[str, Any] = CellParameters(cells) if cells else {}
        varied = cells.varied if cells and checked else self.parameters  # a copy: other threads may have filled theirs
        for name, rule in self.parameters.items():
            if name not in varied or not exists("parameter", name, rule.needs, parameters, checked):
                continue
            given = parameters.get(name, rule.default)
            if given is None:
                raise InputError(f"parameter {name} is missing")
            checked[name] = rule.check(name, given, sizes, partial(self._excepted, name, given))
        once(self.combination, checked)
        if cells and not cells.checked:
            cells.checked = dict(checked)
        return checked

    @property
    def default(self) -> str:
        """Name of the preset that is meant when none is named."""
        return self.default_preset or next(iter(self.presets))

    def _excepted(self, name: str, value: Any) -> bool:
        """Whether a preset states an exception for exactly this value (of a run's file too: it is checked again)."""
        return any(name in preset.exceptions and np.array_equal(preset.parameters[name], value)
                   for preset in self.presets.values())

    def check_initial(self, parameters: Parameters, initial: Fields) -> dict[str, np.ndarray]:
        """All initial fields as float64 arrays.

        Raises:
            InputError: wrong names or shapes, not finite, or off the manifold by more than MANIFOLD_TOLERANCE."""
        state: dict[str, np.ndarray] = once(self.fields, parameters, initial)
        once(self.manifold, parameters, state)
        return state

    def fields(self, parameters: Parameters, initial: Fields) -> dict[str, np.ndarray]:
        """All initial fields, of the right shapes and finite. Raises InputError."""
        shapes = self.state_shapes(parameters)
        for name in initial:
            if name not in shapes:
                raise InputError(unknown("initial state field", name, shapes))
        state = {}
        for name, shape in shapes.items():
            if name not in initial:
                raise InputError(f"initial state field {name} is missing")
            state[name] = fitted(real_array(f"initial {name}", initial[name]), shape).copy()
            if state[name].shape != shape:
                raise InputError(f"initial {name} must be of shape {shape}, not {state[name].shape}")
            if not np.all(np.isfinite(state[name])):
                raise InputError(f"initial {name} must be finite numbers")
        return state

    def engines_for(self, parameters: Parameters) -> tuple[str, str] | None:
        """Engines of references at checked parameters, if it declares them."""
        return self.engines(parameters) if callable(self.engines) else self.engines

    def fallback_for(self, parameters: Parameters) -> str | None:
        """Formulation of the fallback engine at checked parameters."""
        return self.fallback(parameters) if callable(self.fallback) else self.fallback
