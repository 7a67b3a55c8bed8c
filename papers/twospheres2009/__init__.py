"""Lee, Leok and McClamroch 2009: Lagrangian mechanics and variational integrators on two-spheres."""
from liestep.paper import Paper

PAPER = Paper(
    id="twospheres2009",
    citation="T. Lee, M. Leok, N. H. McClamroch: Lagrangian mechanics and variational integrators on two-spheres."
    " International Journal for Numerical Methods in Engineering 79 (2009) 1147-1174",
    doi="10.1002/nme.2603",
    figures={"twospheres2009.exponent_map": "exponents", **{f"twospheres2009.{name}": "figures" for name in (
        *(f"figure{k}" for k in range(1, 8)), "energy_signs", "dipole_scan")}},
    evidence=("evidence.angles", "evidence.equations", "evidence.runs"),
    quantities="quantities",
    criteria="criteria",
    names={"omega": "equations in angular velocities", "velocity": "equations in velocities of directions"},
)
