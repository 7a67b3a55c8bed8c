"""The report in a real browser that is cut off from every network."""
import json
import re
from pathlib import Path

import browser
import pandas
import pytest
from report_place import Place, made_place

from liestep.simulation.runs.files import read

needs_browser = pytest.mark.skipif(browser.find() is None,
                                   reason="no Chromium on this machine: install Debian's package chromium, or name one"
                                   " in LIESTEP_CHROMIUM; the page was checked as text only")
COLUMN = "[...document.querySelectorAll({rows!r})].map(row => row.cells[{column}].textContent.trim())"


@pytest.fixture(scope="module")
def place(once):
    return Place(once("report", made_place))


@pytest.fixture(scope="module")
def page(place):
    with browser.Browser() as found:
        found.open(place.page)
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
                      " img').naturalWidth") == page.value("document.querySelector('.zoom img').naturalWidth")
    page.value("document.getElementById('large').close()")


@needs_browser
def test_the_runs_of_films_can_be_turned_in_the_page(page):
    """Closed it costs nothing; open it shows the samples of the film's run, and asks the network for nothing."""
    said = page.value("""new Promise(done => {
        document.querySelectorAll('details.films, details.motion').forEach(item => { item.open = true; });
        const frame = document.querySelector('details.motion iframe');
        frame.scrollIntoView();
        const look = () => { const inside = frame.contentDocument;
            inside?.body?.dataset.ready
                ? done([Number(inside.body.dataset.ready), inside.querySelectorAll('output').length])
                : setTimeout(look, 50); };
        look(); })""")
    page.value("document.querySelectorAll('details.motion').forEach(item => { item.open = false; })")
    assert said == [1, 1]


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
    # of the page that repeats runs, which reports within a checkout lead to: test_live.py
    assert page.value("document.querySelectorAll('tr.found + tr.more a[href*=\"#\"]').length") == 0
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
    column = names.index("state error, scaled")
    click = f"document.querySelectorAll('#runs\\\\/paper\\\\/bodies th button')[{column}].click()"
    for _ in range(2):
        page.value(click)
        values = page.value(COLUMN.format(rows=rows, column=column))
        assert values[-1] == ""
        assert all(values[:-1])
    assert page.value(f"document.querySelectorAll('#runs\\\\/paper\\\\/bodies th')[{column}].ariaSort") == "descending"
    page.value("document.querySelectorAll('.claims th button')[0].click()")
    assert page.value(COLUMN.format(rows=".claims tbody tr", column=0)) == ["✓ confirmed", "✗ not reproduced",
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
def test_search_finds_what_has_every_word_on_all_pages(page):
    """Titles first; results lead to this page or to another."""
    search = ("const field = document.querySelector('#search input'); field.value = {words!r};"
              " field.dispatchEvent(new Event('input'));"
              " [...document.querySelectorAll('#found a')].map(link => [link.textContent, link.getAttribute('href')])")
    assert page.value(f"{{{search.format(words='error VANISHES')}}}") == [
        ["impossible: not reproduced", "#claim/paper/impossible"]]
    found = page.value(f"{{{search.format(words='energy')}}}")
    assert found[:2] == [["energy_error", "#figure/paper/bodies/energy_error"],
                         ["energy of paper/bodies", "#table/paper/bodies/energy"]]
    assert page.value(f"{{{search.format(words='nobody')}}}")[0] == ["A study of nobody's paper (own)",
                                                                     "studies.html#study/own"]
    assert page.value(f"{{{search.format(words='nothing like this')}}}") == []
    assert page.value("document.querySelector('#found h2').textContent").startswith("0 places")
    page.value(f"{{{search.format(words='')}}}")
    assert page.value("document.getElementById('found').hidden")


@needs_browser
def test_rows_can_be_downloaded_as_they_are_sorted(page, place, tmp_path):
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.value("document.getElementById('table/paper/bodies/energy').open = true")
    page.value("new Promise(done => setTimeout(done, 100))")
    heads = "document.getElementById('table/paper/bodies/energy').querySelectorAll('th')"
    assert page.value(f"[...{heads}].map(head => [head.title, head.textContent])[4]") == [
        "energy_error_mean", "mean energy error (J)"]
    page.value(f"{heads}[4].querySelector('button').click()")
    page.value("document.getElementById('table/paper/bodies/energy').querySelector('.download').click()")
    path = tmp_path/"table.paper.bodies.energy.csv"
    for _ in range(100):
        if path.is_file() and path.stat().st_size:
            break
        page.value("new Promise(done => setTimeout(done, 50))")
    table = pandas.read_csv(path)
    made = pandas.read_csv(place.folder/"results/paper/bodies/energy.csv").sort_values("energy_error_mean")
    assert list(table["energy_error_mean"]) == pytest.approx(list(made["energy_error_mean"]), rel=1e-7, nan_ok=True)
    assert list(table["integrator_label"]) == list(made["integrator_label"])


@needs_browser
@pytest.mark.parametrize(("width", "height", "dark"), [(1400, 900, False), (390, 844, True)])
def test_an_enlarged_figure_fits_the_window_and_a_table_keeps_its_first_column(place, width, height, dark):
    box = "(({left, right, top, bottom}) => [left, top, right, bottom])(document.querySelector(%s)" \
        ".getBoundingClientRect())"
    with browser.Browser(width, height, dark) as found:
        found.open(place.page, "#runs/paper/bodies")
        assert found.value("document.documentElement.scrollWidth") <= width
        found.value("document.getElementById('runs/paper/bodies').querySelector('.scroll').scrollLeft = 200")
        for row in ("thead", "tbody"):
            cell, frame = (found.value(box % json.dumps(f"[id='runs/paper/bodies'] {part}"))
                           for part in (f"{row} tr > *", ".scroll"))
            assert cell[0] == pytest.approx(frame[0], abs=1)
        found.value("document.querySelector('.zoom').click()")
        left, top, right, bottom = found.value(box % "'#large img'")
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
        assert right - left > 0.75*width
        assert found.value(box % "'#large p'")[3] <= height
        found.value("document.querySelector('#large .size').click()")
        wide = found.value(box % "'#large img'")
        assert wide[2] - wide[0] == found.value("document.querySelector('#large img').naturalWidth")
        assert found.complaints == []
        assert found.requests == []


@needs_browser
@pytest.mark.parametrize(("width", "dark"), [(1600, False), (1000, True), (360, False), (360, True)])
def test_nothing_is_wider_than_the_window_and_texts_have_contrast(place, width, dark):
    with browser.Browser(width, 800, dark) as found:
        found.open(place.page, "#runs/paper/bodies")
        assert found.value("document.getElementById('runs/paper/bodies').open &&"
                           " document.querySelectorAll('tr[data-run]').length") == 5
        assert found.value("document.documentElement.scrollWidth") <= width
        colours = found.value("(({color, backgroundColor}) => [color,"
                              " backgroundColor])(getComputedStyle(document.body))")
        text, back = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
        assert (text - back)*(1 if dark else -1) > 400
        assert found.complaints == []
        assert found.requests == []


@needs_browser
@pytest.mark.parametrize("width", [1600, 360])
def test_the_index_fits_the_window_and_its_links_lead_to_pages(place, width):
    with browser.Browser(width, 800, False) as found:
        found.open(place.report)
        assert found.value("document.documentElement.scrollWidth") <= width
        assert found.complaints == []
        found.value("document.querySelectorAll('table.verdicts th button')[1].click()")
        assert found.value("document.querySelectorAll('table.verdicts tbody tr').length") == 1
        link = found.value("document.querySelector('table.verdicts tbody a').href")
        assert found.requests == []
        path, _, target = link.partition("#")
        assert path.endswith("/results/report/paper.html")
        found.open(Path(path.removeprefix("file://")), f"#{target}")
        assert found.value("document.getElementById('claims/paper').checkVisibility()")
        assert found.complaints == []
        assert found.requests == []
