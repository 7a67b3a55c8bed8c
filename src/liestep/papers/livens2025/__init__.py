"""Kinon and Betsch 2024: energy-momentum integration from Livens' principle, rotations in unit quaternions."""
from liestep.mechanics.contracts.paper import Paper

PAPER = Paper(
    id="livens2025",
    citation="P. L. Kinon, P. Betsch: Conserving integration of multibody systems with singular and non-constant mass"
    " matrix including quaternion-based rigid body dynamics. Multibody System Dynamics (2024)",
    doi="10.1007/s11044-024-10001-9",
    figures={f"livens2025.{name}": f"figures.{module}" for module, names in {
        "masses": "figure1 figure2 figure3 figure4 gradients energy_is_not_accuracy",
        "body": "figure5 figure6 figure7 figure8 figure9 parasite definite",
        "top": "figure10 figure11 figure12 figure13 figure14 figure15 figure16 joints",
        "schemes": "compositions scheme_map chain_scaling work"}.items() for name in names.split()},
    evidence=("evidence.formulas", "evidence.runs"),
    presets="presets", quantities="quantities",
)
