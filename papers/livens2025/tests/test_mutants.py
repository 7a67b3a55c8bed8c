"""Deliberately wrong schemes, in plain Python: each must fail the check that is named, and the right one must pass it.

A mutant is one edit of one function.
"""
import inspect
import textwrap
from types import FunctionType

import numpy as np
import pytest
from constrained_cases import PLAIN, plain_problem
from liestep_papers.livens2025.studies.spring_pendulum import SphericalSpring
from livens_systems import systems
from scipy.integrate import solve_ivp

from liestep.compile import tracing
from liestep.compile.status import Status
from liestep.compile.tracing import plain_component
from liestep.geometry import quaternion
from liestep.integrators import livens
from liestep.integrators.cotangent_rotation import CayleyStep
from liestep.integrators.livens import NullSpaceStep, ReducedStep
from liestep.integrators.quaternion_hamiltonian import KINDS, HamiltonianStep
from liestep.mechanics.formulations.constrained import spin
from liestep.mechanics.formulations.constrained.quaternion_bodies import QuaternionBodies
from liestep.mechanics.formulations.spheres.cartesian import CartesianSpheres
from liestep.mechanics.presets.livens2025 import TILT

_loaded = systems("jointed_bars", "spring_pendulum")
EML, NULL = ReducedStep(1, False, False, 1e-15, 40), NullSpaceStep(1, False, 1e-15, 40)
GONZALEZ = EML._replace(rule=2)
CAYLEY, MPH = CayleyStep(1e-15, 200), HamiltonianStep(KINDS["b"], 1.0, False, 1e-15, 40)
FORMULATIONS = {CAYLEY: "cotangent_rotation", MPH: "quaternion_hamiltonian"}
BODY, LOOP = ("free_rigid_body", "livens2025"), ("rigid_loop", "livens2025")
BODIES, TOP = ("sphere_nbody", "four_bodies"), ("heavy_top", "asymmetric")
SPRING = ("spring_pendulum", "printed")


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


def run(problem, step, h, steps, kernels=(), methods=(), parameters=None):
    """Largest deviations of every observable over some steps, and the last rows; `kernels` are (kernel, edited), and
    `methods` (class, name, edited)."""
    formulation = FORMULATIONS.get(step, "constrained_lagrangian")
    functions = PLAIN._replace(kernels=tuple(kernels))
    _, found = plain_problem(*problem, formulation, parameters=parameters)

    def made(component):
        plain = plain_component(component, functions, np.float64)
        kinds = {kind.__name__ for kind in type(plain).__mro__}  # a plugin is loaded with classes of its own
        own = {name: method for cls, name, method in methods if cls.__name__ in kinds}
        return type("Edited", (type(plain),), own)(*plain) if own else plain

    system, method = made(found.problem), made(step)
    y = found.start.copy()
    work = method.workspace(system, y) if step is CAYLEY else made(method.workspace(system, y))
    out = np.zeros(found.width)
    system.observe(y, out)
    first, worst, t = out.copy(), np.zeros(found.width), 0.0
    for _ in range(steps):
        if method.step(system, t, y, h, work) != Status.OK:
            break  # a mutant: the derivatives of its equations are no longer right
        t += h
        system.observe(y, out)
        worst = np.fmax(worst, np.abs(out - first))
    results = {item.name: float(worst[item.columns].max()) for item in found.observables}
    results["momentum_map_z"] = float(worst[next(x.columns for x in found.observables if x.name == "momentum_map")][-1])
    return results, y


MUTANTS = {
    "E for G in p": (BODY, EML, 0.01, [(spin.spin_momentum, ("from_body(middle", "from_space(middle"))], [],
                     "momentum_map", 1e-10),
    "Ob at the midpoint": (BODY, EML, 0.01, [(spin.mean_spin, ("if energetic:", "if False:"))], [],
                           "generalized_energy", 1e-9),
    "joint rows at q_1": (LOOP, EML, 0.1, [(livens.bind, ("problem.slopes(work.qm, work.slopes)",
                          "problem.slopes(work.q1, work.slopes)"))], [], "energy_less_work", 1e-9),
    "joint rows at q_0": (LOOP, EML, 0.1, [(livens.bind, ("problem.slopes(work.qm, work.slopes)",
                          "problem.slopes(2.0*work.qm - work.q1, work.slopes)"))], [], "energy_less_work", 1e-9),
    "load at t_n": (LOOP, EML, 0.1, [], [(QuaternionBodies, "forces", ("t + 0.5*h", "t"))], "energy_less_work", 1e-9),
    "factor 2 in p_1": (BODY, EML, 0.01, [(livens.follow, ("work.p1[i] -= y[2, i]",
                        "work.p1[i] *= 0.5"))], [], "generalized_energy", 1e-9),
    "Gram-Schmidt one axis after the other": (BODIES, EML, 0.01, [], [(CartesianSpheres, "free", None)], "energy",
                                              1e-12),
    "Gonzalez' derivative on spheres": (BODIES, EML, 0.01, [], [(CartesianSpheres, "correct", ("if freed:", "if False:"
                                        ))], "momentum_map", 1e-13),
    "Gonzalez' derivative of the spring pendulum": (SPRING, EML, 0.01, [], [(SphericalSpring, "correct", (
        "free = rule == FREED", "free = False"))], "momentum_map_z", 1e-12),
    "variant x of the midpoint rule": (BODY, MPH, 0.01, [(spin.spin_flow, (
        "second = first if kind == 3 else 1.0", "second = 1.0"))], [], "momentum_map", 1e-10),
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
    steps = 6 if problem == LOOP else 20
    right, _ = run(problem, step, h, steps)
    assert right[check] <= limit
    wrong, _ = run(problem, step, h, steps, [(kernel, edited(kernel, *edit)) for kernel, edit in kernels],
                   [(cls, method, edited(getattr(cls, method), *edit) if edit else one_axis_after_the_other)
                    for cls, method, edit in methods])
    assert wrong[check] >= 1e3*max(limit, right[check])


def test_a_null_increment_on_the_right_is_another_map():
    """q_1 = q_0 exp(z) at the end of the iterations: no longer the reduced solver's map."""
    ends = [run(BODY, step, 0.01, 5)[1][0] for step in (EML, NULL)]
    assert np.abs(ends[1] - ends[0]).max() <= 1e-12
    line = "move(problem, y[0], common)\n    balance(problem, self.rule, t, h, y, common, 4)\n    qm"
    wrong = edited(NullSpaceStep.step, f"after(exponential(z), q0))\n    {line}",
                   f"before(exponential(z), q0))\n    {line}")
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


def test_the_energy_does_not_see_a_wrong_radial_derivative_but_order_and_momentum_do():
    """r^2 for r in dT/dr, as in the authors' public code; p_phi with the derivative of Gonzalez (erratum 7)."""
    t_end = 0.2

    def pull(t, x):
        return np.concatenate([x[3:], -150.0*(x[:3] @ x[:3] - 1.0)*x[:3]])

    start = np.array([1.05, 0.0, 0.0, 0.0, 1.05, -1.05])  # phi about the pole, theta towards it
    exact = solve_ivp(pull, (0.0, t_end), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:3, -1]

    def results(methods):
        errors, kept = [], []
        for steps in (20, 40):
            found, y = run(SPRING, GONZALEZ, t_end/steps, steps, methods=methods)
            (r, theta, phi), s = y[0], np.sin(y[0, 1])
            place = r*np.array([s*np.cos(phi), s*np.sin(phi), np.cos(theta)])
            errors.append(np.abs(place - exact).max())
            kept.append(found)
        return errors[0]/errors[1], kept[1]["generalized_energy"], kept[1]["momentum_map_z"]

    wrong = edited(SphericalSpring.radial, "r*r if self.misprint else r", "r*r")
    right, mutant = results(()), results([(SphericalSpring, "radial", wrong)])
    assert right[0] == pytest.approx(4.0, abs=0.2)
    assert mutant[0] <= 2.0
    assert max(right[1], mutant[1]) <= 1e-13
    assert mutant[2] >= 100.0*right[2]
