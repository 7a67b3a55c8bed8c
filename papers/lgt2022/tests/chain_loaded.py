"""The chain of bodies of lgt2022 in its tests."""
import pytest
from liestep_papers.lgt2022.studies import body_chain

from liestep import load_plugin


@pytest.fixture(autouse=True, scope="module")
def _loaded():
    """The system is known in modules that import this name."""
    load_plugin(body_chain.__file__)
