"""Commands of the tools. Light to import: the rest is loaded when one of them is called."""
import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from liestep.errors import InputError
from liestep.study.tables.choice import KEEP
from liestep.tools.recommend import BUDGET

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
        print(table(name, rows), flush=True)
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
    found = exponents(content.variables["growth"][1], spec.t_end)
    print(f"{problem}, {integrator}, step {spec.step:g} s, {spec.t_end:g} s: Lyapunov exponents in 1/s")
    for one in found:
        scale = f"  Lyapunov time {1.0/one.rate:.4g} s" if one.rate > 2.0*one.uncertainty else ""
        print(f"{one.rate: .6f} +- {one.uncertainty:.6f}{scale}")
    if "lyapunov_pair_sum" in content.attributes:
        sums = ", ".join(f"{value:.1e}" for value in pair_sums(one.rate for one in found))
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
    from liestep.files.terminal import columns, fitted
    from liestep.study.plan.assignments import assignments
    from liestep.tools.recommend.search import SHOWN
    from liestep.tools.recommend.tournament import recommend

    columns()  # before minutes of work
    print(f"compiling and timing methods on {arguments.problem}", file=sys.stderr, flush=True)
    found = recommend(arguments.problem, error=arguments.error, preset=arguments.preset, t_end=arguments.t_end,
                      parameters=assignments(arguments.parameter, "parameter"), keep=arguments.keep,
                      budget=arguments.budget, progress=sys.stderr.isatty())
    print(fitted(found.text(len(found.table) if arguments.all else SHOWN)))


def command_export(arguments: argparse.Namespace) -> None:
    from liestep.tools.certify.export import export

    for line in export(arguments.output, arguments.problem, arguments.preset, arguments.digits):
        print(line)


def command_cache(arguments: argparse.Namespace) -> None:
    from liestep.compile.shipping import export, take_in

    print((export if arguments.action == "export" else take_in)(arguments.file))


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands; `add(name, function, help, example)`: an argparse parser; of jobs without an example."""
    check = add("check-system", command_check_system,
                "check gradient, invariants, formulations and orders of a system (orders of an integrator)",
                "check-system my_pendulum.py")
    check.add_argument("target", help="a plugin's file, or the id of a system")
    check.add_argument("--preset", help="of the system (default: the first)")
    lyapunov = add("lyapunov", command_lyapunov,
                   "largest Lyapunov exponents of a motion with their standard errors, by complex steps",
                   "lyapunov spring_pendulum rk4 --step 0.01 --t-end 1000")
    lyapunov.add_argument("problem", help="an id, see `liestep list`")
    lyapunov.add_argument("integrator", help="with fixed steps")
    lyapunov.add_argument("--step", type=float, help="default: t_end of the preset divided by 10,000")
    lyapunov.add_argument("--t-end", type=float, help="default: that of the preset; exponents want long runs")
    lyapunov.add_argument("--preset", help="its parameters and start (default: the first)")
    lyapunov.add_argument("--exponents", type=int, default=1, help="how many (default: 1)")
    certify = add("certify", command_certify,
                  "certify integrators on numbers of many digits: orders, identities and symplecticity",
                  "certify cf4 rkmk")
    certify.add_argument("integrator", nargs="*",
                         help="only the orders of these (default: all of the catalogue, identities and symplecticity)")
    command = add("recommend", command_recommend,
                  "find the integrator and the step that reach an error at the least cost, by a tournament",
                  "recommend heavy_top --error 1e-6")
    command.add_argument("problem", help="an id, see `liestep list`")
    command.add_argument("--error", type=float, required=True, help="largest distance from the reference, relative")
    command.add_argument("--t-end", type=float, help="the horizon in s (default: that of the preset)")
    command.add_argument("--preset", help="its parameters and start (default: the first)")
    command.add_argument("--parameter", "--parameters", action="append", default=[], metavar="NAME=VALUE",
                         help="replaces the preset's")
    command.add_argument("--keep", help=f"only methods that conserve it: {', '.join(KEEP)}")
    command.add_argument("--all", action="store_true", help="show all methods, not the winner and four rivals only")
    command.add_argument("--budget", type=float, default=BUDGET,
                         help=f"seconds of processor time that runs may take (default: {BUDGET:g})")
    export = add("export-reference", command_export,
                 "starts and end states of all presets with error bounds, as references.csv and .json",
                 "export-reference --problem heavy_top -o references")
    export.add_argument("--problem", help="only presets of this problem")
    export.add_argument("--preset", help="only this preset of the problem")
    export.add_argument("-o", "--output", type=Path, metavar="FOLDER", required=True,
                        help="folder of the tables and of the references, which are kept and used again")
    export.add_argument("--digits", type=int, metavar="N",
                        help="decimal digits of starts and end states, at t_end: seconds to hours for a preset")
    cache = add("cache", command_cache, "write this machine's compiled code to a file, or add that of a file",
                "cache export code.zip")
    cache.add_argument("action", choices=("export", "import"), help="to or from a machine with the same versions")
    cache.add_argument("file", type=Path, help="import runs what it holds: take it from people whom you trust")
