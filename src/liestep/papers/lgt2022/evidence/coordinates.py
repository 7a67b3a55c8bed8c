"""Evidence on the local-global transition maps of lgt2022 and on its mass matrix."""
import numpy as np

from liestep.claims.errata import Evidence
from liestep.papers.lgt2022.evidence.maps import of_vector, product
from liestep.papers.lgt2022.matrices import exponential, vectors
from liestep.papers.lgt2022.transition_maps import poses, row_of
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.simulation import simulate
from liestep.study.tables.vectors import hat, size


def _free_body(turned: bool, steps: int) -> float:
    """Error of the place after 1 s of a free body with steps dr of the spatial velocity: r + dr, or r + R dr."""
    rate, velocity, attitude, place = np.array([0.3, 1.0, 0.2]), np.array([1.0, -0.5, 0.7]), np.eye(3), np.zeros(3)
    attitude = exponential(hat(np.array([0.7, 0.0, 0.0])))
    for _ in range(steps):
        step = velocity/steps
        place = place + (attitude @ step if turned else step)
        attitude = attitude @ exponential(hat(rate/steps))
    return size(place - velocity)


def translation_of_products() -> Evidence:
    """(80), (84): r' = r + dr of the direct product, with dr/dt the spatial velocity of (40)."""
    numbers = {"corrected": _free_body(False, 100), "printed": _free_body(True, 100), "finer": _free_body(True, 400)}
    return Evidence(numbers["corrected"] < 1e-12 and numbers["printed"] > 0.1 and numbers["finer"] > 0.1,
                    "a free body, 1 s: r + dr misses its place by {corrected:.1e} m, the printed r + R dr by"
                    " {printed:.2g} m with 100 steps and {finer:.2g} m with 400", numbers)


def constant_mass() -> Evidence:
    """Section 3.2: the mass matrix in (body rate, dr/dt) depends on R when the reference point is not the centre of
    mass; in body velocities it is constant."""
    centre, mass = np.array([0.2, -0.3, 0.1]), 1.5
    x, y = vectors(2)

    def mixed(turn: np.ndarray, c: np.ndarray) -> np.ndarray:
        return mass*hat(c) @ turn.T

    one, two = exponential(hat(x)), exponential(hat(y))
    numbers = {"offset": size(mixed(one, centre) - mixed(two, centre)),
               "centre": size(mixed(one, np.zeros(3)) - mixed(two, np.zeros(3)))}
    return Evidence(numbers["offset"] > 0.1 and numbers["centre"] == 0.0,
                    "two attitudes of a body: the coupling block m c~ R^T of SO(3) x R^3 changes by {offset:.2g} kg m"
                    " with the centre of mass off the reference point, by {centre:g} with it there", numbers)


def rotation_vector_at_zero() -> Evidence:
    """(77) at |x| = 0: the printed quotient is 0/0 at exactly zero and right from 1e-12 up."""
    def printed(size_: float) -> float:
        with np.errstate(invalid="ignore", divide="ignore"):
            half = np.float64(0.5*size_)
            return float(2.0*np.arctan2(np.sin(half), np.cos(half))*(np.sin(half)/np.abs(np.sin(half))))

    small = 1e-12
    numbers = {"zero": float(np.isnan(printed(0.0))), "small": abs(printed(small)/small - 1.0)}
    return Evidence(numbers["zero"] == 1.0 and numbers["small"] < 1e-15,
                    "the quotient with the length of p is not a number at exactly zero (1 = yes: {zero:g}) and right to"
                    " {small:.1e} at 1e-12", numbers)


def _compared(first: str, second: str, text: str) -> Evidence:
    """That maps of letter `first` need less operations than those of `second`, for both absolute coordinates."""
    found = {name: row_of(name) for number in (1, 2) for name in (f"{number}{first}", f"{number}{second}")}
    numbers = {f"m{name}": float(found[name].act + found[name].rate) for name in found}
    numbers["defect"] = max(row.defect for row in found.values())
    return Evidence(all(numbers[f"m{k}{first}"] < numbers[f"m{k}{second}"] for k in (1, 2))
                    and numbers["defect"] < 1e-14, text, numbers)


def expenditure_of_maps() -> Evidence:
    """Section 6.4 b: SO(3) x R^3 needs less than screw coordinates."""
    return _compared("b", "a", "operations of map and differential: 1b {m1b:.0f}, 1a {m1a:.0f}; 2b {m2b:.0f}, 2a"
                     " {m2a:.0f}; all maps are the product of their group to {defect:.0e}")


def expenditure_of_cayley_maps() -> Evidence:
    """Section 6.4 c: Rodrigues vectors need less than rotation vectors."""
    return _compared("c", "b", "operations of map and differential: 1c {m1c:.0f}, 1b {m1b:.0f}; 2c {m2c:.0f}, 2b"
                     " {m2b:.0f}; all maps are the product of their group to {defect:.0e}")


def _rates(name: str) -> list[float]:
    """Largest entry of the inverse differential of a map, of turns that end 1e-3 and 1e-6 rad before 2 pi."""
    component, (axis, y, w, u), found = plain(poses(name)), vectors(4), []
    for short in (1e-3, 1e-6):
        x, out = (2.0*np.pi - short)*axis/np.linalg.norm(axis), np.zeros((4, 3))
        component.dexpinv(np.array([x, y, w, u]), np.array([w, u, x, y]), out)
        found.append(float(np.abs(out[:2]).max()))
    return found


def full_turn() -> Evidence:
    """Section 1: rotation vectors of a step before a full turn, and beyond it."""
    x, (near, nearer) = vectors(1)[0], _rates("1b")
    further = x*(1.0 + 2.0*np.pi/np.linalg.norm(x))
    numbers = {"near": near, "nearer": nearer, "same": size(exponential(hat(further)) - exponential(hat(x)))}
    return Evidence(nearer >= 500.0*near and numbers["same"] <= 1e-12,
                    "rates of the local coordinates 1e-3 rad before a full turn {near:.3g}, 1e-6 rad before it"
                    " {nearer:.3g}; beyond it the attitude is that without the turn, to {same:.0e}", numbers)


def screw_coordinates() -> Evidence:
    """Section 6.4: rates of screw coordinates and of quaternions before a full turn."""
    w, (near, nearer) = vectors(3)[2], _rates("1a")
    quaternion = product((0.0, w), of_vector((2.0*np.pi - 1e-6)*w/np.linalg.norm(w)))
    numbers = {"near": near, "nearer": nearer,
               "quaternion": 0.5*float(np.hypot(quaternion[0], np.linalg.norm(quaternion[1]))/np.linalg.norm(w))}
    return Evidence(nearer >= 500.0*near and abs(numbers["quaternion"] - 0.5) <= 1e-12,
                    "rates of screw coordinates 1e-3 rad before a full turn {near:.3g}, 1e-6 rad before it"
                    " {nearer:.3g}; of a quaternion {quaternion:.3g} |w| everywhere", numbers)


def extended_rodrigues() -> Evidence:
    """Section 6.4: a turn by 6 rad in three steps of RKMK4 with Cayley maps of SO(3) x R^3 and of SE(3)."""
    def error(**options: str) -> float:
        turned = simulate("jointed_body", "rkmk", preset="free", steps=3, t_end=6.0, samples=2, options=options,
                          parameters={"inertia": np.eye(3)}, initial={"body_rate": [[0.36, 0.48, 0.8]]})
        gap = turned["attitude"].values[-1, 0] - exponential(6.0*hat(np.array([0.36, 0.48, 0.8])))
        return float(np.linalg.norm(gap)/2.0**0.5)

    numbers = {"c": error(action="so3_r3", chart="cayley"), "d": error(chart="cayley"), "d2": error(chart="cayley2")}
    return Evidence(numbers["d"] >= 0.01 and numbers["d2"] <= 0.25*numbers["d"],
                    "a turn by 6 rad in 3 steps: attitude error {c:.3g} with 1c, {d:.3g} with 1d, {d2:.3g} with the"
                    " Cayley map of second order on SE(3)", numbers)
