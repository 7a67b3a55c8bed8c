"""Baker and Gonzalez 2021: explicit variational time integrator based on rescaled Rodrigues parameters."""
from liestep.mechanics.contracts.paper import Paper

_FIGURES = {
    "figure1": "pendulum", "figure2": "ring", "figure3": "ring", "figure4": "impact", "figure5": "impact",
    "figure6": "impact", "figure7": "impact", "drift_rules": "pendulum", "chart": "pendulum", "diameter": "own",
    "contact": "own", "codes": "own", "many": "own",
}

PAPER = Paper(
    id="rodrigues2021",
    citation="C. Baker, M. Gonzalez: Explicit variational time integrator based on rescaled Rodrigues parameters."
    " arXiv:2112.01623 (2021)",
    doi="10.48550/arXiv.2112.01623",
    figures={f"rodrigues2021.{name}": f"figures.{module}" for name, module in _FIGURES.items()},
    evidence=("evidence.bonds", "evidence.discrete", "evidence.maps"),
    presets="presets",
    quantities="quantities",
)
