"""Sheets of particles with bonds, contacts and a wall, whatever is bonded to what: see `mechanics.systems._bonded` for
the forces and `mechanics.systems._damped` for the damping."""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.errors import InputError
from liestep.mechanics.contracts.parameters import Parameter, Preset
from liestep.mechanics.contracts.sheet import Parameters, Sheet, State
from liestep.mechanics.formulations.rigid_bodies.family import accurate_composition, rigid_bodies
from liestep.mechanics.formulations.rigid_bodies.forms import Kept
from liestep.mechanics.systems._bonded import CONTACT, PAIRS, SHEAR, WALL, BondedParticles
from liestep.mechanics.systems._damped import DampedParticles
from liestep.mechanics.systems._neighbours import neighbour_list

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
BOND_STIFFNESS = {f"{kind}_stiffness": Parameter("J", f"stiffness of {text} of every bond", (), "non-negative")
                  for kind, text in {"bending": "bending and torsion", "axial": "extension", "shear": "shear"}.items()}


class Assembly(NamedTuple):
    """Particles at rest and their bonds."""

    position: np.ndarray  # (n, 3)
    attitude: np.ndarray  # (n, 3, 3)
    mass: np.ndarray      # (n,)
    inertia: np.ndarray   # (n, 3)
    diameter: np.ndarray  # (n,)
    bonds: np.ndarray     # (b, 2) int64
    stiffness: np.ndarray  # (b, 3) of bending, extension, shear


def bonded_particles(*, title: str, parameters: Mapping[str, Parameter], presets: Mapping[str, Preset],
                     assembly: Callable[[Parameters], Assembly], **further: Any) -> Sheet:
    """Sheet of particles with bonds from their state at rest; LAWS are among the parameters."""
    def build(values: Parameters) -> BondedParticles | DampedParticles:
        found = assembly(values)
        first, second = np.ascontiguousarray(found.bonds[:, 0]), np.ascontiguousarray(found.bonds[:, 1])
        gap = found.position[first] - found.position[second]
        length = np.linalg.norm(gap, axis=1)
        rest = np.ascontiguousarray(np.swapaxes(found.attitude, 1, 2).reshape(-1, 3))
        bending, axial, shear = (np.ascontiguousarray(column) for column in found.stiffness.T)
        plain = BondedParticles(
            found.diameter, first, second, length, gap/length[:, None], bending, axial, shear,
            values["contact_stiffness"], values["wall_stiffness"], SHEAR.index(values["shear_law"]),
            WALL.index(values["wall_law"]), PAIRS.index(values["contact_pairs"]), CONTACT.index(values["contact_law"]),
            neighbour_list(found.diameter, values["contact_pairs"] == "all"),
            bool(np.any(found.attitude != np.eye(3))), rest, np.zeros_like(rest))
        damping = [values[name] for name in DAMPING]
        return DampedParticles(plain, *damping) if any(damping) else plain

    return rigid_bodies(
        title=title, equations="m dv/dt = F, dpi/dt = tau, dx/dt = v, dR/dt = hat(w) R with forces and torques of"
        " bonds, contacts and a wall", parameters={**parameters, **LAWS, **DAMPING}, build=build,
        masses=lambda values: assembly(values).mass, moments=lambda values: assembly(values).inertia,
        kept=lambda values: kept(values, assembly(values).stiffness), potential=POTENTIAL, presets=presets,
        manifold=apart, engines=("dop853", "composition"), fallback=stand_in(assembly), irregular=irregular,
        largest_step=lambda values: axial_limit(assembly(values)), **further)


def stand_in(assembly: Callable[[Parameters], Assembly]) -> Callable[[Parameters], str]:
    """`Sheet.fallback`: a composition, and a Runge-Kutta-Munthe-Kaas method where there is damping."""
    def fallback(values: Parameters) -> str:
        if any(values[name] for name in DAMPING):
            return "rkmk"
        return accurate_composition(assembly(values).inertia)

    return fallback


def axial_limit(found: Assembly) -> float:
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


def apart(values: Parameters, state: State) -> None:
    """Raises InputError for two particles in one place."""
    order = np.lexsort(state["position"].T)
    same = np.flatnonzero((np.diff(state["position"][order], axis=0) == 0.0).all(axis=1))
    if same.size:
        pair = sorted(int(k) for k in order[same[0]:same[0] + 2])
        raise InputError(f"initial position[{pair[0]}] and position[{pair[1]}] are the same place: there must be a"
                         " direction between two particles")
