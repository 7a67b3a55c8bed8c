"""docs/own_mechanism.md: the example of a mechanism in a file outside the package."""
from pathlib import Path

import pytest
from plugin_room import _nothing_stays  # noqa: F401

from liestep import consistent_start, load_plugin, simulate
from liestep.errors import InputError
from website.source import shown

EXAMPLES = Path(__file__).parents[2]/"docs"/"examples"


def test_own_mechanism():
    """The page shows the example; it runs, its joints are kept, and a start off a joint names it."""
    example, page = EXAMPLES/"my_crane.py", EXAMPLES.parent/"own_mechanism.md"
    assert f"```python\n{example.read_text('utf-8')}```" in shown(page.read_text("utf-8"), page.parent)
    assert len(example.read_text("utf-8").splitlines()) <= 60
    load_plugin(example)
    found = [simulate("my_crane", "rkmk", steps=steps, samples=3, t_end=0.5, options={
        "stabilisation": "projection"}).attrs for steps in (50, 100)]
    assert all(run["joint_error_max"] < 1e-13 and run["joint_rate_error_max"] < 1e-13 for run in found)
    assert 8.0 < found[0]["energy_error_max"]/found[1]["energy_error_max"] < 64.0
    with pytest.raises(InputError, match=r"joint 1 .universal.*consistent_start"):
        simulate("my_crane", "rkmk", steps=2, initial={"position": [[0.0, 0.1, 0.0], [0.0, 0.0, -1.3]]})
    offered = consistent_start("my_crane", initial={"position": [[0.0, 0.1, 0.0], [0.0, 0.0, -1.3]]})
    assert abs(offered["position"][0][1]) < 1e-12
