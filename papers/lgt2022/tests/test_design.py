"""docs/mechanism_options.md quotes how body-fixed velocities err beside mixed ones: its numbers, computed."""
import re
from pathlib import Path

import numpy as np
import pytest

from liestep import simulate

PAGE = Path(__file__).resolve().parents[3]/"docs"/"mechanism_options.md"
SENTENCE = (r"`body` errs ([\d.]+) to ([\d.]+) times as much as `mixed` on tops, ([\d.]+) to ([\d.]+) times as much on"
            " a free body")


def states(preset, steps, twist, chart):
    data = simulate("jointed_body", "rkmk", preset=preset, steps=steps, samples=11,
                    options={"action": "so3_r3", "chart": chart, "twist": twist})
    return data["attitude"].values


@pytest.mark.parametrize(("preset", "steps", "charts", "which"), [
    ("slow_top", 800, ("exp", "cayley"), (0, 1)), ("bruels_cardona", 2000, ("exp", "cayley"), (0, 1)),
    ("free", 200, ("exp", "cayley"), (2, 3))])
def test_body_against_mixed_is_as_the_page_says(preset, steps, charts, which):
    low, high = (float(re.search(SENTENCE, " ".join(PAGE.read_text("utf-8").split()))[k + 1]) for k in which)
    exact = states(preset, 8*steps, "body", "exp")
    for chart in charts:
        body, mixed = (np.abs(states(preset, steps, twist, chart) - exact).max() for twist in ("body", "mixed"))
        assert low - 0.03*low <= body/mixed <= high + 0.03*high
