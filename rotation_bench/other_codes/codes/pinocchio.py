"""Pinocchio: accelerations by the articulated-body algorithm, positions by its `integrate` on the group. It has no time
integrator of its own: the semi-implicit step with `integrate` is the one that its examples show."""
import numpy as np

from rotation_bench.other_codes.contract import Method, Problem, Run, States, matrices

DISTRIBUTION = "pin"
METHODS = {"integrate": Method(1, "v += h aba(q, v), q = integrate(q, h v); spherical joint", 1)}


def prepare(problem: Problem, name: str, steps: int) -> Run:
    import pinocchio

    mass, lever = problem.mass or 1.0, problem.lever
    centre = np.diag(problem.inertia) - mass*((lever @ lever)*np.eye(3) - np.outer(lever, lever))
    model = pinocchio.Model()
    joint = model.addJoint(0, pinocchio.JointModelSpherical(), pinocchio.SE3.Identity(), "fixed point")
    model.appendBodyToJoint(joint, pinocchio.Inertia(mass, lever, centre), pinocchio.SE3.Identity())
    model.gravity = pinocchio.Motion(np.array(problem.gravity), np.zeros(3))
    data, force, h, every = model.createData(), np.zeros(3), problem.t_end/steps, problem.between(steps)

    def run() -> States:
        q, v = np.roll(problem.quaternion, -1), problem.rate  # scalar part last
        found = [np.concatenate([q, v])]
        for k in range(steps):
            v = v + h*pinocchio.aba(model, data, q, v, force)
            q = pinocchio.integrate(model, q, h*v)
            if (k + 1) % every == 0:
                found.append(np.concatenate([q, v]))
        states = np.array(found)
        rotation = np.roll(states[:, :4], 1, axis=1)
        return States(rotation, problem.momenta(matrices(rotation), states[:, 4:]))

    return run
