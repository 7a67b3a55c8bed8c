"""Values and nesting that would end the process or show a traceback: one sentence each."""
import pytest
from commands import STUDY, refused

from liestep.api.command_line import main
from liestep.study.plan.yamlfile import read_yaml

DIGITS = "9"*400
VALUES = ("!!bool maybe", "!!int abc", "!!float abc", "!!timestamp abc", "!!binary abc", "!!set [a]", "!!omap {a: 1}",
          "!!null [1]", "!!python/object:os.system {}", "!!str {a: 1}", f"0x{'f'*5000}", "9"*5000, DIGITS, f"-{DIGITS}",
          ":".join(["59"]*400), f"0b{'1'*2000}", f"0{'7'*2000}", f"[{DIGITS}]", f"{{a: {DIGITS}}}")
NESTED = ("-  "*100_000, "-\t"*100_000, "- "*100_000, "? "*100_000, "?  "*100_000, "- ? "*50_000, "- a: - "*50_000,
          "["*100_000, "{"*100_000, "{a: "*50_000, "- [ "*50_000, "a:\n" + "- \n"*3 + "-   "*50_000,
          "".join(f"{' '*depth}a:\n" for depth in range(1000)), "".join(f"{' '*depth}-\n" for depth in range(1000)),
          "? "*1100 + "a", "- !!seq "*20_000, "- &a "*20_000)
PLACES = ("t_end: 1.0", "vi_sphere: {steps: [0.1]}", 'title: "Three bodies"', "system: sphere_nbody")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path/"config"/"studies").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", VALUES, ids=lambda value: value[:20])
def test_a_value_that_is_none_is_refused(folder, place, value, capsys):
    key = place.partition(":")[0]
    (folder/"config"/"studies"/"tiny.yaml").write_text(STUDY.replace(place, f"{key}: {value}"))
    assert "config/studies/tiny.yaml" in refused(["check", "tiny"], capsys)


@pytest.mark.parametrize("text", NESTED, ids=range(len(NESTED)))
def test_deep_nesting_is_refused(folder, text, capsys):
    """libyaml calls itself for each level: the process would end."""
    (folder/"config"/"studies"/"tiny.yaml").write_text(text)
    said = refused(["check", "tiny"], capsys)
    assert "malformed YAML" in said
    assert len(said) < 300


def test_long_lines_and_many_lists_are_read(folder):
    path = folder/"long.yaml"
    path.write_text(f"title: '{'- '*5000}'\nsteps: [{', '.join(['[1]']*2000)}]\n")
    content, _ = read_yaml(path)
    assert content == {"title": "- "*5000, "steps": [[1]]*2000}


@pytest.mark.parametrize("value", [*VALUES[:5], *VALUES[10:], *NESTED[:8]], ids=lambda value: value[:20])
def test_a_parameter_that_is_none_is_refused(value, capsys):
    words = ["run", "sphere_nbody", "rk4", "--step", "0.1", "-o", "x.nc"]
    said = refused([*words, "--parameter", f"mass={value}"], capsys)
    assert "parameter" in said
    assert len(said) < 300


@pytest.mark.parametrize("value", ["1:30", "017", "0x10", "1e3_0", "1_000", "0b11", "2:03:04.5", "-012", "08", "0o17",
                                   "!!int 0x1f", "1e1_0", "1\u0663"])
def test_a_number_that_not_everybody_reads_alike_is_refused(folder, value, capsys):
    """YAML 1.1 has minutes, octal and other digits; a float in Python has underscores."""
    (folder/"config"/"studies"/"tiny.yaml").write_text(STUDY.replace("t_end: 1.0", f"t_end: {value}"), "utf-8")
    said = refused(["check", "tiny"], capsys)
    assert "config/studies/tiny.yaml, line 4: " in said
    assert value.split()[-1] in said or "\\u0663" in said
    assert "mass" in refused(["run", "sphere_nbody", "rk4", "--step", "0.1", "-o", "x.nc", "--parameter",
                              f"mass={value}"], capsys)


@pytest.mark.parametrize(("value", "number"), [("1e-3", 0.001), ("-2.5", -2.5), (".5", 0.5), ("1.", 1.0), ("+3", 3),
                                               ("1E+2", 100.0), ("0.0", 0.0), ("0", 0), ("'1e3'", 1000.0),
                                               ("'0x10'", "0x10"), ("'017'", "017")])
def test_decimal_numbers_are_read_and_quoted_texts_are_texts(folder, value, number):
    path = folder/"one.yaml"
    path.write_text(f"a: {value}\n")
    assert read_yaml(path)[0] == {"a": number}


def test_a_zero_character_in_the_name_of_a_plugin(folder, capsys):
    (folder/"config"/"studies"/"tiny.yaml").write_text(STUDY + 'plugins: ["a\\0b.py"]\n')
    assert "zero character" in refused(["check", "tiny"], capsys)


def test_links_to_their_own_folder_do_not_hang(folder, capsys):
    (folder/"config"/"studies"/"tiny.yaml").write_text(STUDY)
    (folder/"results").mkdir()
    for name in ("config", "results"):
        for number in (1, 2):
            (folder/name/f"link{number}").symlink_to(".")
    assert main(["status"]) == 0
    assert "tiny" in capsys.readouterr().out
