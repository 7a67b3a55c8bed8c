"""Commands of the tools. Light to import: the rest is loaded when one of them is called."""
import argparse
import sys
from pathlib import Path

from liestep.errors import InputError
from liestep.files.terminal import columns, fitted

STEPS = 10_000  # of a run for exponents whose step is not given


def command_check_system(arguments: argparse.Namespace) -> None:
    from liestep.simulation.catalogue import integrator_ids
    from liestep.simulation.plugins.loading import find_plugin, load_plugin
    from liestep.tools.inspect.check_system import check_integrator, check_system, table

    names = (load_plugin(find_plugin(arguments.target, Path()))
             if arguments.target.endswith(".py") else (arguments.target,))
    right = True
    for name in names:
        rows = check_integrator(name) if name in integrator_ids() else check_system(name, arguments.preset)
        right = right and all(row.ok is not False for row in rows)
        print(fitted(table(name, rows)), flush=True)
    if not right:
        raise SystemExit(1)


def command_lyapunov(arguments: argparse.Namespace) -> None:
    from liestep.simulation.catalogue import method
    from liestep.simulation.runs.outcomes import carry_out
    from liestep.simulation.runs.specification import specify
    from liestep.simulation.tangents.rates import exponents, pair_sums

    problem, integrator = arguments.problem, arguments.integrator
    if method(integrator).adaptive:
        raise InputError(f"{integrator} is adaptive: exponents need fixed steps")
    size = {"steps": STEPS} if arguments.step is None else {"step": arguments.step}
    spec = specify(problem, integrator, preset=arguments.preset, t_end=arguments.t_end, samples=2,
                   exponents=arguments.exponents, **size)
    content = carry_out(spec)
    if content.attributes["status"] != "ok":
        raise InputError(f"{integrator} on {problem}: {content.attributes['message']}")
    rates = exponents(content.variables["growth"][1], spec.t_end)
    print(f"{problem}, {integrator}, step {spec.step:g} s, {spec.t_end:g} s: Lyapunov exponents in 1/s")
    for exponent in rates:
        scale = f"  Lyapunov time {1.0/exponent.rate:.4g} s" if exponent.rate > 2.0*exponent.uncertainty else ""
        print(f"{exponent.rate: .6f} +- {exponent.uncertainty:.6f}{scale}")
    if "lyapunov_pair_sum" in content.attributes:
        sums = ", ".join(f"{value:.1e}" for value in pair_sums(exponent.rate for exponent in rates))
        print(f"sums of pairs, which vanish for Hamiltonian systems: {sums}")


def command_certify(arguments: argparse.Namespace) -> None:
    from liestep.tools.certify.identities import report

    failed = 0
    for line, passed in report(arguments.integrator):
        print(line, flush=True)
        failed += not passed
    print(f"{failed} not certified" if failed else "all certified")
    if failed:
        raise SystemExit(1)


def command_recommend(arguments: argparse.Namespace) -> None:
    from liestep.study.plan.assignments import assignments
    from liestep.tools.recommend.search import SHOWN
    from liestep.tools.recommend.tournament import recommend

    columns()  # before minutes of work
    print(f"compiling and timing methods on {arguments.problem}", file=sys.stderr, flush=True)
    recommended = recommend(arguments.problem, error=arguments.error, preset=arguments.preset, t_end=arguments.t_end,
                      parameters=assignments(arguments.parameter, "parameter"), keep=arguments.keep,
                      budget=arguments.budget, progress=sys.stderr.isatty())
    print(fitted(recommended.text(len(recommended.table) if arguments.all else SHOWN)))


def command_export(arguments: argparse.Namespace) -> None:
    from liestep.tools.certify.export import export

    for line in export(arguments.output, arguments.problem, arguments.preset, arguments.digits):
        print(line)


def command_cache(arguments: argparse.Namespace) -> None:
    from liestep.compile.shipping import export, take_in

    print((export if arguments.action == "export" else take_in)(arguments.file))
