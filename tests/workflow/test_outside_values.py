"""Constants that a plugin takes from outside its file are part of its identity and of the key of its machine code."""
import importlib
import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from plugin_room import nothing_stays

from liestep.compile.sources import component_modules, source_hash
from liestep.errors import InputError
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import specify

SOURCE = (Path(__file__).parents[1]/"plugins"/"drag_on_a_bob.py").read_text("utf-8")
SUPPLIES = {"environment": 'float(os.environ["FACTOR_OF_TESTS"])',
            "JSON": 'json.loads(Path("FOLDER/factor.json").read_text())["factor"]',
            "installed package": "factors_of_tests.FACTOR"}
# what stands at the top of the plugin, and what its potential reads
PLACES = {
    "module": ("FACTOR = VALUE", "FACTOR"),
    "tuple": ("FACTORS = (1.0, (2.0, VALUE))", "FACTORS[1][1]"),
    "array": ("FACTORS = np.array([1.0, VALUE])", "FACTORS[1]"),
    "object": ("HELD = SimpleNamespace(factor=VALUE)", "HELD.factor"),
    "closure": ("def made(f):\n    return kernel(lambda x: f*x)\nfactored = made(VALUE)", "factored(1.0)"),
    "default": ("@kernel\ndef factored(x, f=VALUE):\n    return f*x", "factored(1.0)"),
    "class attribute": ("class Held:\n    factor = VALUE", "Held.factor"),
    "attribute of the component": ("FIELD = VALUE", "self.FACTOR"),
    "nested helper": ("FACTOR = VALUE\n@kernel\ndef inner(x):\n    return FACTOR*x\n@kernel\ndef outer(x):\n"
                      "    return inner(x)", "outer(1.0)"),
    "partial": ("factored = partial(lambda f, x: f*x, VALUE)", "factored(1.0)"),
    "built": ("FACTOR = VALUE", None)}
IMPORTED = {"attribute of a package": "factors_of_tests.FACTOR", "function of a package": "factors_of_tests.times(1.0)",
            "default of a package": "factors_of_tests.by_default(1.0)",
            "nested helper of a package": "factors_of_tests.outer(1.0)",
            "text of a package": "factors_of_tests.written(1.0)"}
PACKAGE = """
FACTOR = {0}
def times(x): return FACTOR*x
def by_default(x, f={0}): return f*x
def written(x): return {0}*x
def outer(x): return times(x)
"""
CASES = [*product(SUPPLIES, PLACES), *(("installed package", name) for name in IMPORTED)]


def plugin(folder, name, top, read):
    """A copy of the plugin with lines at its top, whose weight is multiplied by what a method or `build` reads."""
    text = SOURCE.replace("from liestep.extend import Para", "import json\nimport os\nfrom functools import partial\n"
                          "from pathlib import Path\nfrom types import SimpleNamespace\n"
                          "from liestep.extend import kernel, Para")
    text = text.replace("\nclass Drag", f"\n{top.replace('FOLDER', folder.as_posix())}\n\nclass Drag")
    text = (text.replace('DragOnABob(p["g"]', 'DragOnABob(FACTOR*p["g"]') if read is None else
            text.replace("return self.weight*", f"return {read}*self.weight*").replace(
                "(0.0, 0.0, self.weight)", f"(0.0, 0.0, {read}*self.weight)"))
    if "self.FACTOR" in text:
        text = text.replace("    drag: Any\n", "    drag: Any\n    FACTOR = FIELD\n", 1)
    path = folder/f"{name}.py"
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """Sets the constant outside; the package is loaded anew."""
    (tmp_path/"installed").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path/"installed"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def put(value):
        monkeypatch.setenv("FACTOR_OF_TESTS", str(value))
        (tmp_path/"factor.json").write_text(json.dumps({"factor": value}), "utf-8")
        (tmp_path/"installed"/"factors_of_tests.py").write_text(PACKAGE.format(value), "utf-8")
        monkeypatch.delitem(sys.modules, "factors_of_tests", raising=False)
        importlib.invalidate_caches()
    return put


def identities(path):
    """Specification, sources and the sources in the key of machine code; all three differ where a value does."""
    with nothing_stays():
        load_plugin(path)
        spec = specify(path.stem, "rk4", steps=2, t_end=0.1)
        found = spec.sha256, spec.source_hash, source_hash(*component_modules(build(spec)[0].problem))
    source_hash.cache_clear()
    return found


@pytest.mark.parametrize(("supply", "place"), CASES)
def test_a_constant_outside_is_part_of_the_identity(tmp_path, outside, supply, place):
    top, read = PLACES.get(place, ("", IMPORTED.get(place)))
    top = "import factors_of_tests\n" + top.replace("VALUE", SUPPLIES[supply])
    outside(1.0)
    path = plugin(tmp_path, f"held_{CASES.index((supply, place))}", top, read)
    first = identities(path)
    assert identities(path) == first
    outside(3.0)
    assert all(one != two for one, two in zip(first, identities(path), strict=True))
    outside(1.0)
    assert identities(path) == first


def test_all_kinds_are_tried():
    assert len(CASES) >= 30
    assert {"environment", "JSON", "installed package"} <= {supply for supply, _ in CASES}
    assert {"module", "closure", "default", "class attribute", "nested helper"} <= {place for _, place in CASES}


@pytest.mark.parametrize(("top", "read", "said"), [
    ("", 'float(os.environ["FACTOR_OF_TESTS"])', "os.environ is read"),
    ("", 'float(os.getenv("FACTOR_OF_TESTS"))', "os.getenv is read"),
    ("", "float(open('FOLDER/factor.json').read()[11:14])", "open is called"),
    ("", "np.random.default_rng(1).random()", "np.random.default_rng is a function of numpy.random"),
    ("DRAWS = np.random.default_rng(1)", "DRAWS.random()", "DRAWS is a Generator"),
    ("def drawn():\n    global LAST\n    LAST = 1.0\n    return LAST", "drawn()", "the global LAST is written"),
    ("FILE = open('FOLDER/factor.json')", "len(FILE.name)", "FILE is a TextIOWrapper"),
    ("import time", "time.time()", "time.time is read")])
def test_what_has_no_digest_is_refused_by_its_name(tmp_path, outside, top, read, said):
    outside(1.0)
    path = plugin(tmp_path, "held_outside", top, read.replace("FOLDER", tmp_path.as_posix()))
    with nothing_stays(), pytest.raises(InputError, match=said) as caught:
        load_plugin(path)
    assert str(caught.value).startswith(f"{path}, line ")
    assert any(why in str(caught.value) for why in ("the identity of a run cannot hold", "written while runs are made"))
    assert "\n" not in str(caught.value)


PROGRAM = """
import hashlib, sys
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specification import specify
load_plugin(sys.argv[1])
for integrator in ("rk4", "vi_sphere"):
    spec = specify("held_code", integrator, steps=5, t_end=0.5)
    print(spec.sha256, spec.source_hash, run_once(spec).outputs.states[-1].tolist())
"""


@pytest.mark.slow
def test_kept_machine_code_of_another_constant_is_not_used(tmp_path):
    path = plugin(tmp_path, "held_code", 'FACTOR = float(os.environ["FACTOR_OF_TESTS"])', "FACTOR")

    def told(factor, **environment):
        environment |= {"FACTOR_OF_TESTS": factor, "LIESTEP_CACHE": str(tmp_path/"code")}
        done = subprocess.run([sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True,
                              env={**os.environ, **environment})
        return done.stdout.splitlines()

    first, other = told("1"), told("3")
    assert not set(" ".join(first).split()[:2]) & set(" ".join(other).split()[:2])
    assert other == told("3", NUMBA_DISABLE_JIT="1")
    assert first == told("1")
    assert all(one.split()[2:] != two.split()[2:] for one, two in zip(first, other, strict=True))
