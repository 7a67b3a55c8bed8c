"""Tables of a study. The rules of orders and of drift are those of `liestep_judge`, the judge of the rotation bench,
whose `liestep_tables` writes the files: a wheel has both here (.ci/packing.py), a checkout in the bench's folder."""
from liestep.files import PACKAGE

__path__.append(str(PACKAGE.parents[1]/"rotation_bench"))
