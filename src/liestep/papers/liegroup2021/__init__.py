"""Celledoni, Cokaj, Leone, Murari and Owren 2021: Lie group integrators for mechanical systems."""
from liestep.mechanics.contracts.paper import Paper

PAPER = Paper(
    id="liegroup2021",
    citation="E. Celledoni, E. Cokaj, A. Leone, D. Murari, B. Owren: Lie group integrators for mechanical systems."
    " International Journal of Computer Mathematics 99 (2022) 58-88, arXiv:2102.12778",
    doi="10.1080/00207160.2021.1966772",
    figures={f"liegroup2021.{name}": f"figures.{module}" for module, names in {
        "top": "figure2 figure2_parts figure3", "double_pendulum": "figure5 figure6 figure7 figure9 figure11",
        "chain": "figure8 figure10 chain_motion reference_bias", "gain": "gain",
        "quadrotors": "figure13 figure14 figure15 figure16 figure17 figure18"}.items() for name in names.split()},
    evidence=("evidence.algebra", "evidence.chains", "evidence.coordinates", "evidence.mechanics"),
    presets="presets",
)
