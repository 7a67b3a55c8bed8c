"""The command that makes the report. Light to import."""
import argparse
import sys
from collections.abc import Callable


def command_report(arguments: argparse.Namespace) -> None:
    from liestep.files.textfiles import write_text_atomically
    from liestep.workflow.report.page import make_report
    from liestep.workflow.workflow import configured

    workflow = configured(arguments.config, arguments.results, arguments.study)
    # all pages are made before the first is written: what is stale leaves the report as it was
    for path, text, summary in list(make_report(workflow)):
        write_text_atomically(path, text)
        print(f"{path}: {summary}", file=sys.stderr)


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command; `add(name, function, help, example)`: an argparse parser; of jobs without an example."""
    command = add("report", command_report,
                  "collect verdicts, figures, tables, runs and errata in HTML files: report.html, an index, and a page"
                  " for each paper")
    command.add_argument("study", nargs="*", help="studies to show (default: those of config.yaml)")
