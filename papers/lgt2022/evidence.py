"""Evidence for the errata of lgt2022: formulas for rotations and motions, from random data and matrix exponentials; its
local-global transition maps, and its mass matrix."""
import numpy as np

from liestep.paper import Evidence, simulate
from liestep.simulation.plugins.trial import plain

from .transition_maps import cayley, exponential, hat, motion, poses, row_of, size, vectors

EXACT, WRONG = 1e-13, 0.01


def attitude(scalar: float, vector: np.ndarray) -> np.ndarray:
    """R(Q) of a quaternion."""
    return np.eye(3) + 2.0*(scalar*hat(vector) + hat(vector) @ hat(vector))


def product(p: tuple[float, np.ndarray], q: tuple[float, np.ndarray]) -> tuple[float, np.ndarray]:
    """Hamilton's product."""
    return p[0]*q[0] - p[1] @ q[1], p[0]*q[1] + q[0]*p[1] + np.cross(p[1], q[1])


def of_vector(x: np.ndarray) -> tuple[float, np.ndarray]:
    """Unit quaternion of a rotation vector."""
    angle = float(np.linalg.norm(x))
    return float(np.cos(0.5*angle)), 0.5*float(np.sinc(0.5*angle/np.pi))*x


def decided(corrected: float, printed: float, text: str, **more: float) -> Evidence:
    """Evidence from the defects of the corrected and of the printed formula."""
    numbers = {"corrected": float(corrected), "printed": float(printed), **more}
    return Evidence(numbers["corrected"] < EXACT and numbers["printed"] > WRONG, text, numbers)


def exponential_of_rotations() -> Evidence:
    """(37): I + sin(phi) n~ + c n~^2 for both factors c."""
    axis = vectors(1)[0]
    axis /= np.linalg.norm(axis)
    gaps = np.array([[size(np.eye(3) + np.sin(z)*hat(axis) + factor*np.sin(0.5*z)**2*hat(axis) @ hat(axis)
                           - exponential(hat(z*axis))) for factor in (2.0, 0.5)] for z in (0.3, 1.0, 2.0, 3.0)])
    return decided(gaps[:, 0].max(), gaps[:, 1].max(), "turns up to 3 rad: 2 sin^2(phi/2) misses the matrix exponential"
                   " by {corrected:.1e}, the printed factor 1/2 by {printed:.2g}")


def quaternion_length() -> Evidence:
    """Text of section 5.2: |Q|^2 = p0^2 + |p|^2."""
    scalar, vector = of_vector(vectors(1)[0])
    return decided(abs(scalar**2 + vector @ vector - 1.0), abs(scalar**2 + float(np.linalg.norm(vector)) - 1.0),
                   "a unit quaternion: p0^2 + |p|^2 - 1 = {corrected:.1e}, the printed p0^2 + |p| - 1 = {printed:.2g}")


def quaternion_of_rodrigues() -> Evidence:
    """(47): p = sqrt(sigma/2) c with sigma = 2/(1 + |c|^2)."""
    gaps = []
    for c in vectors(6):
        sigma = 2.0/(1.0 + c @ c)
        first = np.sqrt(0.5*sigma)
        gaps.append([abs(first**2 + first**2*(c @ c) - 1.0), abs(first**2 + (1.0 - 0.5*sigma)*(c @ c) - 1.0),
                     size(attitude(first, first*c) - cayley(hat(c)))])
    right, printed, turned = np.array(gaps).max(axis=0)
    return decided(max(right, turned), printed, "six random vectors c: with sqrt(sigma/2) c the quaternion has length"
                   " one and the attitude cay(c) to {corrected:.1e}, with the printed sqrt(1 - sigma/2) c its square"
                   " misses one by up to {printed:.2g}")


def body_velocity() -> Evidence:
    """Text of section 5.3: v = R^T dr/dt of C^-1 dC/dt on SE(3)."""
    x, y, w, v = vectors(4)
    place = exponential(motion(x, y))
    rate = place @ motion(w, v)
    turn, speed = place[:3, :3], rate[:3, 3]
    return decided(size(turn.T @ speed - v), size(turn @ speed - v), "a random motion: R^T dr/dt is the body velocity"
                   " to {corrected:.1e}, the printed R dr/dt misses it by {printed:.2g}")


def inverse_cayley_rate() -> Evidence:
    """(63): dX/dt = (1/2)(I - X)V(I + X) with -X, in blocks (c + d x ...); against differences of cay on SE(3)."""
    c, d, w, v = vectors(4)
    turned = 0.5*(w + (c @ w)*c + np.cross(c, w))
    inner = v + np.cross(d, w)
    moved = 0.5*(inner + np.cross(c, inner))
    step = 1e-4

    def element(s: float) -> np.ndarray:
        return cayley(motion(c + s*turned, d + s*moved))

    rate = (8.0*(element(step) - element(-step)) - (element(2.0*step) - element(-2.0*step)))/(12.0*step)
    gap = np.linalg.solve(element(0.0), rate) - motion(w, v)
    block = 0.5*(hat(c) - np.eye(3)) @ hat(d)
    numbers = {"corrected": size(gap), "shape": float(block.ndim), "printed_shape": float((0.5*(
        hat(c) - np.eye(3)) @ d).ndim)}
    return Evidence(numbers["corrected"] < 1e-10 and (numbers["shape"], numbers["printed_shape"]) == (2.0, 1.0),
                    "random data: dX/dt = dcay^-1_(-X) V with the block (1/2)(c~ - I) d~ gives C^-1 dC/dt = V to"
                    " {corrected:.1e} (differences of fourth order); the printed (1/2)(c~ - I) d is a vector where a"
                    " block of the matrix stands", numbers)


def quaternion_product_line() -> Evidence:
    """(76), last line: p~ x instead of p~^2 x, in the vector part of Q(x) of the product."""
    x, y = vectors(2)
    (p0, p), (q0, q) = of_vector(x), of_vector(y)
    total = product((p0, p), (q0, q))[1]
    half = 0.5*float(np.sinc(0.5*np.linalg.norm(y)/np.pi))
    right = q0*p + half*(p0*y + np.cross(p, y))
    printed = q0*p + half*(p0*y + np.cross(p, np.cross(p, y)))
    return decided(size(right - total), size(printed - total), "random turns: with p x x the line is the quaternion"
                   " product to {corrected:.1e}, with p x (p x x) it misses it by {printed:.2g}")


def half_angles() -> Evidence:
    """After (87): both factors are sinc of half the angles, as (90) has them."""
    x, y = vectors(2)
    (p0, p), (q0, q) = of_vector(x), of_vector(y)
    scalar = product((p0, p), (q0, q))[0]
    a, b = np.linalg.norm(x), np.linalg.norm(y)
    right = p0*q0 - 0.25*np.sinc(0.5*a/np.pi)*np.sinc(0.5*b/np.pi)*(x @ y)
    printed = p0*q0 - 0.25*np.sinc(a/np.pi)*np.sinc(b/np.pi)*(x @ y)
    return decided(abs(right - scalar), abs(printed - scalar), "random turns: cos(phi/2) with sinc(phi1/2) sinc(phi2/2)"
                   " is that of the product to {corrected:.1e}, with the printed sinc phi1 sinc phi2 it is off by"
                   " {printed:.2g}")


def mixed_composition() -> Evidence:
    """(92), (93): sqrt(sigma/2) where sqrt(1 - sigma/2) is printed."""
    x, c = vectors(2)
    p0, p = of_vector(x)
    sigma = 2.0/(1.0 + c @ c)
    first = np.sqrt(0.5*sigma)
    turned = attitude(p0, p) @ cayley(hat(c))
    gaps = [size(attitude(*product((p0, p), (first, part*c))) - turned) for part in (first, np.sqrt(1.0 - 0.5*sigma))]
    return decided(gaps[0], gaps[1], "a random turn and Rodrigues vector: the composed attitude is right to"
                   " {corrected:.1e} with sqrt(sigma/2), off by {printed:.2g} with sqrt(1 - sigma/2)")


def closed_forms() -> Evidence:
    """(36), (38), (41) to (46), (52), (60) to (62): correct as printed."""
    x, y, w = vectors(3)
    z = float(np.linalg.norm(x))
    a1, a2, a3 = np.sin(z)/z, 2.0*np.sin(0.5*z)**2/z**2, (z - np.sin(z))/z**3
    dexp = np.eye(3) + a2*hat(x) + a3*hat(x) @ hat(x)
    inverse = np.eye(3) - 0.5*hat(x) + (1.0 - 0.5*z/np.tan(0.5*z))/z**2*hat(x) @ hat(x)
    group = exponential(motion(x, y))
    s = 2.0/(1.0 + x @ x)
    found = cayley(motion(x, y))
    gaps = {"rotation": size(np.eye(3) + a1*hat(x) + a2*hat(x) @ hat(x) - group[:3, :3]),
            "translation": size(dexp @ y - group[:3, 3]), "inverse": size(inverse @ dexp @ w - w),
            "cayley": size(np.eye(3) + s*(hat(x) + hat(x) @ hat(x)) - found[:3, :3]),
            "cayley_translation": size((np.eye(3) + found[:3, :3]) @ y - found[:3, 3])}
    return Evidence(max(gaps.values()) < EXACT, "random data against matrix functions: exp {rotation:.0e}, its"
                    " translation {translation:.0e}, dexp^-1 {inverse:.0e}, cay {cayley:.0e}, its translation"
                    " {cayley_translation:.0e}", gaps)


def arccosine() -> Evidence:
    """(90) with the arccosine is right, and loses digits near phi = 2 pi and near zero."""
    axis = np.array([0.6, 0.0, 0.8])
    gaps = []
    for gap in (1e-4, 1e-6):
        one, two = (np.pi - 0.25*gap)*axis, (np.pi - 0.75*gap)*axis
        (p0, p), (q0, q) = of_vector(one), of_vector(two)
        scalar, vector = product((p0, p), (q0, q))
        angle = 2.0*np.arccos(scalar)
        rotation = vector*2.0/np.sinc(0.5*angle/np.pi)
        gaps.append(size(exponential(hat(rotation)) - attitude(scalar, vector)))
    numbers = {"far": float(gaps[0]), "near": float(gaps[1])}
    return Evidence(numbers["far"] > 1e-9 and numbers["near"] > 10.0*numbers["far"],
                    "two turns that add up to 2 pi less 1e-4 and 1e-6: the composed attitude is off by {far:.1e} and"
                    " {near:.1e}; with the arctangent of both parts it is right to round-off", numbers)


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
