"""Does DART keep the angular momentum of a free body, and of which order is its rotation? A free body of three moments,
against Euler's equations solved to 1e-13. Needs dartpy and scipy.

Prints for a ball joint and a free joint the angular acceleration of one step beside that of Euler's equations, the
largest errors of attitude and spatial angular momentum in 10 s with their orders from 3200 to 6400 steps, and what the
energy and the size of the angular momentum have become after 100 s with steps of 1/1000 s."""
import dartpy
import numpy as np
from scipy.integrate import solve_ivp

MOMENTS, RATE, END, SAMPLES = np.array([1.5, 1.0, 0.6]), np.array([0.3, 0.2, 1.5]), 10.0, 50


def slope(t, y):
    w = y[9:]
    hat = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.concatenate([(y[:9].reshape(3, 3) @ hat).ravel(), np.cross(MOMENTS*w, w)/MOMENTS])


def simulated(kind, h, steps, every):
    """Attitudes, and angular velocities in space, at every so many steps."""
    world, skeleton = dartpy.simulation.World(), dartpy.dynamics.Skeleton()
    joint, body = getattr(skeleton, f"create{kind}AndBodyNodePair")()
    body.setInertia(dartpy.dynamics.Inertia(1.0, np.zeros(3), np.diag(MOMENTS)))
    world.setGravity(np.zeros(3))
    world.setTimeStep(h)
    world.addSkeleton(skeleton)
    joint.setVelocities(np.concatenate([RATE, np.zeros(joint.getNumDofs() - 3)]))
    attitudes, rates = [], []
    for k in range(steps + 1):
        if k % every == 0:
            attitudes.append(body.getWorldTransform().rotation())
            rates.append(body.getAngularVelocity())
        world.step()
    return np.array(attitudes), np.array(rates)


def momenta(attitudes, rates):
    return np.einsum("nij,j,nkj,nk->ni", attitudes, MOMENTS, attitudes, rates)


start, times = np.concatenate([np.eye(3).ravel(), RATE]), np.linspace(0.0, END, SAMPLES + 1)
truth = solve_ivp(slope, (0.0, END), start, "DOP853", times, rtol=1e-13, atol=1e-13).y[:9].T.reshape(-1, 3, 3)
print("dartpy", dartpy.__version__)
print("Euler's equations: acceleration", np.round(np.cross(MOMENTS*RATE, RATE)/MOMENTS, 6))
for kind in ("BallJoint", "FreeJoint"):
    attitudes, rates = simulated(kind, 1e-6, 1, 1)
    acceleration = (attitudes[1].T @ rates[1] - RATE)/1e-6
    error = []
    for n in (3200, 6400):
        attitudes, rates = simulated(kind, END/n, n, n//SAMPLES)
        error.append([np.abs(attitudes - truth).max(), np.abs(momenta(attitudes, rates) - MOMENTS*RATE).max()])
    (turn, momentum), orders = error[1], np.log2(np.divide(*error))
    attitudes, rates = simulated(kind, 1e-3, 100_000, 100_000)
    found = momenta(attitudes, rates)
    energy, size = np.einsum("ni,ni->n", found, rates), np.linalg.norm(found, axis=1)
    print(f"{kind}: acceleration {np.round(acceleration, 6)}, error {turn:.2e}, order {orders[0]:.2f}, momentum"
          f" {momentum:.2e}, order {orders[1]:.2f}; energy {energy[1]/energy[0]:.4f}, momentum {size[1]/size[0]:.4f}")
