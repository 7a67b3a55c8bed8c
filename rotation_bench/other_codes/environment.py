"""The environment of the other codes: a folder of its own, because their versions are not those of the lock."""
import hashlib
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PINS = Path(__file__).resolve().parent/"requirements.txt"
ENVIRONMENT = TOP/".cache"/"other-codes-environment"
STAMP = ENVIRONMENT/"made-from.txt"  # written last: an interrupted installation has none
PIP = ("-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps", "--require-hashes", "-r")


def make() -> str:
    """The Python of the environment, made unless it is up to date: every package as pinned, checked by its hashes. If
    one is not to be had, each is installed alone, so that the codes that do not need it are there."""
    python = ENVIRONMENT/"bin"/"python"
    wanted = hashlib.sha256(PINS.read_bytes() + sys.version.encode() + str(TOP).encode()).hexdigest()
    if STAMP.is_file() and STAMP.read_text() == wanted:
        return str(python)
    print(f"making {ENVIRONMENT} from {PINS.relative_to(TOP)} (about 3 GB, once)", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)], check=True)
    if subprocess.call([python, *PIP, str(PINS)]) == 0:
        STAMP.write_text(wanted)
        return str(python)
    single, missing = ENVIRONMENT/"one.txt", []
    for name, entry in pins().items():
        single.write_text(entry)
        if subprocess.call([python, *PIP, str(single)]) != 0:
            missing.append(name)
    print(f"not installed, see above: {', '.join(missing)}", file=sys.stderr)
    return str(python)


def pins() -> dict[str, str]:
    """Name of each package -> its version and hashes, as pip reads them."""
    entries = PINS.read_text("utf-8").replace("\\\n", " ").splitlines()
    return {entry.partition("==")[0]: entry for entry in entries}
