"""What the report is made with: its modules and templates. Light to import: the workflow asks each time it is read."""
import hashlib
from pathlib import Path

from liestep.compile.sources import package_modules, source_hash

TEMPLATES = Path(__file__).with_name("templates")


def page_source() -> str:
    """Hash of what makes the report: modules and templates."""
    digest = hashlib.sha256(source_hash(*package_modules("liestep.workflow.report")).encode())
    for path in sorted(TEMPLATES.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
