"""Marks of methods: marker and dash the same in all figures of a paper, different inside each study."""
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from liestep.figures import marks as style
from liestep.figures.labels import MANY
from liestep.simulation.catalogue import integrator_calls, integrator_module
from liestep.study.plan.config import IntegratorConfig
from liestep.study.plan.names import study_files
from liestep.study.plan.papers import papers
from liestep.study.plan.plan import Study


def look(mark: style.Mark) -> tuple:
    return mark.colour, mark.marker, mark.dash


def study(name: str) -> SimpleNamespace:
    found = Study.find(name)
    return SimpleNamespace(study=found, config=found.config)


def made_up(**entries) -> SimpleNamespace:
    entries = {key: IntegratorConfig(**value) for key, value in entries.items()}
    return SimpleNamespace(config=SimpleNamespace(integrators=entries),
                           study=SimpleNamespace(integrator_id=lambda key: entries[key].id or key))


@pytest.mark.parametrize("name", study_files())
def test_methods_of_a_study_look_different(name):
    """Unless they have one label: one method on other problems. Of many, names stand at the ends of the lines."""
    results = study(name)
    found = set(style.marks(results).values())
    looks = [(look(mark), mark.label if len(found) > MANY else "") for mark in found]
    assert len(set(looks)) == len(looks)
    assert len({mark.label for mark in found}) == len(found) or not results.config.figures


@pytest.mark.parametrize("paper", sorted(papers()))
def test_a_method_has_one_mark_in_all_figures_of_a_paper(paper):
    found: dict[tuple, dict] = {}
    for name in study_files():
        if not name.startswith(f"{paper}/"):
            continue
        results, here = study(name), set()
        for key, mark in style.marks(results).items():
            entry = results.config.integrators[key]
            method = (results.study.integrator_id(key), json.dumps(entry.options if entry else {}, sort_keys=True))
            if method not in here:  # the same method with other steps is a curve of its own
                found.setdefault(method, {}).setdefault(look(mark)[1:], []).append(f"{name}: {key}")
            here.add(method)
    assert not [places for places in found.values() if len(places) > 1]


@pytest.mark.parametrize("paper", sorted(papers()))
def test_a_label_has_one_look_in_all_figures_of_a_paper(paper):
    found: dict[str, dict] = {}
    for name in study_files():
        if name.startswith(f"{paper}/") and study(name).config.figures:
            for mark in style.marks(study(name)).values():
                found.setdefault(mark.label, {}).setdefault(look(mark), name)
    assert {label: looks for label, looks in found.items() if len(looks) > 1} == {}


def test_default_options_are_the_method_itself_wherever_they_stand():
    found = style.variant_numbers(made_up(a={"id": "slgi", "options": {"theta": 0}}, slgi={},
                                          b={"id": "slgi", "options": {"theta": 0.5}}))
    assert found == {"a": 1, "slgi": 0, "b": 2}  # theta = 1/2 is the default: a second curve of the same method


def test_a_study_can_say_which_variant_it_means():
    found = style.variant_numbers(made_up(a={"id": "rk4", "options": {"form": "velocity"}, "variant": 2},
                                          b={"id": "rk4", "options": {"form": "omega"}},
                                          c={"id": "rk4", "options": {"projection": "state"}}))
    assert found == {"a": 2, "b": 1, "c": 3}


def test_integrators_of_one_family_have_marks_that_differ():
    looks = [(integrator_module(name), look(style.mark_of(name))) for name in integrator_calls()]
    assert len(set(looks)) == len(looks)


def test_a_new_integrator_has_a_mark_by_order_and_place_in_its_family(monkeypatch):
    """Three new methods in two modules, without any entry."""
    family = {"new_a": "one", "new_b": "one", "new_c": "two", "new_d": "one"}
    order = {"new_a": 2, "new_b": 4, "new_c": 2, "new_d": 2}
    monkeypatch.setattr(style, "integrator_module", family.__getitem__)
    monkeypatch.setattr(style, "method", lambda name: SimpleNamespace(order=order[name], options={}))
    found = style._derived(tuple(family))
    assert found["new_a"].marker == found["new_c"].marker == found["new_d"].marker != found["new_b"].marker
    assert found["new_a"].dash != found["new_d"].dash
    assert found["new_a"].dash == found["new_b"].dash == found["new_c"].dash


def test_hollow_marks_of_rodrigues2021_are_those_of_ladders_only():
    """A hollow mark is a point below the floor, which `figures.panels` draws; the paper's own figures have none."""
    text = (Path("papers")/"rodrigues2021"/"figures.py").read_text("utf-8")
    assert text.count("@drawing(") > 10
    assert "markerfacecolor" not in text
