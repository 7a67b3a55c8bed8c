"""Lee, Leok and McClamroch 2009: Lagrangian mechanics and variational integrators on two-spheres."""
from liestep.mechanics.contracts.paper import Paper

PAPER = Paper(
    id="twospheres2009",
    citation="T. Lee, M. Leok, N. H. McClamroch: Lagrangian mechanics and variational integrators on two-spheres."
    " International Journal for Numerical Methods in Engineering 79 (2009) 1147-1174",
    doi="10.1002/nme.2603",
    figures={f"twospheres2009.{name}": f"figures.{module}" for module, names in {
        "panels": "figure1 figure3 figure4 figure5", "sphere": "figure2 figure6 figure7",
        "scans": "energy_signs dipole_scan"}.items() for name in names.split()},
    evidence=("evidence.angles", "evidence.continuous", "evidence.discrete", "evidence.rod", "evidence.runs"),
    presets="presets", quantities="quantities",
)
