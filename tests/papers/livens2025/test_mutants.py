"""Deliberately wrong schemes, in plain Python: each must fail the check that is named, and the right one must pass it.

A mutant is one edit of one function. Others of the list are whole options or data and stand where these are tested:
the misprint of dT/dr, which the energy does not see (test_masses), Gonzalez' derivative (test_masses, test_spheres),
variant x of mph (test_bodies).
"""
import inspect
import textwrap
from types import FunctionType

import numpy as np
import pytest
from constrained_cases import PLAIN, plain_problem

from liestep.core import tracing
from liestep.core.status import Status
from liestep.core.tracing import plain_component
from liestep.formulations.constrained import spin
from liestep.formulations.constrained.quaternion_bodies import QuaternionBodies
from liestep.formulations.spheres.cartesian import CartesianSpheres
from liestep.geometry import quaternion
from liestep.integrators import _livens_steps
from liestep.integrators._livens_null_space import NullSpaceStep
from liestep.integrators._livens_steps import ReducedStep
from liestep.integrators.em_rotation import CayleyStep
from liestep.papers.livens2025.cone import TILT

EML, NULL = ReducedStep(1, False, False, 1e-15, 40), NullSpaceStep(1, False, 1e-15, 40)
CAYLEY = CayleyStep(1e-15, 200)
BODY, LOOP = ("free_rigid_body", "livens2025"), ("rigid_loop", "livens2025")
BODIES, TOP = ("sphere_nbody", "four_bodies"), ("heavy_top", "asymmetric")


def before(e, q):
    """q e"""
    x = quaternion.from_body.py_func(q, e[1:])
    return tuple(e[0]*q[k] + x[k] for k in range(4))


def edited(function, old, new):
    """The function with one edit of its source, its kernels as plain Python."""
    source = getattr(function, "py_func", function)
    text = textwrap.dedent(inspect.getsource(source))
    text = text[text.index("def "):]
    assert text.count(old) == 1, f"the edit no longer fits {source.__qualname__}"
    names = {name: tracing._plain(value, PLAIN) if hasattr(value, "py_func") else value
             for name, value in (vars(quaternion) | source.__globals__).items()}
    names["before"] = before
    exec(compile(text.replace(old, new), source.__qualname__, "exec"), names)
    made = names[source.__name__]
    return FunctionType(made.__code__, names, source.__name__)


def run(problem, step, h, steps, kernels=(), methods=(), formulation="constrained_lagrangian", parameters=None):
    """Largest deviations of every observable over some steps, and the last rows; `kernels` are (kernel, edited), and
    `methods` (class, name, edited)."""
    functions = PLAIN._replace(kernels=tuple(kernels))
    _, found = plain_problem(*problem, formulation, parameters=parameters)

    def made(component):
        plain = plain_component(component, functions, np.float64)
        own = {name: method for cls, name, method in methods if isinstance(plain, cls)}
        return type("Edited", (type(plain),), own)(*plain) if own else plain

    system, method = made(found.problem), made(step)
    y = found.start.copy()
    work = made(method.workspace(system, y)) if formulation == "constrained_lagrangian" else method.workspace(system, y)
    out = np.zeros(found.width)
    system.observe(y, out)
    first, worst, t = out.copy(), np.zeros(found.width), 0.0
    for _ in range(steps):
        if method.step(system, t, y, h, work) != Status.OK:
            break  # a mutant: the derivatives of its equations are no longer right
        t += h
        system.observe(y, out)
        worst = np.fmax(worst, np.abs(out - first))
    return {item.name: float(worst[item.columns].max()) for item in found.observables}, y


MUTANTS = {
    "E for G in p": (BODY, EML, 0.01, [(spin.spin_momentum, ("from_body(middle", "from_space(middle"))], [],
                     "momentum_map", 1e-10),
    "Ob at the midpoint": (BODY, EML, 0.01, [(spin.mean_spin, ("if energetic:", "if False:"))], [],
                           "generalized_energy", 1e-9),
    "joint rows at q_1": (LOOP, EML, 0.1, [(_livens_steps.bind, ("problem.slopes(work.qm, work.slopes)",
                          "problem.slopes(work.q1, work.slopes)"))], [], "energy_less_work", 1e-9),
    "joint rows at q_0": (LOOP, EML, 0.1, [(_livens_steps.bind, ("problem.slopes(work.qm, work.slopes)",
                          "problem.slopes(2.0*work.qm - work.q1, work.slopes)"))], [], "energy_less_work", 1e-9),
    "load at t_n": (LOOP, EML, 0.1, [], [(QuaternionBodies, "forces", ("t + 0.5*h", "t"))], "energy_less_work", 1e-9),
    "factor 2 in p_1": (BODY, EML, 0.01, [(_livens_steps.finish, ("work.p1[i] -= y[2, i]",
                        "work.p1[i] *= 0.5"))], [], "generalized_energy", 1e-9),
    "Gram-Schmidt one axis after the other": (BODIES, EML, 0.01, [], [(CartesianSpheres, "free", None)], "energy",
                                              1e-12),
    "cay without the 1/4": (TOP, CAYLEY, 0.01, [], [(CayleyStep, "turn", ("0.25*dot(z, z)", "dot(z, z)"))],
                            "orthogonality_error", 1e-13),
    "tau at Q_1": (TOP, CAYLEY, 0.01, [], [(CayleyStep, "step", (
        "momentum = axpy(h, problem.torque(mean)", "momentum = axpy(h, problem.torque(new)"))], "energy", 1e-11),
}


def one_axis_after_the_other(self):
    """`CartesianSpheres.free` with the rotations taken out in turn: they are not orthogonal to each other."""
    for axis in np.eye(3):
        turns = np.cross(axis, self.place)
        self.along[:] -= np.sum(turns*self.along)/np.sum(turns*turns)*turns


@pytest.mark.parametrize("name", MUTANTS)
def test_each_mutant_dies_by_its_check(name):
    problem, step, h, kernels, methods, check, limit = MUTANTS[name]
    formulation = "cotangent_rotation" if step is CAYLEY else "constrained_lagrangian"
    steps = 6 if problem == LOOP else 20
    right, _ = run(problem, step, h, steps, formulation=formulation)
    assert right[check] <= limit
    wrong, _ = run(problem, step, h, steps, [(kernel, edited(kernel, *edit)) for kernel, edit in kernels],
                   [(cls, method, edited(getattr(cls, method), *edit) if edit else one_axis_after_the_other)
                    for cls, method, edit in methods], formulation)
    assert wrong[check] >= 1e3*max(limit, right[check])


def test_a_null_increment_on_the_right_is_another_map():
    """q_1 = q_0 exp(z) at the end of the iterations: no longer the reduced solver's map."""
    ends = [run(BODY, step, 0.01, 5)[1][0] for step in (EML, NULL)]
    assert np.abs(ends[1] - ends[0]).max() <= 1e-12
    line = "    move(problem, y[0], common)\n            self.balance(problem, t, h, y, common)\n            qm"
    wrong = edited(NullSpaceStep.step, f"after(exponential(z), q0))\n        {line}",
                   f"before(exponential(z), q0))\n        {line}")
    end = run(BODY, NULL, 0.01, 5, methods=[(NullSpaceStep, "step", wrong)])[1][0]
    assert np.abs(end - ends[0]).max() >= 1e-4


def test_swapped_moments_of_the_cone_do_not_precess_steadily():
    """(114) as printed."""
    def height(parameters):
        rows = run(("heavy_top", "livens2025"), EML, 5e-4, 40, parameters=parameters)[1]
        q = rows[0]
        return q[0]**2 - q[1]**2 - q[2]**2 + q[3]**2

    moments = plain_problem("heavy_top", "livens2025")[1].problem.inertia
    assert height(None) == pytest.approx(np.cos(TILT), abs=1e-4)
    assert abs(height({"inertia": moments[[2, 1, 0]].tolist()}) - np.cos(TILT)) >= 1e-2
