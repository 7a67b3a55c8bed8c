"""Lee, Leok and McClamroch 2009: Lagrangian mechanics and variational integrators on two-spheres."""
from liestep.mechanics.contracts.paper import Paper

PAPER = Paper(
    id="twospheres2009",
    citation="T. Lee, M. Leok, N. H. McClamroch: Lagrangian mechanics and variational integrators on two-spheres."
    " International Journal for Numerical Methods in Engineering 79 (2009) 1147-1174",
    doi="10.1002/nme.2603",
    figures={f"twospheres2009.figure{number}": f"figures.{module}" for number, module in
             {1: "panels", 2: "sphere", 3: "panels", 4: "panels", 5: "panels", 6: "sphere", 7: "sphere"}.items()}
    | {"twospheres2009.energy_signs": "figures.scans", "twospheres2009.dipole_scan": "figures.scans"},
    evidence=("evidence.angles", "evidence.continuous", "evidence.discrete", "evidence.rod", "evidence.runs"),
    presets="presets",
    quantities="quantities",
)
