"""Kinon and Betsch 2024: energy-momentum integration from Livens' principle, rotations in unit quaternions."""
from liestep.contracts.paper import Paper

PAPER = Paper(
    id="livens2025",
    citation="P. L. Kinon, P. Betsch: Conserving integration of multibody systems with singular and non-constant mass"
    " matrix including quaternion-based rigid body dynamics. Multibody System Dynamics (2024)",
    doi="10.1007/s11044-024-10001-9",
    figures={},
    presets="presets",
)
