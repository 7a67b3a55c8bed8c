"""Baker and Gonzalez 2021: explicit variational time integrator based on rescaled Rodrigues parameters."""
from liestep.paper import Paper

PAPER = Paper(
    id="rodrigues2021",
    citation="C. Baker, M. Gonzalez: Time integrator based on rescaled Rodrigues parameters (first version: Explicit"
    " variational time integrator based on rescaled Rodrigues parameters). arXiv:2112.01623 (2021)",
    doi="10.48550/arXiv.2112.01623",
    figures={f"rodrigues2021.{name}": "figures" for name in (
        *(f"figure{k}" for k in range(1, 8)), "drift_rules", "chart", "diameter", "contact", "codes", "many")},
    evidence=("evidence",),
    quantities="quantities",
    names={"(23)": "drift by arcsin h|w|", "(25)": "drift by 2 arctan(h|w|/2)", "(26)": "scheme of Campello",
           "(27)": "one whole kick, then the drift of (25)", "(30)": "one whole kick, then the drift of (23)",
           "five turns": "drift by five turns about axes of the body"},
)
