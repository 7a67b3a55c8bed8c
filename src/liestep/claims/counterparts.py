"""Claims on the data as a paper prints them and as its errata correct them: which conclusions survive."""
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from liestep.claims.criteria.base import Outcome
from liestep.claims.selection import RunChoice
from liestep.study.plan.values import Strict

MET = {True: "met", False: "not met"}
SURVIVAL = {("met", "met"): "yes", ("met", "not met"): "no", ("not met", "met"): "only corrected",
            ("not met", "not met"): "holds on neither"}
ONE = "one set of data"
WORDS = {"yes": "hold on printed and on corrected data", "no": "hold on the printed data only",
         "only corrected": "hold on the corrected data only", "holds on neither": "hold on neither"}


class Counterpart(Strict):
    """The runs that replace those of a claim to judge it on other data: what is not named stays."""

    data: Literal["printed", "corrected"] = Field(description="what the replaced runs have: the data as printed, or as"
                                                  " an erratum corrects them; the claim's own runs have the other ones")
    errata: str = Field(min_length=1, description="which erratum, and what it changes")
    study: dict[str, str] = Field({}, description="study -> study")
    problem: dict[str, str] = Field({}, description="key of a problem -> key of another one")
    integrator: dict[str, str] = Field({}, description="key of an integrator -> key of another one")
    resolution: dict[str, str] = Field({}, description="label of a resolution -> another one")

    @model_validator(mode="after")
    def _replaces(self) -> "Counterpart":
        if not (self.study or self.problem or self.integrator or self.resolution):
            raise ValueError("a counterpart needs what it replaces: study, problem, integrator or resolution")
        return self

    def of(self, choice: RunChoice) -> RunChoice:
        """The choice of the other runs; `method` is that of the new key."""
        found = {name: getattr(self, name).get(getattr(choice, name), getattr(choice, name))
                 for name in ("study", "problem", "integrator", "resolution")}
        return choice.model_copy(update=found)


def columns(counterpart: Counterpart | None, own: Outcome, other: Outcome | None) -> dict[str, Any]:
    """Columns of a claim: whether it is met on the printed and on the corrected data, and whether it survives."""
    if counterpart is None or other is None:
        return {"on_printed": MET[own.met], "on_corrected": MET[own.met], "survives": ONE}
    printed, corrected = (other, own) if counterpart.data == "printed" else (own, other)
    pair = MET[printed.met], MET[corrected.met]
    return {"on_printed": pair[0], "on_corrected": pair[1], "survives": SURVIVAL[pair], "errata": counterpart.errata,
            "counterpart_ours": other.ours, "counterpart_evidence": other.evidence}


def summary(rows: Iterable[Mapping[str, Any]]) -> str:
    """How many claims with errata in their data survive them; empty without any."""
    counts = Counter(row["survives"] for row in rows if row["survives"] in WORDS)
    if not counts:
        return ""
    parts = [f"{counts[word]} {words}" for word, words in WORDS.items() if counts[word]]
    return f"Of {counts.total()} claims whose data have errata, {', '.join(parts)}."
