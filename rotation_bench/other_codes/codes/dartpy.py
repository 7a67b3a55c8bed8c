"""DART by dartpy: a body on a ball joint, in generalized coordinates."""
import numpy as np

from rotation_bench.other_codes.contract import Method, Problem, Run, States, matrices

DISTRIBUTION = "dartpy"
METHODS = {"BallJoint": Method(1, "World.step, as it is", 1)}


def prepare(problem: Problem, name: str, steps: int) -> Run:
    import dartpy

    mass, lever = problem.mass or 1.0, problem.lever
    centre = np.diag(problem.inertia) - mass*((lever @ lever)*np.eye(3) - np.outer(lever, lever))
    world, skeleton, every = dartpy.simulation.World(), dartpy.dynamics.Skeleton(), problem.between(steps)
    joint, body = getattr(skeleton, f"create{name}AndBodyNodePair")()
    body.setInertia(dartpy.dynamics.Inertia(mass, lever, centre))
    world.setGravity(problem.gravity)
    world.setTimeStep(problem.t_end/steps)
    world.addSkeleton(skeleton)

    def run() -> States:
        world.reset()
        joint.setPositions(joint.convertToPositions(problem.attitude))
        joint.setVelocities(problem.rate)  # of a ball joint in the body
        found = []
        for k in range(steps + 1):
            if k % every == 0:
                found.append([*body.getWorldTransform().quaternion().wxyz(), *joint.getVelocities()])
            world.step()
        states = np.array(found)
        return States(states[:, :4], problem.momenta(matrices(states[:, :4]), states[:, 4:]))

    return run
