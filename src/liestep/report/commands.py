"""The command that makes the report. Light to import: the workflow asks for `page_source` each time it is read."""
import hashlib
import sys
from pathlib import Path

from liestep.core.sources import package_modules, source_hash

TEMPLATES = Path(__file__).with_name("templates")


def page_source() -> str:
    """Hash of what makes the report: modules and templates."""
    digest = hashlib.sha256(source_hash(*package_modules("liestep.report")).encode())
    for path in sorted(TEMPLATES.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def command_report(arguments) -> None:
    from liestep.report.page import make_report
    from liestep.study.textfiles import write_text_atomically
    from liestep.study.workflow import configured

    workflow = configured(arguments.config, arguments.results, arguments.study)
    text, summary = make_report(workflow)
    write_text_atomically(workflow.report, text)
    print(f"{workflow.report}: {summary}", file=sys.stderr)


def declare(add) -> None:
    """Add the command; `add(name, function, help)` returns an argparse parser."""
    command = add("report", command_report, "collect verdicts, figures, tables, runs and errata in one HTML file: report.html")
    command.add_argument("study", nargs="*", help="studies to show (default: those of config.yaml)")
