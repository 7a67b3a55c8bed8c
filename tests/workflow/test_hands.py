"""Small helps: bars of progress, starts on the command line, recommendations in notebooks, names that are meant."""
import numpy as np
import pytest
from commands import refused

import liestep
from liestep.api.command_line import main
from liestep.files import terminal
from liestep.files.terminal import progress_bar
from liestep.study.tables.choice import Choice
from liestep.tools.recommend.search import SHOWN, Candidate, Recommendation


def test_a_bar_shows_the_fraction_and_is_taken_away_however_the_run_ends(capsys):
    def stopped():
        with progress_bar("rk4 on a top") as show:
            show(0.5)
            show(0.5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    err = capsys.readouterr().err
    assert err.count("rk4 on a top [###############               ]  50 %") == 1
    assert err.rpartition(" s left")[2].strip() == ""
    with progress_bar("rk4", False) as show:
        assert show is None


@pytest.mark.parametrize(("fraction", "left"), [(0.25, 30), (0.5, 10), (1.0, 0)])
def test_a_bar_says_how_long_the_rest_takes(fraction, left, monkeypatch, capsys):
    """At ten seconds, if the rest is as fast as what is done."""
    clock = iter((0.0, 10.0))
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(clock))
    with progress_bar("rk4") as show:
        show(fraction)
    assert f" %, {left:6d} s left\r" in capsys.readouterr().err


@pytest.mark.slow
def test_simulate_shows_its_progress_and_returns_the_same(capsys):
    how = {"step": 0.01, "t_end": 1.0}
    plain = liestep.simulate("free_rigid_body", "rk4", **how)
    assert capsys.readouterr().err == ""
    shown = liestep.simulate("free_rigid_body", "rk4", progress=True, **how)
    assert "100 %" in capsys.readouterr().err
    assert shown.identical(plain)


@pytest.mark.slow
def test_run_takes_a_start(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["run", "free_rigid_body", "rk4", "--step", "0.1", "--t-end", "1", "-o", "run.nc", "--initial"]
    assert main([*command, "attitude=[[0,-1,0],[1,0,0],[0,0,1]]"]) == 0
    assert np.array_equal(liestep.open_run("run.nc")["attitude"][0], [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    capsys.readouterr()
    assert "did you mean attitude?" in refused([*command, "atitude=[1]"], capsys)
    assert "must be written NAME=VALUE" in refused([*command, "attitude"], capsys)


def test_a_recommendation_is_short_in_a_notebook():
    table = tuple(Candidate(f"method{k}", "not tried: <too slow>", 4) for k in range(50))
    found = Recommendation("heavy_top", 1.0, "rk4", 0.1, None, {}, 1e-7, 1e-3, Choice("rk4", 1e-3, "cf4", 2.0), 1e-9,
                           True, "", table)
    html = found._repr_html_()
    assert "rk4, step 0.1" in html
    assert "&lt;too slow&gt;" in html
    assert html.count("<tr>") == SHOWN + 1
    assert f"{50 - SHOWN} more" in html
    assert len(html) < 2000
    assert repr(found).startswith("<Recommendation for heavy_top: rk4, step 0.1; error 1e-07")
    assert str(found).count("not tried") == SHOWN
    assert f"{50 - SHOWN} more: --all" in str(found)
    assert found.text(50).count("not tried") == 50
    assert str(found).splitlines()[-3:] == found._said()  # where a terminal ends


def test_the_name_that_is_meant_is_known_to_the_interpreter():
    with pytest.raises(AttributeError, match="no attribute 'simulat'") as caught:
        liestep.simulat  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("simulat", liestep)
