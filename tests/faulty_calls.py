"""Jobs of a small study in which one system call of writing fails. Run with tests/faults.c preloaded, in an empty
folder: `faulty_calls.py SEED COUNT` prints one line about each fault that left something wrong, then how many of which
kind there were."""
import ctypes
import os
import random
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from liestep.api.command_line import main
from liestep.workflow.integrity import mend
from liestep.workflow.workflow import configured

STUDY = """
title: Three bodies
problems:
  bodies: {system: sphere_nbody, t_end: 0.5}
integrators:
  vi_sphere: {steps: [0.1, 0.05]}
tables: [energy]
figures: [energy_error]
"""
JOBS = (("sweep", "tiny", "bodies"), ("products", "tiny"), ("report",), ("manifest",))
KINDS = {1: "EIO", 2: "ENOSPC", 3: "EINTR", 4: "short"}
SAID = Path("said.txt")
calls = ctypes.CDLL(None)  # the functions of faults.c
calls.fault_count.restype = ctypes.c_long


def visible(folder: Path) -> dict[str, bytes]:
    results = folder/"results"
    return {path.relative_to(results).as_posix(): path.read_bytes() for path in results.rglob("*")
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(results).parts)}


def job(folder: Path, words: tuple[str, ...], number: int, kind: int, mended: bool = False) -> tuple[int, int, str]:
    """Exit code, calls of writing, and what is said, of a job in a fork in which the call with this number fails."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        errors = os.open(SAID, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(errors, 2)
        code = 70
        try:
            if mended:
                list(mend(configured(Path("config"), Path("results"), [])))
            calls.fault_arm(str(folder/"results").encode(), ctypes.c_long(number), kind)
            code = main(["job", *words])
            count = calls.fault_count()
            calls.fault_arm(b"", ctypes.c_long(0), 0)
            os.write(writer, str(count).encode())
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 71
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    count = int(os.read(reader, 100) or 0)
    os.close(reader)
    return os.waitstatus_to_exitcode(status), count, (folder/SAID).read_text(errors="replace")


def prepared(top: Path) -> list[tuple[Path, Path, int]]:
    """For each job a folder as it is before and one after it, and its calls of writing."""
    found, before = [], top/"0"
    (before/"config"/"studies").mkdir(parents=True)
    (before/"config"/"studies"/"tiny.yaml").write_text(STUDY)
    shutil.copytree(before, top/"warm")
    os.chdir(top/"warm")
    for words in JOBS:  # loads what the forks then have
        assert main(["job", *words]) == 0
    os.chdir(top)
    for number, words in enumerate(JOBS, 1):
        after = top/str(number)
        shutil.copytree(before, after)
        code, count, said = job(after, words, 0, 0)
        assert code == 0, said
        found.append((before, after, count))
        before = after
    return found


def wrong(folder: Path, before: Path, after: Path, words: tuple[str, ...], number: int, kind: int) -> Iterator[str]:
    """What a fault has left wrong: other bytes, lost files, a traceback, or a job that cannot be done again."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(before, folder)
    code, _, said = job(folder, words, number, kind)
    old, new, found = visible(before), visible(after), visible(folder)
    if code not in (0, 1, 2) or "Traceback" in said:
        yield f"exit code {code}: {said[-600:]}"
    elif code and said.count("liestep: ") != 1:
        yield f"said: {said!r}"
    if code == 0 and found != new:
        yield f"reported as done, but {sorted(name for name in new if found.get(name) != new[name])} are not"
    yield from (f"{name} has other bytes" for name in found if found[name] not in (old.get(name), new.get(name)))
    yield from (f"{name} is lost" for name in old if name not in found)
    code, _, said = job(folder, words, 0, 0, mended=True)
    if code or visible(folder) != new:
        yield f"once more: exit code {code}, {said[-300:]}"


def all_faults(top: Path, seed: int, count: int) -> None:
    steps, dice, made = prepared(top), random.Random(seed), Counter()
    places = [(k, number) for k, (_, _, calls_of_job) in enumerate(steps) for number in range(1, calls_of_job + 1)]
    each = [(*place, kind) for place in places for kind in KINDS]
    for k, number, kind in dice.sample(each, min(count, len(each))):
        before, after, _ = steps[k]
        for sentence in wrong(top/"work", before, after, JOBS[k], number, kind):
            print(f"{' '.join(JOBS[k])}, call {number}, {KINDS[kind]}: {sentence}")
        made[KINDS[kind]] += 1
    print(f"{made.total()} of {len(each)} faults: {dict(made)}")


if __name__ == "__main__":
    all_faults(Path.cwd(), int(sys.argv[1]), int(sys.argv[2]))
