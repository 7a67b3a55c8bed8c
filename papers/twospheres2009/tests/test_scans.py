"""The scans of example 3 and of example 2, made from small studies of their own: who reruns them gets these numbers."""
import pytest

from liestep.api.command_line import main
from liestep.claims.claimfile import Claim, ClaimFile
from liestep.claims.judging import judge
from liestep.study.plan.plan import Study
from liestep.study.tables.results import StudyResults

STUDIES = {
    "scan": "problems: {springs: {system: spring_pendula, preset: paper, t_end: 200}}\n"
            "integrators: {vi_sphere: {steps: [5e-3]}}\nsamples: 40001\n",
    "springs": "problems: {springs: {system: spring_pendula, preset: paper}}\n"
               "integrators: {vi_sphere: {steps: [5e-3]}}\nsamples: 2\n",
    "bodies": "problems: {bodies: {system: sphere_nbody, preset: paper}}\n"
              "integrators: {vi_sphere: {steps: [0.01, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4]}}\nsamples: 2\n"}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scans")
    place = ["--config", str(folder/"config"), "--results", str(folder/"results")]
    (folder/"config"/"studies").mkdir(parents=True)
    for name, text in STUDIES.items():
        (folder/"config"/"studies"/f"{name}.yaml").write_text(f"title: {name}\ntables: []\n{text}")
        problem = "bodies" if name == "bodies" else "springs"
        assert main([*place, "job", "sweep", name, problem]) == 0
        assert main([*place, "job", "analyse", name]) == 0
    return {name: StudyResults(Study.find(name, folder/"config", folder/"results")) for name in STUDIES}


def judged(results, printed, run, scan):
    claim = Claim.model_validate({
        "id": "one", "statement": "s", "source": "section 3.5", "asserted_by": "paper", "known": True,
        "printed": printed, "runs": [{"integrator": "vi_sphere", **run}], "quantity": "energy_error_mean",
        "criterion": {"kind": "digits", "digits": 5}, "verdict": "recovered",
        "scan": {**scan, "runs": [{"integrator": "vi_sphere", **one} for one in scan["runs"]]}})
    return judge(ClaimFile(paper="twospheres2009", claims=[claim]), results).iloc[0]


def test_the_duration_of_example_3_is_found_by_chance_too_easily(results):
    row = judged(results, 3.6171e-5, {"study": "springs", "problem": "springs"},
                 {"over": ["duration"], "runs": [{"study": "scan", "problem": "springs"}], "ends": 1.0})
    assert row.verdict == "calibrated"
    assert (row.settings, row.hits) == (200, 2)  # 26 s and 30 s
    assert round(row.share*39_999) == 26  # of the 40,000 end times 27 match, one of which is that of the claim
    assert 0.12 <= row.probability <= 0.19


@pytest.mark.parametrize(("printed", "step"), [(1.1717e-4, "h0.005"), (1.1986e-6, "h0.0005")])
def test_the_steps_of_example_2_are_not(results, printed, step):
    row = judged(results, printed, {"study": "bodies", "problem": "bodies", "resolution": step},
                 {"over": ["step"], "runs": [{"study": "bodies", "problem": "bodies"}]})
    assert row.verdict == "recovered"
    assert (row.settings, row.hits) == (7, 1)
    assert row.probability <= 1e-4
    assert row.sensitivity == pytest.approx(2.0, abs=0.02)  # a method of order two
