"""One folder of machine code for the whole session, common to all workers: tests neither read
nor write the user's cache. And which tests are quick, and which are left to releases.

Without an option everything runs but the tests that release_tests.txt lists, and of the slow cases of a test function
only the shortest; with --all everything runs, with --quick CASES of each test function that is not slow. Of a module
that is named on the command line nothing is left out but by --quick.

LIESTEP_TEST_CACHE names a folder to keep instead; it is safe to keep, because code is found by the hash of its sources.
It keeps the bytecode of what is collected too: rewriting all assertions takes 10 s.
LIESTEP_TEST_SECONDS names a file into which a session writes what slow_tests.txt holds: tests and modules of LIMIT
seconds or more of processor time, their child processes included; with --quick what quick_seconds.txt holds. What
only compiles for so long, with an empty cache, has LIMIT there; a whole module has what its listed tests leave of it.
"""
import fcntl
import gc
import hashlib
import os
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import ready
from trials import FOR_RELEASES

WORKER = "PYTEST_XDIST_WORKER" in os.environ
KEPT = os.environ.get("LIESTEP_TEST_CACHE")
WRITTEN = os.environ.get("LIESTEP_TEST_SECONDS")
LIMIT = 1.0  # s of processor time with a kept cache
CASES = 3    # quick ones of each test function: the first, the last, and one whose hash chooses it
BEGINS = 20.0  # s of slow tests in a module: the longest begin, so that the last minutes are tests any worker can take
LISTED, MEASURED, RELEASE = (Path(__file__).with_name(f"{name}.txt")
                             for name in ("slow_tests", "quick_seconds", "release_tests"))
LEFT_OUT = pytest.StashKey[int]()  # cases that only --all runs
SPENT: Counter[str] = Counter()  # module -> s
SLOW: dict[str, float] = {}      # test, or module for the longest preparation of a test -> s

ROOT = Path(__file__).resolve().parents[1]
RESULTS = str(ROOT/"results") + os.sep
LOOKED: list[str] = []           # files of the repository's own results that a test has opened


def watch(event: str, arguments: tuple) -> None:
    """Audit hook: whether a file is there or not, looking for it counts."""
    if event == "open" and isinstance(arguments[0], str) and "results" in arguments[0]:
        name = os.path.abspath(arguments[0])
        if name.startswith(RESULTS) and not name.endswith("README.md"):
            LOOKED.append(name)


sys.addaudithook(watch)


@pytest.fixture(autouse=True)
def _results_are_not_read():
    """What people have in the folder `results` of their copy must not decide whether a test passes."""
    LOOKED.clear()
    yield
    assert not LOOKED, f"the test looks at the repository's own results: {LOOKED[0]}"


@pytest.fixture(autouse=True)
def _papers_of_tests_are_forgotten():
    """Whoever asks for all papers must not meet those that another test wrote."""
    yield
    read = getattr(sys.modules.get("liestep.study.plan.papers"), "_read", {})
    for name in [name for name, (folder, _) in read.items() if not folder.is_relative_to(ROOT)]:
        del read[name]


@pytest.fixture(autouse=True)
def _loops_are_compiled(monkeypatch):
    """Tests look at machine code, also in runs that are short; `tests/kernels/test_interpreted.py` at the others."""
    monkeypatch.setattr("liestep.compile.interpreted.PAYS", 0.0)


class Collecting:
    """While tests are collected, bytecode is kept beside the machine code, and nothing is garbage."""

    def __init__(self) -> None:
        self.before = sys.dont_write_bytecode, sys.pycache_prefix
        gc.disable()
        if KEPT:
            sys.dont_write_bytecode, sys.pycache_prefix = False, os.path.join(os.path.abspath(KEPT), "bytecode")

    def end(self) -> None:
        sys.dont_write_bytecode, sys.pycache_prefix = self.before
        gc.enable()


COLLECTING = Collecting()


def pytest_collection_finish(session):
    COLLECTING.end()
    session.clock = processor_seconds()


os.environ.pop("COLUMNS", None)  # that readline gives to workers: output that is no terminal's is not broken into lines
if not WORKER:  # workers inherit the variable; it must stand before the package is imported
    os.environ["LIESTEP_CACHE"] = KEPT or tempfile.mkdtemp(prefix="liestep-tests-")
    os.environ.setdefault("LIESTEP_TRIAL_SECONDS", "120")  # with an empty cache the trial of mechanisms compiles them


def pytest_sessionstart(session):
    """Code of the papers of this repository is there for tests: `from liestep_papers.cross import figures`."""
    from liestep.study.plan.names import paper_folders
    from liestep.study.plan.papers import read_paper

    changed = os.environ.get("LIESTEP_TEST_PAPERS")  # a folder with wrong versions of some, by tests of the tests
    for top in filter(None, (Path(__file__).parents[1], changed)):
        for folder in paper_folders(Path(top)/"config").values():
            read_paper(folder)


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help=f"{CASES} cases of each test function, without slow ones")
    parser.addoption("--all", action="store_true", help="tests for releases, all slow cases and more random trials too")


def pytest_configure(config):
    if config.getoption("--all"):
        os.environ[FOR_RELEASES] = "1"  # workers and their programs inherit it


def pytest_unconfigure(config):
    if WORKER:
        return
    if not KEPT:
        shutil.rmtree(os.environ["LIESTEP_CACHE"], ignore_errors=True)
    if WRITTEN:
        found = SPENT if config.getoption("--quick") else {name: s for name, s in SLOW.items() if s >= LIMIT}
        Path(WRITTEN).write_text("".join(f"{spent:.1f} {name}\n" for name, spent in sorted(found.items())), "utf-8")


def seconds_in(path: Path) -> dict[str, float]:
    """Node id of a test, or path of a module -> seconds as they were measured."""
    return {name: float(seconds) for seconds, _, name in (line.partition(" ")
                                                           for line in path.read_text("utf-8").splitlines())}


def slow_tests() -> dict[str, float]:
    return seconds_in(LISTED)


def release_tests() -> set[str]:
    """Modules and test functions."""
    return {line for line in RELEASE.read_text("utf-8").splitlines() if line and not line.startswith("#")}


def by_hash(names: Iterable[str]) -> list[str]:
    """In an order that is the same in every session."""
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())


def quick_cases(names: list[str]) -> set[str]:
    """Of the cases of one test function in their order; the same in every session."""
    return {*names[:1], *names[-1:], *by_hash(names[1:-1])[:CASES - 2]}


def by_function(names: Iterable[str]) -> list[list[str]]:
    """The cases of each test function."""
    functions = defaultdict(list)
    for name in names:
        functions[name.partition("[")[0]].append(name)
    return list(functions.values())


def left_to_releases(names: list[str]) -> set[str]:
    """Tests for releases, and of the slow cases of a test function all but the shortest."""
    slow, release = slow_tests(), release_tests()
    return {name for name in names if {name.partition("::")[0], name.partition("[")[0]} & release}.union(
        *(sorted(by_hash(cases), key=slow.__getitem__)[1:]
          for cases in by_function(name for name in names if name in slow)))


def longest_first(items: list[pytest.Item]) -> list[pytest.Item]:
    """Modules whose slow tests take BEGINS or more, then all others in their order. One that prepares a site or whole
    workflows and comes last would be cut in two by a worker without work, which prepares them once more."""
    seconds: Counter[str] = Counter()
    for name, spent in slow_tests().items():
        seconds[name.partition("::")[0]] += spent

    def place(item: pytest.Item) -> float:
        spent = seconds[item.nodeid.partition("::")[0]]
        return -spent if spent >= BEGINS else 0.0

    return sorted(items, key=place)


def pytest_ignore_collect(collection_path, config):
    """Modules that are slow as a whole are not even imported with --quick."""
    if config.getoption("--quick") and collection_path.suffix == ".py":
        return collection_path.relative_to(config.rootpath).as_posix() in slow_tests() or None
    return None


def pytest_collection_modifyitems(config, items):
    slow = slow_tests()
    for item in items:
        if item.nodeid in slow or item.nodeid.partition("::")[0] in slow:
            item.add_marker("slow")
    items[:] = longest_first(items)
    names = [item.nodeid for item in items]
    left = set() if config.getoption("--all") else left_to_releases(names)
    if config.getoption("--quick"):
        chosen = set().union(*map(quick_cases, by_function(names))) - left
        chosen -= {item.nodeid for item in items if item.get_closest_marker("slow")}
    else:
        named = {(config.invocation_params.dir/name.partition("::")[0]).resolve() for name in config.args}
        left -= {item.nodeid for item in items if item.path.resolve() in named}
        config.stash[LEFT_OUT] = len(left)
        chosen = {*names} - left
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
    items[:] = [item for item in items if item.nodeid in chosen]


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # of xdist; a pytest that a test starts inherits WORKER, not this
        session.config.workeroutput["left out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_testnodedown(node):
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left out", 0)


def pytest_terminal_summary(terminalreporter, config):
    if left := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"{left} cases are left to releases: python3 make.py test --all runs them, too")


@pytest.fixture(scope="session")
def once(request, tmp_path_factory) -> Callable[[str, Callable[[Path], object]], Path]:
    """Makes a folder once for all modules and workers of a session, to read or to copy: its name, and what fills it."""
    common = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):  # of xdist; workers have folders below that of the session
        common = common.parent

    def made(name: str, fill: Callable[[Path], object]) -> Path:
        folder, whole = common/name, common/f"{name}.made"
        with open(common/f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not whole.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                whole.touch()
        return folder

    return made


@pytest.fixture(autouse=True, scope="module")
def _module_leaves_no_plugin():
    """What a module's own fixtures load is gone after it: other tests count the ids of the package."""
    from plugin_room import nothing_stays

    with nothing_stays():
        yield


def processor_seconds() -> float:
    """Of this process, of its children that have ended, and of calls in forks of another."""
    return sum(os.times()[:4]) + ready.seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Reports carry the seconds of their phase; the end of one phase is the start of the next."""
    now = processor_seconds()
    item.user_properties.append((f"seconds of {call.when}", now - item.session.clock))
    item.session.clock = now
    return (yield)


def pytest_runtest_logreport(report):
    """Of the last phase, which knows all. Preparing a test is mostly preparing its module."""
    if report.when == "teardown":
        seconds = {name.rpartition(" ")[2]: value for name, value in report.user_properties}
        module = report.nodeid.partition("::")[0]
        SPENT[module] += sum(seconds.values())
        SLOW[module] = max(SLOW.get(module, 0.0), seconds["setup"])
        SLOW[report.nodeid] = seconds.get("call", 0.0)
