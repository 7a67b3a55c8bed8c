"""The report: made from a small study and read as text; test_report_browser.py opens it."""
import base64
import io
import json
import random
import re
import shutil
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pandas
import pytest
from PIL import Image
from report_place import FILM, NAMES, RUN, Place, made_place

from liestep.errors import InputError
from liestep.figures.films.film import animate
from liestep.simulation.runs.files import read
from liestep.study.plan.plan import Study
from liestep.workflow.report import pictures
from liestep.workflow.report.page import LIMIT, Page
from liestep.workflow.report.pictures import LEVELS, embed, picture
from liestep.workflow.report.verdicts import MEANINGS, anchor
from liestep.workflow.workflow import StudyProducts


@pytest.fixture(scope="module")
def place(once):
    return Place(once("report", made_place))


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
    """Of the index, the page of the paper and that of own studies."""
    return {path: Elements(path) for path in place.files}


def test_headings_skip_no_level(place):
    for path in place.files:
        levels = [int(tag[1]) for tag, _ in Elements(path).found if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels)), path


def test_pages_are_small_files_that_ask_for_nothing(place, elements):
    images = {place.report: {"data:image/webp": 2},  # of headlines, on their paper's page, too
              place.page: {"data:image/webp": 2 + 2, "data:image/gif": 1}, place.own: {}}
    for path in place.files:
        text = path.read_text("utf-8")
        assert len(text.encode()) < LIMIT
        assert "default-src 'none'" in text
        kinds = Counter(address.partition(";base64,")[0] for address in elements[path].values("src"))
        assert kinds == {"data:,": 1, **images[path]}  # the empty picture of the dialog
        assert "://" not in re.sub(r"<pre.*?</pre>|<script type=.*?</script>", "", text, flags=re.DOTALL)
        assert "alert(1)</script>" not in text


def test_ids_are_unique_and_every_link_leads_to_one_on_this_or_another_page(place, elements):
    ids = {path: set(found.values("id")) for path, found in elements.items()}
    for path, found in elements.items():
        assert set(Counter(found.values("id")).values()) == {1}
        for address in found.values("href"):
            page, _, target = address.partition("#")
            if page and not page.endswith(".html"):
                assert address == "data:," or (path.parent/page).is_file(), address
            else:
                assert target in ids[(path.parent/page).resolve() if page else path] | {""}, address
    targets = {address[1:] for address in elements[place.page].values("href") if address.startswith("#")}
    own = {anchor("study", "own"), anchor("runs", "own"), anchor("table", "own", "momentum")}
    wanted = {anchor("study", "paper/bodies"), anchor("runs", "paper/bodies"),
        anchor("figure", "paper/bodies", "convergence"), anchor("film", "paper/bodies", "bodies.rk4.h0.03125"),
        anchor("table", "paper/bodies", "orders"), anchor("claim", "paper", "words"), anchor("erratum", "paper", "2a")}
    assert wanted <= ids[place.page]
    assert own <= ids[place.own]
    assert not wanted & ids[place.own]
    assert not own & ids[place.page]
    assert anchor("figure", "paper/bodies", "energy_error") in targets  # a claim about the energy leads there
    assert {anchor("table", "paper/bodies", "energy"), anchor("erratum", "paper", "2a"),
            anchor("erratum", "paper", "1")} <= targets


def test_figures_films_tables_runs_and_papers_lead_to_their_files(place, elements):
    """PDF, PNG, GIF, NetCDF and CSV files beside the page; that all of them exist is tested above."""
    found, folder = elements[place.page].values("href"), "../paper/bodies/"
    for name in ("convergence", "energy_error"):
        assert {f"{folder}figures/{name}.pdf", f"{folder}figures/{name}.png"} <= set(found)
    assert {f"../{FILM}", f"../{RUN}", f"{folder}references/bodies.nc"} <= set(found)
    tables = {(attributes["data-file"], attributes["data-folder"]) for tag, attributes in elements[place.page].found
              if "data-file" in attributes}
    assert tables == {(f"{folder}{name}.csv", folder[:-1]) for name in ("metrics", "orders", "energy")}
    assert all((place.page.parent/file).is_file() for file, _ in tables)
    data = elements[place.page].data[anchor("runs", "paper/bodies")]
    assert all((place.folder/"results/paper/bodies"/row[data["columns"].index("path")]).is_file()
               for row in data["rows"])
    assert Page("livens2025").doi == "10.1007/s11044-024-10001-9"
    assert Page("paper").doi == ""


def test_units_are_those_of_the_observables(elements, place):
    data = elements[place.page].data[anchor("table", "paper/bodies", "energy")]
    assert ["largest energy error", "J"] in data["headings"]
    assert len(data["headings"]) == len(data["columns"]) == len(data["rows"][0])


def test_every_run_is_there_with_what_it_was_made_from(place, elements):
    for name, count, page in zip(NAMES, (5, 2), (place.page, place.own), strict=True):
        data, folder = elements[page].data[anchor("runs", name)], place.folder/"results"/name
        metrics = pandas.read_csv(folder/"metrics.csv")
        assert len(data["rows"]) == count == len(metrics)
        for number, row in enumerate(data["rows"]):
            values = dict(zip(data["columns"], row, strict=True))
            attributes = read(folder/values["path"], ()).attributes
            for key in ("run_sha256", "status", "message"):
                assert values[key] == attributes[key]
            whole = attributes["status"] == "ok"  # a run that stopped has no error
            assert values["energy_error_max"] == (pytest.approx(attributes["energy_error_max"], rel=1e-7) if whole
                                                  else None)

            def of(entry, number=number):
                return entry["values"][entry["of"][number] if "of" in entry else 0]

            assert of(data["source_hash"]) == attributes["source_hash"]
            specification = json.loads(attributes["specification"])
            assert {key: of(entry) for key, entry in data["specification"].items()} == specification
    data = elements[place.page].data[anchor("runs", "paper/bodies")]
    assert [row[data["columns"].index("status")] == "ok" for row in data["rows"]] == [False, True, True, True, True]


def test_the_index_counts_verdicts_and_leads_to_every_page_and_study(place, elements):
    found = set(elements[place.report].values("href"))
    assert {f"report/paper.html#{anchor('claims', 'paper')}", "report/paper.html#errata", "report/studies.html",
            f"report/paper.html#{anchor('study', 'paper/bodies')}",
            f"report/studies.html#{anchor('study', 'own')}"} <= found
    text = place.report.read_text("utf-8")
    counts = re.findall(r'<td class="number" data-v="(\d+)">', text)
    assert counts == ["0", "0", "0", "1", "1", "0", "0", "1", "3"]  # one for each of MEANINGS but own ones, then all
    assert next(iter(MEANINGS)) == "reproduced"
    assert "3 statements of the paper: 1 confirmed, 1 not reproduced, 1 not testable. 1 prediction, 1 met." in text
    assert "2 studies, 7 runs, 2 figures." in text
    assert "1 stopped early" in text
    assert len(text.encode()) < 100_000


def test_an_overview_shows_every_statement_and_pictures_say_what_they_show(place, elements):
    for path, start in ((place.report, "report/paper.html#"), (place.page, "#")):
        fields = [attributes for tag, attributes in elements[path].found
                  if tag == "a" and ", " in attributes.get("aria-label", "") and "title" in attributes]
        assert [field["aria-label"] for field in fields] == ["small_error, confirmed", "impossible, not reproduced",
                                                             "words, not testable"]
        assert all(field["href"].startswith(start) for field in fields)
        assert fields[1]["title"] == "impossible, not reproduced: the error vanishes"
    alternatives = [value for value in elements[place.page].values("alt") if value]
    assert any(value.startswith("Three bodies & more: scaled state error against the step") for value in alternatives)
    assert not any("Runs of" in value for value in alternatives[:2])


def test_captions_are_those_beside_the_figures(place):
    text = place.page.read_text("utf-8")
    for name in ("convergence", "energy_error"):
        caption = (place.folder/"results"/"paper"/"bodies"/"figures"/f"{name}.caption.txt").read_text().strip()
        assert "three bodies" in caption
        for part in (what := caption.partition(" Runs of ")[0], caption.removeprefix(what).strip()):  # settings below
            assert part
            assert part.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in text


def test_another_call_gives_the_same_bytes_and_studies_can_be_chosen(copy):
    before = [path.read_bytes() for path in copy.files]
    assert copy.liestep("job", "report") == 0
    assert [path.read_bytes() for path in copy.files] == before
    assert copy.liestep("job", "report", "own") == 0
    assert [path.read_bytes() for path in copy.files] == before  # the pages of everything stay
    text = (copy.report.parent/"selection"/"report.html").read_text("utf-8")
    assert "paper.html" not in text
    assert 'id="verdicts"' not in text  # they rest on a study that is not shown


def test_a_claim_about_a_study_of_another_page_leads_there(copy):
    """A paper whose runs are in a study without a folder."""
    path = copy.folder/"config"/"claims"/"paper.yaml"
    text = path.read_text().replace("study: paper/bodies, problem: bodies, integrator: rk4}",
                                    "study: own, problem: pendulum, integrator: vi_sphere, resolution: h0.1}")
    path.write_text(text.replace("  - {finding: impossible, figure: paper/bodies/energy_error}\n", ""))
    assert copy.liestep("job", "claims") == 0
    assert copy.liestep("job", "report") == 0
    assert f"studies.html#{anchor('runs', 'own')}" in Elements(copy.page).values("href")
    assert f"paper.html#{anchor('claim', 'paper', 'impossible')}" in Elements(copy.own).values("href")


def test_claims_of_another_name_than_their_file_are_refused(copy, capsys):
    path = copy.folder/"config"/"claims"/"paper.yaml"
    path.write_text(path.read_text().replace("paper: paper", "paper: other"))
    assert copy.liestep("job", "report") == 2
    assert "paper.yaml: paper is other; it must be paper" in capsys.readouterr().err


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
    (spoil_metrics, "own/metrics.csv is of another state of the study; run `liestep job analyse own` again"),
    (spoil_label,
     "convergence.png is of another state of the study; run `liestep job figure paper/bodies convergence` again"),
    (spoil_table, "own/energy.csv was changed after it was made; remove it and make it again"),
    (spoil_claim, "claims.csv is of another state of the claims files; run `liestep job claims` again"),
    (spoil_erratum, "errata.csv is of another state of the errata files; run `liestep job errata` again"),
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
    (spoil_source, "own/metrics.csv is of another state of the study; run `liestep job analyse own` again"),
    (lambda folder: (folder/"results"/"paper/bodies/references/bodies.nc").unlink(),
     "references/bodies.nc does not exist"),
])
def test_what_is_stale_or_missing_is_refused_in_one_sentence(copy, spoil, sentence, capsys):
    before = [path.read_bytes() for path in copy.files]
    spoil(copy.folder)
    assert copy.liestep("job", "report") == 2
    complaint = capsys.readouterr().err
    assert sentence in complaint
    assert complaint.count("\n") == 1
    assert [path.read_bytes() for path in copy.files] == before


def test_figures_become_smaller_until_they_fit(tmp_path):
    path = tmp_path/"noise.png"
    Image.frombytes("RGB", (2000, 500), random.Random(1).randbytes(3_000_000)).save(path)
    whole = picture(path, 5000, 80)
    assert (whole.width, whole.height) == (2000, 500)
    large, budget = embed([path, path], 10**9), 500_000
    small = embed([path, path], budget)
    assert (large[0].width, large[0].height) == (LEVELS[0][0], LEVELS[0][0]//4)
    assert small[0].width < large[0].width
    assert sum(len(item.address) for item in small) <= budget < sum(len(item.address) for item in large)
    assert embed([path], 1)[0].width == LEVELS[-1][0]
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match="not a readable PNG"):
        picture(path, 5000, 80)


def test_films_become_smaller_until_they_fit(tmp_path):
    """Width, number of frames and colours shrink; the duration stays."""
    noise = random.Random(2)
    frames = [Image.frombytes("RGB", (480, 480), noise.randbytes(3*480*480)).quantize(256) for _ in range(9)]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=100, loop=0)
    sizes = []
    for width, every in pictures.FILM_LEVELS:
        found = pictures.smaller(out.getvalue(), width, every)
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
    large, = pictures.embed_films([film], 10**9)
    small, = pictures.embed_films([film], len(large.address) - 1)
    least, = pictures.embed_films([film], 1)
    assert large.width == small.width == pictures.FILM_LEVELS[0][0]
    assert least.width == pictures.FILM_LEVELS[-1][0]
    assert len(least.address) < len(small.address) < len(large.address)
