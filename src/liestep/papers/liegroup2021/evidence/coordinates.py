"""Evidence on local coordinates and on how a manifold is represented: liegroup2021, sections 1 and 2.3."""
import numpy as np

from liestep.claims.errata import Evidence
from liestep.compile.tracing import plain_component
from liestep.geometry.groups.actions import CHARTS, TangentSpheres, in_coordinates
from liestep.mechanics.formulations.counting import COUNTING, Counted
from liestep.simulation.runs.simulation import simulate

ANGLES = (0.2, 1.5)  # of a step: below and above the switch of the series of the exponential
REPRESENTATIONS = ("quaternion", "matrix", "rotation_vector", "euler")
STEP, END = 0.02, 1.0


def _operations(chart: str, angle: float) -> int:
    """Operations of one motion and one inverse differential on a sphere, in a chart, at a rotation of this size."""
    tally = [0]

    def counted(values: np.ndarray) -> np.ndarray:
        return np.array([[Counted(float(x), tally) for x in line] for line in values], dtype=object)

    random = np.random.default_rng(5)
    action = plain_component(in_coordinates(TangentSpheres(1), chart), COUNTING)
    sigma, v, y = random.standard_normal((3, 2, 3))
    sigma[0] *= angle/np.linalg.norm(sigma[0])
    step, rate, state = counted(sigma), counted(v), counted(y)
    action.act(step, state, np.zeros((2, 3), dtype=object))
    action.dexpinv(step, rate, np.zeros((2, 3), dtype=object))
    return tally[0]


def coordinates_cost() -> Evidence:
    """Operations, roots, sines and cosines count one each. No if Cayley maps took as many as the exponential."""
    found = {chart: [_operations(chart, angle) for angle in ANGLES] for chart in CHARTS}
    numbers = {f"{chart}{k}": float(count) for chart, counts in found.items() for k, count in enumerate(counts)}
    cheaper = all(cayley < exponential for cayley, exponential in zip(found["cayley"], found["exp"], strict=True))
    return Evidence(cheaper, "operations of one motion and one inverse differential on a sphere at rotations of 0.2 and"
                    " 1.5: exponential {exp0:.0f} and {exp1:.0f}, Cayley {cayley0:.0f} and {cayley1:.0f}, its second"
                    " order {cayley20:.0f} and {cayley21:.0f}, second kind {second_kind0:.0f} and {second_kind1:.0f}",
                    numbers)


def _end(integrator: str, option: str, representation: str) -> np.ndarray:
    data = simulate("jointed_body", integrator, preset="spring_offset", step=STEP, t_end=END, samples=2,
                    options={option: representation})
    return np.concatenate([data[name].values[-1].ravel() for name in ("attitude", "position", "body_rate", "velocity")])


def representation() -> Evidence:
    """A Lie group method takes the same step whatever numbers hold the attitude; a Runge-Kutta method does not."""
    group = [_end("rkmk", "attitude", name) for name in REPRESENTATIONS]
    numbers = [_end("rk4", "form", name) for name in ("quaternion", "matrix", "euler")]
    gaps = {"lie": max(float(np.abs(end - group[0]).max()) for end in group[1:]),
            "coordinates": min(float(np.abs(end - numbers[0]).max()) for end in numbers[1:]),
            "size": float(np.abs(group[0]).max())}
    return Evidence(gaps["lie"] <= 1e-12*gaps["size"] and gaps["coordinates"] >= 1e-8*gaps["size"],
                    "a body on a spring, 50 steps: RKMK4 with quaternions, matrices, rotation vectors and Euler angles"
                    " ends in states that differ by {lie:.1e} (of {size:.2g}); RK4 in quaternions, matrices and Euler"
                    " angles by at least {coordinates:.1e}", gaps)
