"""The environment of the other codes: a folder of its own, because their versions are not those of the lock."""
import hashlib
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PINS = Path(__file__).resolve().parent/"requirements.txt"
ENVIRONMENT = TOP/".cache"/"other-codes-environment"
STAMP = ENVIRONMENT/"made-from.txt"  # written last: an interrupted installation has none
PIP = ("-m", "pip", "install", "-qq", "--disable-pip-version-check")


def make(distributions: list[str]) -> str:
    """The Python of the environment, made unless it is up to date. Each code is installed alone, with all versions as
    pinned, so that one that is not to be had leaves the others."""
    python = ENVIRONMENT/"bin"/"python"
    wanted = hashlib.sha256(PINS.read_bytes() + sys.version.encode() + str(TOP).encode()).hexdigest()
    if STAMP.is_file() and STAMP.read_text() == wanted:
        return str(python)
    print(f"making {ENVIRONMENT} from {PINS.relative_to(TOP)} (about 2 GB, once)", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)], check=True)
    missing = [name for name in distributions if subprocess.call([python, *PIP, "-c", str(PINS), name]) != 0]
    if missing:
        print(f"not installed, see above: {', '.join(missing)}", file=sys.stderr)
    else:
        STAMP.write_text(wanted)
    return str(python)
