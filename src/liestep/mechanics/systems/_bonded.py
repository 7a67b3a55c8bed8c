"""Sheets of rigid bodies with spherical contacts and elastic bonds, whatever is bonded to what, and a wall:
rodrigues2021, section 4.

For a bond (i, j) with rest length r0 and rest direction d0 from j to i, B = R R_0^T the turn from the rest attitude,
r = |x_i - x_j| and d = (x_i - x_j)/r:

    bending   K^m theta^2/2            theta the rotation vector of B_i B_j^T
    axial     K^a (r/r0 - 1)^2/2
    shear     K^s (1 - c)^2/2          printed: c = (B_i d0).(B_j d); mean: c = d.(B_i d0 + B_j d0)/2;
                                       one_sided: half of each one-sided energy, c = d.(B_i d0) and c = d.(B_j d0)
    contact   K s^p/p                  s = 1 - r/D where positive, D = (D_i + D_j)/2, p = 5/2, 3 or 5
    wall      K s^p/p, or half of it   s = 1 - x/(D_i/2) where positive: a particle of no diameter at the foot point, or
                                       the mirror image

The printed prefactor 5/2 of the contact is 2/5 (erratum 3); the printed shear energy changes when everything is turned,
but not when the bodies are turned in their places (erratum 6), so that the sum of their own angular momenta is kept and
the total angular momentum is not.

Damping, which keeps the linear and the total angular momentum but for the wall:

    bond      -eta d(r/r0)/dt / r0 along d on i, -eta (w_i - w_j) about i, and the opposite on j
    contact   K s^(p - 1)/D (1 + lambda ds/dt) along d in place of K s^(p - 1)/D; of the wall likewise

The law of the contacts is that of Hunt and Crossley (1975, J. Appl. Mech. 42, 440): without overlap there is no force.
"""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import hands_on, kernel, outlined
from liestep.compile.rows import Vector, add, add_to, atan2, axpy, cross, dot, put, row, scale, sqrt, sub
from liestep.errors import InputError
from liestep.geometry.attitude import to_body, to_space
from liestep.mechanics.contracts.sheet import Parameter, Parameters, Preset, Sheet, State
from liestep.mechanics.formulations.rigid_bodies.forms import Kept, rigid_bodies
from liestep.mechanics.systems._neighbours import NeighbourList, neighbour_list

SHEAR, WALL = ("printed", "mean", "one_sided"), ("none", "point", "mirror")
PAIRS, CONTACT = ("none", "bonded", "all"), ("hertz", "cubic", "quintic")
PRINTED, MEAN, BONDED, ALL, POINT, HERTZ, CUBIC = 0, 1, 1, 2, 1, 0, 1
TORN = 10.0  # times its length by which a bond may grow; beyond, the run has blown up
POTENTIAL = {"bending_energy": "energy of bending and torsion of the bonds",
             "shear_energy": "shear energy of the bonds", "axial_energy": "axial energy of the bonds",
             "contact_energy": "contact energy between particles", "wall_energy": "contact energy with the wall"}
LAWS = {
    "contact_stiffness": Parameter("J", "K of the contact between two particles", (), "non-negative"),
    "wall_stiffness": Parameter("J", "K of the contact with the wall x = 0", (), "non-negative"),
    "shear_law": Parameter("1", "shear energy: as printed, or frame-indifferent with the mean of both bodies' axes, or"
                           " half of each one-sided energy", (), "choice", SHEAR),
    "wall_law": Parameter("1", "wall x = 0: none, a particle of no diameter at the foot point, or the mirror image", (),
                          "choice", WALL),
    "contact_pairs": Parameter("1", "which particles touch: none, bonded ones, all", (), "choice", PAIRS),
    "contact_law": Parameter("1", "contact energy K s^p/p of the overlap s: p = 5/2, 3, 5", (), "choice", CONTACT),
}
DAMPING = {
    "bond_damping": Parameter("J s", "damping of the extension of a bond over its length, and of the turn between its"
                              " particles, about whose axis it acts", (), "non-negative", default=0.0),
    "contact_damping": Parameter("s", "damping of a contact, of particles and of the wall: the force is multiplied by"
                                 " 1 + this x rate of the overlap", (), "non-negative", default=0.0),
}
STIFFNESS = {"bending_stiffness": "bending and torsion", "axial_stiffness": "extension", "shear_stiffness": "shear"}
EQUAL = {
    "mass": Parameter("kg", "mass of a particle", (), "positive"),
    "inertia": Parameter("kg m2", "principal moments of inertia of a particle", (3,), "moments"),
    **{name: Parameter("J", f"stiffness of {text} of every bond", (), "non-negative")
       for name, text in STIFFNESS.items()}}


@kernel
def relative_rotation(p: np.ndarray, i: int, j: int) -> Vector:
    """Rotation vector of B_i B_j^T, from the axes in rows 3i and 3j; NaN for a turn by pi, whose axis has two signs."""
    one, two, three = row(p, 3*i), row(p, 3*i + 1), row(p, 3*i + 2)
    other, second, third = row(p, 3*j), row(p, 3*j + 1), row(p, 3*j + 2)
    sine = add(cross(other, one), add(cross(second, two), cross(third, three)))
    cosine = dot(one, other) + dot(two, second) + dot(three, third) - 1.0
    size = sqrt(dot(sine, sine))
    return scale(0.5 if size < 1e-8 and cosine > 0.0 else atan2(size, cosine)/size, sine)


@kernel
def contact_terms(law: int, s: float) -> tuple[float, float]:
    """s^(p - 1) and s^p/p."""
    if law == HERTZ:
        root = s*sqrt(s)
        return root, 0.4*root*s
    square = s*s
    if law == CUBIC:
        return square, square*s/3.0
    return square*square, 0.2*square*square*s


class BondedParticles(NamedTuple):
    """Forces, torques and energies; energies in the order of POTENTIAL."""

    diameter: np.ndarray   # (n,)
    first: np.ndarray      # (b,) int64
    second: np.ndarray     # (b,) int64
    length: np.ndarray     # (b,) r0
    direction: np.ndarray  # (b, 3) d0
    bending: np.ndarray    # (b,)
    axial: np.ndarray      # (b,)
    shear: np.ndarray      # (b,)
    contact: float
    wall: float
    shear_law: int         # of SHEAR
    wall_law: int          # of WALL
    pairs: int             # of PAIRS
    contact_law: int       # of CONTACT
    neighbours: NeighbourList
    turned: bool           # whether a rest attitude is not the identity
    rest: np.ndarray       # (3n, 3) axes of the rest attitudes
    frames: np.ndarray     # (3n, 3) axes of B, where turned

    def forces(self, y: np.ndarray, out: np.ndarray, energy: np.ndarray) -> bool:
        n = self.diameter.shape[0]
        for i in range(2*n):
            put(out, i, (0.0, 0.0, 0.0))
        if self.turned:
            for i in range(n):
                for k in range(3):
                    part = (self.rest[3*i, k], self.rest[3*i + 1, k], self.rest[3*i + 2, k])
                    put(self.frames, 3*i + k, to_space(y[3*i:3*i + 3], part))
            whole = self.bonds(self.frames, y[4*n:5*n], out, energy)
        else:
            whole = self.bonds(y, y[4*n:5*n], out, energy)
        if self.pairs == ALL and not self.contacts(y[4*n:5*n], out, energy):
            return False
        energy[4] = 0.0
        if self.wall_law != 0:
            self.push(y[4*n:5*n], out, energy)
        return whole

    @outlined
    def bonds(self, p: np.ndarray, x: np.ndarray, out: np.ndarray, energy: np.ndarray) -> bool:
        """Forces of all bonds with axes of B in p and positions x; False where one is torn."""
        n, whole = self.diameter.shape[0], True
        bending, shear, axial, contact = 0.0, 0.0, 0.0, 0.0
        for b in range(self.first.shape[0]):
            i, j = self.first[b], self.second[b]
            theta = relative_rotation(p, i, j)
            bending += 0.5*self.bending[b]*dot(theta, theta)
            one = scale(-self.bending[b], theta)
            two = scale(-1.0, one)
            gap = sub(row(x, i), row(x, j))
            r = sqrt(dot(gap, gap))
            d = scale(1.0/r, gap)
            stretch = r/self.length[b] - 1.0
            whole = whole and stretch < TORN
            axial += 0.5*self.axial[b]*stretch*stretch
            pull = scale(-self.axial[b]/self.length[b]*stretch, d)
            stiffness, rest = self.shear[b], row(self.direction, b)
            if stiffness != 0.0:
                left = to_space(p[3*i:3*i + 3], rest)
                if self.shear_law == PRINTED:
                    right = to_space(p[3*j:3*j + 3], d)
                    c = dot(left, right)
                    k = stiffness*(1.0 - c)
                    shear += 0.5*k*(1.0 - c)
                    pull = axpy(k/r, axpy(-c, d, to_body(p[3*j:3*j + 3], left)), pull)
                    twist = scale(k, cross(left, right))
                    one, two = add(one, twist), sub(two, twist)
                else:
                    right = to_space(p[3*j:3*j + 3], rest)
                    a, c = dot(left, d), dot(right, d)
                    if self.shear_law == MEAN:
                        miss = 1.0 - 0.5*(a + c)
                        u = 0.5*stiffness*miss
                        v = u
                        shear += u*miss
                    else:
                        u, v = 0.5*stiffness*(1.0 - a), 0.5*stiffness*(1.0 - c)
                        shear += 0.5*(u*(1.0 - a) + v*(1.0 - c))
                    pull = axpy(u/r, axpy(-a, d, left), axpy(v/r, axpy(-c, d, right), pull))
                    one, two = axpy(u, cross(left, d), one), axpy(v, cross(right, d), two)
            if self.pairs == BONDED:
                reach = 0.5*(self.diameter[i] + self.diameter[j])
                s = 1.0 - r/reach
                if s > 0.0:
                    force, stored = contact_terms(self.contact_law, s)
                    pull = axpy(self.contact/reach*force, d, pull)
                    contact += self.contact*stored
            add_to(out, i, one)
            add_to(out, j, two)
            add_to(out, n + i, pull)
            add_to(out, n + j, scale(-1.0, pull))
        energy[0], energy[1], energy[2], energy[3] = bending, shear, axial, contact
        return whole

    def contacts(self, x: np.ndarray, out: np.ndarray, energy: np.ndarray) -> bool:
        """Forces between all particles that touch; False where the list of pairs cannot be made."""
        if not self.neighbours.update(x):
            return False
        n, total = self.diameter.shape[0], 0.0
        offset, partner = self.neighbours.offset, self.neighbours.partner
        for i in range(n):
            place, half = row(x, i), 0.5*self.diameter[i]
            for k in range(offset[i], offset[i + 1]):
                j = partner[k]
                gap = sub(place, row(x, j))
                reach = half + 0.5*self.diameter[j]
                square = dot(gap, gap)
                if square < reach*reach:
                    r = sqrt(square)
                    force, stored = contact_terms(self.contact_law, 1.0 - r/reach)
                    push = scale(self.contact/reach*force/r, gap)
                    add_to(out, n + i, push)
                    add_to(out, n + j, scale(-1.0, push))
                    total += self.contact*stored
        energy[3] = total
        return True

    def push(self, x: np.ndarray, out: np.ndarray, energy: np.ndarray) -> None:
        """Forces of the wall x = 0."""
        n, total = self.diameter.shape[0], 0.0
        share = self.wall if self.wall_law == POINT else 0.5*self.wall
        for i in range(n):
            radius = 0.5*self.diameter[i]
            s = 1.0 - x[i, 0]/radius
            if s > 0.0:
                force, stored = contact_terms(self.contact_law, s)
                out[n + i, 0] += share/radius*force
                total += share*stored
        energy[4] = total


@hands_on("plain", BondedParticles, "forces")
class DampedParticles(NamedTuple):
    """`BondedParticles` with damping, between pairs along the line of their centres, with opposite torques."""

    plain: BondedParticles
    bond: float     # eta, J s
    contact: float  # lambda, s

    @outlined
    def damp(self, y: np.ndarray, rates: np.ndarray, out: np.ndarray) -> float:
        """See `mechanics.formulations.rigid_bodies.components`. The pairs are those of the forces of the same state."""
        plain, n = self.plain, self.plain.diameter.shape[0]
        power = 0.0
        for b in range(plain.first.shape[0]):
            i, j = plain.first[b], plain.second[b]
            turning = sub(row(rates, i), row(rates, j))
            torque = scale(-self.bond, turning)
            add_to(out, i, torque)
            add_to(out, j, scale(-1.0, torque))
            power += dot(torque, turning)
            length = plain.length[b]
            power += self.along(y, i, j, -self.bond/(length*length), out)
            if plain.pairs == BONDED:
                power += self.touch(y, i, j, out)
        if plain.pairs == ALL:
            offset, partner = plain.neighbours.offset, plain.neighbours.partner
            for i in range(n):
                for k in range(offset[i], offset[i + 1]):
                    power += self.touch(y, i, partner[k], out)
        if plain.wall_law != 0:
            share = plain.wall if plain.wall_law == POINT else 0.5*plain.wall
            for i in range(n):
                radius = 0.5*plain.diameter[i]
                s, speed = 1.0 - y[4*n + i, 0]/radius, y[5*n + i, 0]
                if s > 0.0:
                    force = -share/radius*contact_terms(plain.contact_law, s)[0]*self.contact*speed/radius
                    out[n + i, 0] += force
                    power += force*speed
        return power

    def along(self, y: np.ndarray, i: int, j: int, factor: float, out: np.ndarray) -> float:
        """Forces factor dr/dt along d on i and the opposite on j; their power."""
        n = self.plain.diameter.shape[0]
        gap, going = sub(row(y, 4*n + i), row(y, 4*n + j)), sub(row(y, 5*n + i), row(y, 5*n + j))
        r = sqrt(dot(gap, gap))
        speed = dot(gap, going)/r
        force = scale(factor*speed/r, gap)
        add_to(out, n + i, force)
        add_to(out, n + j, scale(-1.0, force))
        return factor*speed*speed

    def touch(self, y: np.ndarray, i: int, j: int, out: np.ndarray) -> float:
        """Damping where i and j overlap; its power."""
        plain, n = self.plain, self.plain.diameter.shape[0]
        gap = sub(row(y, 4*n + i), row(y, 4*n + j))
        reach = 0.5*(plain.diameter[i] + plain.diameter[j])
        square = dot(gap, gap)
        if not square < reach*reach:
            return 0.0
        growth = contact_terms(plain.contact_law, 1.0 - sqrt(square)/reach)[0]
        return self.along(y, i, j, -plain.contact/reach*growth*self.contact/reach, out)


class Arrangement(NamedTuple):
    """Particles at rest and their bonds."""

    position: np.ndarray  # (n, 3)
    attitude: np.ndarray  # (n, 3, 3)
    mass: np.ndarray      # (n,)
    inertia: np.ndarray   # (n, 3)
    diameter: np.ndarray  # (n,)
    bonds: np.ndarray     # (b, 2) int64
    stiffness: np.ndarray  # (b, 3) of bending, extension, shear


def equal_particles(values: Parameters, places: np.ndarray, diameter: float, bonds: np.ndarray) -> Arrangement:
    """Equal particles at `places` (n, 3) in the attitude 1; EQUAL are among the parameters."""
    n = len(places)
    return Arrangement(places, np.tile(np.eye(3), (n, 1, 1)), np.full(n, values["mass"]),
                       np.tile(values["inertia"], (n, 1)), np.full(n, diameter), bonds,
                       np.tile([values[name] for name in STIFFNESS], (len(bonds), 1)))


def thrown(places: np.ndarray, speed: float) -> dict[str, np.ndarray]:
    """Start of particles at `places` (n, 3) that fly towards the wall without turning."""
    n = len(places)
    return {"position": places, "velocity": np.tile([-speed, 0.0, 0.0], (n, 1)),
            "attitude": np.tile(np.eye(3), (n, 1, 1)), "angular_momentum": np.zeros((n, 3))}


def bonded_particles(*, title: str, parameters: Mapping[str, Parameter], presets: Mapping[str, Preset],
                     assembly: Callable[[Parameters], Arrangement], **further: Any) -> Sheet:
    """Sheet of particles with bonds from their state at rest; LAWS are among the parameters."""
    def build(values: Parameters) -> BondedParticles | DampedParticles:
        held = assembly(values)
        first, second = np.ascontiguousarray(held.bonds[:, 0]), np.ascontiguousarray(held.bonds[:, 1])
        gap = held.position[first] - held.position[second]
        length = np.linalg.norm(gap, axis=1)
        rest = np.ascontiguousarray(np.swapaxes(held.attitude, 1, 2).reshape(-1, 3))
        bending, axial, shear = (np.ascontiguousarray(column) for column in held.stiffness.T)
        plain = BondedParticles(
            held.diameter, first, second, length, gap/length[:, None], bending, axial, shear,
            values["contact_stiffness"], values["wall_stiffness"], SHEAR.index(values["shear_law"]),
            WALL.index(values["wall_law"]), PAIRS.index(values["contact_pairs"]), CONTACT.index(values["contact_law"]),
            neighbour_list(held.diameter, values["contact_pairs"] == "all"),
            bool(np.any(held.attitude != np.eye(3))), rest, np.zeros_like(rest))
        damping = [values[name] for name in DAMPING]
        return DampedParticles(plain, *damping) if any(damping) else plain

    return rigid_bodies(
        title=title, equations="m dv/dt = F, dpi/dt = tau, dx/dt = v, dR/dt = hat(w) R with forces and torques of"
        " bonds, contacts and a wall", parameters={**parameters, **LAWS, **DAMPING}, build=build,
        masses=lambda values: assembly(values).mass, moments=lambda values: assembly(values).inertia,
        kept=lambda values: kept(values, assembly(values).stiffness), potential=POTENTIAL, presets=presets,
        manifold=distinct_places, engines=("dop853", "composition"), fallback=stand_in, irregular=irregular,
        largest_step=lambda values: axial_limit(assembly(values)), **further)


def stand_in(values: Parameters) -> str:
    """`Sheet.fallback`: that of rigid bodies, and a method of Lie group actions where there is damping."""
    return "lie_action" if any(values[name] for name in DAMPING) else "rigid_bodies"


def axial_limit(found: Arrangement) -> float:
    """Smallest r0 sqrt(2/(K^a (1/m_i + 1/m_j))) of all bonds, D sqrt(m/K^a) of equal ones: two over the largest
    frequency of a chain of them. Infinity without stiff bonds."""
    i, j = found.bonds[:, 0], found.bonds[:, 1]
    length = np.linalg.norm(found.position[i] - found.position[j], axis=1)
    stiff = found.stiffness[:, 1] > 0.0
    squares = 2.0/(found.stiffness[stiff, 1]*(1.0/found.mass[i] + 1.0/found.mass[j])[stiff])
    return float((length[stiff]*np.sqrt(squares)).min(initial=np.inf))


def kept(values: Parameters, stiffness: np.ndarray) -> Kept:
    """The printed shear law keeps the sum of the bodies' own angular momenta, the others the total one; a wall pushes
    along x only."""
    sheared, printed = bool(np.any(stiffness[:, 2] > 0.0)), values["shear_law"] == "printed"
    free = values["wall_law"] == "none" or values["wall_stiffness"] == 0.0
    objective, places = not (sheared and printed), not sheared or printed
    return Kept((objective, objective and free, objective and free), (free, True, True), (places, places, places))


def irregular(values: Parameters) -> bool:
    """Whether something can touch: contacts leave the solution with few derivatives."""
    touching = values["contact_pairs"] != "none" and values["contact_stiffness"] > 0.0
    return touching or (values["wall_law"] != "none" and values["wall_stiffness"] > 0.0)


def distinct_places(values: Parameters, state: State) -> None:
    """Raises InputError for two particles in one place."""
    order = np.lexsort(state["position"].T)
    same = np.flatnonzero((np.diff(state["position"][order], axis=0) == 0.0).all(axis=1))
    if same.size:
        pair = sorted(int(k) for k in order[same[0]:same[0] + 2])
        raise InputError(f"initial position[{pair[0]}] and position[{pair[1]}] are the same place: there must be a"
                         " direction between two particles")
