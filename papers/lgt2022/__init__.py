"""Mueller: Lie group integration of multibody systems described in standard absolute coordinates."""
from liestep.paper import Paper

PAPER = Paper(
    id="lgt2022",
    citation="A. Mueller: Singularity-free Lie group integration and geometrically consistent evaluation of multibody"
    " system models described in terms of standard absolute coordinates. arXiv:2601.21413",
    doi="10.48550/arXiv.2601.21413",
    figures={f"lgt2022.{name}": "figures" for name in (
        "work_precision", "pitch_passage", "reference_points", "quaternion_norm", "large_steps", "cost", "design",
        "long_chains", "adaptive_mechanisms", "joint_drift", "lower_pairs", "stabilised", "generalized_alpha",
        "multipliers", "bliedf", "dissipation", "stiffness_sweep", "figure1", "table1")},
    evidence=("evidence",),
    quantities="quantities",
    names={f"{number}{letter}": f"absolute attitude by {attitude}, steps by {local}"
           for number, attitude in (("1", "quaternion"), ("2", "rotation vector")) for letter, local in (
               ("a", "screw coordinates of SE(3)"), ("b", "rotation vector and position"),
               ("c", "Rodrigues vector and position"), ("d", "Rodrigues vector of SE(3)"))}
    | {"index 2": "generalized-alpha with the constraints of velocities"},
)
