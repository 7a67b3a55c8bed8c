"""What the runs of a claim are made of: which of their data a paper does not print, and which method they are."""
from collections.abc import Mapping
from typing import TYPE_CHECKING

from liestep.errors import InputError
from liestep.simulation.catalogue import refuse_renamed, sheet

if TYPE_CHECKING:
    from liestep.claims.claimfile import Claim
    from liestep.claims.question import RunChoice
    from liestep.study.plan.plan import Study

GUESSED = "guess"  # kind of a preset whose data are a free choice


def unprinted(claim: "Claim", studies: Mapping[str, "Study"]) -> dict[str, str]:
    """Data of the runs that decide which are not those that a paper prints: sentence -> kind of a preset or "own".

    Steps and tolerances count where a claim names one: orders and ladders are judged on steps of our choice.
    """
    found: dict[str, str] = {}
    for choice in (*claim.runs, *claim.against):
        study = studies[choice.study]
        setup = study.config.problems[choice.problem]
        facts = sheet(setup.system)
        name = setup.preset or facts.default
        preset = facts.presets[name]
        if preset.kind != "printed":
            found[f"preset {name} of {setup.system} is {preset.kind}"] = preset.kind
        changed = [*setup.parameters, *setup.initial]
        changed += ["t_end"]*(setup.t_end is not None and setup.t_end != preset.t_end)
        if changed:
            found[f"{choice.study}: {choice.problem} has its own {', '.join(changed)}"] = "own"
        labels = [f"{letter}{size:.6g}" for size in preset.resolutions for letter in ("h", "tol")]
        if choice.resolution is not None and choice.resolution not in labels:
            found[f"{choice.resolution} of {choice.integrator} is not printed"] = "own"
    return found


def require_printed(claim: "Claim", studies: Mapping[str, "Study"]) -> None:
    """Raises InputError for a claim about an experiment that would be called reproduced with data that the paper does
    not print."""
    if claim.scope == "general" or claim.asserted_by == "external" or claim.verdict != "reproduced":
        return  # data of another code are those of its own sources, which the claim names
    found = unprinted(claim, studies)
    if found:
        raise InputError(f"verdict reproduced needs data that the paper prints, but {next(iter(found))}; allowed are"
                         " recovered (with a scan), calibrated and qualitative, or scope general")


def require_method(choice: "RunChoice", study: "Study") -> None:
    """Raises InputError when the runs of a choice are by another method than it says: `method`, or else the integrator
    whose id the key is or begins with."""
    found = study.integrator_id(choice.integrator)
    refuse_renamed(choice.method or "")
    if choice.method is not None and choice.method != found:
        raise InputError(f"study {choice.study}: {choice.integrator} is the method {found}, not {choice.method}")
    if choice.method is None and choice.integrator != found and not choice.integrator.startswith(f"{found}_"):
        raise InputError(f"study {choice.study}: {choice.integrator} is the method {found}; say so with method:"
                         f" {found}")
