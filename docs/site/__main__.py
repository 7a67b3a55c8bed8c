"""python -m docs.site build [--to FOLDER] | papers | live [--check] | snapshot | check | contact [--results FOLDER]"""
import argparse
import sys
from pathlib import Path

from docs.site.build import SNAPSHOT, build
from docs.site.contact import sheets
from docs.site.live import FOLDER, PAGE
from docs.site.live import check as check_live
from docs.site.live import make as make_live
from docs.site.papers import pages
from docs.site.snapshot import Snapshot, take
from docs.site.source import TOP
from liestep.errors import InputError


def check(results: Path) -> None:
    """Raises InputError where the snapshot is not of the run in `results`, or not of today's studies and claims."""
    snapshot = Snapshot(SNAPSHOT)
    if (results/"manifest.json").is_file():
        snapshot.against(results)
    changed = list(snapshot.changed(TOP))
    if changed:
        raise InputError(f"the snapshot is older than {len(changed)} files, for example {changed[0]}: make all results,"
                         " then run `python -m docs.site snapshot`")
    print(f"{SNAPSHOT}: of the run with manifest {snapshot.manifest[:16]}, up to date")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.site", description="The documentation site.")
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("build", help="make the pages, without any request to a network")
    making.add_argument("--to", type=Path, default=TOP/"site", help="folder of the pages (default: site)")
    for name, text in (("snapshot", "keep verdicts, errata and figures of the last full run in docs/snapshot"),
                       ("contact", "put all figures of each paper on one sheet in the folder contact"),
                       ("check", "say whether docs/snapshot is of the last full run and of today's studies")):
        commands.add_parser(name, help=text).add_argument("--results", type=Path, default=TOP/"results")
    commands.add_parser("papers", help="write README.md of each paper from docs/snapshot")
    live = commands.add_parser("live", help="make the page on which loops run in the browser; needs wasm-ld")
    live.add_argument("--check", action="store_true", help="compare what would be made with what is kept")
    given = parser.parse_args()
    try:
        if given.command == "build":
            print(build(given.to))
        elif given.command == "live":
            print(check_live() if given.check else make_live(FOLDER, PAGE.parent))
        elif given.command == "papers":
            for path, text in pages(Snapshot(SNAPSHOT)).items():
                path.write_text(text, "utf-8")
        elif given.command == "snapshot":
            print(take(given.results, SNAPSHOT))
        elif given.command == "contact":
            print(sheets(given.results, TOP/"contact"))
        else:
            check(given.results)
    except InputError as error:
        sys.exit(f"site: {error}")


if __name__ == "__main__":
    main()
