"""Names that people choose reach paths, rules and shell lines: what is no name is refused in one sentence within a
second, runs nothing and changes no file. So are files that are no files, and runs that no machine could hold."""
import os
import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from commands import contents, refused

from liestep.api.command_line import main
from liestep.errors import InputError
from liestep.study.plan.names import LETTERS, RESERVED, study_files
from liestep.study.plan.yamlfile import YAML_BYTES
from liestep.workflow.workflow import Workflow

RULES = sorted((Path(__file__).parents[2]/"workflow"/"rules").glob("*.smk"))
WITHIN = 5.0  # s of processor time: what is expanded takes minutes
STUDY = {"title": "t", "problems": {"bodies": {"system": "sphere_nbody", "t_end": 1.0}},
         "integrators": {"rk4": {"steps": [0.1]}}, "tables": ["drift"]}
CLAIM = {"id": "one", "statement": "s", "quote": "q", "source": "p", "asserted_by": "paper", "scope": "general",
         "quantity": "energy_error_mean", "known": False,
         "criterion": {"kind": "limit", "at_most": 1.0},
         "runs": [{"study": "tiny", "problem": "bodies", "integrator": "rk4"}]}
ERRATA = {"paper": "paper", "citation": "c", "errata": [
    {"number": 1, "place": "p", "printed": "x", "correct": "y", "kind": "misprint", "text_only": "w"}]}
HOSTILE = ("$(touch X)", "`touch X`", ";touch X", "a;touch X", "a|touch X", "a&touch X", "a&&touch X", "a>X", "a<X",
           "a b", "a'b", 'a"b', "a\nb", "a\tb", "a\\b", "a*", "a?", "a[b]", "a{b}", "{output}", "{wildcards.x}", "a!b",
           "a#b", "~", "~root", "a=b", "a,b", "a:b", "a@b", "a%b", "a^b", "a(b)", "-rf", "--help", "-", "$HOME",
           "${HOME}", "a$b", "\x1b[31m", "\x07", "caf\xe9", "\u202ename", "\u200b", "\U0001f600", "x"*(LETTERS + 1),
           "x"*200, " a", "a ")
FILES = {"study": "studies", "claims": "claims", "errata": "errata"}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working folder with one study, claims and errata."""
    for kind, content in {"studies/tiny": STUDY, "claims/paper": {"paper": "paper", "citation": "c", "claims": [CLAIM]},
                          "errata/paper": ERRATA}.items():
        path = tmp_path/"config"/f"{kind}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def study(content: dict) -> None:
    Path("config/studies/tiny.yaml").write_text(yaml.safe_dump(content))


def unchanged(arguments: list[str], capsys) -> str:
    """The sentence with which a command is refused at once, without a change."""
    before, start = contents(Path()), time.process_time()
    sentence = refused(arguments, capsys)
    assert time.process_time() - start < WITHIN
    assert contents(Path()) == before
    assert len(sentence) < 600
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", sentence[:-1])
    return sentence


def test_every_word_of_a_shell_line_is_quoted():
    lines = [line for path in RULES for line in re.findall(r'"(liestep [^"]*|[^"]*2> \{log[^"]*)"', path.read_text())]
    assert len(lines) >= 12
    for line in lines:
        assert all(name.endswith(":q") for name in re.findall(r"\{([^}]*)\}", line)), line


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", FILES)
def test_hostile_names_of_files(kind, name, place, capsys):
    path = Path("config", FILES[kind], f"{name}.yaml")
    path.write_text(Path("config", FILES[kind], "tiny.yaml" if kind == "study" else "paper.yaml").read_text())
    if kind == "study":
        assert "the name of a study" in unchanged(["status"], capsys)
        assert "the name of a study" in unchanged(["check", str(path)], capsys)
    with pytest.raises(InputError, match="must be letters, digits"):
        Workflow({"studies": "all"})
    assert not list(place.rglob("X"))


@pytest.mark.parametrize("name", [name for name in HOSTILE if name.isprintable()])
def test_hostile_ids_on_the_command_line(name, place, capsys):
    with pytest.raises(InputError, match="unknown study"):
        Workflow({"studies": [name]})
    if not name.startswith("-"):
        for command in (["new-study", name], ["job", "sweep", name, "bodies"], ["job", "sweep", "tiny", name],
                        ["job", "figure", "tiny", name], ["job", "claims", name]):
            unchanged(command, capsys)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_keys(name, place, capsys):
    for part, key in (("problems", "bodies"), ("integrators", "rk4")):
        study({**STUDY, part: {name: STUDY[part][key]}})
        assert "must be" in unchanged(["check", "tiny"], capsys) or "unknown" in name
    for part in ("figures", "animations", "tables"):
        study({**STUDY, part: [name]})
        unchanged(["check", "tiny"], capsys)


@pytest.mark.parametrize("name", RESERVED)
def test_folders_of_other_products_are_no_studies(name, place, capsys):
    Path("config", "studies", f"{name}.yaml").write_text(yaml.safe_dump(STUDY))
    assert f"must not begin with {name}" in unchanged(["status"], capsys)


def test_good_names_and_hidden_folders(place):
    for name in ("a-b", "a.b", "a_b/2c", "1st", "x"*LETTERS):
        path = Path("config", "studies", f"{name}.yaml")
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(STUDY))
    hidden = Path("config", "studies", ".ipynb_checkpoints")
    hidden.mkdir()
    (hidden/"tiny-checkpoint.yaml").write_text("no: study")
    assert list(study_files()) == sorted(["a-b", "a.b", "a_b/2c", "1st", "tiny", "x"*LETTERS])
    assert main(["check", "a-b"]) == 0


def test_no_study_inside_the_results_of_another(place, capsys):
    assert "each other's folders" in unchanged(["new-study", "tiny/more"], capsys)
    assert "are called so" in unchanged(["new-study", "tiny/runs"], capsys)
    assert main(["new-study", "deep/er"]) == 0
    capsys.readouterr()
    assert "each other's folders" in unchanged(["new-study", "deep"], capsys)


def bomb(merge: bool) -> str:
    """Ten lines that stand for 10^9 values."""
    names = "abcdefghi"
    one = "{k: 1}" if merge else "[x]"
    lines = [f"a: &a {one}"] + [
        f"{new}: &{new} " + ("{{<<: [{0}]}}" if merge else "[{0}]").format(", ".join([f"*{old}"]*10))
        for old, new in pairwise(names)]
    return "\n".join(lines) + "\n"


def fifo(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


ODD = {"pipe": (fifo, "a pipe or a device"), "device": (device, "a pipe or a device"),
       "large": (lambda path: path.write_bytes(b"#"*(YAML_BYTES + 1)), f"at most {YAML_BYTES} are allowed"),
       "sparse": (lambda path: (path.touch(), os.truncate(path, 1 << 40)), f"at most {YAML_BYTES} are allowed"),
       "alias bomb": (lambda path: path.write_text(bomb(False)), "aliases counted"),
       "merge bomb": (lambda path: path.write_text(bomb(True)), "aliases counted"),
       "wide": (lambda path: path.write_text("a: [" + "1,"*110_000 + "]"), "more than 100000 entries"),
       "utf-16": (lambda path: path.write_bytes("title: t\n".encode("utf-16")), "not a text file in UTF-8"),
       "latin-1": (lambda path: path.write_bytes("title: caf\xe9\n".encode("latin-1")), "not a text file in UTF-8"),
       "null": (lambda path: path.write_bytes(b"title: \0\n"), "malformed YAML"),
       "dangling link": (lambda path: path.symlink_to("nowhere.yaml"), "does not exist"),
       "link to itself": (lambda path: path.symlink_to(path.name), "cannot read")}


@pytest.mark.parametrize("kind", [*FILES, "config"])
@pytest.mark.parametrize("odd", ODD)
def test_files_that_are_no_files(kind, odd, place, capsys):
    path = Path("config", "config.yaml") if kind == "config" else Path("config", FILES[kind], "tiny.yaml" if
                                                                       kind == "study" else "paper.yaml")
    path.unlink(missing_ok=True)
    ODD[odd][0](path)
    command = {"study": ["check", "tiny"], "claims": ["job", "claims"], "errata": ["job", "errata"],
               "config": ["job", "report"]}[kind]
    start, expected = time.process_time(), ODD[odd][1]
    sentence = refused(command, capsys)
    assert expected in sentence
    assert str(path) in sentence
    assert time.process_time() - start < WITHIN


@pytest.mark.parametrize(("change", "expected"), [
    ({"samples": 1_000_000_001, "steps": {"counts": [1_000_000_000]}}, "of memory, of which there are"),
    ({"samples": 2**39 + 1, "steps": {"counts": [2**39]}}, "of memory, of which there are"),
    ({"replicas": 10**11}, "of memory, of which there are"),
    ({"samples": 10**9, "steps": {"counts": [10**9 - 1]}, "replicas": 10}, "of memory, of which there are")])
def test_runs_that_no_machine_can_hold(change, expected, place, capsys):
    study({**STUDY, "integrators": {"rk4": None}, "steps": [0.1], **change})
    for command in (["check", "tiny"], ["job", "sweep", "tiny", "bodies"]):
        assert expected in unchanged(command, capsys)
    with pytest.raises(InputError, match=r"config/studies/tiny\.yaml: bodies rk4"):
        Workflow({"studies": "all"})


@pytest.mark.parametrize("members", [10**12, 10**15])
def test_ensembles_of_more_members_than_are_allowed(members, place, capsys):
    study({**STUDY, "integrators": {"rk4": None}, "steps": [0.1], "ensemble": {"members": members, "amplitude": 0.1}})
    for command in (["check", "tiny"], ["job", "sweep", "tiny", "bodies"]):
        assert f"has {members} members; at most 1000000 are allowed" in unchanged(command, capsys)


def test_files_that_do_not_fit_the_disk(place, capsys, monkeypatch):
    monkeypatch.setattr("liestep.simulation.runs.estimate.free", lambda _: 1000)
    for command in (["check", "tiny"], ["run", "sphere_nbody", "rk4", "--step", "0.1", "-o", "out.nc"]):
        assert "the disk of" in unchanged(command, capsys)


def test_the_memory_of_another_machine(place, capsys, monkeypatch):
    study({**STUDY, "samples": 11})
    monkeypatch.setenv("LIESTEP_MEMORY", "10000")
    assert "LIESTEP_MEMORY=BYTES" in unchanged(["check", "tiny"], capsys)
    monkeypatch.setenv("LIESTEP_MEMORY", "10000000")
    assert main(["check", "tiny"]) == 0
    assert "1 run, 10 steps, about " in capsys.readouterr().out


def parameters(**given) -> dict:
    return {**STUDY, "problems": {"bodies": {"system": "sphere_nbody", "parameters": given}}}


@pytest.mark.parametrize(("content", "expected"), [
    (parameters(mass=[True, True, True]), "parameter mass must be numbers, not true or false"),
    (parameters(mass=[1.0, False, 2.0]), "parameter mass must be numbers, not true or false"),
    (parameters(gamma=True), "parameter gamma must be numbers, not true or false"),
    ({**STUDY, "problems": {"bodies": {"system": "sphere_nbody", "initial": {"omega": [[True, 0.0, 0.0]]*3}}}},
     "initial omega must be numbers, not true or false"),
    *(({**STUDY, "title": f"a{character}b"}, "title: must be one line of characters that can be printed")
      for character in "\x07\x1b\n\r\t\x7f\x85\u2028\u202e"),
    *(({**STUDY, "integrators": {"rk4": {"label": f"a{character}b", "steps": [0.1]}}},
       "label: must be one line of characters that can be printed") for character in "\x07\x1b\n\u202e"),
    ({**STUDY, "description": "a\x1b[31mb"}, "description: must be one line of characters that can be printed"),
])
def test_values_that_python_would_take(content, expected, place, capsys):
    study(content)
    assert expected in unchanged(["check", "tiny"], capsys)


@pytest.mark.parametrize(("arguments", "expected"), [
    (["--results", "config/studies/tiny.yaml", "status"], "is not a folder"),
    (["--results", "/dev/null", "status"], "is not a folder"),
    (["run", "sphere_nbody", "rk4", "--step", "0.1", "-o", "out.csv"], "must end with .nc"),
    (["run", "sphere_nbody", "rk4", "--step", "0.1", "-o", "out"], "must end with .nc"),
    (["run", "sphere_nbody", "rk4", "--step", "0.1", "--t-end", "1", "-o", "x"*300 + ".nc"], "File name too long"),
    (["run", "sphere_nbody", "rk4", "--step", "1e-11", "--t-end", "1", "--samples", "1000000001", "-o", "out.nc"],
     "of memory, of which there are"),
    (["check", "x"*300 + ".nc"], "File name too long"),
    (["check", "x"*300 + ".yaml"], "must be letters, digits"),
    (["judge", "x"*300, "--problem", "sphere_nbody"], "File name too long"),
    (["animate", "none.nc", "-o", "new/folder/film.gif"], "there is no folder new/folder"),
    (["--config", "/nowhere", "check", "tiny"], "call it in the repository"),
    (["job", "sweep", "z"*300, "bodies"], "unknown study 'zzz"),
    (["run", "sphere_nbody", "nothing_like_it", "--step", "0.1", "-o", "out.nc"], "(closest of "),
])
def test_small_mistakes_on_the_command_line(arguments, expected, place, capsys):
    assert expected in unchanged(arguments, capsys)


@pytest.mark.parametrize(("quantity", "criterion", "expected"), [
    ("energy_eror_mean", {"kind": "limit", "at_most": 1.0}, "did you mean energy_error_mean?"),
    ("angular_error_mean", {"kind": "limit", "at_most": 1.0}, "unknown quantity 'angular_error_mean'"),
    ("status", {"kind": "limit", "at_most": 1.0}, "unknown quantity 'status'"),
    ("enrgy", {"kind": "drift"}, "did you mean energy?"),
    ("omga", {"kind": "state", "expected": [1.0], "tolerance": 1.0}, "did you mean omega?"),
    ("accepted_step", {"kind": "state", "expected": [1.0], "tolerance": 1.0}, "unknown quantity 'accepted_step'")])
def test_quantities_of_claims_are_checked_before_any_run(quantity, criterion, expected, place):
    claim = {**CLAIM, "quantity": quantity, "criterion": criterion}
    Path("config/claims/paper.yaml").write_text(yaml.safe_dump({"paper": "paper", "citation": "c", "claims": [claim]}))
    with pytest.raises(InputError) as refusal:
        Workflow({"studies": "all"})
    assert expected in str(refusal.value)
    assert re.match(r"config/claims/paper\.yaml, line [1-9]\d*: claim one: ", str(refusal.value))


@pytest.mark.parametrize(("members", "refused"), [(15, True), (16, False)])
def test_an_ensemble_that_decides_has_16_members(members, refused, place):
    study({**STUDY, "ensemble": {"members": members, "amplitude": 1e-15}})
    claim = {**CLAIM, "quantity": "energy_error_mean",
             "criterion": {"kind": "share", "within": {"at_most": 1.0}, "at_least": 0.95}}
    Path("config/claims/paper.yaml").write_text(yaml.safe_dump({"paper": "paper", "citation": "c", "claims": [claim]}))
    if not refused:
        Workflow({"studies": "all"})
        return
    with pytest.raises(InputError, match=r"paper\.yaml, line \d+: claim one: an ensemble that decides needs 16 members"
                                         r" or more; .* has 15"):
        Workflow({"studies": "all"})


def test_quantities_that_exist_are_known_before_any_run(place):
    for quantity, criterion in (("energy_error_mean", {"kind": "limit", "at_most": 1.0}),
                                ("unit_length_error_max", {"kind": "limit", "at_most": 1.0}),
                                ("error_omega", {"kind": "limit", "at_most": 1.0}),
                                ("energy", {"kind": "drift"}),
                                ("q", {"kind": "state", "expected": [1.0], "tolerance": 1.0})):
        claim = {**CLAIM, "quantity": quantity, "criterion": criterion}
        Path("config/claims/paper.yaml").write_text(yaml.safe_dump(
            {"paper": "paper", "citation": "c", "claims": [claim]}))
        assert len(Workflow({"studies": "all"}).claims) == 1


def test_studies_without_those_that_their_claims_need_say_which(place):
    claim = {**CLAIM, "quantity": "energy_error_max", "criterion": {"kind": "limit", "at_most": 1.0}}
    (study,) = {one["study"] for one in claim["runs"]}
    other = {**claim, "id": "other", "runs": [{**claim["runs"][0], "study": "further/study"}]}
    Path("config/claims/paper.yaml").write_text(yaml.safe_dump(
        {"paper": "paper", "citation": "c", "claims": [claim, other]}))
    found = Workflow({"studies": [study]})
    assert found.claims == {}
    assert found.unjudged == ["no verdict on the claims of paper, which also need the studies further/study"]
