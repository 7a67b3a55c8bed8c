"""Deliberately wrong integrators: one edit of one source file each, what it should break, and where that must be seen.

A mutant is a copy of the package in which `old` (exactly `count` times in the file) is replaced by `new`. `breaks`
names checks of `examine`: at least these must fail. Edits follow the source: when it changes, `old` is no longer
found and the test says so.
"""
from dataclasses import dataclass, field

BODIES, PENDULUM, TOP = (("sphere_nbody", "paper"), ("spherical_pendulum_chain", "paper_scaled"),
                         ("heavy_top", "asymmetric"))


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    old: str
    new: str
    integrator: str
    breaks: tuple[str, ...]
    problem: tuple[str, str] = BODIES
    options: dict = field(default_factory=dict)
    count: int = 1


def _rk(name, old, new, integrator="rk4", **more):
    return Mutant(name, "integrators/runge_kutta.py", old, new, integrator, ("order",), **more)


def _rkmk(name, file, old, new, breaks=("order",), **more):
    return Mutant(name, file, old, new, "rkmk", breaks, **more)


def _vi(name, old, new, breaks, integrator="vi_sphere", file="vi_sphere.py", **more):
    return Mutant(name, f"integrators/{file}", old, new, integrator, breaks, **more)


def _cf(name, old, new, kind="py", **more):
    return Mutant(name, f"integrators/commutator_free.{kind}", old, new, "cf4", ("order",), **more)


def _cut(name, old, new):
    return Mutant(name, "integrators/rkmk.py", old, new, "rkmk", ("order",), options={"dexpinv": 2})


def _top(name, file, old, new):
    return Mutant(name, file, old, new, "rkmk", ("order",), TOP)


def _slgi(name, old, new, breaks=("order", "symmetry"), file="integrators/cotangent_rotation.py", **more):
    return Mutant(name, file, old, new, "slgi", breaks, TOP, **more)


NEWTON, FIXED_POINT = {"solver": "newton"}, {"solver": "fixed_point"}
SPATIAL_RATE = "return to_space(y[3*i:3*i + 3], body_velocity(y, i, p, moments))"
STAGE = "problem.rhs(t + self.c[s]*h, z, work[s])"

MUTANTS = (
    # Runge-Kutta
    _rk("k1 for k2", STAGE, STAGE.replace("z,", "y,")),
    _rk("k1 for k2 in the midpoint rule", STAGE, STAGE.replace("z,", "y,"), "rk2_midpoint"),
    _rk("half a stage", "h, work, s, y,", "h if s == stages else 0.5*h, work, s, y,"),
    _rk("last stage forgotten", "h, work, s, y,", "h, work, s - 1 if s == stages else s, y,", "rk2_heun"),
    _rk("inner stages see the first slope only", "h, work, s, y,", "h, work, s if s == stages else 1, y,"),
    Mutant("weights of two stages swapped", "integrators/tableaux.toml", '"1/6 1/3 1/3 1/6"', '"1/3 1/6 1/6 1/3"',
           "rk4", ("order",)),
    Mutant("velocity term of coupled bodies forgotten", "mechanics/formulations/spheres/mass.py",
           "self.matrix[i, j]*dot(wj, wj)", "0.0*dot(wj, wj)", "rk4", ("order",), PENDULUM, {"mass": "dense"}),
    Mutant("velocity term of the banded solve forgotten", "mechanics/formulations/spheres/mass.py",
           "- dot(u, u)\n            self.pivot", "- 0.0*dot(u, u)\n            self.pivot", "rk4", ("order",),
           PENDULUM),
    Mutant("q x omega for omega x q", "mechanics/formulations/spheres/components.py",
           "put(out, i, cross(row(w, i), row(q, i)))", "put(out, i, cross(row(q, i), row(w, i)))", "rk4", ("order",)),
    # Munthe-Kaas
    _rkmk("no dexpinv", "integrators/rkmk.py", "if not self.dexpinv.apply(problem, sigma, k[s], scratch):",
          "if False:"),
    _rkmk("dexp for dexpinv: wrong sign of the commutator", "geometry/se3.py", "axpy(-0.5, ", "axpy(0.5, ", count=2),
    _rkmk("double commutator forgotten", "geometry/se3.py", "g, slope = dexpinv_coefficients(dot(A, A))",
          "g, slope = 0.0, 0.0"),
    _rkmk("commutator with a body-fixed element", "geometry/se3.py", "rotation, translation = bracket(A, a, B, b)",
          "rotation, translation = bracket(B, b, A, a)"),
    _rkmk("translation part of the commutator forgotten", "geometry/se3.py",
          "return cross(A, B), add(cross(A, b), cross(a, B))", "return cross(A, B), cross(A, b)", problem=PENDULUM),
    _rkmk("translation acts on the old direction", "geometry/se3.py",
          "    q = quadratic(s, c, A, q)\n    return q, add(quadratic(s, c, A, w), cross(r, q))",
          "    return quadratic(s, c, A, q), add(quadratic(s, c, A, w), cross(r, q))", ("order", "manifold")),
    _rkmk("a for dexp_A a", "geometry/se3.py", "return s, c, quadratic(c, d, A, a)", "return s, c, a",
          problem=PENDULUM),
    _rkmk("body-fixed angular acceleration", "mechanics/formulations/spheres/components.py",
          "axpy(self.beta, a, cross(a, row(self.dw, i)))", "axpy(self.beta, a, row(self.dw, i))"),
    Mutant("rotation the other way", "geometry/se3.py", "q = quadratic(s, c, A, q)", "q = quadratic(-s, c, A, q)",
           "rkmk tableau=euler", ("order",)),
    _cut("all terms of dexpinv positive", "[bernoulli(j)/factorial(j)", "[abs(bernoulli(j))/factorial(j)"),
    _cut("last bracket of the series forgotten", "range(1, self.coefficients.shape[0])",
         "range(1, self.coefficients.shape[0] - 1)"),
    _cut("nested bracket the other way", "problem.bracket(sigma, scratch, scratch)",
         "problem.bracket(scratch, sigma, scratch)"),
    _cut("series without factorials", "bernoulli(j)/factorial(j) for", "bernoulli(j)/1 for"),
    # other exponential methods
    *(_cf(f"swapped final exponentials, {problem[0]}",
          '[-1, "1/4 1/6 1/6 -1/12", false], [3, "-1/12 1/6 1/6 1/4", false]',
          '[-1, "-1/12 1/6 1/6 1/4", false], [3, "1/4 1/6 1/6 -1/12", false]', "toml", problem=problem, count=2)
      for problem in (BODIES, TOP)),
    _cf("last stage from the start of the step", '[0, "-1/2 0 1", true]', '[-1, "0 0 1", true]', "toml", count=2),
    _cf("every exponential from the start of the step", "y if self.bases[number] < 0", "y if self.bases[number] < 4"),
    *(Mutant(name, "integrators/rkmk.py", "Fraction(-1, 8), Fraction(0), Fraction(-1, 12)]", f"{e}]",
             "rkmk4_2comm", ("order",))
      for name, e in (
          ("last commutator missing", "Fraction(-1, 8), 0, 0"), ("inner commutator missing", "0, 0, Fraction(-1, 12)"),
          ("sign of the last commutator", "Fraction(-1, 8), 0, Fraction(1, 12)"))),
    # rigid bodies
    _top("angular velocity in the body's axes", "mechanics/formulations/rigid_bodies/components.py", SPATIAL_RATE,
         "return body_velocity(y, i, p, moments)"),
    _top("moments of inertia about spatial axes", "mechanics/formulations/rigid_bodies/components.py", SPATIAL_RATE,
         "return p[0]/moments[0], p[1]/moments[1], p[2]/moments[2]"),
    _top("generator of the direct product", "mechanics/formulations/rigid_bodies/components.py",
         "sub(row(self.f, i), cross(w, p)) if self.semidirect else row(self.f, i)", "row(self.f, i)"),
    _top("n for dexp_u n", "geometry/groups/actions.py", "row(xi, i), r, y, out)",
         "row(xi, i), row(xi, n + i), y, out)"),
    _top("momentum is not turned", "geometry/groups/actions.py",
         "quadratic(s, c, a, row(y, 3*self.n + i))", "row(y, 3*self.n + i)"),
    _slgi("torque in the body's axes", "return self.system.torque(y)", "return to_body(y, self.system.torque(y))",
          ("order", "momentum"), "mechanics/formulations/fixed_body/components.py"),
    _slgi("torque at the start of the step", "turn(to_space(y, scale(self.theta, z)), y, stage)",
          "turn(scale(0.0, z), y, stage)", count=2),
    _slgi("kick of the momentum at the start of the step", "axpy(h, problem.pull(y, stage, z), row(y, 3))",
          "axpy(h, problem.pull(y, y, z), row(y, 3))"),
    _slgi("second dexp forgotten", "axpy(-theta, quadratic(j[0], j[1], part, kick), quadratic(k[0], k[1], whole, end))",
          "quadratic(k[0], k[1], whole, end)"),
    _slgi("dexp of the rotation back", "whole, part = scale(-1.0, z)", "whole, part = scale(1.0, z)"),
    _slgi("attitude turned about an axis of the body", "turn(in_space(y, z, start, row(y, 3)), y, y)",
          "turn(z, y, y)"),
    # explicit variational step
    _vi("missing h/2 in the first half", "a = axpy(-0.5*h/", "a = axpy(-h/",
        ("order", "symmetry")),
    _vi("missing h/2 in the second half", "put(w, i, axpy(-0.5*h/", "put(w, i, axpy(-h/",
        ("order", "symmetry")),
    _vi("gradient of the first step kept",
        "        problem.gradient(q, work.g)\n        for i in range(n):\n            put(w",
        "        for i in range(n):\n            put(w", ("order",)),
    _vi("torque about the wrong side", "cross(row(q, i), row(work.g, i))",
        "cross(row(work.g, i), row(q, i))", ("order", "symmetry")),
    _vi("1 - s for its root", "root = sqrt(1.0 - s)", "root = 1.0 - s", ("order", "manifold"),
        options={"form": "paper"}),
    _vi("increment without its quadratic part", "-s/(1.0 + root)", "0.0*s/(1.0 + root)",
        ("manifold",)),
    _vi("old kick in the second half", "            put(w, i, a)\n", "", ("order", "symmetry")),
    # multipliers
    _vi("force at the end forgotten",
        "put(work.v, i, axpy(-0.5*h, row(work.kick, i), row(work.v, i)))",
        "put(work.v, i, axpy(-0.0*h, row(work.kick, i), row(work.v, i)))", ("order", "symmetry"), problem=PENDULUM),
    _vi("half the constraint force in the velocity", "axpy(1.0/h, pull,", "axpy(0.5/h, pull,",
        ("order", "momentum"), problem=PENDULUM),
    _vi("linear constraint", "-(2.0*dot(qi, d) + dot(d, d) + length_defect(qi))",
        "-(2.0*dot(qi, d) + length_defect(qi))", ("manifold",), problem=PENDULUM),
    _vi("velocity projected body by body", "work.residual[i] = -dot(qi, row(work.v, i))",
        "work.residual[i] = 0.0", ("momentum", "symmetry"), problem=PENDULUM),
    _vi("constraint forces along the new directions",
        "*work.multiplier[j], row(q, j), pull)", "*work.multiplier[j], add(row(q, j), row(work.target, j)), pull)",
        ("symmetry",), problem=PENDULUM),
    # Cayley coordinates
    _vi("sign of erratum 3", "cross(row(w, j), row(q, j)), pull)",
        "cross(row(q, j), row(w, j)), pull)", ("order",), problem=PENDULUM, options=NEWTON),
    _vi("h for h^2/2", "pull = scale(-0.5*h*h, row(work.g, i))",
        "pull = scale(-h*h, row(work.g, i))", ("order", "symmetry"), problem=PENDULUM, options=NEWTON),
    _vi("wrong coefficient in the fixed-point matrix", "axpy(f[r], qj, hat_column(qj, r))",
        "axpy(-f[r], qj, hat_column(qj, r))", ("order", "momentum"), problem=PENDULUM, options=FIXED_POINT),
    _vi("tangent of the half angle",
        "put(work.move, i, scale(2.0/(1.0 + ff), axpy(-ff, qi, cross(f, qi))))",
        "put(work.move, i, scale(2.0, axpy(-ff, qi, cross(f, qi))))", ("manifold",), problem=PENDULUM, options=NEWTON),
    # compositions
    _vi("Yoshida's weight with a square root", "1.351207191959657634", "1.707106781186547524", ("order",),
        "vi_sphere weights=y4", "weights.toml"),
    _vi("digits of a weight swapped", "0.332599136789", "0.335299136789", ("order",), "vi_sphere weights=kl6",
        "weights.toml"),
    _vi("no step back", "y, self.weights[i]*h, work)", "y, abs(self.weights[i])*h, work)", ("order",),
        "vi_sphere weights=y4", "one_step.py"),
    _vi("last substep forgotten", "for i in range(self.weights.shape[0]):",
        "for i in range(self.weights.shape[0] - 1):", ("order", "symmetry"), "vi_sphere weights=s4", "one_step.py"),
)

# The package as it is must pass everything that a mutant of it can fail.
SOUND = tuple(dict.fromkeys((mutant.problem, mutant.integrator, tuple(mutant.options.items())) for mutant in MUTANTS))
