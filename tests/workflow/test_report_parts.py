"""Parts of the report without a study: headings of tables, links in texts, compact data."""
from liestep.claims.claimfile import VERDICTS
from liestep.study.tables.columns import heading
from liestep.study.tables.kinds import NAMES, table_of
from liestep.workflow.report.provenance import SHOWN, abbreviate, shared
from liestep.workflow.report.verdicts import MEANINGS, link_errata


def test_columns_have_headings_for_people_and_units():
    for columns in (*(table_of(name, None).readable for name in NAMES), SHOWN):
        texts = [heading(column, {"energy": "J"})[0] for column in columns]
        assert not any("_" in text for text in texts)
        assert len(set(texts) - {"problem", "integrator"}) >= len(columns) - 2
    units = {"energy": "J", "momentum": "kg m2/s"}
    assert heading("energy_error_max", units) == ("largest energy error", "J")
    assert heading("energy_error_mean_square", units) == ("mean square energy error", "(J)²")
    assert heading("momentum_error_max_z", units) == ("largest momentum error z", "kg m2/s")
    assert heading("momentum_error_max_relative", units) == ("largest momentum error, relative", "")
    assert heading("energy_error_mean_accepted", units) == ("mean energy error, over accepted steps", "J")
    assert heading("error_q", units) == ("state error of q, scaled", "")
    assert heading("something_else", units) == ("something else", "")


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
