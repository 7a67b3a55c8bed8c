"""`python -m benchmarks`: ratios of the compiled core to C, numpy and scipy. `python -m benchmarks
study`: times of the workflow. `python -m benchmarks mechanisms`: mechanisms beside C, and maps beside quaternions.
`python -m benchmarks recommend`: recommendations beside an exhaustive ladder. `python -m benchmarks peers`: adaptive
methods beside heyoka at equal error.
`python -m benchmarks standard`: standard problems beside scipy, heyoka and IDA.
`python -m benchmarks robots`: robots from files beside pinocchio.
`python -m benchmarks ensembles`: members in shared registers; a million starts and five motions beside heyoka.
`python -m benchmarks plugins`: systems of the package beside the same files as plugins.
`python -m benchmarks against CHECKOUT`: the core beside that of another checkout, such as an older commit."""
import argparse
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("what", nargs="?", default="core",
                        choices=("core", "study", "mechanisms", "recommend", "peers", "plugins", "against", "standard",
                                 "robots", "ensembles"))
    parser.add_argument("checkout", nargs="?", type=Path, help="for `against`: root of the other checkout")
    parser.add_argument("--quick", action="store_true", help="few repeats and no comparison at equal error")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks"), help="folder of the tables")
    parser.add_argument("--record", action="store_true", help="append what was found to benchmarks/history.jsonl, and"
                        " make the tables of the two READMEs from it")
    arguments = parser.parse_args()
    if (arguments.what == "against") != (arguments.checkout is not None):
        parser.error("`against` takes the root of another checkout of liestep, and nothing else takes one")
    arguments.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="liestep-benchmark-") as folder:
        os.environ["LIESTEP_CACHE"] = folder  # the code of today, whatever was compiled before
        if arguments.what == "study":
            from benchmarks.study import measure

            sections = [("Time of the whole study", "study", measure(Path(folder), arguments.quick))]
        elif arguments.what == "mechanisms":
            from benchmarks import mechanisms

            repeats = 5 if arguments.quick else 25
            sections = [("Mechanisms beside C", "mechanisms_c", mechanisms.against_counterparts(repeats)),
                        ("generalized_alpha beside C", "alpha_c", mechanisms.alpha_beside_c(repeats)),
                        ("Maps beside quaternions", "maps", mechanisms.maps_over_quaternions(repeats))]
        elif arguments.what == "peers":
            from benchmarks import others, peers

            repeats = 3 if arguments.quick else 15
            rows = list(peers.compare(peers.PROBLEMS, repeats))
            sections = [("Adaptive methods beside heyoka", "peers", rows),
                        ("Longer motions at 1e-6", "peers_horizons", list(peers.horizons(peers.PROBLEMS, repeats//3))),
                        ("Other libraries", "peers_others", list(others.compare())),
                        ("Who wins", "peers_words", [{"": text} for text in peers.words(rows) + others.missing()])]
        elif arguments.what == "standard":
            # threads of linear algebra would count, and the first trial of a plugin compiles nothing yet
            os.environ |= {"OPENBLAS_NUM_THREADS": "1", "LIESTEP_TRIAL_SECONDS": "900"}
            from benchmarks import standard

            rows = list(standard.compare(2 if arguments.quick else 5))
            standard.store(rows)
            sections = [("Standard problems, milliseconds at equal error", "standard", list(standard.reached(rows)))]
        elif arguments.what == "robots":
            from benchmarks import robots

            sections = [("Robots beside pinocchio", "robots", robots.compare(5 if arguments.quick else 25))]
        elif arguments.what == "ensembles":
            from benchmarks import ensembles, written

            members, repeats = (10_000, 2) if arguments.quick else (1_000_000, 1)
            sections = [("Members that share registers", "lanes", ensembles.shared(2_048, 3 if arguments.quick else 7)),
                        ("Taylor series of many starts beside heyoka's batch", "beside", ensembles.beside(
                            *((4_096, 1) if arguments.quick else (65_536, 3)))),
                        ("rk4 of many starts beside C and diffrax", "written", written.compare(32_768, 3)),
                        ("Many starts beside heyoka's batch", "ensembles", ensembles.compare(members, repeats))]
        elif arguments.what == "plugins":
            from benchmarks import plugins

            rows = list(plugins.compare(Path(folder), 5 if arguments.quick else 25))
            sections = [("Plugins beside the package", "plugins", rows)]
        elif arguments.what == "against":
            from benchmarks import against

            rows = list(against.compare(arguments.checkout, Path(folder), 5 if arguments.quick else 15))
            sections = [(f"The core beside that of {arguments.checkout.name}", "against", rows)]
        elif arguments.what == "recommend":
            from benchmarks import recommend

            sections = recommend.tables(Path(folder))
        else:
            sections = core_sections(arguments.quick)
        made = write(sections, arguments.output, arguments.what)
        if arguments.record:
            from benchmarks import history

            history.append(made)
            for page in history.PAGES:
                page.write_text(history.with_tables(page.read_text("utf-8")), "utf-8")


def core_sections(quick: bool) -> Iterable[tuple[str, str, Iterable[dict[str, Any]]]]:
    """(heading, name of the CSV file, rows) of each table, made when they are asked for."""
    from benchmarks import bodies, equal_error, growth, shares, speed, tangents

    repeats = 5 if quick else 25
    yield "The core beside C and numpy", "core", speed.core_and_counterparts(repeats)
    yield "Lennard-Jones molecules", "molecules", speed.lennard_jones(3 if quick else 15)
    yield "Bonded rings beside C and numpy", "rings", bodies.rings(3 if quick else 15)
    yield "Maps of the three-dimensional pendulum", "pendulum_maps", bodies.pendulum(3 if quick else 15)
    yield "Rotation updates on a ring", "updates", bodies.updates(3 if quick else 15)
    yield "Time per particle", "particles", bodies.particles(2 if quick else 5)
    yield "Share of the processor's operations", "shares", shares.compare(2 if quick else 9)
    yield "Memory", "memory", speed.memory()
    yield "Time to compile", "compile", speed.compile_times(1 if quick else 3)
    yield "Time to compile a second method of the same class", "second_method", speed.second_methods()
    yield "Derivatives by the start", "derivatives", tangents.derivatives(3 if quick else 9)
    yield "Growth with the number of bodies", "growth", growth.growth(2 if quick else 7)
    if not quick:
        yield "scipy at equal error", "equal_error", equal_error.compare()


def write(sections: Iterable[tuple[str, str, Iterable[dict[str, Any]]]], folder: Path, name: str
          ) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Each table as <file>.csv, all of them with the description of the machine in <name>.md; returns their rows."""
    from benchmarks import machine, tables

    described = [{"": key, "value": value} for key, value in machine.describe().items()]
    text, made = ["# Benchmarks", "", tables.markdown(described)], []
    for heading, file, rows in sections:
        print(heading, file=sys.stderr)
        listed = list(rows)
        tables.write_csv(folder/f"{file}.csv", listed)
        text += ["", f"## {heading}", "", tables.markdown(listed)]
        made.append((heading, file, listed))
    page = folder/f"{name}.md"
    page.write_text("\n".join(text) + "\n")
    print(page.read_text())
    return made


if __name__ == "__main__":
    main()
