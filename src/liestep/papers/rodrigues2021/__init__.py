"""Baker and Gonzalez 2021: explicit variational time integrator based on rescaled Rodrigues parameters."""
from liestep.contracts.paper import Paper

PAPER = Paper(
    id="rodrigues2021",
    citation="C. Baker, M. Gonzalez: Explicit variational time integrator based on rescaled Rodrigues parameters."
    " arXiv:2112.01623 (2021)",
    doi="10.48550/arXiv.2112.01623",
    presets="presets",
    quantities="quantities",
)
