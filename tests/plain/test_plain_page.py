"""docs/my_system.md, docs/solve.md and docs/classics.md: their examples run, and the first is short."""
import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401

PAGE = Path(__file__).parents[2]/"docs"/"my_system.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
PRINTED = (r"0\.\d+ z$", r"^\[\[", r"^\w+( \w+=\w+)*, (tolerance|step) ",
           r"^\d(\.\d+)?e-1\d$|^0\.0$", r"^\d(\.\d+)?e-1\d$")


def test_page_is_short():
    assert len(EXAMPLES) == len(PRINTED) == 5
    assert len(PAGE.read_text("utf-8").split()) <= 900


@pytest.mark.slow
@pytest.mark.parametrize("number", range(5))
def test_example(number, capsys):
    """Each one with the imports of the first."""
    exec("import numpy as np\nimport liestep\n" + EXAMPLES[number], {"__name__": "__main__"})
    assert re.search(PRINTED[number], capsys.readouterr().out.strip(), re.MULTILINE)


def test_examples_of_solve(capsys, monkeypatch):
    """One after the other, as on the page."""
    monkeypatch.setattr("liestep.compile.interpreted.PAYS", 2.0)
    page = PAGE.with_name("solve.md").read_text("utf-8")
    exec("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), {"__name__": "__main__"})
    first, second, third = capsys.readouterr().out.strip().splitlines()
    assert first.startswith("[-8.173")
    assert first.endswith("True")
    assert second.startswith("[array([")
    assert float(third) < 1e-14


@pytest.mark.slow
def test_page_of_four_methods(monkeypatch):
    """Its figure takes six lines and shows what its table says."""
    matplotlib.use("agg")
    text = PAGE.with_name("four_methods.md").read_text("utf-8")
    assert len(text.split()) <= 500
    example, = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    drawn = example.partition("\n\nfor panel")[2].strip().splitlines()
    assert len(drawn) <= 6
    found, lines = {}, []
    monkeypatch.setattr("matplotlib.axes.Axes.plot", lambda self, x, y, label: lines.append(label) or found.setdefault(
        label, []).append(np.asarray(y)))
    monkeypatch.setattr("matplotlib.axes.Axes.legend", lambda self, ncol: None)
    scope: dict = {}
    exec(example, scope)
    assert lines == ["explicit_euler", "symplectic_euler", "verlet", "rk4"]*2
    for energy in found["explicit_euler"]:
        assert energy[-1] > energy[0] + 0.5
    assert found["explicit_euler"][0][-1] > 0.0  # unbound
    assert found["explicit_euler"][1][-1] > 1.0  # above the top
    for label, most in (("symplectic_euler", 0.2), ("verlet", 0.03)):
        for energy in found[label]:
            early, late = energy[:len(energy)//10], energy[-(len(energy)//10):]
            assert np.ptp(late) < 1.05*np.ptp(early) < 1.05*2*most
    for energy in found["rk4"]:
        steps = np.diff(energy[::1000])
        assert (steps < 0.0).all()
        assert steps.max() < 0.6*steps.min()
    halved = scope["pendulum"].simulate("rk4", steps=60_000, samples=3)["energy"].values
    lost = found["rk4"][1][-1] - found["rk4"][1][0]
    assert lost/(halved[-1] - halved[0]) == pytest.approx(32.0, abs=6.0)


def test_example_of_splittings(capsys):
    example, = re.findall(r"```python\n(.*?)```", PAGE.with_name("splittings.md").read_text("utf-8"), re.DOTALL)
    exec(example, {})
    assert capsys.readouterr().out.startswith("True [")


def test_example_of_classics(capsys):
    """Its energy error is of order 2 in the step."""
    example = re.findall(r"```python\n(.*?)```", PAGE.with_name("classics.md").read_text("utf-8"), re.DOTALL)[0]
    found = []
    for step in ("0.01", "0.005"):
        exec(example.replace("step=0.01", f"step={step}"), {"__name__": "__main__"})
        found.append(float(capsys.readouterr().out))
    assert found[0]/found[1] == pytest.approx(4.0, abs=0.1)


DETUMBLED = 9.513627994745  # s, by scipy's DOP853 from one instant to the next


@pytest.mark.parametrize(("page", "marks"), [
    ("control.md", ["lagrangian=L", "class Damper", "bodies=links", "np.interp"]), ("events.md", ["Impact("])])
def test_examples_of_control_and_events_are_short(page, marks, capsys):
    text = PAGE.with_name(page).read_text("utf-8")
    examples = [found for found in re.findall(r"```python\n(.*?)```", text, re.DOTALL)
                if any(mark in found for mark in marks)]
    assert len(examples) == len(marks)
    for example in examples:
        assert len([line for line in example.splitlines() if line.strip()]) <= 15
        scope: dict = {}
        exec(example, scope)
        assert scope["data"].attrs["status"] == "ok"
    told = [float(number) for number in re.findall(r"-?\d+\.\d+", capsys.readouterr().out)]
    if page == "events.md":
        assert told[0] == pytest.approx((2.0/9.81)**0.5, abs=1e-7)
        assert -9.81 < told[-1] < -8.0
    else:
        assert told[:2] == pytest.approx([1.0, 2.0], abs=0.1)
        assert told[2] == pytest.approx(DETUMBLED, abs=1e-8)
        assert told[3:5] == pytest.approx([6.5, -7.0], abs=0.01)  # more than a turn
        assert told[-1] == pytest.approx(0.3, abs=1e-12)  # the integral of the lines
