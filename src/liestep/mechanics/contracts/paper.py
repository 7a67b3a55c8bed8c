"""What a replicated paper declares: where its figures, evidence and presets are, by module name. Nothing of it is
imported before it is needed."""
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Paper:
    """One paper: `PAPER` of `liestep.papers.<id>`.

    figures: name of a figure -> module of the paper's package, whose function has the name's last part. evidence:
    modules whose public functions `() -> Evidence` are the evidence for errata, by their names. presets: module
    with `PRESETS`, id of a system -> name -> preset. quantities: module with functions of a run that give columns of
    metrics.csv of the studies `<id>/...`, see `liestep.study.tables.quantities`.
    """

    id: str
    citation: str
    doi: str
    figures: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
    presets: str = ""
    quantities: str = ""

    def __post_init__(self) -> None:
        for name in self.figures:
            if not name.startswith(f"{self.id}."):
                raise ValueError(f"figure {name} of {self.id} must begin with {self.id}.")

    def module(self, name: str) -> str:
        """Full name of a module of the paper."""
        return f"liestep.papers.{self.id}.{name}"
