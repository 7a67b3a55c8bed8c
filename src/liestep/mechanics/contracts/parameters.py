"""Parameters and presets of a system: what a number must be, and where it comes from; what cells of a map share."""
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import is_
from typing import Any

import numpy as np

from liestep.errors import InputError

MOMENTS_TOLERANCE = 1e-12   # relative, of the triangle inequality: a flat body has I_3 = I_1 + I_2 up to rounding
SYMMETRY_TOLERANCE = 1e-12  # of a matrix, relative to its largest entry


def has_truth(value: Any) -> bool:
    """Whether a value, or a value in a list of lists, is true or false, which Python takes for 1 and 0."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype == bool)
    return isinstance(value, bool | np.bool_) or (isinstance(value, list | tuple) and any(map(has_truth, value)))


def real_array(name: str, value: Any) -> np.ndarray:
    """A new float64 array of what a person gave.

    Raises:
        InputError: true or false, text, complex numbers or masked entries, which NumPy would convert without a word.
    """
    if has_truth(value):
        raise InputError(f"{name} must be numbers, not true or false")
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f"{name} must be numbers, not a masked array: give its values with `.filled(...)` or `.data`")
    kind, array = "O", None
    try:
        given = np.array(value)
        kind = given.dtype.kind
        if kind not in "cSU" or not given.size:
            array = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    if array is None:
        shown = f", not {value!r}" if np.isscalar(value) else ""
        raise InputError(f"{name} must be {'real ' if kind == 'c' else ''}numbers{shown}")
    return array


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
    needs: (parameter before this one, its choices with which this one exists); elsewhere it is no part of a run.
    default: value of a parameter that need not be given.
    """

    units: str
    doc: str
    shape: tuple[str | int, ...] = ()
    rule: str = "finite"
    choices: tuple[str, ...] = ()
    empty: bool = False
    needs: tuple[str, tuple[str, ...]] | None = None
    default: float | None = None

    def applies(self, name: str, given: Mapping[str, Any], checked: Mapping[str, Any]) -> bool:
        """Whether the parameter exists beside those before it. Raises InputError when it is given and does not."""
        if self.needs is None or checked[self.needs[0]] in self.needs[1]:
            return True
        if name in given:
            owner, words = self.needs
            raise InputError(f"parameter {name} exists with {owner} {' or '.join(words)}, not {checked[owner]}")
        return False

    def check(self, name: str, value: Any, sizes: dict[str, int],
              excepted: Callable[[], bool] = lambda: False) -> Any:
        """Normalised value (float, contiguous float64, int64 or str). `excepted`: whether moments of inertia may break
        the triangle inequality, see `Preset.exceptions`.

        Raises:
            InputError: wrong type, shape, sign, or not finite; moments of inertia that no body has.
        """
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
    for number, body in enumerate(array.reshape(-1, 3, 3) if matrices else array.reshape(-1, 3)):
        where = f"parameter {name}" + ("" if single else f" of body {number}")
        moments = np.sort(_principal_moments(where, body) if matrices else body)
        if moments[2] - moments[1] - moments[0] > MOMENTS_TOLERANCE*moments[2] and not excepted():
            raise InputError(f"{where} is of no body: its largest principal moment {moments[2]:.6g} is above the sum of"
                             f" the other two, {moments[0]:.6g} + {moments[1]:.6g}")


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
    time steps and tolerances that the paper prints for it.
    """

    doc: str
    citation: str
    kind: str
    parameters: Mapping[str, Any]
    initial: Callable[[Mapping[str, Any]], dict[str, np.ndarray]]  # parameters -> state fields
    t_end: float
    # parameter -> why a paper's printed moments of inertia are kept though no body has them; any other value is refused
    exceptions: Mapping[str, str] = field(default_factory=dict)
    resolutions: tuple[float, ...] = ()


def own(doc: str, parameters: Mapping[str, Any], initial: Callable[[Mapping[str, Any]], dict[str, np.ndarray]],
        t_end: float, citation: str = "none", **changes: Any) -> Preset:
    """A preset that is of no paper; `changes` replace some of the parameters."""
    return Preset(doc, citation, "own", {**parameters, **changes}, initial, t_end)


class _Noted(Mapping[str, Any]):
    """Parameters that note whether one of those in `varied` is asked for."""

    def __init__(self, held: Mapping[str, Any], varied: frozenset[str]):
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
    checked: Mapping[str, Any] = field(default_factory=dict)
    results: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any] | None] = field(default_factory=dict)


class CellParameters(dict[str, Any]):
    """Checked parameters of one of `cells`."""

    def __init__(self, cells: Cells):
        super().__init__(cells.checked)
        self.cells = cells


def once(function: Callable[..., Any], parameters: Mapping[str, Any], *others: Any) -> Any:
    """`function(parameters, *others)`, made once for cells of a map with the same others where it asks for none of the
    parameters that differ between them. Its result must not ask for parameters later."""
    if not isinstance(parameters, CellParameters):
        return function(parameters, *others)
    cells, name = parameters.cells, function.__qualname__
    if name not in cells.results:
        noted = _Noted(parameters, cells.varied)
        try:
            found = function(noted, *others)
        except (AttributeError, TypeError):  # it asks for a dict, whose reading cannot be seen
            found, noted.asked = function(parameters, *others), True
        cells.results[name] = None if noted.asked else (function, others, found)
        return found
    known = cells.results[name]
    if known and known[0] == function and (all(map(is_, known[1], others)) or all(
            one is other or (isinstance(one, float) and one == other)
            for one, other in zip(known[1], others, strict=True))):
        return known[2]
    return function(parameters, *others)
