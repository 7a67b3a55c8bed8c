"""Text that people wrote is calculated by no spreadsheet and is no markup in a page."""
import csv
import io

import pytest

from liestep.files.textfiles import without_markup
from liestep.study.tables.liestep_tables import csv_rows, csv_text, markdown
from liestep.study.tables.results import read_csv

TEXTS = ("=1+1", "=HYPERLINK(\"http://x\")", "+1+1", "-2*3", "@SUM(A1)", "\t=1", "'=1", "''-x",
         "-h DV, as (72b)")
PLAIN = ("a=1", "'tis", "-1.5", "+3", "-inf", "1e-3", "", "x - y", "'")


@pytest.mark.parametrize("text", TEXTS + PLAIN)
def test_cells_are_quoted_and_read_back(text, tmp_path):
    written = csv_text(("name", "value"), [{"name": text, "value": -0.5}, {"name": "other", "value": 1.0}])
    cell = next(csv.DictReader(io.StringIO(written)))["name"]
    assert cell == (f"'{text}" if text in TEXTS else text)
    assert [row["name"] for row in csv_rows(written)] == [text, "other"]
    (tmp_path/"a.csv").write_bytes(written.encode())
    table = read_csv(tmp_path/"a.csv")
    assert list(table["value"]) == [-0.5, 1.0]
    if text:
        assert list(table["name"]) == [text, "other"]


@pytest.mark.parametrize(("text", "shown"), [("<script>x</script>", "&lt;script>x&lt;/script>"), ("a < b", "a < b"),
                                             ("<!-- x", "&lt;!-- x"), ("|v|<1e-3", "|v|<1e-3"), ("x<y", "x&lt;y")])
def test_markup_is_shown_as_it_is_written(text, shown):
    assert without_markup(text) == shown
    assert shown.replace("|", "\\|") in markdown(["name"], [{"name": text}])
    assert "<b>" not in markdown(["<b>"], [])
