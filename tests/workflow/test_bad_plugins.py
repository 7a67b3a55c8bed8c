"""Plugins that do not end, take all memory or end the process: one sentence each, and this process goes on."""
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import STUDY, refused
from plugin_room import nothing_stays

from liestep.errors import InputError
from liestep.simulation.catalogue import plugin_entries
from liestep.simulation.plugins import loading
from liestep.simulation.plugins.loading import load_plugin, require_tried

SOURCE = Path(__file__).parents[1]/"plugins"/"drag_on_a_bob.py"
BAD = {
    "endless": ("while True: pass", "does not end within [123] s"),
    "asleep": ("__import__('time').sleep(1e6)", "does not end within [123] s"),
    "exit": ("__import__('os')._exit(0)", r"ends the process \(exit code 0\)"),
    "segfault": ("__import__('os').kill(__import__('os').getpid(), 11)", r"ends the process \(Segmentation fault\)"),
    "null": ("__import__('ctypes').string_at(0)", r"ends the process \(Segmentation fault\)"),
    "abort": ("__import__('os').abort()", r"ends the process \(Aborted\)"),
    "memory": ("all([np.zeros(1 << 28) is not None for _ in range(10**6)]) if not (kept := []) and not any("
               "kept.append(np.zeros(1 << 26)) for _ in range(10**6)) else None", "MemoryError"),
    "recursion": ("(again := lambda: again())()", "RecursionError"),
    "interrupt": ("raise KeyboardInterrupt", "ends the process"),
    "row too far": ("np.zeros(3)[3] = 1.0", "IndexError|index 3 is out of bounds"),
}
CHANGES = {  # in functions `__import__` is refused by its name
    "folder": ("__import__('os').chdir('/')", "changes the working folder"),
    "rounding": ("__import__('ctypes').CDLL('libm.so.6').fesetround(0x800)", "changes the rounding of numbers"),
    "mathematics": ("__import__('math').sin = __import__('math').cos", r"changes math\.sin"),
    "open": ("__import__('builtins').open = print", r"changes builtins\.open"),
    "numpy": ("np.sqrt = np.square", r"changes numpy\.sqrt"),
    "package": ("__import__('liestep.errors').errors.unknown = print", r"changes liestep\.errors\.unknown"),
    "recursion limit": ("__import__('sys').setrecursionlimit(10**6)", "changes the recursion limit"),
    "timer": ("(s := __import__('signal')).setitimer(s.ITIMER_REAL, 1e3)", "changes an alarm"),
    "signal": ("(s := __import__('signal')).signal(s.SIGTERM, s.SIG_IGN)", "changes what SIGTERM does"),
    "thread": ("__import__('threading').Thread(target=__import__('time').sleep, args=(1e6,)).start()",
               "begins the thread .*, which goes on"),
    "pool": ("[kept := __import__('concurrent.futures').futures.ThreadPoolExecutor(1), kept.submit(int),"
             " globals().update(kept=kept)]", "begins the thread .*, which goes on"),
    "at exit": ("__import__('atexit').register(__import__('time').sleep, 1e6)", "does not end within [123] s"),
}
PLACES = {"import": '"""A bob of unit mass on a rod of unit length with drag -c v."""\nimport numpy as np\n',
          "build": "def make(p):\n    ", "potential": "    def potential(self, q):\n        ",
          "gradient": "    def gradient(self, q, out):\n        ",
          "force": "    def force(self, t, q, omega, out):\n        "}


def written(folder: Path, place: str, statement: str) -> Path:
    text = SOURCE.read_text()
    if place == "import":
        text = f"{PLACES[place]}{statement}\n{text.partition(chr(10))[2]}"
    elif place == "build":
        made = f"{PLACES[place]}{statement}\n    return DragOnABob(p['g'], p['drag'])\n\n\n"
        text = text.replace("def start(p):", f"{made}def start(p):")
        text = text.replace('build=lambda p: DragOnABob(p["g"], p["drag"])', "build=make")
    else:
        text = text.replace(PLACES[place], f"{PLACES[place]}{statement}\n        ")
    path = folder/"bad_bob.py"
    path.write_text(text)
    return path


@pytest.fixture
def soon(monkeypatch):
    """Only for what does not end: on a busy machine all others may need longer."""
    monkeypatch.setenv("LIESTEP_TRIAL_SECONDS", "1")


# That every place is called in the fork is seen by what ends the process there; what only takes time takes 2 to 3 s.
TIMED, ENDS = ("endless", "asleep"), ("import", "force")


@pytest.mark.parametrize(("bad", "place"), [(bad, place) for bad in BAD for place in PLACES
                                            if bad not in TIMED or place in ENDS]
                         + [(bad, "import") for bad in CHANGES])
def test_a_bad_plugin_is_one_sentence(tmp_path, request, place, bad):
    statement, said = (BAD | CHANGES)[bad]
    if "does not end" in said:
        request.getfixturevalue("soon")
    with pytest.raises(InputError, match=said) as raised:
        load_plugin(written(tmp_path, place, statement))
    assert "bad_bob.py" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "bad_bob" not in plugin_entries()


def test_a_plugin_that_waits_ends_when_the_sentence_says(tmp_path, monkeypatch):
    """Only one that works on a busy machine gets longer."""
    monkeypatch.setenv("LIESTEP_TRIAL_SECONDS", "2")
    began = time.monotonic()
    with pytest.raises(InputError, match="does not end within 2 s"):
        load_plugin(written(tmp_path, "import", "while True: __import__('time').sleep(0.2)"))
    assert time.monotonic() - began < 4.0


def test_what_only_the_second_load_changes_is_told(tmp_path):
    """The trial cannot know."""
    path = written(tmp_path, "import", "kept = __import__('pathlib').Path(__file__).with_suffix('.seen')\n"
                   "if kept.exists(): __import__('os').chdir('/')\nkept.touch()")
    run = ("--plugin", path, "run", "bad_bob", "vi_sphere", "--step", "0.1", "--t-end", "0.2", "-o", "run.nc")
    done = subprocess.run([sys.executable, "-m", "liestep", *map(str, run)], cwd=tmp_path, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith(f"liestep: {path}: ")
    assert "changes the working folder" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path/"run.nc").exists()


@pytest.mark.parametrize("when", ["q[0, 2] > -0.8", "q[0, 0] < 0.5", "q[0, 0] < -0.3", "q[0, 2] < -0.95"])
def test_a_row_too_far_on_the_way_is_found(tmp_path, when):
    """The start is right; compiled code without bounds would end the process there."""
    path = written(tmp_path, "gradient", f"if {when}: put(out, 1, (0.0, 0.0, 0.0))")
    with pytest.raises(InputError, match=r"bad_bob.py, line \d+: .*out of bounds"):
        load_plugin(path)


@pytest.fixture
def tried(tmp_path, monkeypatch):
    """Loads a file as a new process would, with an empty cache; how many trials that took."""
    calls, kept = [], tmp_path/"cache"
    monkeypatch.setenv("LIESTEP_CACHE", str(kept))
    monkeypatch.setattr(loading, "require_tried", lambda load, path: calls.append(path) or require_tried(load, path))

    def load(path):
        calls.clear()
        with nothing_stays():
            load_plugin(path)
        return len(calls)

    return load


def test_a_trial_that_was_passed_is_kept_until_plugin_or_package_change(tmp_path, monkeypatch, tried):
    path = written(tmp_path, "import", "")
    assert [tried(path), tried(path)] == [1, 0]
    path.write_text(path.read_text() + "# more\n")
    assert [tried(path), tried(path)] == [1, 0]
    monkeypatch.setattr(loading, "package_hash", lambda: "of other sources")
    assert [tried(path), tried(path)] == [1, 0]


def test_a_trial_that_was_passed_says_nothing_of_other_values(tmp_path, monkeypatch, tried):
    """The text is the same, and what it reads when it is loaded is not."""
    path = written(tmp_path, "force", "put(out, HERE, (0.0, 0.0, 0.0))")
    path.write_text(path.read_text() + "HERE = int(__import__('os').environ['HERE'])\n")
    monkeypatch.setenv("HERE", "0")
    assert [tried(path), tried(path)] == [1, 0]
    monkeypatch.setenv("HERE", "1")
    for _ in range(2):
        with pytest.raises(InputError, match="IndexError"):
            tried(path)
    monkeypatch.setenv("HERE", "0")
    assert tried(path) == 0


def test_a_trial_that_failed_is_never_kept_and_a_damaged_mark_is_none(tmp_path, tried):
    path = written(tmp_path, "force", "raise IndexError")
    for _ in range(2):
        with pytest.raises(InputError, match="IndexError"):
            tried(path)
    assert not [*(tmp_path/"cache").glob("trial-*")]
    path = written(tmp_path, "import", "")
    assert [tried(path), tried(path)] == [1, 0]
    mark, = (tmp_path/"cache").glob("trial-*")
    mark.write_bytes(mark.read_bytes().swapcase())
    assert [tried(path), tried(path)] == [1, 0]
    mark.chmod(0o666)  # others may have written it
    assert [tried(path), tried(path)] == [1, 0]


@pytest.mark.usefixtures("soon")
def test_check_refuses_a_study_with_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path/"config"/"studies").mkdir(parents=True)
    (tmp_path/"config"/"studies"/"tiny.yaml").write_text(STUDY + "plugins: [bad_bob.py]\n")
    written(tmp_path, "import", "while True: pass")
    assert "does not end within 1 s" in refused(["check", "tiny"], capsys)


@pytest.mark.parametrize("value", ["abc", "", "1e3"])
def test_a_limit_that_is_no_number_is_refused(tmp_path, monkeypatch, value):
    monkeypatch.setenv("LIESTEP_TRIAL_SECONDS", value)
    with pytest.raises(InputError, match="LIESTEP_TRIAL_SECONDS must be a number"):
        load_plugin(written(tmp_path, "import", "# which no other test has, so that it is tried"))


def test_a_file_may_be_called_as_the_system_in_it(tmp_path):
    """As docs/my_system.md writes it."""
    path = tmp_path/"pair_of_its_own.py"
    path.write_text("import liestep\nSHEET = liestep.system('pair_of_its_own', lagrangian=lambda q, v: v @ v - q @ q,\n"
                    "                       start={'q': [1.0], 'v': [0.0]}).sheet\n")
    assert load_plugin(path) == ("pair_of_its_own",)
    other = tmp_path/"vi_sphere.py"
    other.write_text(path.read_text().replace("'pair_of_its_own'", "'other_of_its_own'"))
    with pytest.raises(InputError, match="id vi_sphere exists already"):
        load_plugin(other)
