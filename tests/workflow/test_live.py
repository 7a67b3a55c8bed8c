"""The page "Run it here": its stored runs are those of the package, its module repeats them in a browser and fails
where one coefficient is changed, its controls change what they should, and bad input gets a sentence."""
import base64
import gzip
import json
import shutil
import struct
import subprocess
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import unquote

import browser
import mpmath
import numpy as np
import pytest

import liestep
from docs.site import live
from docs.site.sine import sine
from liestep.simulation.runs.specification import specify
from liestep.workflow.report.provenance import run_here

DATA = json.loads((live.FOLDER/live.DATA).read_text("utf-8"))["systems"]
PAIRS = [(system, method) for system, facts in DATA.items() for method in facts["methods"]]
ALL_EQUAL = f"{len(PAIRS)} of {len(PAIRS)} runs of the study repeated here, equal in every bit ("
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
CAPTIONS = "[...document.querySelectorAll('figcaption')].map(item => item.textContent)"
FIELDS = ("attitude", "angular_momentum", "q", "omega", "momentum")
ARGUMENTS = [0.0, *np.exp(np.random.default_rng(5).uniform(np.log(1e-4), np.log(1e5), 300)).tolist(),
             *(np.pi/2*np.arange(-40, 40)).tolist()]


class Page(browser.Browser):
    """After the proof; it asks for nothing, but perhaps a film, and complains of nothing."""

    def __init__(self, path: Path = live.PAGE, *window, film: str | None = None):
        if browser.find() is None:
            pytest.skip("no Chromium on this machine: the page was not run")
        super().__init__(*window)
        self.folder = film
        self.open(path)
        self.value("started")

    def __exit__(self, *failure):
        super().__exit__(*failure)
        assert self.requests == self.complaints == []

    def text(self, name: str) -> str:
        return self.value(f"$('{name}').textContent")

    def choose(self, name: str, value):
        self.value(f"form['{name}'].value = '{value}';"
                   f" form['{name}'].dispatchEvent(new Event('input', {{bubbles: true}}))")

    def finished(self, expression: str):
        return self.value(f"(() => {{ while (!runs.every(done)) compute(100); draw(); return {expression}; }})()")


@pytest.fixture(scope="module")
def page():
    with Page() as found:
        yield found


def simulated(system: str, method: str, **given):
    """The package's own run of a pair as it is stored, but for what is given."""
    facts = DATA[system]
    name, kept = next(iter(facts["presets"].items()))
    if "plugin" in facts:
        liestep.load_plugin(live.TOP/facts["plugin"])
    start = {"preset": name} if system != "pendulum" else {key: kept[key] for key in ("parameters", "initial")}
    data = liestep.simulate(facts["system"], method, step=kept["t_end"]/kept["steps"], t_end=float(kept["t_end"]),
                            samples=2, **start | given)
    return np.concatenate([(data[field].values[-1].T if field == "attitude" else data[field].values[-1]).ravel()
                           for field in FIELDS if field in data])


@pytest.mark.parametrize(("system", "method"), PAIRS)
def test_stored_runs_are_those_of_simulate(system, method):
    assert simulated(system, method).tobytes().hex() == DATA[system]["methods"][method]["end"]


def test_the_page_is_made_of_its_parts_and_loops_can_be_made_again():
    assert live.PAGE.read_text("utf-8") == live.page()
    assert len(PAIRS) >= 24
    assert (live.FOLDER/live.MODULE).stat().st_size <= 40_000
    assert live.PAGE.stat().st_size <= 100_000
    made = live.pair("top_rk4", specify("heavy_top", "rk4", preset="asymmetric", step=0.005))
    assert made.fields == DATA["top"]["methods"]["rk4"]["fields"]


def test_sine_and_cosine_are_correctly_rounded():
    with mpmath.workprec(200):
        for x in ARGUMENTS:
            assert (sine(x, 0), sine(x, 1)) == (float(mpmath.sin(x)), float(mpmath.cos(x)))
    assert np.isnan([sine(1e9, 0), sine(np.inf, 0), sine(np.nan, 1)]).all()


def test_reports_link_runs_that_the_page_knows(monkeypatch):
    monkeypatch.chdir(live.TOP)
    given = {"preset": "paper", "steps": 5000, "t_end": 10.0}
    address = run_here(specify("sphere_nbody", "vi_sphere", **given), Path("results/a/b"))
    assert address == ("../../../docs/run_it_here.html#system=three&preset=paper&left=vi_sphere&right=rk4&step=0.002"
                       "&end=10.0")
    for change in ({"options": {"form": "paper"}}, {"parameters": {"gamma": 2.0}}, {"steps": 4}, {"steps": 10_000_000}):
        assert run_here(specify("sphere_nbody", "vi_sphere", **(given | change)), Path("results")) == ""
    assert run_here(specify("sphere_nbody", "rk2_heun", **given), Path("results")) == ""


def test_all_pairs_are_equal_in_every_bit_and_the_module_has_its_own_sine(page):
    assert page.text("proof").startswith(ALL_EQUAL)
    assert page.value("$('runs').rows.length") == len(PAIRS) + 1
    assert page.value(f"{ARGUMENTS}.map(x => engines[2].sin(x))") == [sine(x, 0) for x in ARGUMENTS]


@pytest.mark.skipif(FIREFOX is None, reason="no Firefox on this machine")
def test_all_pairs_are_equal_in_firefox(tmp_path):
    said, sends = [], live.page() + "<script>started.then(() => fetch(`/${$('proof').textContent}`))</script>"

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            said.append(unquote(self.path))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(sends.encode())

    with HTTPServer(("127.0.0.1", 0), Answer) as server, subprocess.Popen(
            [FIREFOX, "--headless", "--no-remote", "--profile", tmp_path, f"http://127.0.0.1:{server.server_port}/"],
            stderr=subprocess.DEVNULL) as firefox:
        server.timeout = 1.0
        while "runs of the study" not in "".join(said) and firefox.poll() is None:
            server.handle_request()
        firefox.terminate()
    assert ALL_EQUAL in "".join(said)


def test_one_changed_bit_of_a_coefficient_fails_and_an_old_browser_gets_the_film(tmp_path):
    path, kept = tmp_path/"page.html", (live.FOLDER/live.MODULE).read_bytes()
    module = bytearray(gzip.decompress(kept))
    module[module.rindex(struct.pack("<d", 1/6))] ^= 1  # of a tableau
    texts = [base64.b64encode(data).decode() for data in (kept, gzip.compress(bytes(module)))]
    path.write_text(live.page().replace(*texts), "utf-8")
    with Page(path) as found:
        assert int(found.text("proof").split()[0]) < len(PAIRS)
        assert "which parts in steps 1 to" in found.text("proof")
    path.write_text(live.page().replace("<script>", "<script>delete globalThis.DecompressionStream;"), "utf-8")
    film = Path(shutil.copy(live.TOP/"docs"/"film.webp", tmp_path)).as_uri()
    with Page(path, film=film) as found:
        assert "that takes WebAssembly and DecompressionStream" in found.text("proof")
        assert found.value("document.querySelector('img').decode().then(() => document.images[0].src)") == film


@pytest.mark.parametrize("system", DATA)
def test_plots_tell_the_first_two_methods_apart_and_half_a_step_shows_the_order_of_all(page, system):
    page.choose("system", system)
    for i, name in enumerate(live.PLOTS):
        one, other = page.finished(f"runs.map(run => run.most[{i}])")
        if unit := DATA[system]["units"].get(name):
            assert max(one, other) >= 1e3*min(one, other)
            assert "times better" in page.value(CAPTIONS)[2 + i]
            assert unit == "1" or page.value("[...document.querySelectorAll('h2')]"
                                             f"[{2 + i}].textContent").endswith(f" ({unit})")
    for left in DATA[system]["methods"]:
        page.choose("left", left)
        page.value("$('halve').click()")
        assert page.text("order").count(": order ") == 2
        assert "short enough" not in page.text("order")
    for name, kept in DATA[system]["presets"].items():
        page.choose("preset", name)
        assert page.finished("runs[0].n") == kept["steps"]
        assert page.text("start") == f"{DATA[system]['starts'][name]}."


@pytest.mark.parametrize(("system", "slider", "value", "parameters"), [
    ("double", "mass.1", 0.37, {"mass": [1.0, 0.37]}), ("body", "inertia.1", 1.3, {"inertia": [1.5, 1.3, 0.6]}),
    ("top", "length.0", 0.3, {"length": 0.3}), ("three", "gamma.0", 0.9, {"gamma": 0.9})])
def test_sliders_change_what_the_package_would_change(page, system, slider, value, parameters):
    page.choose("system", system)
    page.choose(slider, value)
    last = page.finished("[...runs[1].states.at(-1)]")
    assert last == pytest.approx(simulated(system, "rk4", parameters=parameters), rel=1e-6, abs=1e-6)


def test_keys_and_stories_and_the_address(page):
    for event, place in (("down", 0), ("move", 300)):
        page.value(f"document.querySelector('.left svg').dispatchEvent(new PointerEvent('pointer{event}',"
                   f" {{buttons: 1, clientX: {place}, clientY: {place}, bubbles: true}}))")
    assert page.value("[$('turn').value, $('rise').value]") == ["-176", "86"]
    for k in range(3):
        page.value(f"document.querySelectorAll('#stories button')[{k}].click()")
        assert page.text("told").count(". ") == 2
    assert "order 2.00" in page.text("order")
    address = page.value("$('link').hash")
    page.choose("step", -3.505)
    assert page.value("[S.step, S.end]") == [pytest.approx(10**-3.505), 10.0]
    page.choose("step", -2.998)
    assert page.value("[S.step, form.step.nextElementSibling.textContent]") == [0.001, "0.001 (of the study)"]
    page.value(f"new Promise(done => {{ location.hash = '{address}'; setTimeout(done, 100); }})")
    assert page.value("S.step") == 0.002
    assert page.text("told") == ""


@pytest.mark.parametrize(("fragment", "said"), [
    ("system=nothing", "there is no system “nothing”"), ("system=body&left=<b>", "there is no left “<b>”"),
    ("step=1e9", "step 1.0e9 is outside"), ("step=abc", "is no setting"), ("speed=NaN", "is no setting"),
    ("mass.7=1", "is no setting"), ("%%%=&&&", "is no setting"), ("item=1&time=1", "“time=1” is no setting"),
    ("step=-1", "step -1 is outside"), ("end=Infinity", "end Infinity is outside")])
def test_absurd_links_get_a_sentence(page, fragment, said):
    page.value(f"read({json.dumps(fragment)})")
    assert said in page.text("told")
    assert page.value("runs.length") == 2


def test_a_method_that_fails_says_so_and_the_other_goes_on(page):
    page.value("read('step=0.001&end=1e4')")
    assert page.value("[runs[0].n, form.end.nextElementSibling.textContent]") == [
        1_000_000, "1000 (the most here)"]
    for settings in ("system=three&left=vi_sphere&right=rkmk&speed=2", "system=henon&left=rk4&right=verlet&speed=2"):
        page.value(f"read('{settings}'); moment = 1")
        for step in (-9, 9):  # both ends of the slider; the last escapes
            page.choose("step", step)
            assert len(page.finished(CAPTIONS)) == 5
    assert page.value("Math.hypot(...runs[1].states.at(-1))") > 1e40
    page.value("read('system=top&left=lgvi&right=rk4&step=0.2')")
    assert page.finished("runs.map(run => run.ended !== '')") == [True, False]
    assert "were not solved" in page.value(CAPTIONS)[0]


@pytest.mark.parametrize("window", [(1280, 844), (390, 844, True), (320, 640)])
def test_it_fits_the_window(window):
    with Page(live.PAGE, *window) as found:
        assert found.value("document.documentElement.scrollWidth") <= window[0]
        assert found.finished("[...document.querySelectorAll('input, select, svg')].every(item => item.ariaLabel"
                              " || item.labels?.length)")
        found.call("Emulation.setEmulatedMedia", media="print")
        assert found.value("[...document.querySelectorAll('.bar')].every(item => !item.offsetHeight)")
