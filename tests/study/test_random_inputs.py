"""Random malformed values of the systems, integrators and options of the later papers: accepted, or one sentence."""
import copy
import os
import random
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import yaml
from commands import contents

from liestep.api.command_line import main
from liestep.errors import InputError
from liestep.simulation.catalogue import integrator_ids, method, sheet
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import specify
from liestep.study.plan.plan import Study

STUDIES = sorted(path for paper in ("rodrigues2021", "livens2025", "lgt2022")
                 for path in (Path(__file__).parents[2]/"papers"/paper/"studies").glob("*.yaml"))
SYSTEMS = ("bonded_ring", "bonded_particles", "henon_heiles", "jointed_body", "four_bar", "heavy_top",
           "free_rigid_body")
VALUES = (float("nan"), float("inf"), -1, 0, "x", "", None, True, [], {}, [[1, 2], [3]], "1e400", 1e300, -1e-300,
          10**30, [None], {"a": 1}, "2022-13-45", [1, 2, 3], [[0]*3]*3, "\u0000")
NUMBERS = (0.0, -1.0, 1e300, 1e-300, float("nan"), float("inf"), 2.5, 1e17)
KINDS = ("parameter", "option", "initial", "unknown", "size", "integrator")
SIZES = ("steps", "step", "tolerance", "samples", "t_end", "replicas", "ensemble", "exponents", "preset")
SECONDS = 5.0  # most of processor time for an answer
SEED = int(os.environ.get("LIESTEP_TEST_SEED", "1"))
TIMES = 10 if os.environ.get("LIESTEP_FULL") else 1


def said(call, compiled: bool = False) -> str:
    """The sentence that refuses, "" where nothing is refused. Whatever else is raised fails the test.

    The first call may compile what finds multipliers of a start; a second one must be quick.
    """
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call()
        sentence = ""
    except InputError as error:
        sentence = str(error)
        assert sentence.strip()
    if time.process_time() - began >= SECONDS:
        assert not compiled
        assert said(call, compiled=True) == sentence
    assert "\n" not in sentence
    assert "\0" not in sentence
    return sentence


def places(node, place=()):
    """Every place below a node."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, below in entries:
        yield (*place, key)
        yield from places(below, (*place, key))


def changed(content, place, value, renamed):
    """A copy with another value at a place, or with its last key renamed."""
    found = copy.deepcopy(content)
    node = found
    for key in place[:-1]:
        node = node[key]
    if renamed:
        node[f"{place[-1]}q"] = node.pop(place[-1])
    else:
        node[place[-1]] = value
    return found


@pytest.mark.parametrize("paper", ["rodrigues2021", "livens2025", "lgt2022"])
def test_study_files(paper, tmp_path):
    chance = random.Random(f"{SEED} {paper}")
    studies = [path for path in STUDIES if path.parts[-3] == paper]
    refused = 0
    for number in range(25*TIMES):
        content = yaml.safe_load(chance.choice(studies).read_text("utf-8"))
        place = chance.choice(list(places(content)))
        renamed = isinstance(place[-1], str) and chance.random() < 0.3
        path = tmp_path/f"study{number}.yaml"
        path.write_text(yaml.safe_dump(changed(content, place, chance.choice(VALUES), renamed), sort_keys=False))
        sentence = said(lambda path=path: Study(path, path.stem, tmp_path/"results").cells)
        assert not sentence or sentence.startswith(f"{path}, line "), (place, sentence)
        refused += bool(sentence)
    assert refused >= 15*TIMES
    assert not (tmp_path/"results").exists()


def one_number_off(chance, values):
    """A parameter or a field of a start with one number changed, or something else instead."""
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        return chance.choice(VALUES)
    if not found.size or chance.random() < 0.2:
        return chance.choice(VALUES)
    found.flat[chance.randrange(found.size)] = chance.choice(NUMBERS)
    return found.tolist()


def request(chance, problem):
    """Integrator and arguments of a run with one thing wrong."""
    facts, kind, value = sheet(problem), chance.choice(KINDS), chance.choice(VALUES)
    integrator = chance.choice([name for name in integrator_ids() if method(name).formulation in facts.forms])
    declared = method(integrator)
    size = {"tolerance": 1e-3} if declared.adaptive else {"steps": 1}
    preset = facts.presets[facts.default]
    parameters = facts.check(preset.parameters)
    if kind in ("parameter", "initial"):
        known = parameters if kind == "parameter" else preset.initial(parameters)
        key = chance.choice(sorted(known))
        more = {"parameters" if kind == "parameter" else kind: {key: one_number_off(chance, known[key])}}
    elif kind == "option":
        names = sorted({*facts.forms[declared.formulation].options, *declared.options}) or ["none"]
        more = {"options": {chance.choice(names): value}}
    elif kind == "unknown":
        more = {chance.choice(("parameters", "options", "initial")): {"zzz": value}}
    elif kind == "size":
        size, more = {}, {chance.choice(SIZES): value}
    else:
        integrator, more = chance.choice(("Rk4", "", None, 3, "emi", "generalised_alpha")), {}
    return integrator, {"t_end": 0.001, **size, **more}


@pytest.mark.parametrize("problem", SYSTEMS)
def test_requests_from_python(problem):
    chance = random.Random(f"{SEED} {problem}")
    refused = 0
    for _ in range(12*TIMES):
        integrator, more = request(chance, problem)
        refused += bool(said(lambda integrator=integrator, more=more: build(specify(problem, integrator, **more))))
    assert refused >= 4*TIMES


@pytest.mark.parametrize("arguments", [
    "jointed_body rkmk_pair --tol 1e-3 --option stabilisation=projected", "jointed_body rkmk --option chart=cayley3",
    "four_bar bliedf4", "heavy_top eml --preset livens", "bonded_ring rodrigues --parameter n=0",
    "four_bar generalized_alpha --option spectral_radius=2", "heavy_top mph --step nan", "sphere_nbody eml --step -1",
    "bonded_particles lgvi --step 0.1 --samples 0", "penning_trap em_rotation --step 0.1",
    "heavy_top mpl --option iterations=0.5 --step 0.1", "jointed_boddy rkmk --step 0.1"])
def test_commands(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before = contents(tmp_path)
    try:
        code = main(["run", *arguments.split(), "-o", "x.nc"])
    except SystemExit as error:
        code = error.code
    assert code == 2
    sentence = capsys.readouterr().err
    assert sentence.startswith("liestep")
    assert sentence.count("\n") == 1
    assert contents(tmp_path) == before


def test_a_control_character_in_a_key_is_shown_as_text(tmp_path):
    source = next(path for path in STUDIES if path.name == "orders.yaml")
    content = yaml.safe_load(source.read_text("utf-8"))
    content["plugins"] = [str(source.parent/name) for name in content["plugins"]]
    content["problems"]["top"]["integrators"] = ["\0"]
    path = tmp_path/"study.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    assert "integrators.'\\x00': unknown integrator key '\\x00'" in said(lambda: Study(path, "study", tmp_path).cells)
