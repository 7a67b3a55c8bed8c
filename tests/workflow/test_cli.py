"""The command line: what it prints, and that every wrong input gives one sentence, exit code 2, no
traceback, and changes no file."""
import importlib
import os
import re
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest
from commands import STUDY, contents, refused
from place import TOP

from liestep.api import command_line
from liestep.api.command_line import build_parser, main
from liestep.errors import InputError
from liestep.files import terminal
from liestep.simulation.catalogue import integrator_ids, method, sheet, system_ids
from liestep.study.plan.names import study_files
from liestep.study.tables.choice import KEEP
from liestep.tools.inspect.describe import describe
from liestep.tools.recommend import BUDGET

RUN = ["run", "sphere_nbody", "vi_sphere", "--t-end", "1", "-o", "out.nc"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty working folder with one study, `tiny`."""
    (tmp_path/"config"/"studies").mkdir(parents=True)
    (tmp_path/"config"/"studies"/"tiny.yaml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("arguments", "expected"), [
    ([], "the following arguments are required: command"),
    (["desribe", "heavy_top"], "unknown command 'desribe'; did you mean describe?"),
    (["job", "swep"], "unknown job 'swep'; did you mean sweep?"),
    (["fly"], "unknown command 'fly'"),
    (["sweep", "tiny", "bodies"], "`liestep sweep` is a job of the workflow: type `liestep job sweep`"),
    (["job", "run"], "unknown job 'run'"),
    (["describe"], "required: name"),
    (["describe", "vi_spher"], "did you mean vi_sphere?"),
    (["list", "sphere_nbodi"], "did you mean sphere_nbody?"),
    (["check", "tinny"], "did you mean tiny?"),
    (["check", "none.nc"], "none.nc does not exist"),
    (["--config", "elsewhere", "check", "tiny"], "there is no study in elsewhere"),
    (["job", "sweep", "tiny", "body"], "did you mean bodies?"),
    (["job", "sweep", "tiny", "bodies", "rk4"], "unknown integrator 'rk4'"),
    (["job", "sweep", "tiny", "bodies", "vi_sphere", "h0.2"], "did you mean h0.1?"),
    (["job", "reference", "tiny", "body"], "did you mean bodies?"),
    (["job", "reference", "no", "bodies"], "unknown study 'no'"),
    (["job", "time", "no"], "unknown study 'no'"),
    (["job", "analyse", "no"], "unknown study 'no'"),
    (["job", "analyse", "tiny"], "does not exist"),
    (["job", "figure", "no"], "unknown study 'no'"),
    (["job", "figure", "tiny", "energy_eror"], "did you mean energy_error?"),
    (["job", "figure", "tiny", "energy_error"], "does not exist"),
    (["lyapunov", "sphere_nbodi", "rk4"], "did you mean sphere_nbody?"),
    (["lyapunov", "sphere_nbody", "ode45"], "ode45 is adaptive: exponents need fixed steps"),
    (["lyapunov", "sphere_nbody", "rk4", "--exponents", "13"], "the states of this system have 12 dimensions"),
    (["job", "claims"], "there is no file with claims"),
    (["job", "errata"], "there is no file with errata"),
])
def test_wrong_names(arguments, expected, place, capsys):
    before = contents(place)
    assert expected in refused(arguments, capsys)
    assert contents(place) == before


@pytest.mark.parametrize(("more", "expected"), [
    ([], "vi_sphere has fixed steps: give a step"),
    (["--step", "x"], "invalid float value: 'x'"),
    (["--step", "-0.1"], "step must be a positive number, not -0.1"),
    (["--step", "nan"], "step must be a positive number, not nan"),
    (["--step", "0.3"], "the nearest valid steps are 0.25 and 0.3333333333333333"),
    (["--step", "2"], "the longest valid step is 1.0"),
    (["--step", "0.1", "--tolerance", "1e-3"], "give a step, not a tolerance"),
    (["--step", "0.1", "--samples", "7"], "the nearest valid numbers are 6 and 11"),
    (["--step", "0.1", "--preset", "papr"], "did you mean paper?"),
    (["--step", "0.1", "--parameter", "mass"], "must be written NAME=VALUE"),
    (["--step", "0.1", "--parameter", "mass=[1, 2"], "parameter mass: malformed value '[1, 2'"),
    (["--step", "0.1", "--parameter", "mass=[1, 0, 1]"], "parameter mass must be positive"),
    (["--step", "0.1", "--parameter", "mass=[1, x, 1]"], "parameter mass must be numbers"),
    (["--step", "0.1", "--parameter", "mass=1"], "parameter mass must be of shape (n)"),
    (["--step", "0.1", "--parameter", "mas=[1, 1, 1]"], "did you mean mass?"),
    (["--step", "0.1", "--option", "form=papr"], "allowed are increment, paper"),
    (["--step", "0.1", "--option", "iteration=3"], "unknown option 'iteration'"),
    (["--step", "0.1", "--option", "tolerance=-1", "--option", "solver=newton"],
     "option tolerance must be a positive number"),
])
def test_wrong_runs(more, expected, place, capsys):
    before = contents(place)
    assert expected in refused([*RUN, *more], capsys)
    assert contents(place) == before


def test_solver_that_the_mass_matrix_does_not_allow(place, capsys):
    assert "needs a diagonal mass matrix" in refused(
        ["run", "spherical_pendulum_chain", "vi_sphere", "--step", "0.1", "--t-end", "1", "--option", "solver=explicit",
         "-o", "out.nc"], capsys)


def test_adaptive_integrators_refuse_steps(place, capsys):
    assert "ode45 is adaptive: give a tolerance" in refused(["run", "sphere_nbody", "ode45", "--step", "0.1", "-o",
                                                             "out.nc"], capsys)


def test_run_writes_and_check_reads(place, capsys):
    assert main([*RUN, "--step", "0.1"]) == 0
    assert capsys.readouterr().out.startswith("out.nc: completed\nout.nc: warning: energy is off by up to 0.23")
    assert main(["check", "out.nc"]) == 0
    assert capsys.readouterr().out == "out.nc: complete, sphere_nbody by vi_sphere, completed\n"
    first = (place/"out.nc").read_bytes()
    assert main([*RUN, "--step", "0.1"]) == 0
    assert (place/"out.nc").read_bytes() == first
    capsys.readouterr()
    assert "out.nc exists and is of another specification" in refused([*RUN, "--step", "0.05"], capsys)
    (place/"out.nc").write_bytes(first[:len(first)//2])
    assert "out.nc is not a readable NetCDF file" in refused(["check", "out.nc"], capsys)
    (place/"out.nc").write_text("something else")
    assert "exists and is of another specification" in refused([*RUN, "--step", "0.1"], capsys)
    assert (place/"out.nc").read_text() == "something else"


def test_output_that_cannot_be_written(place, capsys):
    (place/"file").write_text("")
    assert "cannot write file/out.nc" in refused(["run", "sphere_nbody", "vi_sphere", "--t-end", "1", "--step", "0.1",
                                                  "-o", "file/out.nc"], capsys)


def test_a_run_that_stops_early_is_written_and_has_its_own_exit_code(place, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["run", "sphere_nbody", "vi_sphere", "--t-end", "10", "--step", "2.5", "-o", "out.nc"])
    assert stop.value.code == 3
    assert "stopped after t = " in capsys.readouterr().out
    assert main(["check", "out.nc"]) == 0


@pytest.mark.parametrize(("text", "expected"), [
    ("title: x\nproblems: [", "line 2"),
    ("", "a study is a mapping with the keys"),
    (STUDY.replace("title", "titel"), "line 2: unknown key 'titel'; did you mean title?"),
    (STUDY.replace("steps: [0.1]", "steps: [1e-1]").replace("t_end", "t_endd"), "did you mean t_end?"),
    (STUDY.replace("sphere_nbody", "sphere_nbdy"),
     "line 4: problems.bodies.system: unknown problem 'sphere_nbdy'; did you mean sphere_nbody?"),
    (STUDY.replace("0.1", "0.3"), "the nearest valid steps are 0.25 and 0.333"),
    (STUDY.replace("0.1", "-1e-1"), "must be greater than 0"),
    (STUDY.replace("steps: [0.1]", "tolerances: [0.1]"), "tolerances means nothing for vi_sphere"),
    (STUDY.replace("vi_sphere:", "vi_spher:"), "did you mean vi_sphere?"),
    (STUDY + "title: again\n", "key title appears twice"),
    (STUDY + "figures: [energy_eror]\n", "did you mean energy_error?"),
])
def test_wrong_studies_name_file_and_line(text, expected, place, capsys):
    (place/"config"/"studies"/"tiny.yaml").write_text(text)
    before = contents(place)
    sentence = refused(["check", "tiny"], capsys)
    assert sentence.startswith("liestep: config/studies/tiny.yaml, line ")
    assert expected in sentence
    assert contents(place) == before


def test_exponents_without_a_point_are_numbers(place, capsys):
    (place/"config"/"studies"/"tiny.yaml").write_text(STUDY.replace("0.1", "1e-1"))
    assert main(["check", "tiny"]) == 0
    assert capsys.readouterr().out.startswith("tiny: valid, 1 sweep\n  1 run, 10 steps, about ")


def test_a_folder_with_a_file_in_the_way_of_results(place, capsys):
    (place/"results").write_text("not a folder")
    assert "--results results is not a folder" in refused(["job", "sweep", "tiny", "bodies"], capsys)


def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m liestep.api.command_line describe elastic_rod | true"
    result = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, env=os.environ)
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", system_ids())
def test_description_of_a_system_is_complete(name):
    facts, text = sheet(name), describe(name)
    for part in (name, facts.title, facts.citation, *facts.parameters, *facts.presets,
                 *(rule.units for rule in facts.parameters.values())):
        assert part in text
    flat = " ".join(text.split())
    assert " ".join(facts.equations.split()) in flat
    for preset in facts.presets.values():
        assert f"({preset.kind})" in text
        assert preset.citation in flat
    for key in integrator_ids():
        assert ((key in text.split("Integrators:")[1].replace(",", " ").split())
                == (method(key).on(facts).formulation in facts.forms))


@pytest.mark.parametrize("name", integrator_ids())
def test_description_of_an_integrator_is_complete(name):
    facts, text = method(name), describe(name)
    flat = " ".join(text.split())
    for part in (name, facts.summary, facts.sentence, facts.citation, *facts.options):
        assert part in flat
    for option in facts.options.values():
        assert all(choice in flat for choice in option.choices)


def test_description_of_an_unknown_name_says_the_closest():
    with pytest.raises(InputError, match="did you mean elastic_rod"):
        describe("elastic_rot")


def test_public_functions_have_the_names_of_subpackages_and_can_be_called_again():
    import liestep

    assert liestep.list_systems() == liestep.list_systems()
    assert set(liestep.list_integrators("heavy_top")) < set(liestep.list_integrators())


def test_help_lists_what_people_type_and_each_has_an_example(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    commands, = build_parser()._subparsers._group_actions
    jobs, = commands.choices["job"]._subparsers._group_actions
    for command in (*(part for name, part in commands.choices.items() if name != "job"), *jobs.choices.values()):
        module, _, function = command.get_default("call").partition(":")
        assert callable(getattr(importlib.import_module(f"liestep.{module}"), function))
    recommend = commands.choices["recommend"]
    assert recommend.get_default("budget") == BUDGET
    assert ", ".join(KEEP) in " ".join(recommend.format_help().split())
    for name in set(commands.choices) - {"job"}:
        assert f"\n  {name} " in shown
        assert all(action.help for action in commands.choices[name]._actions)
        with pytest.raises(SystemExit):
            main([name, "--help"])
        example = capsys.readouterr().out.partition(f"example: liestep {name} ")[2].split()
        assert example
        assert name not in ("check", "status") or example[0] in study_files(TOP/"config")


def test_rules_call_jobs_that_exist(capsys):
    with pytest.raises(SystemExit):
        main(["job", "--help"])
    jobs = set(re.findall(r"^    (\w+)\b", capsys.readouterr().out, re.MULTILINE))
    rules = "".join(path.read_text() for path in sorted((TOP/"workflow"/"rules").glob("*.smk")))
    assert set(re.findall(r'"liestep (?:job )?(\w+) ', rules)) <= jobs | {"animate", "verify"}


def test_the_module_imports_nothing_of_the_working_folder(tmp_path):
    for name in ("numpy", "numba", "yaml", "threading"):
        (tmp_path/f"{name}.py").write_text("raise SystemExit('imported from the working folder')\n")
    done = subprocess.run([sys.executable, "-m", "liestep", "describe", "rk4"], cwd=tmp_path, capture_output=True,
                          text=True, check=True)
    assert done.stdout.startswith("rk4: order 4")


@pytest.mark.parametrize(("line", "expected"), [
    ("liestep rec", {"recommend"}), ("liestep run heavy", {"heavy_top"}),
    ("liestep run heavy_top rkmk8", {"rkmk853"}), ("liestep run heavy_top rk4 --st", {"--step"})])
def test_a_shell_completes_commands_ids_and_options(line, expected, tmp_path):
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "COMP_LINE": line, "COMP_POINT": str(len(line)),
             "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path/"found")}
    subprocess.run([Path(sys.executable).with_name("liestep")], env=os.environ | asked, check=True)
    assert {word.strip() for word in (tmp_path/"found").read_text().split("\n")} == expected


KNOWN = tomllib.loads(command_line.DECLARED.read_text("utf-8"))


@pytest.mark.parametrize("command", [["list"], ["describe", "heavy_top"], ["describe", "vi_sphere"], ["--help"]])
def test_no_line_is_wider_than_the_terminal(command, place, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["liestep", *command])
    with suppress(SystemExit):
        command_line._typed()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 20
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_no_help_is_wider_than_the_terminal(columns, monkeypatch, capsys):
    """argparse moves options in a usage below the command's name, wherever that ends."""
    monkeypatch.setenv("COLUMNS", str(columns))
    commands = [[name] for name in KNOWN if name != "jobs"] + [["job", name] for name in KNOWN["jobs"]]
    for command in ([], ["job"], *commands):
        with pytest.raises(SystemExit):
            main([*command, "--help"])
        assert max(map(len, capsys.readouterr().out.splitlines())) <= columns, command


def test_a_terminal_of_one_column_is_refused_and_a_pipe_gets_whole_lines(place, monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal.fitted("word "*50) == "word "*50
    monkeypatch.setenv("COLUMNS", "1")
    with pytest.raises(InputError, match="COLUMNS is 1; allowed are 40 columns or more"):
        terminal.fitted("a")


def test_broken_lines_go_on_below_their_last_column(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert terminal.fitted("  rk4    " + "four "*9).split("\n") == [
        "  rk4    four four four four four four", "         four four four"]
