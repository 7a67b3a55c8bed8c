"""Formulations: the same system in the form a family of integrators needs, derived from its fact sheet."""
import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from liestep.contracts.formulated import Formulated, Observable, StateField
from liestep.contracts.sheet import Sheet, SphereSheet

__all__ = ["FORMULATIONS", "Formulated", "Observable", "StateField", "family_modules", "formulate"]

SPHERES = "liestep.formulations.spheres.forms"

FORMULATIONS = {  # name -> what it offers
    "sphere_lagrangian": "mass matrix, potential and gradient on (S^2)^n",
    "vector_field": "right-hand side in the embedding space",
    "lie_action": "action of a Lie group and f: states -> algebra",
    "cotangent_rotation": "T*SO(3), right trivialised: angular velocity and torque",
    "quadratic_rotation": "T*(SO(3) x R^3) with a quadratic Hamiltonian",
}


def family_modules(sheet: Sheet) -> tuple[str, ...]:
    """Modules of the system's family that its own module does not import: sources of its runs, and of no others."""
    return (SPHERES,) if isinstance(sheet, SphereSheet) else ()


def formulate(sheet: Sheet, parameters: dict, state: Mapping[str, np.ndarray], formulation: str,
              options: Mapping[str, Any]) -> Formulated:
    """Derive `formulation` (one of FORMULATIONS) of a system with checked parameters and initial state."""
    if isinstance(sheet, SphereSheet):
        return importlib.import_module(SPHERES).formulate_sphere(sheet, parameters, state, formulation, options)
    return sheet.formulate(parameters, state, formulation, options)
