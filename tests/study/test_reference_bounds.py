"""Exported end states lie within their bounds, by an engine that made neither reference: extrapolation of Gragg's rule
in numbers of 64-bit mantissas, on equations that are written here."""
import numpy as np
import pytest

from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.catalogue import sheet
from liestep.simulation.references.reference import specify_reference
from liestep.tools.certify.export import MARGIN, SAMPLES, end_of

LONG, LEVELS = np.longdouble, 8
pytestmark = pytest.mark.skipif(np.finfo(LONG).nmant < 63, reason="no numbers of more than double precision")


def extrapolated(f, y, t_end, steps):
    """y(t_end) by steps of order 16: the modified midpoint rule with 2, 4, ... substeps, extrapolated in their
    squares."""
    for _ in range(steps):
        table = []
        for k in range(LEVELS):
            h = LONG(t_end)/steps/(2*k + 2)
            before, now = y, y + h*f(y)
            for _ in range(2*k + 1):
                before, now = now, before + 2*h*f(now)
            row = [now]
            for j in range(1, k + 1):
                row.append(row[-1] + (row[-1] - table[-1][j - 1])/((LONG(k + 1)/(k + 1 - j))**2 - 1))
            table.append(row)
        y = table[-1][-1]
    return y


def heavy_top(parameters, start):
    """Rates of the rows of attitude and spatial momentum, these rows at the start, and which are whose."""
    moments, axis, gravity = (np.array(parameters[name], LONG) for name in ("inertia", "axis", "gravity"))
    lever = LONG(parameters["mass"])*LONG(parameters["length"])*axis

    def f(y):
        turn, momentum = y[:3], y[3]
        rate = turn @ ((turn.T @ momentum)/moments)
        return np.concatenate([np.cross(rate, turn.T).T, np.cross(turn @ lever, gravity)[None]])

    rows = np.concatenate([np.array(start["attitude"], LONG), np.array(start["angular_momentum"], LONG)[None]])
    return f, rows, {"attitude": slice(0, 3), "angular_momentum": 3}


def four_bodies(parameters, start):
    """The same of directions and angular velocities of bodies of mass one."""
    def f(y):
        q, rate = y[:4], y[4:]
        normal = np.cross(q[:, None], q[None])  # (i, j): q_i x q_j
        length = np.sqrt(np.sum(normal*normal, axis=-1, keepdims=True)) + np.eye(4)[..., None]
        return np.concatenate([np.cross(rate, q), LONG(parameters["gamma"])*np.sum(normal/length**3, axis=1)])

    rows = np.concatenate([np.array(start["q"], LONG), np.array(start["omega"], LONG)])
    return f, rows, {"q": slice(0, 4), "omega": slice(4, 8)}


@pytest.mark.parametrize(("system", "preset", "equations", "steps"), [
    ("heavy_top", "classical", heavy_top, 600), ("sphere_nbody", "four_bodies", four_bodies, 200)])
def test_end_states_lie_within_their_bounds(system, preset, equations, steps, tmp_path):
    """The disagreement alone is exceeded: the margin is needed, and suffices."""
    spec = specify_reference(system, preset=preset, samples=SAMPLES)
    exported = spec.run.canonical() | end_of(spec, tmp_path/"reference.nc")
    f, y, rows = equations(exported["parameters"], exported["initial"])
    y = extrapolated(f, y, exported["t_end"], steps)
    facts = sheet(system)
    known = formulate_standard(facts, facts.check(exported["parameters"]),
                                {name: np.array(value) for name, value in exported["initial"].items()}).fields
    distance = {part.name: part.distance for part in known}
    shares = [float(distance[name](np.array([exported["final"][name]]), y[part].astype(float)[None])[0])
              / exported["error_bound"][name] for name, part in rows.items()]
    assert max(shares) <= 1.0
    assert max(shares) > 1.0/MARGIN
