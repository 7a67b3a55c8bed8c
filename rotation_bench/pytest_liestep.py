"""Plugin for pytest: `pytest -p rotation_bench.pytest_liestep`; of a copied folder on the path `pytest_liestep`.

    def test_rotation(liestep_case, my_engine):          # once for each case
        liestep_case.check(my_engine, order=4)           # my_engine(case, h, steps) -> states

`--liestep-cases free_asymmetric,heavy_top_slow` chooses cases; without it all twelve are taken but the long one.
"""
import pytest

try:
    from rotation_bench.liestep_judge import DATA, Case, judge
except ImportError:  # a copied folder
    from liestep_judge import DATA, Case, judge


class BenchCase(Case):
    """A case that can judge an engine."""

    def check(self, engine, **claims):
        """The report of a right engine; fails with its text for a wrong one."""
        report = judge(self, engine, **{"long": False, **claims})
        if report.verdict != "right":
            pytest.fail(report.text, pytrace=False)
        return report


def pytest_addoption(parser):
    parser.addoption("--liestep-cases", help="names of cases of the rotation bench, with commas")


def pytest_generate_tests(metafunc):
    if "liestep_case" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--liestep-cases")
        names = chosen.split(",") if chosen else [name for name in DATA["cases"] if name != "free_long"]
        metafunc.parametrize("liestep_case", names, indirect=True)


@pytest.fixture
def liestep_case(request):
    return BenchCase(request.param)
