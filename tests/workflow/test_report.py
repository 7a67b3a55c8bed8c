"""The report: made from a small study, read as text, and opened in a real browser that is cut
off from every network."""
import base64
import io
import json
import random
import re
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import browser
import pandas
import pytest
from PIL import Image

from liestep.animation.film import animate
from liestep.claims.claimfile import VERDICTS
from liestep.cli import main
from liestep.errors import InputError
from liestep.pipeline.workflow import StudyProducts
from liestep.report import films
from liestep.report.links import anchor, link_errata
from liestep.report.page import LIMIT
from liestep.report.pictures import LEVELS, embed, picture
from liestep.report.provenance import abbreviate, shared
from liestep.report.verdicts import MEANINGS
from liestep.runs.files import read
from liestep.study.plan import Study

STUDY = """title: Three bodies & more
description: A study of the test.
reference: true
samples: 2
tables: [orders, energy]
figures: [convergence, energy_error]
animations: [bodies/rk4/h0.03125]
problems:
  bodies: {system: sphere_nbody, t_end: 2.5, label: three bodies}
integrators:
  vi_sphere: {steps: {counts: [1, 80, 40, 160]}, label: "<script>alert(1)</script>"}
  rk4: {steps: {counts: [80]}}
"""
OWN = """title: A study of nobody's paper
problems:
  pendulum: {system: spherical_pendulum_chain, preset: paper_scaled, t_end: 0.5}
integrators:
  vi_sphere: {steps: [0.1, 0.05]}
"""
CLAIMS = """paper: paper
citation: "A. Author: On bodies"
claims:
  - id: small_error
    statement: "the error is small (erratum 2)"
    source: "figure 1"
    printed: 0.1
    units: J
    runs: [{study: paper/bodies, problem: bodies, integrator: rk4, resolution: h0.03125}]
    quantity: energy_error_mean
    criterion: {kind: limit, at_most: 1.0}
    known: false
  - id: impossible
    statement: "the error vanishes"
    source: "section 2"
    runs: [{study: paper/bodies, problem: bodies, integrator: rk4}]
    quantity: energy_error_max
    criterion: {kind: limit, at_most: 1e-30}
    known: true
    setting: "errata 1 and 2 are not applied"
  - id: words
    statement: "the motion is beautiful"
    source: "abstract"
    criterion: {kind: none}
    known: false
"""
ERRATA = """paper: paper
citation: "A. Author: On bodies"
errata:
  - {number: 1, place: eq. (1), printed: a < b, correct: a > b, kind: misprint}
  - {number: 2, part: a, place: eq. (2), printed: x, correct: y, kind: ambiguity}
"""
NAMES = ("paper/bodies", "own")
RUN, FILM = "paper/bodies/runs/bodies/rk4/h0.03125.nc", "paper/bodies/animations/bodies.rk4.h0.03125.gif"


class Place:
    """A folder with configuration and results; `liestep` calls the command line there."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.report = folder/"results"/"report.html"

    def liestep(self, *arguments: str) -> int:
        return main(["--config", str(self.folder/"config"), "--results", str(self.folder/"results"), *arguments])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = Place(tmp_path_factory.mktemp("report"))
    for name, text in {"studies/paper/bodies": STUDY, "studies/own": OWN, "claims/paper": CLAIMS,
                       "errata/paper": ERRATA}.items():
        path = place.folder/"config"/f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for command in (("sweep", "paper/bodies", "bodies"), ("reference", "paper/bodies", "bodies"),
                    ("sweep", "own", "pendulum"), ("analyse", "paper/bodies"), ("analyse", "own"),
                    ("figure", "paper/bodies"),
                    ("animate", str(place.folder/"results"/RUN), "-o", str(place.folder/"results"/FILM)), ("claims",),
                    ("errata",), ("report",)):
        assert place.liestep(*command) == 0, command
    return place


@pytest.fixture
def copy(place, tmp_path):
    """The same place to spoil."""
    shutil.copytree(place.folder, tmp_path/"copy")
    return Place(tmp_path/"copy")


class Elements(HTMLParser):
    """All elements of a page with their attributes, and the texts of its blocks of data by the id of their element."""

    def __init__(self, path: Path):
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.data: dict[str, dict] = {}
        self._details = self._inside = None
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.found.append((tag, attributes))
        if tag == "details":
            self._details = attributes.get("id")
        self._inside = self._details if tag == "script" and attributes.get("type") == "application/json" else None

    def handle_data(self, text):
        if self._inside:
            self.data[self._inside] = json.loads(text)
            self._inside = None

    def values(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.found if name in attributes]


@pytest.fixture(scope="module")
def elements(place):
    return Elements(place.report)


def test_page_is_one_small_file_that_asks_for_nothing(place, elements):
    text = place.report.read_text("utf-8")
    assert len(text.encode()) < LIMIT
    assert "default-src 'none'" in text
    kinds = Counter(address.partition(";base64,")[0] for address in elements.values("src"))
    assert kinds == {"data:image/png": 2, "data:image/gif": 1}
    assert all(address.startswith(("#", "data:,")) for address in elements.values("href"))
    assert "://" not in re.sub(r"<pre.*?</pre>|<script type=.*?</script>", "", text, flags=re.DOTALL)
    assert "alert(1)</script>" not in text


def test_ids_are_unique_and_every_link_leads_to_one(elements):
    ids = Counter(elements.values("id"))
    assert set(ids.values()) == {1}
    targets = {address[1:] for address in elements.values("href") if address.startswith("#")}
    assert targets <= set(ids)
    wanted = {anchor("study", name) for name in NAMES} | {anchor("runs", name) for name in NAMES} | {
        anchor("figure", "paper/bodies", "convergence"), anchor("film", "paper/bodies", "bodies.rk4.h0.03125"),
        anchor("table", "paper/bodies", "orders"), anchor("table", "own", "momentum"),
        anchor("claim", "paper", "words"), anchor("erratum", "paper", "2a")}
    assert wanted <= set(ids)
    assert anchor("figure", "paper/bodies", "energy_error") in targets  # a claim about the energy leads there
    assert {anchor("table", "paper/bodies", "energy"), anchor("erratum", "paper", "2a"),
            anchor("erratum", "paper", "1")} <= targets


def test_every_run_is_there_with_what_it_was_made_from(place, elements):
    for name, count in zip(NAMES, (5, 2), strict=True):
        data, folder = elements.data[anchor("runs", name)], place.folder/"results"/name
        metrics = pandas.read_csv(folder/"metrics.csv")
        assert len(data["rows"]) == count == len(metrics)
        for number, row in enumerate(data["rows"]):
            values = dict(zip(data["columns"], row, strict=True))
            attributes = read(folder/values["path"], ()).attributes
            for key in ("run_sha256", "status", "message"):
                assert values[key] == attributes[key]
            assert values["energy_error_max"] == pytest.approx(attributes["energy_error_max"], rel=1e-7)

            def of(entry, number=number):
                return entry["values"][entry["of"][number] if "of" in entry else 0]

            assert of(data["source_hash"]) == attributes["source_hash"]
            specification = json.loads(attributes["specification"])
            assert {key: of(entry) for key, entry in data["specification"].items()} == specification
    data = elements.data[anchor("runs", "paper/bodies")]
    assert [row[data["columns"].index("status")] == "ok" for row in data["rows"]] == [False, True, True, True, True]


def test_captions_are_those_beside_the_figures(place):
    text = place.report.read_text("utf-8")
    for name in ("convergence", "energy_error"):
        caption = (place.folder/"results"/"paper"/"bodies"/"figures"/f"{name}.caption.txt").read_text().strip()
        assert "three bodies" in caption
        assert caption.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in text


def test_another_call_gives_the_same_bytes_and_studies_can_be_chosen(copy):
    before = copy.report.read_bytes()
    assert copy.liestep("report") == 0
    assert copy.report.read_bytes() == before
    assert copy.liestep("report", "own") == 0
    assert copy.report.read_bytes() == before  # the page of everything stays
    text = (copy.report.parent/"selection"/"report.html").read_text("utf-8")
    assert "three bodies" not in text
    assert 'id="claims"' not in text  # they rest on a study that is not shown
    assert 'id="errata"' not in text


def spoil_metrics(folder: Path) -> None:
    path = folder/"config"/"studies"/"own.yaml"
    path.write_text(path.read_text().replace("t_end: 0.5", "t_end: 1.0"))


def spoil_source(folder: Path) -> None:
    path = folder/"results"/"own"/"metrics.csv"
    table = pandas.read_csv(path, dtype=str)
    table.assign(source_hash="0"*16).to_csv(path, index=False)


def spoil_label(folder: Path) -> None:
    path = folder/"config"/"studies"/"paper"/"bodies.yaml"
    path.write_text(path.read_text().replace("label: three bodies", "label: 3 bodies"))


def spoil_table(folder: Path) -> None:
    path = folder/"results"/"own"/"energy.csv"
    path.write_text(path.read_text().replace("h0.05", "h0.025"))


def spoil_claim(folder: Path) -> None:
    path = folder/"config"/"claims"/"paper.yaml"
    path.write_text(path.read_text().replace("at_most: 1.0", "at_most: 2.0"))


def spoil_erratum(folder: Path) -> None:
    path = folder/"config"/"errata"/"paper.yaml"
    path.write_text(path.read_text().replace("printed: x", "printed: z"))


@pytest.mark.parametrize(("spoil", "sentence"), [
    (spoil_metrics, "own/metrics.csv is of another state of the study; run `liestep analyse own` again"),
    (spoil_label,
     "convergence.png is of another state of the study; run `liestep figure paper/bodies convergence` again"),
    (spoil_table, "own/energy.csv was changed after it was made; remove it and make it again"),
    (spoil_claim, "claims.csv is of another state of the claims files; run `liestep claims` again"),
    (spoil_erratum, "errata.csv is of another state of the errata files; run `liestep errata` again"),
    (lambda folder: (folder/"results"/"claims.csv").unlink(), "claims.csv does not exist"),
    (lambda folder: (folder/"results"/"paper/bodies/figures/convergence.png").unlink(),
     "convergence.png does not exist"),
    (lambda folder: (folder/"results"/"paper/bodies/figures/convergence.png").write_bytes(b"nothing"),
     "convergence.png is not a readable PNG file"),
    (lambda folder: (folder/"results"/FILM).unlink(), "h0.03125.gif does not exist; run `liestep animate "),
    (lambda folder: (folder/"results"/FILM).write_bytes((folder/"results"/FILM).read_bytes()[:3000]),
     "h0.03125.gif is not a readable GIF file"),
    (lambda folder: (folder/"results"/FILM).write_bytes(b"GIF89a"),
     "h0.03125.gif is not a readable GIF file; run `liestep animate "),
    (lambda folder: animate(folder/"results"/RUN.replace("rk4", "vi_sphere"), folder/"results"/FILM),
     "h0.03125.gif is of another state of the study; run `liestep animate "),
    (lambda folder: (folder/"results"/"paper/bodies/figures/convergence.caption.txt").unlink(),
     "convergence.caption.txt does not exist"),
    (spoil_source, "own/metrics.csv is of another state of the study; run `liestep analyse own` again"),
    (lambda folder: (folder/"results"/"paper/bodies/references/bodies.nc").unlink(),
     "references/bodies.nc does not exist"),
])
def test_what_is_stale_or_missing_is_refused_in_one_sentence(copy, spoil, sentence, capsys):
    before = copy.report.read_bytes()
    spoil(copy.folder)
    assert copy.liestep("report") == 2
    complaint = capsys.readouterr().err
    assert sentence in complaint
    assert complaint.count("\n") == 1
    assert copy.report.read_bytes() == before


def test_figures_become_smaller_until_they_fit(tmp_path):
    path = tmp_path/"noise.png"
    Image.frombytes("RGB", (2000, 500), random.Random(1).randbytes(3_000_000)).save(path)
    whole = picture(path, 5000, 256)
    assert (whole.width, whole.height) == (2000, 500)
    large, small = embed([path, path], 10**9), embed([path, path], 1_500_000)
    assert (large[0].width, large[0].height) == (LEVELS[0][0], 450)
    assert small[0].width < large[0].width
    assert sum(len(item.address) for item in small) <= 1_500_000
    assert embed([path], 1)[0].width == LEVELS[-1][0]
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match="not a readable PNG"):
        picture(path, 5000, 256)


def test_films_become_smaller_until_they_fit(tmp_path):
    """Width, number of frames and colours shrink; the duration stays."""
    noise = random.Random(2)
    frames = [Image.frombytes("RGB", (480, 480), noise.randbytes(3*480*480)).quantize(256) for _ in range(9)]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=100, loop=0)
    sizes = []
    for width, every in films.LEVELS:
        found = films.smaller(out.getvalue(), width, every)
        sizes.append(len(found.address))
        with Image.open(io.BytesIO(base64.b64decode(found.address.partition(",")[2]))) as film:
            assert (film.width, film.n_frames) == (width, -(-9//every)) == (found.width, -(-9//every))
            durations = []
            for k in range(film.n_frames):
                film.seek(k)
                durations.append(film.info["duration"])
            assert sum(durations) == 900
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] < 4/3*len(out.getvalue())


def test_films_share_the_page_with_the_figures(place):
    film, = StudyProducts(Study.find("paper/bodies", place.folder/"config", place.folder/"results")).animations
    large, = films.embed_films([film], 10**9)
    small, = films.embed_films([film], len(large.address) - 1)
    least, = films.embed_films([film], 1)
    assert large.width == small.width == films.LEVELS[0][0]
    assert least.width == films.LEVELS[-1][0]
    assert len(least.address) < len(small.address) < len(large.address)


def test_long_arrays_are_described_and_equal_parts_stored_once():
    assert abbreviate({"q": [[0.5, 2.0, 1.0]]*40, "a": [1, 2]}) == {
        "q": "40 x 3 numbers from 0.5 to 2, all in the file's attribute specification", "a": [1, 2]}
    assert shared([{"a": 1}, {"a": 1}]) == {"values": [{"a": 1}]}
    assert shared([1, 1.0, True, 1]) == {"values": [1, 1.0, True], "of": [0, 1, 2, 0]}


def test_errata_in_texts_become_links():
    linked = link_errata("a < b (errata 5 and 6), erratum 7b, erratum 9, example 5", "p", ["5a", "5b", "6", "7b"])
    assert linked == ('a &lt; b (errata <a href="#erratum/p/5a">5</a> and <a href="#erratum/p/6">6</a>), '
                      'erratum <a href="#erratum/p/7b">7b</a>, erratum 9, example 5')
    assert set(MEANINGS) == set(VERDICTS)


# ---- in a browser

needs_browser = pytest.mark.skipif(browser.find() is None,
                                   reason="no Chromium on this machine: install Debian's package chromium, or name one"
                                   " in LIESTEP_CHROMIUM; the page was checked as text only")
COLUMN = "[...document.querySelectorAll({rows!r})].map(row => row.cells[{column}].textContent.trim())"


@pytest.fixture(scope="module")
def page(place):
    with browser.Browser() as found:
        found.open(place.report)
        yield found
        assert found.complaints == []
        assert found.requests == []


@needs_browser
def test_the_browser_of_these_tests_sees_requests_and_errors(tmp_path):
    path = tmp_path/"page.html"
    path.write_text('<img src="http://127.0.0.1:9/a.png"><script>console.error("trouble");'
                    'fetch("http://127.0.0.1:9/b").catch(() => 0); f()</script>')
    with browser.Browser() as found:
        found.open(path)
        assert {"http://127.0.0.1:9/a.png", "http://127.0.0.1:9/b"} <= set(found.requests)
        assert any("trouble" in text for text in found.complaints)
        assert any("f is not defined" in text for text in found.complaints)


@needs_browser
def test_every_figure_loads_and_enlarges(page):
    widths = page.value("Promise.all([...document.querySelectorAll('figure img')].map(image => image.decode().then(()"
                        " => image.naturalWidth)))")
    assert len(widths) == 3
    assert sorted(widths)[0] == 480  # the film
    assert sorted(widths)[1] > 500
    page.value("document.querySelector('.zoom').click()")
    assert page.value("document.getElementById('large').open && document.querySelector('#large"
                      " img').naturalWidth") == widths[0]
    page.value("document.getElementById('large').close()")


@needs_browser
def test_every_link_leads_to_something_that_can_be_seen(page):
    seen = page.value("""(async () => {
      const hidden = [];
      document.querySelectorAll('.claims details').forEach(part => { part.open = true; });
      for (const link of document.querySelectorAll('a[href^="#"]')) {
        document.querySelectorAll('.study details').forEach(part => { part.open = false; });
        link.click();
        await new Promise(done => setTimeout(done, 20));
        const target = document.getElementById(decodeURIComponent(link.hash.slice(1)));
        if (!target || !target.checkVisibility() || (target.matches('details') && !target.open)) hidden.push(link.hash);
      }
      return hidden;
    })()""")
    assert seen == []


@needs_browser
def test_a_claim_leads_to_its_run_which_opens_to_its_provenance(page, place):
    page.value("document.querySelector('#claim\\\\/paper\\\\/small_error a[data-run]').click()")
    page.value("new Promise(done => setTimeout(done, 100))")
    assert page.value("[...document.querySelectorAll('tr.found')].map(row =>"
                      " row.dataset.run)") == ["bodies/rk4/h0.03125"]
    page.value("document.querySelector('tr.found .open').click()")
    text = page.value("document.querySelector('tr.found + tr.more').textContent")
    attributes = read(place.folder/"results/paper/bodies/runs/bodies/rk4/h0.03125.nc", ()).attributes
    assert attributes["run_sha256"] in text
    assert attributes["source_hash"] in text
    page.value("document.querySelector('tr.found .open').click()")
    assert page.value("document.querySelectorAll('tr.more').length") == 0


@needs_browser
def test_tables_sort_both_ways_with_missing_values_last(page):
    rows = "#runs\\/paper\\/bodies tbody tr"
    page.value("document.getElementById('runs/paper/bodies').open = true")
    page.value("new Promise(done => setTimeout(done, 100))")
    names = page.value("[...document.querySelectorAll('#runs\\\\/paper\\\\/bodies th')].map(head => head.textContent)")
    column = names.index("steps")
    assert page.value(COLUMN.format(rows=rows, column=column)) == ["0", "80", "40", "160", "80"]
    click = f"document.querySelectorAll('#runs\\\\/paper\\\\/bodies th button')[{column}].click()"
    page.value(click)
    assert page.value(COLUMN.format(rows=rows, column=column)) == ["0", "40", "80", "80", "160"]
    page.value(click)
    assert page.value(COLUMN.format(rows=rows, column=column)) == ["160", "80", "80", "40", "0"]
    column = names.index("error")
    click = f"document.querySelectorAll('#runs\\\\/paper\\\\/bodies th button')[{column}].click()"
    for _ in range(2):
        page.value(click)
        values = page.value(COLUMN.format(rows=rows, column=column))
        assert values[-1] == ""
        assert all(values[:-1])
    assert page.value(f"document.querySelectorAll('#runs\\\\/paper\\\\/bodies th')[{column}].ariaSort") == "descending"
    page.value("document.querySelectorAll('.claims th button')[0].click()")
    assert page.value(COLUMN.format(rows=".claims tbody tr", column=0)) == ["✓ reproduced", "✗ not reproduced",
                                                                            "– not testable"]
    page.value("document.querySelectorAll('.claims th button')[0].click()")
    assert page.value(COLUMN.format(rows=".claims tbody tr", column=0))[0] == "– not testable"


@needs_browser
def test_claims_can_be_chosen_by_verdict(page):
    visible = "[...document.querySelectorAll('.claims tbody tr')].filter(row => row.checkVisibility()).length"
    assert page.value(visible) == 3
    page.value("document.querySelector('.filter[data-verdict=\"not reproduced\"]').click()")
    assert page.value(visible) == 1
    page.value("document.querySelector('.filter[data-verdict=\"\"]').click()")
    assert page.value(visible) == 3


@needs_browser
@pytest.mark.parametrize(("width", "dark"), [(1600, False), (1000, True), (360, False), (360, True)])
def test_nothing_is_wider_than_the_window_and_texts_have_contrast(place, width, dark):
    with browser.Browser(width, 800, dark) as found:
        found.open(place.report, "#runs/paper/bodies")
        assert found.value("document.getElementById('runs/paper/bodies').open &&"
                           " document.querySelectorAll('tr[data-run]').length") == 5
        assert found.value("document.documentElement.scrollWidth") <= width
        colours = found.value("(({color, backgroundColor}) => [color,"
                              " backgroundColor])(getComputedStyle(document.body))")
        text, back = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
        assert (text - back)*(1 if dark else -1) > 400
        assert found.complaints == []
        assert found.requests == []
