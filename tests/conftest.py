"""One folder of machine code for the whole session, common to all workers: tests neither read
nor write the user's cache. And which tests are slow.

LIESTEP_TEST_CACHE names a folder to keep instead; it is safe to keep, because code is found by the hash of its sources.
LIESTEP_TEST_SECONDS names a file into which a session writes what slow_tests.txt holds: tests and modules of LIMIT
seconds or more of processor time, their child processes included.
"""
import os
import shutil
import tempfile
from pathlib import Path

import pytest

WORKER = "PYTEST_XDIST_WORKER" in os.environ
KEPT = os.environ.get("LIESTEP_TEST_CACHE")
WRITTEN = os.environ.get("LIESTEP_TEST_SECONDS")
LIMIT = 1.0  # s of processor time with a kept cache
# Modules that call whole workflows and often wait for other processes. They begin, so that the last minutes are short
# tests, which any worker can take.
LONG = ("test_cluster", "test_restart", "test_workflow", "test_manifest")
LISTED = Path(__file__).with_name("slow_tests.txt")

if not WORKER:  # workers inherit the variable; it must stand before the package is imported
    os.environ["LIESTEP_CACHE"] = KEPT or tempfile.mkdtemp(prefix="liestep-tests-")


def pytest_unconfigure():
    if not WORKER and not KEPT:
        shutil.rmtree(os.environ["LIESTEP_CACHE"], ignore_errors=True)


def slow_tests() -> dict[str, float]:
    """Node id of a test, or path of a module -> seconds as they were measured."""
    return {name: float(seconds) for seconds, _, name in (line.partition(" ")
                                                           for line in LISTED.read_text("utf-8").splitlines())}


def pytest_collection_modifyitems(items):
    slow = slow_tests()
    for item in items:
        if item.nodeid in slow or item.nodeid.partition("::")[0] in slow:
            item.add_marker("slow")
    items.sort(key=lambda item: LONG.index(item.module.__name__) if item.module.__name__ in LONG else len(LONG))


def processor_seconds() -> float:
    """Of this process and of its children that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Reports carry the seconds of their phase; the end of one phase is the start of the next."""
    now = processor_seconds()
    item.user_properties.append((f"seconds of {call.when}", now - getattr(item.session, "clock", now)))
    item.session.clock = now
    return (yield)


def pytest_runtest_logreport(report):
    """Of the last phase, which knows all. Preparing a test is mostly preparing its module."""
    if WRITTEN and not WORKER and report.when == "teardown":
        seconds = {name.rpartition(" ")[2]: value for name, value in report.user_properties}
        module = report.nodeid.partition("::")[0]
        with open(WRITTEN, "a", encoding="utf-8") as file:
            for name, spent in ((module, seconds["setup"]), (report.nodeid, seconds.get("call", 0.0))):
                if spent >= LIMIT:
                    file.write(f"{spent:.1f} {name}\n")
