"""One folder of machine code for the whole session, common to all workers: tests neither read
nor write the user's cache.

LIESTEP_TEST_CACHE names a folder to keep instead; it is safe to keep, because code is found by the hash of its sources.
"""
import os
import shutil
import tempfile

WORKER = "PYTEST_XDIST_WORKER" in os.environ
KEPT = os.environ.get("LIESTEP_TEST_CACHE")
# Modules that call whole workflows and often wait for other processes. They begin, so that the last minutes are short
# tests, which any worker can take.
LONG = ("test_cluster", "test_restart", "test_workflow", "test_manifest")
# Modules whose tests start programs or compile into empty caches: slow as a whole. Elsewhere single tests are marked.
SLOW = (*LONG, "test_benchmarks", "test_catalog", "test_mutations", "test_plugins", "test_report")

if not WORKER:  # workers inherit the variable; it must stand before the package is imported
    os.environ["LIESTEP_CACHE"] = KEPT or tempfile.mkdtemp(prefix="liestep-tests-")


def pytest_unconfigure():
    if not WORKER and not KEPT:
        shutil.rmtree(os.environ["LIESTEP_CACHE"], ignore_errors=True)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.module.__name__ in SLOW:
            item.add_marker("slow")
    items.sort(key=lambda item: LONG.index(item.module.__name__) if item.module.__name__ in LONG else len(LONG))
