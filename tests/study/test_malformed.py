"""Every key of every configuration file, and every kind of file, malformed in several ways: one clear sentence, exit
code 2, no file changed."""
import copy
import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from commands import contents, refused
from malformed_keys import LOST, PLACES, TABLES, VALID

from liestep.api.command_line import main
from liestep.claims.criteria import CRITERIA
from liestep.study.plan.yamlfile import line_of, read_yaml

SCHEMAS = Path(__file__).parents[2]/"workflow"/"schemas"
COMMANDS = {"config": ["job", "manifest"], "study": ["check", "tiny"], "maps": ["check", "maps"],
            "control": ["check", "control"], "claims": ["job", "claims"], "errata": ["job", "errata"]}
FILES = {"config": "config/config.yaml", "study": "config/studies/tiny.yaml", "maps": "config/studies/maps.yaml",
         "control": "config/studies/control.yaml", "claims": "config/claims/paper.yaml",
         "errata": "config/errata/twospheres2009.yaml"}
STUDY = """\
title: Four bodies
problems:
  bodies: {system: sphere_nbody, preset: four_bodies, t_end: 1.0, integrators: [vi_sphere]}
  many: {system: sphere_nbody, preset: four_bodies, t_end: 1.0, ensemble: {members: 16, amplitude: 0.001},
         integrators: [vi_sphere]}
  top: {system: heavy_top, preset: asymmetric, t_end: 1.0, integrators: [slgi]}
integrators:
  vi_sphere: {}
  slgi: {}
steps: [0.1, 0.05]
samples: 6
tables: [orders, drift]
figures: [energy_error]
"""
PUSHED = """\
import liestep


def push(t, state):
    return {"u": -state["q"]}


SHEETS = {"pushed_cart": liestep.system("cart_of_malformed", lagrangian=lambda v: 0.5*(v @ v), force=lambda p: p.u,
                                        parameters={"u": [0.0]}, start={"q": [1.0], "v": [0.0]}).sheet}
"""


def write(kind: str, content: dict) -> Path:
    path = Path(FILES[kind])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content, sort_keys=False, width=1000), "utf-8")
    return path


def definitions(kind: str) -> dict[str, set[str]]:
    """Keys of every mapping that a schema describes, by the name of its definition."""
    whole = json.loads((SCHEMAS/f"{kind}.schema.json").read_text())
    root = {"config": "WorkflowConfig"}.get(kind, whole["title"])
    found = {}
    for name, part in {root: whole, **whole.get("$defs", {})}.items():
        mapping = next(form for form in (part, *part.get("anyOf", ())) if "properties" in form)
        assert mapping["additionalProperties"] is False, name
        found[name] = set(mapping["properties"])
    return found


def below(content, place):
    for part in place:
        content = content[part]
    return content


@pytest.mark.parametrize("kind", [kind for kind in FILES if kind not in ("maps", "control")])  # studies
def test_every_key_of_the_schemas_has_at_least_two_malformed_values(kind):
    wanted = definitions(kind)
    tables = {**TABLES[kind], **(TABLES["maps"] | TABLES["control"] if kind == "study" else {})}
    # a criterion is one file: whoever adds one may leave its malformed values out
    left_out = {item.__name__ for item in CRITERIA.values()} - tables.keys() if kind == "claims" else set()
    assert {name: set(keys) for name, keys in tables.items()} == {
        name: keys for name, keys in wanted.items() if name not in left_out}
    for name, keys in tables.items():
        for key, entries in keys.items():
            assert len(entries) >= 2, f"{name}.{key}"
            assert len({repr(value) for value, _ in entries}) == len(entries), f"{name}.{key} has an entry twice"
        assert {**PLACES["maps"], **PLACES["control"], **PLACES[kind]}[name]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with configuration and products of the study `tiny`."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for kind in FILES:
            write(kind, VALID[kind])
        Path(FILES["study"]).write_text(STUDY)
        Path("config/studies/pushed.py").write_text(PUSHED)
        for command in (["job", "sweep", "tiny", "bodies,many,top"], ["job", "analyse", "tiny"]):
            assert main(command) == 0
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    """A copy of that folder to work in."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", ["study", "maps", "control", "claims", "errata"])
def test_the_files_that_are_changed_are_valid(kind, place, capsys):
    write(kind, VALID[kind])
    if kind == "study":
        Path(FILES["claims"]).unlink()  # they are of the runs of another study of this name
    assert main(COMMANDS[kind]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(("kind", "name", "key"),
                         [(kind, name, key) for kind, table in TABLES.items() for name, keys in table.items()
                          for key in keys])
def test_malformed_values(kind, name, key, place, capsys):
    for where in PLACES[kind][name]:
        for value, part in TABLES[kind][name][key]:
            changed = copy.deepcopy(VALID[kind])
            if value is LOST:
                below(changed, where).pop(key)
            else:
                below(changed, where)[key] = value
            path = write(kind, changed)
            before = contents(place)
            sentence = refused(COMMANDS[kind], capsys)
            assert part in sentence, (where, value)
            assert contents(place) == before
            assert_place(sentence, path, (*where, key))


def assert_place(sentence: str, path: Path, key: tuple) -> None:
    """The sentence names the file and the line of the key, of something inside it, or of what the key stands in;
    config.yaml is as short as one can see, and a claim that does not fit its study is named by its id."""
    found = re.match(rf"liestep: {path}, line (\d+): ", sentence)
    if not found:
        assert re.match(r"liestep: claim \w+ of paper: |liestep: config/config.yaml or --config: ", sentence), sentence
        return
    _, lines = read_yaml(path)
    allowed = {line for place, line in lines.items() if place[:len(key)] == key} | {line_of(key[:-1], lines)}
    assert int(found[1]) in allowed, sentence


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, table in TABLES.items() for name in table])
def test_misspelt_keys_name_the_closest(kind, name, place, capsys):
    for where in PLACES[kind][name]:
        for key in TABLES[kind][name]:
            wrong, changed = key + key[-1], copy.deepcopy(VALID[kind])
            below(changed, where)[wrong] = below(changed, where).pop(key, None)
            write(kind, changed)
            before = contents(place)
            assert f"unknown key '{wrong}'; did you mean {key}?" in refused(COMMANDS[kind], capsys) or key == "kind"
            assert contents(place) == before
