"""The page of runs that move, in a real browser that is cut off from every network: its numbers are those of the files,
keys and mouse turn it, and a run that cannot be shown is one sentence."""
import browser
import numpy as np
import pytest
from commands import refused

from liestep.api.command_line import main
from liestep.errors import InputError
from liestep.figures.films import viewer
from liestep.simulation.runs.files import read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify

needs_browser = pytest.mark.skipif(browser.find() is None, reason="no Chromium on this machine")
PIXELS = "(() => {{ const c = document.querySelectorAll('figure canvas')[{0}]; return c.toDataURL(); }})()"
NOW = "[...document.querySelectorAll('output')].map(said => [Number(said.dataset.time), Number(said.dataset.energy)])"
MOVE = ("(() => {{ const bar = document.getElementById('time'); bar.value = {0};"
        " bar.dispatchEvent(new Event('input')); }})()")
KEY = ("document.querySelector('figure canvas').dispatchEvent(new KeyboardEvent('keydown',"
       " {{key: '{0}', bubbles: true, cancelable: true}}))")
READY = ("new Promise(done => { const look = () => document.body.dataset.ready ? done(true) : setTimeout(look, 20);"
         " look(); })")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for integrator, t_end in (("rk4", 0.5), ("vi_sphere", 1.0)):
        write(carry_out(specify("sphere_nbody", integrator, t_end=t_end, steps=40, samples=11)),
              folder/f"{integrator}.nc")
    return folder


@needs_browser
def test_the_page_shows_the_numbers_of_the_files(runs, tmp_path):
    names, target = ("rk4", "vi_sphere"), tmp_path/"motion.html"
    main(["view", *(str(runs/f"{name}.nc") for name in names), "-o", str(target)])
    files = [read(runs/f"{name}.nc") for name in names]
    with browser.Browser(390, 900) as page:
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        page.open(target)
        assert page.value(READY)
        assert page.value("document.getElementById('play').textContent") == "Play"  # nobody asked for motion
        for t in (0.0, 0.26, 1.0):
            page.value(MOVE.format(t))
            for file, (time, energy) in zip(files, page.value(NOW), strict=True):
                k = int(np.argmin(np.abs(file["time"] - t)))
                assert (time, energy) == (file["time"][k], file["energy"][k])
        assert page.value("document.documentElement.scrollWidth") <= 390
        first, other = page.value(PIXELS.format(0)), page.value(PIXELS.format(1))
        page.value(KEY.format("ArrowLeft"))
        assert page.value(PIXELS.format(0)) != first
        assert page.value(PIXELS.format(1)) == other
        page.value(KEY.format("Home"))
        assert page.value(PIXELS.format(0)) == first
        page.value("document.getElementById('play').click()")
        assert page.value("new Promise(done => setTimeout(() => done(document.getElementById('time').value), 400))"
                          ) != "1"
        assert (page.requests, page.complaints) == ([], [])


@needs_browser
def test_texts_of_users_stay_texts(runs, tmp_path):
    file = read(runs/"rk4.nc")
    file.attributes["integrator"] = "<img src=x onerror=alert(1)></script>"
    (tmp_path/"page.html").write_text(viewer.page_of([file]))
    with browser.Browser() as page:
        page.open(tmp_path/"page.html")
        assert page.value(READY)
        assert "<img src=x" in page.value("document.querySelector('output').textContent")
        assert page.value("document.images.length") == 0
        assert (page.requests, page.complaints) == ([], [])


def test_a_page_has_fewer_samples_where_they_would_be_too_many(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(viewer, "MOST", 60)
    small = len(viewer.page_of([read(runs/"rk4.nc")], 8))
    monkeypatch.setattr(viewer, "LIMIT", small + 10)
    monkeypatch.setattr(viewer, "FEWEST", 3)
    assert viewer.view([runs/"rk4.nc"], tmp_path/"page.html") == 7
    monkeypatch.setattr(viewer, "LIMIT", 100)
    with pytest.raises(InputError, match=r"the page of 1 runs would have .* allowed: take fewer runs"):
        viewer.view([runs/"rk4.nc"], tmp_path/"other.html")
    assert not (tmp_path/"other.html").exists()


@pytest.mark.parametrize(("arguments", "said"), [
    (["view", "{run}", "-o", "{folder}/page.gif"], "must end with .html"),
    (["view", *["{run}"]*13, "-o", "{folder}/page.html"], "a page shows from 1 to 12 runs, not 13"),
    (["view", "{folder}/none.nc", "-o", "{folder}/page.html"], "none.nc"),
])
def test_wrong_requests_are_one_sentence(runs, tmp_path, capsys, arguments, said):
    filled = [part.format(run=runs/"rk4.nc", folder=tmp_path) for part in arguments]
    assert said in refused(filled, capsys)
