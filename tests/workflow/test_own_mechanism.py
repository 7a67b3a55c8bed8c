"""docs/own_mechanism.md: its examples, and that of a mechanism in a file outside the package."""
import re
from pathlib import Path

import pytest
from plugin_room import _nothing_stays  # noqa: F401

from docs.site.source import shown
from liestep import consistent_start, load_plugin, simulate
from liestep.errors import InputError

EXAMPLES = Path(__file__).parents[2]/"docs"/"examples"
PAGE = EXAMPLES.parent/"own_mechanism.md"
HEAD, *CODES, _crane = re.findall(r"```python\n(.*?)```", shown(PAGE.read_text("utf-8"), PAGE.parent), re.DOTALL)
# what they print: work that is taken, a door that closes, where the arm sags to, an error of joints, the rank
SMALL = r"\d(\.\d+)?e-\d\d"
PRINTED = [rf"^-\d\.\d+ {SMALL}$", r"^-0\.2\d+$", rf"^\[1\.22\d+ 0\.77\d+ .*\] {SMALL}$",
           rf"^{SMALL}$", rf"^29 a direction row of joint 5 .* {SMALL}$"]


def test_the_page_is_short_and_so_are_its_examples():
    assert len(CODES) == len(PRINTED)
    assert max(len(code.splitlines()) for code in CODES) <= 20
    assert len(PAGE.read_text("utf-8").split()) <= 1100


@pytest.mark.parametrize("number", range(len(PRINTED)))
def test_example(number, capsys):
    exec(HEAD + CODES[number], {"__name__": "__main__"})
    assert re.search(PRINTED[number], capsys.readouterr().out.strip(), re.MULTILINE)


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
