"""Evidence on the formulas of lgt2022 for rotations and motions, from random data and matrix exponentials."""
import numpy as np

from liestep.claims.errata import Evidence
from liestep.papers.lgt2022.matrices import cayley, exponential, motion, vectors
from liestep.study.tables.vectors import hat, size

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
