"""Evidence on statements of twospheres2009 about its equations, which no run of a study shows."""
import numpy as np

from liestep.claims.errata import Evidence
from liestep.mechanics.formulations import formulate
from liestep.papers.twospheres2009.evidence.continuous import tangential, unit_rows
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.simulation import simulate
from liestep.study.tables.vectors import size

SYSTEMS = {  # system -> preset, step: an explicit, a coupled and a stiff one
    "spring_pendula": ("paper", 5e-3), "spherical_pendulum_chain": ("paper_scaled", 0.01),
    "elastic_rod": ("paper", 1e-4)}
LARGEST = 1e-9  # of what holds up to round-off: differences of positions are divided by h^2


def two_step_map() -> Evidence:
    """Eqs. (18)-(19) along motions of vi_sphere, which computes with velocities: the residual of (18), relative to its
    terms, and the change of length by (19); with half the force as a wrong map."""
    numbers: dict[str, float] = {"corrected": 0.0, "length": 0.0, "wrong": np.inf}
    for problem, (preset, h) in SYSTEMS.items():
        facts = sheet(problem)
        parameters = facts.check(facts.presets[preset].parameters)
        system = facts.build(parameters)
        q = simulate(problem, "vi_sphere", preset=preset, step=h, t_end=50*h, samples=51)["q"].values
        gradient = np.array([_gradient(system, state) for state in q])
        change = np.diff(q, axis=0)
        assert facts.mass is not None
        mass = facts.mass(parameters)
        inertia = np.einsum("ij,kjx->kix", mass if mass.ndim == 2 else np.diag(mass), change)
        left = np.cross(q[1:-1], inertia[1:] - inertia[:-1])
        torque = h*h*np.cross(q[1:-1], gradient[1:-1])
        scale = size(torque) + size(left)
        numbers["corrected"] = max(numbers["corrected"], size(left + torque)/scale)
        numbers["wrong"] = min(numbers["wrong"], size(left + 0.5*torque)/scale)
        numbers["length"] = max(numbers["length"], float(np.abs(np.sum(q*q, axis=-1) - 1.0).max()))
    return Evidence(numbers["corrected"] <= LARGEST and numbers["length"] <= 1e-12 and numbers["wrong"] >= 1e-2,
                    "50 steps of three systems: residual of (18) at most {corrected:.1e} of its terms, with half the"
                    " force at least {wrong:.1e}; |1 - q.q| at most {length:.1e}", numbers)


def _gradient(system, q: np.ndarray) -> np.ndarray:
    out = np.zeros_like(q)
    system.gradient(q, out)
    return out


def global_equations() -> Evidence:
    """Rates of q.q, q.omega (eqs. 9-11) and q.q' (eqs. 7-8) at random states of three systems, relative to those of
    the state; and at velocities with a part along q, where nothing is said."""
    random = np.random.default_rng(9)
    numbers = {"omega": 0.0, "velocity": 0.0, "outside": np.inf}
    for problem, (preset, _) in SYSTEMS.items():
        facts = sheet(problem)
        parameters = facts.check(facts.presets[preset].parameters)
        n = len(facts.presets[preset].initial(parameters)["q"])
        q = unit_rows(random, n)
        turning, moving = tangential(random.standard_normal((n, 3)), q), tangential(random.standard_normal((n, 3)), q)
        numbers["omega"] = max(numbers["omega"], _leaving(problem, parameters, q, turning, "omega"))
        numbers["velocity"] = max(numbers["velocity"], _leaving(problem, parameters, q, moving, "velocity"))
        numbers["outside"] = min(numbers["outside"], _leaving(problem, parameters, q, moving + q, "velocity"))
    return Evidence(max(numbers["omega"], numbers["velocity"]) <= 1e-12 and numbers["outside"] >= 0.1,
                    "random states of three systems: the derivative of the constraints is at most {omega:.1e} of"
                    " those of the state for (9)-(11), {velocity:.1e} for (7)-(8); with velocities that"
                    " leave the tangent space at least {outside:.1e}", numbers)


def _leaving(problem: str, parameters, q: np.ndarray, rates: np.ndarray, form: str) -> float:
    """Largest derivative of q.q/2, relative to that of q, or of q.omega (q.q'), relative to that of the rates."""
    facts = sheet(problem)
    omega = rates if form == "omega" else np.cross(q, rates)
    made = formulate(facts, parameters, {"q": q, "omega": omega}, "vector_field", {"form": form})
    state = np.concatenate([q, rates])
    out = np.zeros_like(state)
    plain(made.problem).rhs(0.0, state, out)
    moved, accelerated = out[:len(q)], out[len(q):]
    length, tangency = np.sum(q*moved, axis=1), np.sum(q*accelerated + moved*rates, axis=1)
    return float(max(np.abs(length).max()/np.abs(moved).max(), np.abs(tangency).max()/np.abs(accelerated).max()))
