"""lgt2022: wrong maps, accelerations, residuals and integrators, each the source with one edit, are told from the right
ones. Everything runs in plain Python."""
import importlib
import sys
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from mechanism_cases import DEFAULTS, chart_map, dense, equations, hat, mixed_rates, random_mechanism

from liestep.compile.status import Status
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import start_of

MULTIBODY = "liestep.mechanics.formulations.multibody"
CHAIN = ("liestep.geometry.so3", "liestep.geometry.se3", "liestep.geometry.charts", "liestep.geometry.groups.poses",
         f"{MULTIBODY}.mechanism", f"{MULTIBODY}.assembly", f"{MULTIBODY}.components", f"{MULTIBODY}.index_three",
         f"{MULTIBODY}.forms", "liestep.mechanics.formulations.multibody.pinned", "liestep.integrators.rkmk",
         "liestep.integrators.generalized_alpha", "liestep.integrators.bliedf")


def in_package(name, module):
    """`from package import module` takes it from there."""
    package, _, leaf = name.rpartition(".")
    setattr(sys.modules[package], leaf, module)


@cache
def world(name=None, old="", new=""):
    """The modules of CHAIN, one of them with an edit, made anew so that each takes its names from those before."""
    saved = {module: importlib.import_module(module) for module in CHAIN}
    made = {}
    try:
        for module in CHAIN:
            text = Path(saved[module].__file__).read_text()
            if module == name:
                if text.count(old) != 1:
                    raise ValueError(f"the edit of {name} no longer fits the source: {text.count(old)} places")
                text = text.replace(old, new)
            made[module] = sys.modules[module] = ModuleType(module)
            in_package(module, made[module])
            exec(compile(text, saved[module].__file__, "exec"), made[module].__dict__)
    finally:
        sys.modules.update(saved)
        for module, right in saved.items():
            in_package(module, right)
    # multipliers of samples come from compiled code, which nothing here looks at
    made[f"{MULTIBODY}.forms"].Layout.multipliers = lambda layout, motion, rows: np.zeros(
        (*rows.shape[:-2], layout.assembly.row_count))
    return SimpleNamespace(**{module.split(".")[-1]: made[module] for module in CHAIN})


def action(modules, assembly, state, **options):
    """Form `lie_action` of a world, and its component in plain Python."""
    form = modules.forms.MechanismForms(lambda p: assembly, lambda p: (False,)*3).action({}, state, DEFAULTS | options)
    return form, plain(form.problem)


def index_three(modules, assembly, state, **options):
    options = {"action": "se3", "chart": "exp", "attitude": "quaternion"} | options
    form = modules.forms.MechanismForms(lambda p: assembly, lambda p: (False,)*3).index_three({}, state, options)
    return form, plain(form.problem)


@cache
def mechanism(kinds=("revolute", "universal", "prismatic")):
    return random_mechanism(4, kinds)


def pose(fields):
    found = np.zeros((len(fields["attitude"][0]), 4, 4))
    found[:, :3, :3], found[:, :3, 3], found[:, 3, 3] = fields["attitude"][0], fields["position"][0], 1.0
    return found


def maps(modules):
    """Largest distance of `act` from the group product: C psi(X), or (R psi(x), r + dr) of the direct product."""
    worst, (assembly, state) = 0.0, mechanism()
    for group in ("se3", "so3_r3"):
        for chart in ("exp", "cayley", "cayley2"):
            form, problem = action(modules, assembly, state, action=group, chart=chart)
            xi = np.random.default_rng(1).normal(size=(problem.algebra_rows(), 3))
            y = form.start.copy()
            problem.act(xi, form.start, y)
            before, after = pose(form.to_fields(form.start[None])), pose(form.to_fields(y[None]))
            for i, (one, two) in enumerate(zip(before, after, strict=True)):
                x, step = xi[4*i], xi[4*i + 1]
                wanted = one @ chart_map(chart, x, step if group == "se3" else np.zeros(3))
                wanted[:3, 3] += step if group == "so3_r3" else 0.0
                worst = max(worst, np.abs(two - wanted).max())
    return worst


def differentials(modules):
    """Largest defect of act(X + e dX) = act(X) with dX = dexpinv: C psi(X) moves with the body velocity."""
    worst, (assembly, state), e = 0.0, mechanism(), 1e-6
    for group in ("se3", "so3_r3"):
        for chart in ("exp", "cayley", "cayley2"):
            form, problem = action(modules, assembly, state, action=group, chart=chart)
            sigma, v = np.random.default_rng(2).normal(size=(2, problem.algebra_rows(), 3))
            change = np.zeros_like(v)
            assert problem.dexpinv(sigma, v, change)
            ends = []
            for sign in (1.0, -1.0):
                y = form.start.copy()
                problem.act(sigma + sign*e*change, form.start, y)
                ends.append(pose(form.to_fields(y[None])))
            y = form.start.copy()
            problem.act(sigma, form.start, y)
            for i, (one, two, here) in enumerate(zip(*ends, pose(form.to_fields(y[None])), strict=True)):
                slope = np.linalg.solve(here, (one - two)/(2.0*e))
                worst = max(worst, np.abs(slope[:3, :3] - hat(v[4*i])).max())
                speed = slope[:3, 3] if group == "se3" else ((one - two)/(2.0*e))[:3, 3]
                worst = max(worst, np.abs(speed - v[4*i + 1]).max())
    return worst


def accelerations(modules):
    """Largest distance of accelerations and multipliers from a dense solve, over joints and twists."""
    worst = 0.0
    for assembly, state in (mechanism(), mechanism(("spherical", "cylindrical", "screw"))):
        rates, multipliers = dense(assembly, state)
        for twist in ("body", "mixed", "spatial"):
            form, problem = action(modules, assembly, state, twist=twist)
            out = np.zeros((problem.algebra_rows(), 3))
            assert problem.algebra(0.0, form.start, out)
            worst = max(worst, np.abs(mixed_rates(state, twist, out) - rates).max()/np.abs(rates).max())
            found = problem.generator.motion.mechanism.vectors[0][modules.assembly.multiplier_rows(assembly)]
            worst = max(worst, np.abs(found - multipliers).max()/np.abs(multipliers).max())
    return worst


def equilibrium(modules):
    """Residual of the index-3 equations at accelerations and multipliers of the dense solve."""
    worst, (assembly, state) = 0.0, mechanism()
    rates, multipliers = dense(assembly, state)
    for group in ("se3", "so3_r3"):
        form, problem = index_three(modules, assembly, state, action=group)
        n = problem.bodies()
        v, dv = np.zeros((2*n, 3)), np.zeros((2*n, 3))
        problem.velocity(form.start, v)
        for i in range(n):
            turn, w = state["attitude"][i], state["body_rate"][i]
            push = rates[6*i + 3:6*i + 6]
            dv[2*i] = rates[6*i:6*i + 3]
            dv[2*i + 1] = turn.T @ push - np.cross(w, v[2*i + 1]) if group == "se3" else push
        found = np.zeros(assembly.row_count)
        found[problem.order] = multipliers
        problem.newton(form.start.copy(), np.zeros((2*n, 3)), v, dv, np.zeros((2*n, 3)), found, 1.0, 1.0, 0.0, 1.0, 3)
        worst = max(worst, np.abs(problem.loads).max()/np.abs(multipliers).max())
    return worst


def projection(modules):
    """What is left of M dV in the range of A^T, of a slip that the projection takes away."""
    assembly, state = mechanism()
    slip = {**state, "velocity": state["velocity"] + 1e-3*np.random.default_rng(3).normal(size=state["velocity"].shape)}
    form, problem = action(modules, assembly, slip, stabilisation="projection")
    y = form.start.copy()
    assert problem.project(y)
    after = {name: value[0] for name, value in form.to_fields(y[None]).items()}
    mass, _, rows, _ = equations(assembly, slip)
    push = mass @ np.concatenate([after[name] - slip[name] for name in ("body_rate", "velocity")], axis=1).reshape(-1)
    return np.abs(push - rows.T @ np.linalg.lstsq(rows.T, push, rcond=None)[0]).max()/np.abs(push).max()


def inertia(modules):
    """Inertia about the centre of mass against the sum over eight points of a body."""
    points = np.array([[x, y, z] for x in (-0.3, 0.5) for y in (0.1, 0.9) for z in (-0.2, 0.2)])
    points = points - points.mean(axis=0) + [0.0, 0.6, 0.0]  # principal axes also about the fixed point

    def about(place):
        return sum((p - place) @ (p - place)*np.eye(3) - np.outer(p - place, p - place) for p in points)

    centre, found = points.mean(axis=0), about(np.zeros(3))
    wanted = about(centre)
    assert np.abs(found - np.diag(np.diag(found))).max() < 1e-14
    return np.abs(modules.pinned.central_inertia(np.diag(found), 8.0, centre) - wanted).max()


def march(problem, form, method, steps, t_end):
    """Rows after steps in plain Python."""
    y, method, h = form.start.copy(), plain(method), t_end/steps
    work = method.workspace(problem, y)
    assert method.start(problem, 0.0, y, h, work) == Status.OK
    for k in range(steps):
        assert method.step(problem, k*h, y, h, work) == Status.OK
    return form.to_fields(y[None])


@cache
def free_body():
    start = start_of("jointed_body", preset="free")
    return sheet("jointed_body").build(start.parameters), start.initial


def order(modules, tableau):
    """Order of a Munthe-Kaas method on a free body between 8, 16 and 32 steps of 2 s."""
    form, problem = action(modules, *free_body(), action="so3_r3")
    method = modules.rkmk.MuntheKaas(*modules.rkmk.TABLEAUX[tableau].arrays())
    ends = [march(problem, form, method, steps, 2.0)["attitude"] for steps in (8, 16, 32)]
    return np.log2(np.abs(ends[0] - ends[1]).max()/np.abs(ends[1] - ends[2]).max())


def order_four(modules):
    return abs(order(modules, "rk4") - 4.0)


@cache
def top(rate=(1.0, -2.0, 3.0)):
    """The asymmetric top, with a rate."""
    start = start_of("jointed_body", preset="asymmetric_top")
    assembly = sheet("jointed_body").build(start.parameters)
    turn, s = start.initial["attitude"][0], -start.parameters["joint_point"]
    return assembly, {**start.initial, "body_rate": np.array([rate]),
                      "velocity": (turn @ np.cross(rate, s))[None]}


def third_order(modules):
    """How far bliedf3 is from order 3 in the rates, between 40, 80 and 160 steps."""
    form, problem = index_three(modules, *top((10.0, 20.0, -30.0)), action="so3_r3")
    make = modules.bliedf.METHODS["bliedf"].build
    method = make({"order": 3, "commutator": "on", "tolerance": 1e-13, "iterations": 25}, None, 1.0)
    ends = [march(problem, form, method, steps, 0.1)["body_rate"] for steps in (40, 80, 160)]
    return abs(np.log2(np.abs(ends[0] - ends[1]).max()/np.abs(ends[1] - ends[2]).max()) - 3.0)


def alpha(modules, **options):
    options = {"rho": 0.9, "start": "corrected", "tolerance": 1e-13, "iterations": 25} | options
    return modules.generalized_alpha.METHODS["generalized_alpha"].build(options, None, 1.0)


def second_order(modules):
    """How far generalized_alpha is from order 2 in the rates, between 10, 20 and 40 steps."""
    form, problem = index_three(modules, *top(), action="so3_r3")
    ends = [march(problem, form, alpha(modules, rho=0.2), steps, 0.1)["body_rate"] for steps in (10, 20, 40)]
    return abs(np.log2(np.abs(ends[0] - ends[1]).max()/np.abs(ends[1] - ends[2]).max()) - 2.0)


def first_multipliers(modules):
    """How far the multipliers of the first ten steps are from order 2, beside those of index 1 at the same states."""
    start = start_of("jointed_body", preset="bruels_cardona")
    assembly, worst = sheet("jointed_body").build(start.parameters), []
    for h in (4e-4, 2e-4):
        form, problem = index_three(modules, assembly, start.initial, action="so3_r3")
        method, y, gaps = plain(alpha(modules)), form.start.copy(), []
        work = method.workspace(problem, y)
        assert method.start(problem, 0.0, y, h, work) == Status.OK
        for k in range(10):
            assert method.step(problem, k*h, y, h, work) == Status.OK
            fields = {name: value[0] for name, value in form.to_fields(y[None]).items()}
            gaps.append(np.abs(fields["multiplier"] - dense(assembly, fields)[1]).max())
        worst.append(max(gaps))
    return abs(np.log2(worst[0]/worst[1]) - 2.0)


CHECKS = {maps: 5e-14, differentials: 1e-8, accelerations: 1e-7, equilibrium: 1e-7, projection: 1e-9, inertia: 1e-13,
          order_four: 0.2, third_order: 0.15, second_order: 0.1, first_multipliers: 0.2}
POSES, MECHANISM, COMPONENTS = "liestep.geometry.groups.poses", f"{MULTIBODY}.mechanism", f"{MULTIBODY}.components"
INDEX_THREE, ALPHA = f"{MULTIBODY}.index_three", "liestep.integrators.generalized_alpha"
MUTANTS = {  # name: (check that kills it, module, old, new)
    "sign of X in dexpinv": (order_four, "liestep.geometry.charts", "return dexpinv((-x[0], -x[1], -x[2]), w)",
                             "return dexpinv(x, w)"),
    "sign of X in dexpinv of SE(3)": (
        differentials, "liestep.geometry.charts", "se3_dexpinv((-x[0], -x[1], -x[2]), (-y[0], -y[1], -y[2]), w, u)",
        "se3_dexpinv(x, y, w, u)"),
    "dexpinv dropped": (order_four, POSES, "turned, moved = rotation_rate(self.chart, x, w), row(v, d + 1)",
                        "turned, moved = w, row(v, d + 1)"),
    "r' = r + R dr": (maps, POSES, "                if self.se3 == 1:\n                    step = rotate(old, step)",
                      "                if True:\n                    step = rotate(old, step)"),
    "slope e dropped": (differentials, "liestep.geometry.se3", "k = dot(A, a)*slope", "k = 0.0*slope"),
    "w x v missing in the rate of a body velocity": (
        accelerations, COMPONENTS, "far), cross(w, row(y, b + a + 2)))", "far), (0.0, 0.0, 0.0))"),
    "sign of gamma of a direction row": (accelerations, MECHANISM, "bent = dot(between, add(",
                                         "bent = -dot(between, add("),
    "whole Cayley increment": (maps, "liestep.geometry.charts", "        first = 1.0/sqrt(1.0 + 0.25*dot(x, x))\n"
                               "        s = 0.5*first", "        first = 1.0/sqrt(1.0 + dot(x, x))\n        s = first"),
    "sign of the commutator of bliedf3": (third_order, "liestep.integrators.bliedf", "1.0/12.0 if", "-1.0/12.0 if"),
    "alpha_m and alpha_f exchanged": (second_order, ALPHA, "ratio = (1.0 - self.alpha_m)/(1.0 - self.alpha_f)",
                                      "ratio = (1.0 - self.alpha_f)/(1.0 - self.alpha_m)"),
    "correction of the start without its bracket": (
        first_multipliers, ALPHA, "change = axpy(1.0/12.0, wide if", "change = axpy(0.0, wide if"),
    "shift of the inertia": (inertia, "liestep.mechanics.formulations.multibody.pinned",
                             "mass*(centre @ centre*np.eye(3) - np.outer(centre, centre))",
                             "mass*(centre @ centre*np.eye(3) + np.outer(centre, centre))"),
    "R for its transposed in the weight": (equilibrium, INDEX_THREE, "weight, spin = times(x, m, g),",
                                           "weight, spin = across(x, m, g),"),
    "sign of the multipliers": (
        equilibrium, INDEX_THREE, "self.load(i, scale(found[p], moment), scale(found[p], force))",
        "self.load(i, scale(-found[p], moment), scale(-found[p], force))"),
    "sign of the multipliers of index 1": (accelerations, MECHANISM, "value = -self.vectors[which, self.place[k]]",
                                           "value = self.vectors[which, self.place[k]]"),
    "projection without M": (projection, MECHANISM,
                             "put(s, at + 2, times(self.constants, BODY*i + 4, torque))", "put(s, at + 2, torque)"),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_right_code_passes(check):
    assert check(world()) < CHECKS[check]


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_killed(name):
    """By at least five times what is allowed."""
    check, module, old, new = MUTANTS[name]
    try:
        found = check(world(module, old, new))
    except AssertionError:
        return  # a step that fails, or no longer converges
    assert not found < 5.0*CHECKS[check]


def test_only_a_method_of_order_four_sees_the_sign_of_x():
    """The midpoint rule keeps order 2 with it."""
    _, module, old, new = MUTANTS["sign of X in dexpinv"]
    for modules in (world(), world(module, old, new)):
        assert order(modules, "midpoint") == pytest.approx(2.0, abs=0.2)
