"""What an integrator file declares: one `Method` per public id in the file's `METHODS`; and what a method keeps, as
values: every decision asks these, and the English sentence is made from them."""
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import inf
from typing import Any, Generic, NamedTuple, TypeVar

from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.sheet import Option, Options, Parameters, Sheet

MOST = 99  # above every order
Holds = Callable[[Options, Sheet, Parameters], bool]  # complete options, system, checked parameters


class Keeps(StrEnum):
    """Facts that a method can declare; to round-off, but for BOUNDED. A value is its name in sentences."""

    MANIFOLD = "the manifold"                 # every residual of the standard form: lengths, tangency, orthogonality
    POSITIONS = "constraints of positions"    # those of velocities not
    MOMENTUM = "momentum maps"
    ENERGY = "energy"
    BOUNDED = "bounded energy"
    SYMPLECTIC = "symplectic form"
    VOLUME = "volume of the state space"      # of canonical states it follows from the symplectic form
    REVERSIBLE = "reversibility"              # follows from `Method.symmetric`


# (options, tolerance, t_end) -> component, an `Integrator` with methods that it may borrow
Build = Callable[[Options, float | None, float], Any]


@dataclass(frozen=True)
class Where:
    """A fact that holds in some cases only: `words` follow its name in sentences."""

    fact: Keeps
    words: str
    holds: Holds


Facts = tuple[Keeps | Where, ...]


def sentence(facts: Iterable[Keeps | Where]) -> str:
    """The facts in words."""
    return "; ".join(str(item) if isinstance(item, Keeps) else f"{item.fact} {item.words}" for item in facts
                     ) or "nothing exactly"


GROUPS = ("none", "spherical", "revolute", "cylindrical", "prismatic", "screw")  # joints whose motions are a group


def _returns(options: Options, sheet: Sheet, parameters: Parameters) -> bool:
    """Whether the form of the right-hand side returns to the whole manifold after each step."""
    chosen = {name: option.whole or option.after_steps[-1:]
              for name, option in sheet.forms["vector_field"].options.items() if option.after_steps and name in options}
    return bool(chosen) and all(options[name] in words for name, words in chosen.items())


def _orbit(options: Options, sheet: Sheet, parameters: Parameters) -> bool:
    """Whether the orbit of the action is the manifold: of bodies on joints where these make a group, of one body on
    SE(3), or where the form returns to them."""
    if str(options.get("stabilisation", "projection")).endswith("projection"):
        return True
    group = "cotangent_rotation" in sheet.forms or parameters.get("joint") in GROUPS
    return group and (options.get("action"), options.get("chart"), options.get("twist", "native")) == (
        "se3", "exp", "native")


def free_body(options: Options, sheet: Sheet, parameters: Parameters) -> bool:
    """Whether the system is a free rigid body: its motion is known."""
    return "cotangent_rotation" in sheet.forms and sheet.exact is not None


def _linear(options: Options, sheet: Sheet, parameters: Parameters) -> bool:
    """Whether the potential is linear in the attitude: none, or a weight on a lever."""
    return free_body(options, sheet, parameters) or "constrained_lagrangian" in sheet.forms


def _linear_coordinates(options: Options, sheet: Sheet, parameters: Parameters) -> bool:
    return options.get("coordinates") not in ("quaternion", "spherical")


def _linear_action(options: Options, sheet: Sheet, parameters: Parameters) -> bool:
    """Whether rotations act on the coordinates of the form by matrices, and no joint is one of quaternions."""
    kind = options.get("coordinates", "quaternion")
    return kind != "spherical" and (kind != "quaternion" or "cotangent_rotation" in sheet.forms)


PROJECTED: Facts = (Where(Keeps.MANIFOLD, "where the form returns to it after each step", _returns),)
ORBIT: Facts = (Where(Keeps.MANIFOLD, "as the orbit of the action: unit lengths, tangency, orthogonality, Casimirs of a"
                      " coadjoint action", _orbit),)
VARIATIONAL: Facts = (Keeps.MANIFOLD, Keeps.SYMPLECTIC, Keeps.MOMENTUM, Keeps.BOUNDED)
CANONICAL = (Keeps.SYMPLECTIC, Keeps.BOUNDED)  # maps of canonical coordinates
SMOOTH: Facts = (*VARIATIONAL[:3], Where(Keeps.BOUNDED, "where the forces are smooth",
                                         lambda options, sheet, parameters: not sheet.irregular(parameters)))
MOMENTA = Where(Keeps.MOMENTUM, "without quaternion joints and angles as coordinates", _linear_action)
OF_POSITIONS: Facts = (Keeps.POSITIONS, Where(
    Keeps.MANIFOLD, "except on spheres, whose tangency is lost",
    lambda options, sheet, parameters: "sphere_lagrangian" not in sheet.forms))
IN_LINES = Where(Keeps.ENERGY, "without quaternions and angles as coordinates", _linear_coordinates)
LINEAR = Where(Keeps.ENERGY, "of linear constraints", lambda options, sheet, parameters: _linear_coordinates(
    options, sheet, parameters) and "lie_action" not in sheet.forms)
FREE = Where(Keeps.ENERGY, "of a free body", free_body)
TOPS: Facts = tuple(Where(fact, "of free bodies and heavy tops", _linear) for fact in (Keeps.ENERGY, Keeps.MOMENTUM))


@dataclass(frozen=True)
class Lack:
    """Why a method cannot run on a system: without its formulation, or for the reason of a system that has it."""

    reason: str
    formulation: bool = False


def choices(call: str) -> dict[str, str]:
    """The options of a call."""
    return dict(word.split("=") for word in call.split())


@dataclass(frozen=True)
class Certified:
    """What `liestep certify` tries of a method, besides its order and whether it is symmetric and symplectic."""

    # options, or with the formulation that a system must have
    options: tuple[Options | tuple[Options, str], ...] = ({},)
    # (own options, call of another method or its own, its options) that are one map, of systems with `formulation`
    same: tuple[tuple[Options, str, Options], ...] = ()
    formulation: str = ""
    adjoints: tuple[tuple[Options, Options], ...] = ()


def each(key: str, *values: str | float) -> tuple[Options, ...]:
    """For `Certified.options`: the defaults, and each of some values of one option."""
    return ({}, *({key: value} for value in values))


@dataclass(frozen=True)
class Places:
    """Where a method stands among those that a tool chooses from: the least number that can run is taken; None: never.
    """

    shown: int | None = None       # in new studies; checks of systems take the first of each formulation
    reference: int | None = None   # of recommendations: the first adaptive one, beside the first with fixed steps
    stands_in: int | None = None   # for an engine of references that cannot treat a system (`Sheet.fallback`)
    # in recommendations: whether they try it; whether its class is opened first where nothing was measured; the least
    # error at which it won by time in study cross/matrix, though a bound from the steps of others spoke against it
    recommended: bool = True
    likely: bool = False
    won_from: float = inf
    tried: tuple[Options, ...] = ()  # as `Method.prefers`, for runs of recommendations


@dataclass(frozen=True)
class Method:
    """An integrator id: what it is, what it needs, how to make it.

    `formulation` is a name of `liestep.mechanics.contracts.formulations`; `build(options, tolerance, t_end)` makes the
    component. `options` are the integrator's own; how a system is formulated is an option of its `Form`. The functions
    that take options get both."""

    summary: str                      # first line: order, stages, explicit or implicit, what it conserves
    order: int
    formulation: str
    build: Build
    # what it keeps, as facts; a text of an old plugin is shown and declares nothing
    conserves: Facts | str = ()
    symmetric: bool = False
    adaptive: bool = False
    fictitious: bool = False          # adaptive with the tolerance for a step of fictitious time, not for an error
    projects: bool = False            # every step ends with the formulation's `project`
    citation: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    resolve: Callable[[Options], dict[str, Any]] = dict  # options that depend on each other; raises InputError
    # (options, sheet, parameters) -> where these change the order or the symmetry
    order_for: Callable[[Options, Sheet, Parameters], int] | None = None
    symmetric_for: Callable[[Options, Sheet, Parameters], bool] | None = None
    # (options, sheet, parameters): raises InputError where the complete options do not fit a system
    combination: Callable[[Options, Sheet, Parameters], None] = lambda options, sheet, parameters: None
    fewest_steps: int = 1             # of a run with fixed steps: a multistep method needs a history
    # (parameters, sheet) -> what is missing, in words; None where it can run
    requires: Callable[[Parameters, Sheet], str | None] | None = None
    # what it does with forces that depend on time and velocity, in words; None: nothing. Methods on vector fields and
    # Lie group actions need not say: their right-hand sides hold the forces
    forces: str | None = None
    # what it needs of earlier steps, in words; None: a step of any length can be made from any state of a run
    history: str | None = None
    # choices of options of forms that the method takes as its defaults, the first of these that a system allows
    prefers: tuple[Options, ...] = ()
    # "option=value ..." -> fields that differ, for choices that are methods of their own: of another order, another map
    calls: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # of figures: marker of matplotlib, dash ("solid", "dashed", "dotted", "dashdot"), label; None: made from its family
    mark: tuple[str | tuple[int, int, int], str, str] | None = None
    scipy: str = ""                   # its name in the words of scipy
    also: tuple[str, ...] = ()        # what others call it
    places: Places = Places()
    certified: Certified = Certified()
    # largest order of the dense output; whether an estimate of the error comes with a step; whether coefficients are
    # known as decimals only, so that the order ends where the error of a step reaches them
    dense_order: Callable[[Options], int] = lambda options: MOST
    estimates: bool = True
    decimals: Callable[[Options], bool] = lambda options: False
    # of `liestep describe`: title of its machine code; of a Taylor series (problem, shape) -> its expressions
    code: str = ""
    traced: Callable[..., Any] | None = None
    # largest numbers of the state's fields in a run -> what should be looked at, in words; None: nothing
    warning: Callable[[Mapping[str, float]], str | None] = lambda sizes: None
    # formulation -> `build` of the same method for systems that have this formulation and not the first one
    elsewhere: Mapping[str, Build] = field(default_factory=dict)

    def on(self, sheet: Sheet) -> "Method":
        """The method with the formulation that a system has: its first one, or one of `elsewhere`."""
        if self.formulation in sheet.forms:
            return self
        other = next((item for item in self.elsewhere.items() if item[0] in sheet.forms), None)
        return replace(self, formulation=other[0], build=other[1], elsewhere={}) if other else self

    def called(self, call: str) -> "Method":
        """The method of one of its `calls`, as if its choices were the defaults.

        Raises:
            InputError: there is no such call."""
        if call not in self.calls:
            known = {name for one in self.calls for name in choices(one)}
            given = next((name for name, told, _ in (word.partition("=") for word in call.split())
                          if told and name not in known), None)  # of the method or its form
            raise InputError(unknown("call of the integrator", call, self.calls) + (
                f"; other choices are options: options={{{given!r}: ...}}" if given else ""))
        own = {"mark": None, "places": Places(), "certified": Certified(), **self.calls[call]}
        return replace(self, **own, calls={}, options=dict(self.options) | {
            name: replace(self.options[name], default=self.options[name].check(name, value))
            for name, value in choices(call).items()})

    def made(self, formulated: Formulated, options: Options, tolerance: float | None, t_end: float) -> Any:
        """The component for a formulated system: with its groups of rows where the method measures their sizes."""
        component = self.build(options, tolerance, t_end)
        return component.measured(formulated) if hasattr(component, "measured") else component

    @property
    def takes_forces(self) -> bool:
        """Whether it runs on systems with forces of time and velocity."""
        return self.forces is not None or self.formulation in ("vector_field", "lie_action")

    def order_of(self, options: Options, sheet: Sheet, parameters: Parameters) -> int:
        """Order with complete options on a system."""
        return self.order if self.order_for is None else self.order_for(options, sheet, parameters)

    def symmetric_of(self, options: Options, sheet: Sheet, parameters: Parameters) -> bool:
        """Whether the method with complete options is its own adjoint on a system."""
        return self.symmetric if self.symmetric_for is None else self.symmetric_for(options, sheet, parameters)

    @property
    def sentence(self) -> str:
        """What it keeps, in words."""
        if isinstance(self.conserves, str):
            return f"{self.conserves} (in words only: `conserves` takes facts of liestep.extend.Keeps)"
        return sentence((*self.conserves, *((Keeps.REVERSIBLE,) if self.symmetric else ())))

    def kept(self, options: Options, sheet: Sheet, parameters: Parameters) -> frozenset[Keeps]:
        """The facts that are declared for complete options on a system."""
        declared = () if isinstance(self.conserves, str) else self.conserves
        facts = frozenset(item if isinstance(item, Keeps) else item.fact for item in declared
                          if isinstance(item, Keeps) or item.holds(options, sheet, parameters))
        return facts | {Keeps.REVERSIBLE} if self.symmetric_of(options, sheet, parameters) else facts

    def lacks(self, sheet: Sheet, parameters: Parameters | None = None) -> Lack | None:
        """Why it cannot run on a system; None where it can. Without parameters only the formulation counts."""
        if self.on(sheet).formulation not in sheet.forms:
            return Lack(f"the system has no formulation {self.formulation}", formulation=True)
        if parameters is None:
            return None
        reason = (self.requires(parameters, sheet) if self.requires else None) or (
            sheet.requires(parameters, self.on(sheet)) if sheet.requires else None)
        return Lack(reason) if reason else None


Item = TypeVar("Item", Sheet, Method)


class Entry(NamedTuple, Generic[Item]):
    """A system's sheet or an integrator's method under its id, the module that declares it, and for plugins the hash
    of all their source."""

    name: str
    module: str
    item: Item
    content: str = ""
