"""Tables of a study. The rules of orders and of drift are those of `liestep_judge`, the judge of the rotation bench: a
wheel has its file here (.ci/packing.py), a checkout in the folder of the bench."""
from liestep.files import PACKAGE

__path__.append(str(PACKAGE.parents[1]/"rotation_bench"))
