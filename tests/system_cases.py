"""Presets of all systems, and variations of them, ready to be evaluated."""
import functools

import numpy as np
from numba import njit

from liestep.compile.dispatch import compiler
from liestep.simulation.catalogue import sheet, system_ids

compiler()  # teaches Numba the methods of components

SPHERES = tuple(name for name in system_ids() if "sphere_lagrangian" in sheet(name).forms)
PRESETS = [(name, preset) for name in SPHERES for preset in sheet(name).presets]
SMALL = [(name, preset)
         for name, preset in PRESETS if not (name == "lennard_jones_sphere" and preset not in ("level1", "level2"))]
TURNED = [(name, preset) for name, preset in SMALL if sheet(name).symmetries is not None]


@njit(error_model="numpy")
def compiled_potential(system, q):
    return system.potential(q)


@njit(error_model="numpy")
def compiled_gradient(system, q, out):
    system.gradient(q, out)


class Case:
    """A preset, or a variation of it, ready to be evaluated."""

    def __init__(self, name, preset, **changes):
        self.sheet = sheet(name)
        declared = self.sheet.presets[preset]
        self.parameters = self.sheet.check({**declared.parameters, **changes})
        self.start = self.sheet.check_initial(self.parameters, declared.initial(self.parameters))
        self.system = self.sheet.build(self.parameters)

    def potential(self, q):
        return compiled_potential(self.system, q)

    def gradient(self, q):
        out = np.full_like(q, np.nan)
        compiled_gradient(self.system, q, out)
        return out

    def random_q(self, seed):
        """Unit vectors anywhere; molecules only near their start, where the forces are not astronomic."""
        noise = np.random.default_rng(seed).normal(size=self.start["q"].shape)
        q = self.start["q"] + 0.07*self.parameters["sigma"]*noise if "sigma" in self.parameters else noise
        return q/np.linalg.norm(q, axis=1)[:, None]

    def turned(self, rotation):
        return {name: value @ rotation.T if name in self.sheet.symmetries else value
                for name, value in self.parameters.items()}


@functools.cache
def case(name, preset):
    return Case(name, preset)
