"""Plugins with rigid bodies: what is missing or wrong in them is one sentence before any run; check-system sees a
derivative that only implicit integrators use."""
from pathlib import Path

import pytest
from plugin_room import _nothing_stays  # noqa: F401

import liestep
from liestep.errors import InputError
from liestep.simulation.plugins.loading import load_plugin
from liestep.tools.inspect.check_system import check_system

TOP = Path(liestep.__file__).parent/"mechanics"/"systems"/"heavy_top.py"


def body(folder: Path, name: str, *changes: tuple[str, str]) -> Path:
    """A plugin: the heavy top with changes."""
    text = TOP.read_text("utf-8").replace('    default_preset="printed",\n', "")  # that one lives with its paper
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    path = folder/f"{name}.py"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("method", ["torque", "torque_slope", "observe", "dual", "dual_observe"])
def test_a_body_without_a_method_is_one_sentence(method, tmp_path):
    path = body(tmp_path, f"without_{method}", (f"    def {method}(self", f"    def other_{method}(self"))
    with pytest.raises(InputError, match=f"HeavyTop has no {method}, which formulation ") as refusal:
        load_plugin(path)
    assert str(refusal.value).startswith(str(path))


@pytest.mark.parametrize("engines", ["('dop853', 'dop853')", "('dop853', 'tailor')", "('dop853',)", "('', '')",
                                     "('dop853', 'taylor', 'dop853')"])
def test_engines_are_two_known_ones(engines, tmp_path):
    path = tmp_path/"engines.py"
    path.write_text("from dataclasses import replace\nfrom liestep.mechanics.systems.heavy_top import SHEET as TOP\n"
                    f"SHEET = replace(TOP, default_preset='', engines={engines})\n")
    with pytest.raises(InputError, match=r"engines must be (two different ones of|of the type tuple)"):
        load_plugin(path)


@pytest.mark.parametrize("content", ["# caf\xe9\n".encode("latin-1"),
                                     "# -*- coding: latin-1 -*-\n# caf\xe9\nSHEET = 1\n".encode("latin-1"),
                                     "SHEET = 1\n".encode("utf-16"), b"\xff\xfe"])
def test_a_plugin_is_utf_8(content, tmp_path):
    path = tmp_path/"encoded.py"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not a text file in UTF-8"):
        load_plugin(path)


def test_check_system_passes_the_top_and_finds_a_slope_that_is_wrong(tmp_path):
    rows = {row.check: row for row in check_system("heavy_top")}
    expected = {"torque_slope of rigid_bodies", "torque_slope of cotangent_rotation",
                "torque_slope of quadratic_rotation", "quaternion_hamiltonian",
                "constrained_lagrangian, coordinates quaternion", "constrained_lagrangian, coordinates directors"}
    assert expected <= set(rows)
    assert all(rows[name].ok for name in expected)
    assert {name for name in rows if name.startswith("torque_slope")} <= expected
    old = "return cross(cross(u, to_space(q, self.arm())), self.weight())"
    for name, new in (("zero", "return (0.0*u[0], 0.0*u[1], 0.0*u[2])"),
                      ("sign", "return cross(cross(to_space(q, self.arm()), u), self.weight())"),
                      ("half", "return scale(0.5, cross(cross(u, to_space(q, self.arm())), self.weight()))")):
        found, = load_plugin(body(tmp_path, name, (old, new)))
        row, = (row for row in check_system(found) if row.check == "torque_slope of cotangent_rotation")
        assert not row.ok, name
