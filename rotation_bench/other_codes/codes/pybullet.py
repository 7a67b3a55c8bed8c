"""Bullet by pybullet: a floating body without damping and with the moments about the fixed point. The torque of the
top's weight is told at each step, as Bullet forgets it."""
import numpy as np

from rotation_bench.other_codes.contract import Method, Problem, Run, States, matrices

DISTRIBUTION = "pybullet"
COMMON = "no damping, no sleeping"
METHODS = {"multibody": Method(1, f"btMultiBody, the default of createMultiBody; {COMMON}", 1),
           "rigid body": Method(1, f"btRigidBody by useMaximalCoordinates, implicit gyroscopic term; {COMMON}", 1)}


def prepare(problem: Problem, name: str, steps: int) -> Run:
    import pybullet as bullet

    bullet.isConnected() or bullet.connect(bullet.DIRECT)
    bullet.resetSimulation()
    bullet.setTimeStep(problem.t_end/steps)
    shape = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=0.1)
    body = bullet.createMultiBody(problem.mass or 1.0, shape, useMaximalCoordinates=name == "rigid body")
    bullet.changeDynamics(body, -1, localInertiaDiagonal=problem.inertia.tolist(), linearDamping=0.0,
                          angularDamping=0.0)
    pull, every, still = problem.mass*problem.gravity, problem.between(steps), [0.0, 0.0, 0.0]

    def run() -> States:
        bullet.resetBasePositionAndOrientation(body, still, np.roll(problem.quaternion, -1))
        bullet.resetBaseVelocity(body, still, still)
        bullet.stepSimulation()  # only a step turns the moments of a btRigidBody to its new attitude
        bullet.resetBaseVelocity(body, still, problem.attitude @ problem.rate)
        found = []
        for k in range(steps + 1):
            turn = bullet.getBasePositionAndOrientation(body)[1]
            if k % every == 0:
                found.append([*turn, *bullet.getBaseVelocity(body)[1]])
            if problem.mass:
                arm = np.reshape(bullet.getMatrixFromQuaternion(turn), (3, 3)) @ problem.lever
                bullet.applyExternalTorque(body, -1, np.cross(arm, pull), bullet.WORLD_FRAME)
            bullet.stepSimulation()
        states = np.array(found)
        quaternions = np.roll(states[:, :4], 1, axis=1)
        rotation = matrices(quaternions)
        return States(quaternions, problem.momenta(rotation, np.einsum("nji,nj->ni", rotation, states[:, 4:])))

    return run
