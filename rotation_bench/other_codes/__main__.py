"""`python -m rotation_bench.other_codes`, with liestep installed: makes the environment of the other codes, lets each
write its files in a process of its own, judges them and writes table and figure below stored and docs. Further words
CODE ... run these only and keep what is stored of the others; `judge FOLDER` judges files that are there."""
import datetime
import importlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rotation_bench.liestep_judge import BadStates
from rotation_bench.other_codes import environment, figure, judging
from rotation_bench.other_codes.problems import write_problems

TOP = environment.TOP
CODES = tuple(sorted(path.stem for path in (Path(__file__).resolve().parent/"codes").glob("[!_]*.py")))
FOLDERS = (TOP, TOP/"src")  # of modules that a code's process may import
LIMIT = 3600  # seconds of one code
OWN = "liestep"  # the code that runs in the environment of this command
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}


def asked(python: str, code: str, problems: Path, files: Path) -> dict[str, Any]:
    """What the process of one code said; {"missing": reason} if it did not come to an end."""
    try:
        done = subprocess.run([python, "-m", f"{__package__}.write", code, str(problems), str(files)],
                              cwd=TOP, capture_output=True, text=True, timeout=LIMIT, check=False,
                              env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(map(str, FOLDERS))})
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"missing": " ".join(str(error).split())[:200]}
    said = judging.last_json(done.stdout)
    if done.returncode or said is None:
        lines = done.stderr.strip().splitlines() or [f"the process ended with {done.returncode}"]
        return {"missing": lines[-1][:200]}
    return said


def settings(said: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each method of each code that was run: version, date, machine and settings."""
    for code in said:
        module = importlib.import_module(f"{__package__}.codes.{code}")
        for name, method in module.METHODS.items():
            yield {"code": code, "distribution": module.DISTRIBUTION, "version": said[code].get("version", ""),
                   "date": datetime.date.today().isoformat(), "machine": platform.machine(), "method": name,
                   "settings": method.settings}


def run(folder: Path, codes: Sequence[str] = CODES) -> None:
    if unknown := sorted({*codes} - {*CODES}):
        raise BadStates(f"there is no code {unknown[0]!r}: {', '.join(CODES)}")
    python = environment.make()
    problems, files = folder/"problems", folder/"files"
    for place in (problems, files):
        place.mkdir(parents=True, exist_ok=True)
        for old in place.iterdir():
            old.unlink()
    write_problems(problems)
    said = {}
    for code in codes:
        print(code, flush=True)
        said[code] = asked(sys.executable if code == OWN else python, code, problems, files)
        print(f"  {said[code].get('missing', said[code].get('version'))}", flush=True)
    (folder/"said.json").write_text(json.dumps(said, indent=1) + "\n")
    keep(folder)


def keep(folder: Path, stored: Path = judging.STORED) -> None:
    """Judge the files of the codes that said.json of a folder names, and store table, versions and files with those of
    the codes that it does not name, which stay as they are stored."""
    try:
        said = json.loads((folder/"said.json").read_text())
    except (OSError, ValueError) as error:
        raise BadStates(f"{folder}/said.json cannot be read ({error}): `python -m {__package__}` writes it") from None
    references = folder/"references"
    references.mkdir(exist_ok=True)
    kept, versions, files = judging.others(said, stored)
    table = judging.in_order([*judging.table(folder/"files", said, references), *kept])
    for name, content in files.items():
        (folder/"files"/name).write_bytes(content)
    judging.store(table, sorted([*settings(said), *versions], key=lambda row: row["code"]), folder/"files", stored)
    if stored == judging.STORED:
        figure.write()
    print(f"wrote {stored/judging.TABLE}")


def main(arguments: list[str]) -> None:
    try:
        if len(arguments) == 2 and arguments[0] == "judge":
            keep(Path(arguments[1]))
        else:
            run(TOP/"results"/"other_codes", arguments or CODES)
    except BadStates as error:
        sys.exit(f"other_codes: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
