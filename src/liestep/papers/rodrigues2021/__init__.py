"""Baker and Gonzalez 2021: explicit variational time integrator based on rescaled Rodrigues parameters."""
from liestep.mechanics.contracts.paper import Paper

PAPER = Paper(
    id="rodrigues2021",
    citation="C. Baker, M. Gonzalez: Explicit variational time integrator based on rescaled Rodrigues parameters."
    " arXiv:2112.01623 (2021)",
    doi="10.48550/arXiv.2112.01623",
    figures={f"rodrigues2021.{name}": f"figures.{module}" for module, names in {
        "pendulum": "figure1 drift_rules chart", "ring": "figure2 figure3",
        "impact": "figure4 figure5 figure6 figure7", "own": "diameter contact codes many"}.items()
        for name in names.split()},
    evidence=("evidence.bonds", "evidence.discrete", "evidence.maps"),
    presets="presets", quantities="quantities",
)
