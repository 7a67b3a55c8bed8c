"""Celledoni, Cokaj, Leone, Murari and Owren 2021: Lie group integrators for mechanical systems."""
from liestep.mechanics.contracts.paper import Paper

_FIGURES = {
    "figure2": "top", "figure2_parts": "top", "figure3": "top", "figure5": "pendulum", "figure6": "pendulum",
    "figure7": "pendulum", "figure8": "chain", "figure9": "peak", "figure10": "chain", "chain_motion": "chain",
    "reference_bias": "chain", "gain": "gain",
    "figure11": "peak", "figure13": "quadrotors", "figure14": "quadrotors", "figure15": "quadrotors",
    "figure16": "quadrotors", "figure17": "quadrotors", "figure18": "quadrotors",
}

PAPER = Paper(
    id="liegroup2021",
    citation="E. Celledoni, E. Cokaj, A. Leone, D. Murari, B. Owren: Lie group integrators for mechanical systems."
    " International Journal of Computer Mathematics 99 (2022) 58-88, arXiv:2102.12778",
    doi="10.48550/arXiv.2102.12778",
    figures={f"liegroup2021.{name}": f"figures.{module}" for name, module in _FIGURES.items()},
    evidence=("evidence.algebra", "evidence.chains", "evidence.coordinates", "evidence.mechanics"),
    presets="presets",
)
