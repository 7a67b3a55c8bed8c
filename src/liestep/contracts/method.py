"""What an integrator file declares: one `Method` per public id in the file's `METHODS`."""
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from liestep.contracts.option import Option
from liestep.contracts.sheet import Options, Sheet

ORBIT = "the orbit of the action: unit lengths, tangency, orthogonality, Casimirs of a coadjoint action"


@dataclass(frozen=True)
class Method:
    """An integrator id: what it is, what it needs, how to make it.

    `formulation` is a name of `liestep.contracts.formulations`; `build(options, tolerance, t_end)` makes the component.
    `options` are the integrator's own; how a system is formulated is an option of its `Form`. The functions that take
    options get both.
    """

    summary: str                      # first line: order, stages, explicit or implicit, what it conserves
    order: int
    formulation: str
    build: Callable[[Options, float | None, float], Any]
    conserves: str
    symmetric: bool = False
    adaptive: bool = False
    fictitious: bool = False          # adaptive with the tolerance for a step of fictitious time, not for an error
    projects: bool = False            # every step ends with the formulation's `project`
    citation: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    resolve: Callable[[Options], dict[str, Any]] = dict  # options that depend on each other; raises InputError
    # (options, sheet, parameters) -> where these change the order or the symmetry
    order_for: Callable[[Options, Sheet, Mapping[str, Any]], int] | None = None
    symmetric_for: Callable[[Options, Sheet, Mapping[str, Any]], bool] | None = None
    # (options, sheet, parameters): raises InputError where the complete options do not fit a system
    combination: Callable[[Options, Sheet, Mapping[str, Any]], None] = lambda options, sheet, parameters: None
    fewest_steps: int = 1             # of a run with fixed steps: a multistep method needs a history
    # (parameters, sheet) -> what is missing, in words; "" where it can run
    requires: Callable[[Mapping[str, Any], Sheet], str] | None = None
    # what it does with forces that depend on time and velocity, in words; "": nothing. Methods on vector fields and Lie
    # group actions need not say: their right-hand sides hold the forces
    forces: str = ""
    # what it needs of earlier steps, in words; "": a step of any length can be made from any state of a run
    history: str = ""
    # choices of options of forms that the method takes as its defaults, the first of these that a system allows
    prefers: tuple[Mapping[str, Any], ...] = ()
    # formulation -> `build` of the same method for systems that have this formulation and not the first one
    elsewhere: Mapping[str, Callable[[Options, float | None, float], Any]] = field(default_factory=dict)

    def on(self, sheet: Sheet) -> "Method":
        """The method with the formulation that a system has: its first one, or one of `elsewhere`."""
        if self.formulation in sheet.forms:
            return self
        found = next((item for item in self.elsewhere.items() if item[0] in sheet.forms), None)
        return replace(self, formulation=found[0], build=found[1], elsewhere={}) if found else self

    def made(self, formulated: Any, options: Options, tolerance: float | None, t_end: float) -> Any:
        """The component for a formulated system: with its groups of rows where the method measures their sizes."""
        component = self.build(options, tolerance, t_end)
        return component.measured(formulated) if hasattr(component, "measured") else component

    @property
    def takes_forces(self) -> bool:
        """Whether it runs on systems with forces of time and velocity."""
        return bool(self.forces) or self.formulation in ("vector_field", "lie_action")

    def order_of(self, options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> int:
        """Order with complete options on a system."""
        return self.order if self.order_for is None else self.order_for(options, sheet, parameters)

    def symmetric_of(self, options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> bool:
        """Whether the method with complete options is its own adjoint on a system."""
        return self.symmetric if self.symmetric_for is None else self.symmetric_for(options, sheet, parameters)

    def lacks(self, sheet: Sheet, parameters: Mapping[str, Any] | None = None) -> str | None:
        """Why it cannot run on a system, in words; None where it can. Without parameters only the formulation counts;
        "" stands for a formulation that the system does not have."""
        if self.on(sheet).formulation not in sheet.forms:
            return ""
        if parameters is None:
            return None
        own = self.requires(parameters, sheet) if self.requires else ""
        return own or (sheet.requires(parameters, self.on(sheet)) if sheet.requires else "") or None
