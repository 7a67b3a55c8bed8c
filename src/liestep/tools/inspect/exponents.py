"""Lyapunov exponents of one motion as lines of text."""
from collections.abc import Iterator

from liestep.errors import InputError
from liestep.simulation.catalogue import method
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
from liestep.simulation.tangents.rates import exponents, pair_sums

STEPS = 10_000  # of a run whose step is not given


def report(problem: str, integrator: str, *, step: float | None, t_end: float | None, preset: str | None,
           count: int) -> Iterator[str]:
    """One line for each exponent, then sums of pairs. Raises InputError: a wrong argument, or a run that stopped
    early."""
    if method(integrator).adaptive:
        raise InputError(f"{integrator} is adaptive: exponents need fixed steps")
    size = {"steps": STEPS} if step is None else {"step": step}
    spec = specify(problem, integrator, preset=preset, t_end=t_end, samples=2, exponents=count, **size)
    content = carry_out(spec)
    if content.attributes["status"] != "ok":
        raise InputError(f"{integrator} on {problem}: {content.attributes['message']}")
    growth = content.variables["growth"][1]
    found = exponents(growth, spec.t_end)
    yield f"{problem}, {integrator}, step {spec.step:g} s, {spec.t_end:g} s: Lyapunov exponents in 1/s"
    for one in found:
        scale = f"  Lyapunov time {1.0/one.rate:.4g} s" if one.rate > 2.0*one.uncertainty else ""
        yield f"{one.rate: .6f} +- {one.uncertainty:.6f}{scale}"
    if "lyapunov_pair_sum" in content.attributes:
        sums = ", ".join(f"{value:.1e}" for value in pair_sums(one.rate for one in found))
        yield f"sums of pairs, which vanish for Hamiltonian systems: {sums}"
