"""What every paper's folder holds, and how the catalogue adds presets of papers to systems."""
from importlib import import_module

import pytest

from liestep.claims.errata import evidence_of
from liestep.files import PACKAGE
from liestep.mechanics.contracts.sheet import Preset
from liestep.simulation.catalogue import own_systems, sheet
from liestep.study.plan.papers import papers


@pytest.mark.parametrize("paper", sorted(papers()))
def test_a_paper_names_modules_that_exist_and_hold_what_they_should(paper):
    room = papers()[paper]
    assert room.id == paper
    for name, module in room.figures.items():
        assert callable(getattr(import_module(room.module(module)), name.rpartition(".")[2]))
    for module in room.evidence:
        assert evidence_of(import_module(room.module(module)))


@pytest.mark.parametrize("paper", sorted(path.stem for path in (PACKAGE/"mechanics"/"presets").glob("[a-z]*.py")))
def test_presets_of_papers_are_those_of_the_systems(paper):
    for system, presets in import_module(f"liestep.mechanics.presets.{paper}").PRESETS.items():
        assert system in own_systems()
        for name, preset in presets.items():
            assert isinstance(preset, Preset)
            assert sheet(system).presets[name] is preset


@pytest.mark.parametrize("system", own_systems())
def test_a_sheet_has_the_presets_of_all_papers_and_its_default_first(system):
    facts, own = sheet(system), import_module(f"liestep.mechanics.systems.{system}").SHEET
    assert own.default_preset
    assert facts.default == own.default_preset == next(iter(facts.presets))
    of_papers = [name for name in facts.presets if name not in own.presets]
    first, last = sorted((of_papers, list(own.presets)), key=lambda names: own.default_preset not in names)
    assert list(facts.presets) == [*first, *last]


def test_no_system_file_holds_a_preset_that_a_paper_prints():
    found = [(system, name) for system in own_systems()
             for name, preset in import_module(f"liestep.mechanics.systems.{system}").SHEET.presets.items()
             if preset.kind != "own"]
    assert not found
