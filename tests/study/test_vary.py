"""An entry of a study whose options are lists stands for all their combinations."""
import pytest

from liestep.errors import InputError
from liestep.study.plan.plan import Study

TEXT = """\
title: Combinations
problems:
  top: {{system: jointed_body, preset: slow_top, t_end: 0.1, integrators: [lgt], overrides: {{lgt: {{samples: 3}}}}}}
integrators:
  lgt: {{id: rkmk, label: LGT, options: {{twist: body, stabilisation: baumgarte}}, vary: {{{vary}}}}}
  rk4: {{}}
steps: {{counts: [10]}}
"""


def planned(tmp_path, vary, *changes):
    text = TEXT.format(vary=vary)
    for old, new in changes:
        text = text.replace(old, new)
    path = tmp_path/"varied.yaml"
    path.write_text(text)
    return Study.find(str(path), results=tmp_path)


def test_one_entry_is_expanded_wherever_its_key_stands(tmp_path):
    study = planned(tmp_path, "action: [se3, so3_r3], stabilisation_rate: [2.5, 1e-3]")
    wanted = [("lgt_se3_2p5", "se3", 2.5), ("lgt_se3_0p001", "se3", 1e-3), ("lgt_so3_r3_2p5", "so3_r3", 2.5),
              ("lgt_so3_r3_0p001", "so3_r3", 1e-3)]
    assert [(cell.integrator, cell.spec.options["action"], cell.spec.options["stabilisation_rate"])
            for cell in study.cells] == wanted
    assert {cell.spec.options["twist"] for cell in study.cells} == {"body"}
    assert {cell.spec.samples for cell in study.cells} == {3}
    assert study.config.integrators["lgt_se3_2p5"].label == "LGT: se3, 2.5"
    assert len({cell.spec.sha256 for cell in study.cells}) == 4


@pytest.mark.parametrize(("vary", "changes", "sentence"), [
    ("twist: [body, mixed]", (), "twist stands under options and under vary"),
    ("action: [se3]", (("  rk4: {}", "  lgt_se3: {id: rk4}"),), "two integrators have the key lgt_se3"),
    ("action: [se3], chart: [expp]", (), "line 5: .*allowed are exp, cayley"),
    ("action: [se3], attitude: [" + "a"*60 + "]", (), "more than 60 letters")])
def test_bad_combinations(tmp_path, vary, changes, sentence):
    with pytest.raises(InputError, match=sentence):
        planned(tmp_path, vary, *changes).cells  # noqa: B018


@pytest.mark.parametrize("entry", ["preset: sleeping", "preset: printed, parameters: {mass: 7.0}",
                                   "preset: printed, initial: {angular_momentum: [0.0, 0.0, 3.0]}"])
def test_starts_that_studies_share_are_of_equal_problems_only(tmp_path, entry):
    """A start is checked once for all studies of a process: each entry of a problem tells it apart."""
    path = tmp_path/"top.yaml"
    found = []
    for one in ("preset: printed", entry):
        path.write_text(f"title: T\nproblems:\n  top: {{system: heavy_top, t_end: 0.1, {one}}}\n"
                        "integrators:\n  rk4: {}\nsteps: [0.01]\n")
        spec, = (cell.spec for cell in Study.find(str(path), results=tmp_path).cells)
        found.append((float(spec.parameters["mass"]), *spec.initial["angular_momentum"].tolist()))
    assert found[0][0] == 15.0
    assert found[1] != found[0]
    assert found[1][0] == 7.0 or "mass" not in entry
    assert found[1][1:] == (0.0, 0.0, 3.0) or "initial" not in entry
