"""Celledoni, Cokaj, Leone, Murari and Owren 2021: Lie group integrators for mechanical systems."""
from liestep.paper import Paper

PAPER = Paper(
    id="liegroup2021",
    citation="E. Celledoni, E. Cokaj, A. Leone, D. Murari, B. Owren: Lie group integrators for mechanical systems."
    " International Journal of Computer Mathematics 99 (2022) 58-88, arXiv:2102.12778",
    doi="10.1080/00207160.2021.1966772",
    figures={f"liegroup2021.{name}": f"figures.{module}" for module, names in {
        "bodies": "figure2 figure2_parts figure3 figure13 figure14 figure15 figure16 figure17 figure18",
        "pendula": "figure5 figure6 figure7 figure8 figure9 figure10 figure11 chain_motion reference_bias gain",
        "long_time": "growth", "isotropy": "error_constants",
    }.items() for name in names.split()},
    evidence=("evidence",),
    tables={name: f"tables.{name}" for name in ("crossover", "growth")},
    criteria="criteria",
)
