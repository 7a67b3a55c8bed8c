"""Error constants of a small study: relative to the first method of the same order."""
import pytest
from figure_faults import faults
from liestep_papers.liegroup2021.figures.isotropy import error_constants

from liestep.api.command_line import main
from liestep.errors import InputError
from liestep.figures.rendering import save
from liestep.study.plan.plan import Study
from liestep.study.tables.results import StudyResults

STUDY = """title: Two of order 4 and one of order 2
problems:
  pendulum: {label: "double pendulum", system: spherical_pendulum_chain, preset: orders, t_end: 0.1}
reference: true
samples: 2
tables: []
steps: {counts: [10, 20]}
integrators:
  rkmk4: {id: rkmk, label: RKMK4}
  cf4: {label: CF4}
  heun: {id: rkmk, label: Heun, options: {tableau: heun}}
"""


def made(folder, text):
    """The study with all runs, its reference if it asks for one, and its tables."""
    (folder/"config"/"studies").mkdir(parents=True)
    (folder/"config"/"studies"/"study.yaml").write_text(text)
    place = ["--config", str(folder/"config"), "--results", str(folder/"results"), "job"]
    for job in (["sweep", "study", "pendulum"], *[["reference", "study", "pendulum"]]*("reference" in text),
                ["analyse", "study"]):
        assert main([*place, *job]) == 0
    return StudyResults(Study.find("study", folder/"config", folder/"results"))


def test_each_method_stands_beside_the_first_of_its_order(tmp_path):
    results = made(tmp_path, STUDY)
    figure = error_constants(results)
    save(figure, tmp_path/"constants")
    assert faults(figure) == []
    axes, = figure.axes
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "RKMK4, order 4", "CF4, order 4", "Heun, order 2"]
    middle = [float(text.get_text()) for text in axes.texts]
    assert (middle[0], middle[2]) == (1.0, 1.0)
    errors = {key: results.select("pendulum", key)["error"].to_numpy(float) for key in ("rkmk4", "cf4")}
    assert middle[1] == pytest.approx((errors["cf4"]/errors["rkmk4"]).mean(), rel=0.2)


def test_a_study_without_errors_has_none(tmp_path):
    with pytest.raises(InputError, match="no admissible errors of fixed steps"):
        error_constants(made(tmp_path, STUDY.replace("reference: true\n", "")))
