"""Is the gyroscopic term of Bullet right, and of which order is its rotation? A free body of three moments, against
Euler's equations solved to 1e-13. Needs pybullet and scipy.

Prints the angular acceleration of one step beside that of Euler's equations, the largest error of the attitude in 10 s
with its order from 3200 to 6400 steps, and what the energy and the size of the angular momentum have become after 100 s
with Bullet's step of 1/240 s."""
import numpy as np
import pybullet as bullet
from scipy.integrate import solve_ivp

MOMENTS, RATE, END, SAMPLES = np.array([1.5, 1.0, 0.6]), np.array([0.3, 0.2, 1.5]), 10.0, 50
KINDS = {"btMultiBody (default)": (False, 0.0), "btRigidBody (useMaximalCoordinates)": (True, 0.0),
         "btMultiBody with the default damping": (False, 0.04)}


def slope(t, y):
    w = y[9:]
    hat = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.concatenate([(y[:9].reshape(3, 3) @ hat).ravel(), np.cross(MOMENTS*w, w)/MOMENTS])


def simulated(kind, h, steps, every):
    """Attitudes, and rates in the body, at every so many steps."""
    maximal, damping = kind
    bullet.resetSimulation()
    bullet.setTimeStep(h)
    shape = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=0.1)  # a btRigidBody without a shape does not turn
    body = bullet.createMultiBody(1.0, shape, useMaximalCoordinates=maximal)
    bullet.changeDynamics(body, -1, localInertiaDiagonal=list(MOMENTS), linearDamping=0.0, angularDamping=damping)
    bullet.resetBaseVelocity(body, [0, 0, 0], list(RATE))
    attitudes, rates = [], []
    for k in range(steps + 1):
        if k % every == 0:
            turn = bullet.getBasePositionAndOrientation(body)[1]
            attitudes.append(np.reshape(bullet.getMatrixFromQuaternion(turn), (3, 3)))
            rates.append(attitudes[-1].T @ bullet.getBaseVelocity(body)[1])
        bullet.stepSimulation()
    return np.array(attitudes), np.array(rates)


bullet.connect(bullet.DIRECT)
start, times = np.concatenate([np.eye(3).ravel(), RATE]), np.linspace(0.0, END, SAMPLES + 1)
truth = solve_ivp(slope, (0.0, END), start, "DOP853", times, rtol=1e-13, atol=1e-13).y[:9].T.reshape(-1, 3, 3)
print("pybullet, interface", bullet.getAPIVersion())
print("Euler's equations: acceleration", np.round(np.cross(MOMENTS*RATE, RATE)/MOMENTS, 6))
for name, kind in KINDS.items():
    attitudes, rates = simulated(kind, 1e-6, 1, 1)
    acceleration = (attitudes[1] @ rates[1] - RATE)/1e-6  # the body was not turned when its rate was changed
    error = [np.abs(simulated(kind, END/n, n, n//SAMPLES)[0] - truth).max() for n in (3200, 6400)]
    _, rates = simulated(kind, 1/240, 24_000, 24_000)
    energy, momentum = (MOMENTS*rates**2).sum(axis=1)/2, np.linalg.norm(MOMENTS*rates, axis=1)
    print(f"{name}: acceleration {np.round(acceleration, 6)}, error {error[1]:.2e},"
          f" order {np.log2(error[0]/error[1]):.2f};"
          f" energy {energy[1]/energy[0]:.4f}, momentum {momentum[1]/momentum[0]:.4f}")
