"""Command line: commands that people type, and after `job` those that the workflow's rules call. Imports are inside the
commands, because a sweep must start fast."""
import argparse
import gc
import importlib
import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from liestep.errors import InputError, unknown
from liestep.files.extras import extras
from liestep.files.terminal import fitted

DECLARED = Path(__file__).with_suffix(".toml")  # all commands with their arguments
TYPES: dict[str, Callable[[str], Any]] = {"float": float, "int": int, "path": Path}  # of arguments
FILES = ("study", "config", "claims", "errata", "figures", "tables")  # whose keys or names `liestep describe` says


class Parser(argparse.ArgumentParser):
    """Complains in one sentence instead of printing the usage."""

    jobs: Mapping[str, Any] = {}  # by the names that stand after `job`

    def format_help(self) -> str:
        return fitted(super().format_help())

    def error(self, message: str):
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.dest == "command" and value in self.jobs:
            raise InputError(f"`liestep {value}` is a job of the workflow: type `liestep job {value}`")
        if action.dest in ("command", "job") and action.choices is not None and value not in action.choices:
            raise InputError(unknown(action.dest, value, action.choices))
        super()._check_value(action, value)


class ShowVersion(argparse.Action):
    """The option --version."""

    def __call__(self, parser, *given):
        print(version())
        parser.exit()


def version() -> str:
    """Name and version of the package."""
    return f"liestep {importlib.import_module('importlib.metadata').version('liestep')}"


def command_list(arguments: argparse.Namespace) -> None:
    from liestep.api import functions as api

    summaries = {name: facts["summary"] for name, facts in api.list_integrators(arguments.problem).items()}
    for kind, titles in (("problems", api.list_systems()), ("integrators", summaries)):
        print(f"{kind}:")
        for name, title in titles.items():
            print(fitted(f"  {name:26} {title}"))


def command_describe(arguments: argparse.Namespace) -> None:
    name, part = ("tables", "metrics") if arguments.name == "metrics" else (arguments.name, None)
    module = "liestep.workflow.schemas" if name in FILES else "liestep.tools.inspect.describe"
    print(fitted(importlib.import_module(module).describe(name, arguments.part or part)))


def command_run(arguments: argparse.Namespace) -> None:
    from liestep.files.terminal import progress_bar
    from liestep.simulation.endings.events import event_from, times_from
    from liestep.simulation.runs.estimate import estimate, require_disk, require_memory
    from liestep.simulation.runs.files import require_free, write
    from liestep.simulation.runs.outcomes import carry_out
    from liestep.simulation.runs.specification import specify
    from liestep.study.plan.assignments import assignments

    if arguments.members:
        return command_members(arguments)
    spec = specify(arguments.problem, arguments.integrator, step=arguments.step, tolerance=arguments.tolerance,
                   t_end=arguments.t_end, preset=arguments.preset,
                   parameters=assignments(arguments.parameter, "parameter"),
                   options=assignments(arguments.option, "option"), samples=arguments.samples,
                   initial=assignments(arguments.initial, "initial") or None,
                   t_start=arguments.t_start, times=times_from(arguments.times),
                   until=event_from(arguments.until, arguments.direction, arguments.count))
    if arguments.output.suffix.lower() != ".nc":
        raise InputError(f"--output {arguments.output} must end with .nc: runs are NetCDF files")
    require_memory(spec)
    require_disk(estimate(spec).size, arguments.output.parent)
    require_free(arguments.output, spec.sha256)
    with progress_bar(f"{arguments.integrator} on {arguments.problem}", sys.stderr.isatty()) as progress:
        content = carry_out(spec, progress, interpreted=True)
    write(content, arguments.output, replace=False)
    print(f"{arguments.output}: {content.attributes['message']}")
    if "warning" in content.attributes:
        print(f"{arguments.output}: warning: {content.attributes['warning']}")
    if content.attributes["status"] != "ok":
        raise SystemExit(3)


def command_members(arguments: argparse.Namespace) -> None:
    from liestep.files.textfiles import replacing
    from liestep.simulation.endings.events import event_from, times_from
    from liestep.simulation.many.call import END, SAMPLES, ensemble, members_from
    from liestep.study.plan.assignments import assignments

    if arguments.output.exists():
        raise InputError(f"{arguments.output} exists; remove it or choose another name")
    if arguments.samples:
        raise InputError("--samples is for single runs; with --members give --times")
    starts, parameters = members_from(arguments.members, arguments.problem)
    initial, fixed = assignments(arguments.initial, "initial"), assignments(arguments.parameter, "parameter")
    for name in sorted(({*starts} & {*initial}) | ({*parameters} & {*fixed})):
        raise InputError(f"{name} is given twice: for each member by --members, and for all; leave out one of them")
    times = times_from(arguments.times)
    data = ensemble(arguments.problem, arguments.integrator, step=arguments.step, tolerance=arguments.tolerance,
        t_end=arguments.t_end, preset=arguments.preset, t_start=arguments.t_start, times=times, starts=initial | starts,
        parameters=fixed | parameters, options=assignments(arguments.option, "option"), keep=SAMPLES if times else END,
        until=event_from(arguments.until, arguments.direction, arguments.count), progress=sys.stderr.isatty())
    with replacing(arguments.output) as temporary:
        data.to_netcdf(temporary, engine="netcdf4")
    print(f"{arguments.output}: {data.sizes['member']} members, of which {data.attrs['members_failed']} stopped early")


def command_check(arguments: argparse.Namespace) -> None:
    from liestep.simulation.runs.estimate import count, total
    from liestep.simulation.runs.files import read

    if arguments.target.endswith(".nc"):
        file = read(Path(arguments.target))
        maker = file.attributes.get("integrator", "the engines of a reference")
        print(f"{arguments.target}: complete, {file.attributes['problem']} by {maker}, {file.attributes['message']}")
        return
    from liestep.study.plan.plan import Study, warnings
    from liestep.workflow.workflow import StudyProducts, claims_on, require_room

    products = StudyProducts(Study.find(arguments.target, arguments.config, arguments.results))
    require_room([products], arguments.results)
    study = products.study
    print(f"{study.name}: valid, {count(len(study.sweeps), 'sweep')}\n  {total(cell.spec for cell in study.cells)}")
    if claims := claims_on(study, arguments.config, arguments.results):
        print(f"{study.name}: {count(claims, 'claim')} on it, valid")
    for sentence in warnings(study):
        print(f"{study.name}: warning: {sentence}")


def command_sweep(arguments: argparse.Namespace) -> None:
    from liestep.simulation.runs.store import Store
    from liestep.study.plan.plan import Study
    from liestep.study.plan.sweep import run_cells

    study = Study.find(arguments.study, arguments.config, arguments.results)
    cells = [cell for problem in arguments.problem.split(",")
             for cell in study.select(problem, arguments.integrator, arguments.resolution)]
    found = run_cells(cells, Store(arguments.results), arguments.again)
    print(f"{study.name} {arguments.problem}: {found.made} made, {found.linked} linked, {found.kept} kept,"
          f" {found.failed} stopped early", file=sys.stderr)


def ids(what: str, **_: Any) -> list[str]:
    """What a shell may offer for a problem or an integrator."""
    catalogue = importlib.import_module("liestep.simulation.catalogue")
    return list(catalogue.system_ids() if what == "problem" else catalogue.integrator_ids())


def _declare(parser: argparse.ArgumentParser, told: Mapping[str, Any]) -> None:
    """Give a command its function and its arguments."""
    parser.set_defaults(call=told["call"])
    for name, how in told.get("arguments", {}).items():
        typed = {"type": TYPES[how["type"]]} if "type" in how else {}
        argument = parser.add_argument(*name.split(), **{**how, **typed})
        if name in ("problem", "integrator"):
            vars(argument)["completer"] = partial(ids, name)  # of argcomplete


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="liestep", usage="%(prog)s [options] command ...", description="Numerical studies of"
                    " structure-preserving integrators.", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action=ShowVersion, nargs=0, help="show the version and end")
    parser.add_argument("--config", type=Path, default=Path("config"), help="folder with studies (default: config)")
    parser.add_argument("--results", type=Path, default=Path(os.environ.get("LIESTEP_RESULTS", "results")),
                        help="folder of the products (default: LIESTEP_RESULTS or results)")
    parser.add_argument("--plugin", action="append", default=[], metavar="FILE",
                        help="file with own systems or integrators, docs/own_system.md")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command", help=argparse.SUPPRESS,
                                       prog=parser.prog)
    jobs = commands.add_parser("job", description="Jobs of the workflow, which snakemake calls.").add_subparsers(
        dest="job", required=True, metavar="job")
    known = tomllib.loads(DECLARED.read_text("utf-8"))
    parser.jobs, groups = known.pop("jobs"), dict[str, list[str]]()
    for name, told in parser.jobs.items():
        _declare(jobs.add_parser(name, description=told["help"], help=told["help"]), told)
    for name, told in known.items():
        example = f"example: liestep {told['example']}"
        _declare(commands.add_parser(name, description=told["help"], epilog=example), told)
        groups.setdefault(told["group"], []).append(f"  {name:18}{told['help']}")
    shown = "\n\n".join("\n".join([f"{group}:", *lines]) for group, lines in groups.items())
    parser.epilog = (f"{shown}\n\n`liestep COMMAND --help` shows an example, `liestep job --help` the jobs of the"
                     " workflow")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Entry point; InputError becomes one sentence and exit code 2. Jobs of the workflow are handed over to its
    pool."""
    return _typed() if argv is None else carry_out(argv)


def _typed() -> int:
    open_closed()
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what may follow
        importlib.import_module("argcomplete").autocomplete(build_parser())
    try:
        if sys.argv[1:] == ["--version"]:
            print(version())
            code = 0
        else:
            code = importlib.import_module("liestep.workflow.handover").hand_over(sys.argv[1:])
            code = carry_out(sys.argv[1:]) if code is None else code
        sys.stdout.flush()
        return code
    except InputError as error:  # before the command has begun, as the next one
        return said(str(error), 2)
    except OSError as error:
        code = broken_pipe()  # else Python would try once more at its end
        return code if isinstance(error, BrokenPipeError) else said(f"cannot print: {error.strerror}", 1)
    except KeyboardInterrupt:
        return said("interrupted", 130)


def open_closed() -> None:
    """Open the streams with which this process was started closed: else the next file would take their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def said(sentence: str, code: int) -> int:
    """The exit code, after a sentence on stderr where that can be written, with escapes for control characters, which
    would end the line or command the terminal."""
    shown = (letter if letter.isprintable() else ascii(letter)[1:-1] for letter in f"liestep: {sentence}")
    with suppress(OSError):
        print("".join(shown), file=sys.stderr)
    return code


def broken_pipe() -> int:
    """The reader of our output, for example `head`, has gone; nothing more is written to it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


def carry_out(argv: list[str]) -> int:
    """One command in this process; returns its exit code."""
    from liestep.compile.translation import plugin_errors
    from liestep.files.records import recording

    gc.set_threshold(100_000)  # importing thousands of functions would call the collector hundreds of times (0.2 s)
    try:
        importlib.import_module("liestep.simulation.plugins")  # the catalogue finds those of installed packages
        arguments = build_parser().parse_args(argv)
        if arguments.results.exists() and not arguments.results.is_dir():
            raise InputError(f"--results {arguments.results} is not a folder")
        for text in arguments.plugin:
            loading = importlib.import_module("liestep.simulation.plugins.loading")
            loading.load_plugin(loading.find_plugin(text, Path()))
        module, _, name = arguments.call.partition(":")
        with recording(arguments.results), extras(), plugin_errors():
            command = getattr(importlib.import_module(f"liestep.{module}"), name)
            if argv[0] in ("job", "animate") and "LIESTEP_RESULTS" in os.environ:  # of the workflow
                with importlib.import_module("liestep.workflow.seconds").noted(arguments.results, argv):
                    command(arguments)
            else:
                command(arguments)
    except InputError as error:
        return said(str(error), 2)
    except OSError as error:  # a name that the file system refuses, a disk that fails
        if isinstance(error, BrokenPipeError):
            return broken_pipe()
        shown, why = str(error.filename or ""), error.strerror or str(error).partition(". ")[0]
        if not shown:
            return said(f"cannot read, load or write: {why}", 1)
        return said(f"cannot use {shown if len(shown) <= 100 else f'{shown[:100]}...'}: {why}", 2)
    except MemoryError:
        return said("the memory that this process may have (ulimit -v) is used up", 1)
    except KeyboardInterrupt as stop:
        return said(str(stop) or "interrupted", 130)
    return 0


if __name__ == "__main__":
    sys.exit(main())
