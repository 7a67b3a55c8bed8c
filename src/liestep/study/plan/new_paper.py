"""The folder of a paper to start from, which runs as it is."""
import shutil
from pathlib import Path

from liestep.errors import InputError
from liestep.study.plan.names import PAPERS, STUDIES, require_paper_id

TEMPLATE = Path(__file__).parent/"templates"/"paper"  # its files end with .in; @ID@ stands for the id


def new_paper(name: str, config: Path) -> Path:
    """Write the commented folder of a paper beside the folder `config`; returns it. Raises InputError: a name that can
    be no id, the paper or studies with this id exist, or it cannot be written."""
    folder = Path(config).parent/PAPERS/name
    require_paper_id(name, folder)
    for taken in (folder, Path(config)/STUDIES/name):
        if taken.exists() or taken.is_symlink():
            raise InputError(f"{taken} exists; choose another id or remove it")
    part = folder.with_name(f".{name}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        for path in TEMPLATE.rglob("*.in"):
            target = part/path.relative_to(TEMPLATE).with_suffix("")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(path.read_text("utf-8").replace("@ID@", name), "utf-8")
        part.rename(folder)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror or error}") from None
    return folder
