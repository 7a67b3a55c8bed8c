"""The command that makes the report. Light to import."""
import sys


def command_report(arguments) -> None:
    from liestep.pipeline.workflow import configured
    from liestep.report.page import make_report
    from liestep.storage.textfiles import write_text_atomically

    workflow = configured(arguments.config, arguments.results, arguments.study)
    text, summary = make_report(workflow)
    write_text_atomically(workflow.report, text)
    print(f"{workflow.report}: {summary}", file=sys.stderr)


def declare(add) -> None:
    """Add the command; `add(name, function, help)` returns an argparse parser."""
    command = add("report", command_report,
                  "collect verdicts, figures, tables, runs and errata in one HTML file: report.html")
    command.add_argument("study", nargs="*", help="studies to show (default: those of config.yaml)")
