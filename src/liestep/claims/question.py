"""What a claim asks its criterion: which runs, and which number."""
from typing import Protocol

from pydantic import Field

from liestep.study.plan.values import Strict


class RunChoice(Strict):
    """Runs of a study by their keys; what is left out matches everything."""

    study: str = Field(description="id of the study")
    problem: str = Field(description="key of the problem")
    integrator: str = Field(description="key of the integrator")
    method: str | None = Field(None, description="id of the integrator (default: the one that the key is or begins"
                               " with, as slgi_half begins with slgi)")
    resolution: str | None = Field(None,
                                   description="label of the resolution, for example h0.01 or tol0.0001 (default: all)")


class Question(Protocol):
    """What criteria know of a claim: its runs, those to compare with, the quantity, and the printed number."""

    @property
    def runs(self) -> list[RunChoice]: ...

    @property
    def against(self) -> list[RunChoice]: ...

    @property
    def quantity(self) -> str: ...

    @property
    def printed(self) -> float | None: ...
