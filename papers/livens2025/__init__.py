"""Kinon and Betsch 2024: energy-momentum integration from Livens' principle, rotations in unit quaternions."""
from liestep.paper import Paper

PAPER = Paper(
    id="livens2025",
    citation="P. L. Kinon, P. Betsch: Conserving integration of multibody systems with singular and non-constant mass"
    " matrix including quaternion-based rigid body dynamics. Multibody System Dynamics (2024)",
    doi="10.1007/s11044-024-10001-9",
    figures={f"livens2025.{name}": "figures" for name in (
        *(f"figure{k}" for k in range(1, 17)), "gradients", "energy_is_not_accuracy", "parasite", "definite", "joints",
        "compositions", "scheme_map", "chain_scaling", "work")},
    evidence=("evidence",),
    quantities="quantities",
    names={"EML-P": "EML with projected velocities", "EML-GGL": "EML with the constraint of velocities",
           "MPL": "midpoint rule from Livens' principle", "MPH": "midpoint rule of Hamilton's equations",
           "directors": "attitudes by three directors instead of a quaternion"},
)
