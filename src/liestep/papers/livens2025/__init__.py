"""Kinon and Betsch 2024: energy-momentum integration from Livens' principle, rotations in unit quaternions."""
from liestep.mechanics.contracts.paper import Paper

_FIGURES = {
    "figure1": "masses", "figure2": "masses", "figure3": "masses", "figure4": "masses", "gradients": "masses",
    "energy_is_not_accuracy": "masses", "figure5": "body", "figure6": "body", "figure7": "body", "figure8": "body",
    "figure9": "body", "parasite": "body", "definite": "body", "figure10": "top", "figure11": "top", "figure12": "top",
    "figure13": "top", "figure14": "loop", "figure15": "loop", "figure16": "loop", "joints": "loop",
    "compositions": "schemes", "scheme_map": "schemes", "chain_scaling": "schemes", "work": "schemes",
}

PAPER = Paper(
    id="livens2025",
    citation="P. L. Kinon, P. Betsch: Conserving integration of multibody systems with singular and non-constant mass"
    " matrix including quaternion-based rigid body dynamics. Multibody System Dynamics (2024)",
    doi="10.1007/s11044-024-10001-9",
    figures={f"livens2025.{name}": f"figures.{module}" for name, module in _FIGURES.items()},
    evidence=("evidence.formulas", "evidence.runs"),
    presets="presets",
    quantities="quantities",
)
