"""The third-order method of Crouch and Grossman: every exponential has one stage."""
from liestep.integrators.commutator_free import fixed
from liestep.integrators.exponential_schemes import START, ExponentialScheme, exponential

CG3 = ExponentialScheme(
    "cg3", 3, "Crouch and Grossman 1993", (
        exponential(START, "3/4", stage=True), exponential(START, "119/216"), exponential(1, "0 17/108", stage=True),
        exponential(START, "13/51"), exponential(3, "0 -2/3"), exponential(4, "0 0 24/17")), result=5)

METHODS = {"cg3": fixed(CG3)}
