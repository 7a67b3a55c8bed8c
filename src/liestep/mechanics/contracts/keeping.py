"""What a method keeps, as values: every decision asks these, and the English sentence is made from them."""
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from liestep.mechanics.contracts.sheet import Options, Sheet

Holds = Callable[[Options, Sheet, Mapping[str, Any]], bool]  # complete options, system, checked parameters


class Keeps(StrEnum):
    """Facts that a method can declare; to round-off, but for BOUNDED. A value is its name in sentences."""

    MANIFOLD = "the manifold"                 # every residual of the standard form: lengths, tangency, orthogonality
    POSITIONS = "constraints of positions"    # those of velocities not
    MOMENTUM = "momentum maps"
    ENERGY = "energy"
    BOUNDED = "bounded energy"
    SYMPLECTIC = "symplectic form"
    REVERSIBLE = "reversibility"              # follows from `Method.symmetric`


@dataclass(frozen=True)
class Where:
    """A fact that holds in some cases only: `words` follow its name in sentences."""

    fact: Keeps
    words: str
    holds: Holds


Facts = tuple[Keeps | Where, ...]


def declared_facts(facts: Iterable[Keeps | Where], options: Options, sheet: Sheet, parameters: Mapping[str, Any]
                   ) -> frozenset[Keeps]:
    """The facts that hold in a case."""
    return frozenset(item if isinstance(item, Keeps) else item.fact for item in facts
                     if isinstance(item, Keeps) or item.holds(options, sheet, parameters))


def sentence(facts: Iterable[Keeps | Where]) -> str:
    """The facts in words."""
    return "; ".join(str(item) if isinstance(item, Keeps) else f"{item.fact} {item.words}" for item in facts
                     ) or "nothing exactly"


GROUPS = ("none", "spherical", "revolute", "cylindrical", "prismatic", "screw")  # joints whose motions are a group


def _returns(options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> bool:
    """Whether the form of the right-hand side returns to the whole manifold after each step."""
    chosen = {name: option.whole or option.after_steps[-1:]
              for name, option in sheet.forms["vector_field"].options.items() if option.after_steps and name in options}
    return bool(chosen) and all(options[name] in words for name, words in chosen.items())


def _orbit(options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> bool:
    """Whether the orbit of the action is the manifold: of bodies on joints where these make a group, of one body on
    SE(3), or where the form returns to them."""
    if str(options.get("stabilisation", "projection")).endswith("projection"):
        return True
    group = "cotangent_rotation" in sheet.forms or parameters.get("joint") in GROUPS
    return group and (options.get("action"), options.get("chart"), options.get("twist", "native")) == (
        "se3", "exp", "native")


def free_body(options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> bool:
    """Whether the system is a free rigid body: its motion is known."""
    return "cotangent_rotation" in sheet.forms and sheet.exact is not None


def _linear(options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> bool:
    """Whether the potential is linear in the attitude: none, or a weight on a lever."""
    return free_body(options, sheet, parameters) or "constrained_lagrangian" in sheet.forms


def _linear_coordinates(options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> bool:
    return options.get("coordinates") not in ("quaternion", "spherical")


def _linear_action(options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> bool:
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
