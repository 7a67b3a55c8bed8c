"""The page "Run it here": its stored runs are those of the package, its module repeats them in a browser and fails
where one coefficient is changed, its controls change what they should, and bad input gets a sentence."""
import base64
import gzip
import json
import shutil
import struct
import subprocess
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import browser
import mpmath
import numpy as np
import pytest

import liestep
from docs.site import live
from docs.site.sine import cosine, sine
from liestep.simulation.runs.specification import specify
from liestep.workflow.report.provenance import run_here

DATA = json.loads((live.FOLDER/live.DATA).read_text("utf-8"))["systems"]
PAIRS = [(system, method) for system, facts in DATA.items() for method in facts["methods"]]
needs_browser = pytest.mark.skipif(browser.find() is None, reason="no Chromium on this machine: the page was not run")
CAPTIONS = "[...document.querySelectorAll('.three figcaption')].map(item => item.textContent)"
CHOOSE = ("(() => {{ const item = document.getElementById('{}'); item.value = '{}';"
          " item.dispatchEvent(new Event('{}')) }})()")
SEND = """<script>setInterval(() => document.body.dataset.ready && fetch("/", {method: "POST",
          body: document.getElementById("proof").textContent}), 200)</script>"""
FIELDS = ("attitude", "angular_momentum", "q", "omega", "momentum")


def opened(page: browser.Browser, path=live.PAGE, fragment: str = "") -> browser.Browser:
    """The page after its proof."""
    page.open(path, fragment)
    while not page.value("document.body.dataset.ready || ''"):
        time.sleep(0.05)
    return page


def text(page: browser.Browser, name: str) -> str:
    return page.value(f"document.getElementById('{name}').textContent")


def finished(page: browser.Browser, expression: str):
    page.value("(() => { while (!runs.every(done)) compute(100); fresh = true; draw(); })()")
    return page.value(expression)


@pytest.fixture(scope="module")
def page():
    with browser.Browser() as found:
        yield opened(found)
        assert found.requests == found.complaints == []


@pytest.mark.parametrize(("system", "method"), PAIRS)
def test_stored_runs_are_those_of_simulate(system, method):
    facts = DATA[system]
    name, kept = next(iter(facts["presets"].items()))
    if "plugin" in facts:
        liestep.load_plugin(live.TOP/facts["plugin"])
    given = {"preset": name} if system != "pendulum" else {key: kept[key] for key in ("parameters", "initial")}
    data = liestep.simulate(facts["system"], method, step=kept["t_end"]/kept["steps"], t_end=float(kept["t_end"]),
                            samples=2, **given)
    last = {field: data[field].values[-1] for field in FIELDS if field in data}
    rows = [value.T if field == "attitude" else value for field, value in last.items()]
    assert np.concatenate([value.ravel() for value in rows]).tobytes().hex() == facts["methods"][method]["end"]


def test_the_page_is_made_of_its_parts_and_has_24_pairs():
    assert live.PAGE.read_text("utf-8") == live.page()
    assert len(PAIRS) >= 24
    assert (live.FOLDER/live.MODULE).stat().st_size <= live.MOST[live.MODULE]
    assert live.PAGE.stat().st_size <= live.MOST[live.PAGE.name]


def arguments():
    random = np.random.default_rng(5)
    return [0.0, *np.exp(random.uniform(np.log(1e-4), np.log(1e5), 300)), *(np.pi/2*np.arange(-40, 40))]


def test_sine_and_cosine_are_correctly_rounded():
    with mpmath.workprec(200):
        for x in map(float, arguments()):
            assert (sine(x), cosine(x)) == (float(mpmath.sin(x)), float(mpmath.cos(x)))
    assert np.isnan([sine(1e9), sine(np.inf), cosine(np.nan)]).all()


def test_reports_link_runs_that_the_page_knows(monkeypatch):
    monkeypatch.chdir(live.TOP)
    given = {"preset": "paper", "steps": 5000, "t_end": 10.0}
    address = run_here(specify("sphere_nbody", "vi_sphere", **given), Path("results/a/b"))
    assert address == ("../../../docs/run_it_here.html#system=three&preset=paper&left=vi_sphere&right=rk4&step=0.002"
                       "&end=10.0")
    for change in ({"options": {"form": "paper"}}, {"parameters": {"gamma": 2.0}}, {"steps": 4}, {"steps": 10_000_000}):
        assert run_here(specify("sphere_nbody", "vi_sphere", **(given | change)), Path("results")) == ""
    assert run_here(specify("sphere_nbody", "rk2_heun", **given), Path("results")) == ""


@needs_browser
def test_all_pairs_are_equal_in_every_bit_and_the_module_has_its_own_sine(page):
    assert text(page, "proof").startswith(f"{len(PAIRS)} of {len(PAIRS)} runs of the study repeated here, equal in"
                                          " every bit (")
    assert page.value("document.querySelectorAll('#runs tr').length") == len(PAIRS) + 1
    xs = list(map(float, arguments()))
    assert page.value(f"{xs}.map(x => engines[2].correct_sin(x))") == [sine(x) for x in xs]


@pytest.mark.skipif(shutil.which("firefox-esr") is None and shutil.which("firefox") is None, reason="no Firefox here")
def test_all_pairs_are_equal_in_firefox(tmp_path):
    said = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write((live.page() + SEND).encode())

        def do_POST(self):
            said.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.do_GET()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server, subprocess.Popen(
            [shutil.which("firefox-esr") or "firefox", "--headless", "--no-remote", "--profile", tmp_path,
             f"http://127.0.0.1:{server.server_port}/"], stderr=subprocess.DEVNULL) as firefox:
        server.timeout = 1.0
        while not said and firefox.poll() is None:
            server.handle_request()
        firefox.terminate()
    assert said[0].startswith(f"{len(PAIRS)} of {len(PAIRS)} runs of the study repeated here, equal in every bit (")


@needs_browser
def test_one_changed_bit_of_a_coefficient_fails_the_proof(tmp_path):
    module = bytearray(gzip.decompress((live.FOLDER/live.MODULE).read_bytes()))
    module[module.rindex(struct.pack("<d", 1/6))] ^= 1  # of a tableau
    changed = base64.b64encode(gzip.compress(bytes(module))).decode()
    kept = base64.b64encode((live.FOLDER/live.MODULE).read_bytes()).decode()
    (tmp_path/"page.html").write_text(live.page().replace(kept, changed), "utf-8")
    with browser.Browser() as found:
        said = text(opened(found, tmp_path/"page.html"), "proof")
        assert int(said.split()[0]) < len(PAIRS)
        assert "which parts between steps 1 and" in said
        assert found.complaints == []


@needs_browser
@pytest.mark.parametrize("system", DATA)
def test_every_plot_tells_the_first_two_methods_apart(page, system):
    page.value(CHOOSE.format("system", system, "change"))
    for i, name in enumerate(("energy", "momentum", "manifold")):
        one, other = finished(page, f"runs.map(run => run.most[{i}])")
        if name == "energy" or name in DATA[system]:
            assert max(one, other) >= 1e3*min(one, other)
            assert "times better" in page.value(CAPTIONS)[i]
    assert "order" in page.value("halve()")


@needs_browser
def test_sliders_change_what_the_package_would_change(page):
    """Parameters in memory: the same motion as `simulate` with other masses, lengths and moments."""
    for system, key, value, parameters in (("double", "mass.1", 0.37, {"mass": [1.0, 0.37]}),
                                           ("body", "inertia.1", 1.3, {"inertia": [1.5, 1.3, 0.6]})):
        page.value(CHOOSE.format("system", system, "change"))
        page.value(CHOOSE.format(key, value, "input"))
        preset, kept = next(iter(DATA[system]["presets"].items()))
        data = liestep.simulate(DATA[system]["system"], "rk4", preset=preset, parameters=parameters, samples=2,
                                step=kept["t_end"]/kept["steps"], t_end=float(kept["t_end"]))
        last = finished(page, "[...runs[1].states.at(-1)]")
        field = "angular_momentum" if system == "body" else "omega"
        assert last[-3:] == pytest.approx(data[field].values[-1].ravel()[-3:], rel=1e-6, abs=1e-6)


@needs_browser
def test_keys_and_stories_and_the_address(page):
    before = page.value("turn[0]")
    page.value("document.querySelector('.two canvas').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'}))")
    assert page.value("turn[0]") == pytest.approx(before - 0.1)
    for k in range(3):
        page.value(f"document.querySelectorAll('#stories button')[{k}].click()")
        assert text(page, "told").count(". ") == 2
    assert "order 2.00" in text(page, "order")
    address = page.value("document.getElementById('link').hash")
    page.value(CHOOSE.format("step", 700, "input"))
    step = page.value("S.step")
    page.value(f"location.hash = '{address}'")
    page.value("new Promise(done => setTimeout(done, 100))")
    assert page.value("S.step") == 0.002 != step
    assert text(page, "note") == ""


@needs_browser
@pytest.mark.parametrize(("fragment", "said"), [
    ("#system=nothing", "there is no system “nothing”"), ("#system=body&left=<b>", "there is no left “<b>”"),
    ("#step=1e9", "step 1.0e9 is outside"), ("#step=abc", "is no setting"), ("#speed=NaN", "is no setting"),
    ("#step=0.0025&end=1e4", "steps are too many"), ("#mass.7=1", "is no setting"), ("#%%%=&&&", "is no setting")])
def test_absurd_links_get_a_sentence(page, fragment, said):
    page.value(f"read({json.dumps(fragment[1:])}); show()")
    assert said in text(page, "note")
    assert page.value("runs.length") == 2


@needs_browser
def test_a_method_that_fails_says_so_and_the_other_goes_on(page):
    page.value("read('system=three&left=vi_sphere&right=rkmk&step=0.04&speed=2'); show()")
    for steps in (0, 1000):  # both ends of the slider
        page.value(CHOOSE.format("step", steps, "input"))
        assert len(finished(page, CAPTIONS)) == 3
    page.value("read('system=top&left=lgvi&right=rk4&step=0.2'); show()")
    assert finished(page, "runs.map(run => run.ended !== '')") == [True, False]
    assert "were not solved" in page.value("document.querySelector('.two figcaption').textContent")


@needs_browser
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True), (320, False)])
def test_it_fits_the_window(width, dark):
    with browser.Browser(width, 844, dark) as found:
        opened(found)
        assert found.value("document.documentElement.scrollWidth") <= width
        assert found.value("[...document.querySelectorAll('input, select, canvas')].every(item => item.ariaLabel"
                           " || item.labels?.length)")
        assert found.requests == found.complaints == []


@needs_browser
def test_an_old_browser_gets_a_sentence_and_the_film(tmp_path):
    old = live.page().replace('"use strict";', '"use strict"; delete globalThis.DecompressionStream;', 1)
    (tmp_path/"page.html").write_text(old, "utf-8")
    with browser.Browser() as found:
        found.open(tmp_path/"page.html")
        assert "cannot unpack" in text(found, "proof")
        assert found.value("document.querySelector('#proof + img').getAttribute('src')") == "film.webp"
