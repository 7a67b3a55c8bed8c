"""Mueller: Lie group integration of multibody systems described in standard absolute coordinates."""
from liestep.mechanics.contracts.paper import Paper

_FIGURES = {
    "work_precision": "accuracy", "joint_drift": "joints", "pitch_passage": "accuracy", "reference_points": "accuracy",
    "quaternion_norm": "accuracy", "large_steps": "accuracy", "lower_pairs": "joints", "stabilised": "joints",
    "generalized_alpha": "index_three", "multipliers": "index_three", "bliedf": "index_three",
    "dissipation": "index_three", "stiffness_sweep": "index_three", "cost": "cost", "design": "cost",
    "long_chains": "cost", "adaptive_mechanisms": "cost", "figure1": "table",
    "table1": "table",
}

PAPER = Paper(
    id="lgt2022",
    citation="A. Mueller: Singularity-free Lie group integration and geometrically consistent evaluation of multibody"
    " system models described in terms of standard absolute coordinates. arXiv:2601.21413",
    doi="10.48550/arXiv.2601.21413",
    figures={f"lgt2022.{name}": f"figures.{module}" for name, module in _FIGURES.items()},
    evidence=("evidence.maps", "evidence.coordinates"),
    presets="presets",
    quantities="quantities",
)
