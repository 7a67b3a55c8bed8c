"""The comparison with other codes: the stored table is that of its files, and the files say what the table says. No
other code is needed."""
import ast
import csv
import importlib
import importlib.metadata
import json
import re
import shutil
import sys
from functools import cache
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from docs.site.source import TOP, shown
from liestep.compile.status import Status
from liestep.geometry.attitude import about_axis
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specification import specify
from rotation_bench.liestep_judge import BadStates
from rotation_bench.other_codes import __main__ as program
from rotation_bench.other_codes import environment, figure, judging, page, write
from rotation_bench.other_codes.contract import LADDER, Method, States, matrices, read_problem, write_problem
from rotation_bench.other_codes.problems import CASES, problem

CODES = TOP/"rotation_bench"/"other_codes"
MAKE_AGAIN = "run python -m rotation_bench.other_codes judge results/other_codes"

pytestmark = pytest.mark.slow  # the archive is unpacked and packed again and again


@pytest.fixture
def copied(tmp_path):
    return Path(shutil.copytree(judging.STORED, tmp_path/"stored"))


def test_the_stored_table_is_that_of_its_files():
    rows = judging.stored_rows()
    assert {row["code"] for row in rows} == set(program.CODES)
    assert all(row["missing"] for row in rows if not row["problem"])
    assert sum(path.stat().st_size for path in judging.STORED.iterdir()) < 2_500_000  # evidence, see the page


def test_at_least_twelve_engines_are_there_in_short_adapters():
    rows = judging.stored_rows()
    engines = {row["code"] for row in rows if row["problem"] == "free_body" and row["error_finest"]} - {program.OWN}
    assert len(engines) >= 12
    new = {"jsbsim", "pybullet", "dartpy", "rebound", "lammps"}
    assert new <= engines
    for name in new:
        assert len((CODES/"codes"/f"{name}.py").read_text("utf-8").splitlines()) <= 60, name


def test_versions_are_those_that_the_requirements_pin():
    pins = {name: entry.split()[0].partition("==")[2] for name, entry in environment.pins().items()}
    assert len(pins) > 50
    for entry in environment.pins().values():  # no addresses of registries
        assert re.fullmatch(r"[a-z0-9-]+==\S+(\s+--hash=sha256:[0-9a-f]{64})+", entry)
    for row in judging._read(judging.STORED/judging.CODES):
        if row["code"] == program.OWN:
            assert row["version"] == importlib.metadata.version("liestep")
            continue
        assert pins[row["distribution"]] == row["version"], row["code"]
        methods = importlib.import_module(f"rotation_bench.other_codes.codes.{row['code']}").METHODS
        assert methods[row["method"]].settings == row["settings"]


def test_a_table_of_another_version_is_refused(copied):
    path = copied/judging.TABLE
    version = judging.stored_rows(copied)[0]["version"]
    path.write_text(path.read_text().replace(f",{version},", ",0.0.0,", 1))
    with pytest.raises(BadStates, match=r"is of version 0\.0\.0, the files are of"):
        judging.stored_rows(copied)


def test_a_changed_file_is_refused(copied, tmp_path):
    """Stored with its row alone: to pack all of them takes 6 s."""
    files = judging.stored_files(copied)
    method, names = min(judging.groups(files).items())
    folder = tmp_path/"files"
    folder.mkdir()
    for name in names:
        (folder/name).write_bytes(files[name])
    rows, codes = judging._read(copied/judging.TABLE), judging._read(copied/judging.CODES)
    rows = [row for row in rows if (row["problem"], f"{row['code']}_{row['method']}") == method]
    judging.store(rows, codes, folder, copied)
    assert judging.stored_rows(copied) == rows
    first = folder/min(names)
    first.write_bytes(first.read_bytes().replace(b"1", b"2", 1))
    judging.store(rows, codes, folder, copied)
    with pytest.raises(BadStates, match="of another version than the table"):
        judging.stored_rows(copied)


def test_a_file_beyond_the_table_and_a_damaged_archive_are_refused(copied):
    path = copied/judging.TABLE
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], *lines[2:]]))
    with pytest.raises(BadStates, match="which the table does not have"):
        judging.stored_rows(copied)
    (copied/judging.ARCHIVE).write_bytes((copied/judging.ARCHIVE).read_bytes()[:1000])
    with pytest.raises(BadStates, match="cannot be read"):
        judging.stored_rows(copied)


def test_the_archive_depends_on_its_files_only(tmp_path, copied):
    folder = tmp_path/"files"
    folder.mkdir()
    for name, content in list(judging.stored_files(copied).items())[:5]:
        (folder/name).write_bytes(content)
    for place in ("a", "b"):
        judging.store([], [], folder, tmp_path/place)
    assert (tmp_path/"a"/judging.ARCHIVE).read_bytes() == (tmp_path/"b"/judging.ARCHIVE).read_bytes()


def _judged(name: str, method: str, tmp_path: Path) -> dict:
    for file in (found := judging.groups(files := judging.stored_files())[name, method]):
        (tmp_path/file).write_bytes(files[file])
    return judging.row_of(name, [tmp_path/file for file in found], tmp_path/"reference.nc")


@pytest.mark.parametrize("method", ["mujoco_RK4", "sdof_bb_rkmk_trap", "pinocchio_integrate", "dartpy_BallJoint",
                                    "jsbsim_AdamsBashforth4", "lammps_rigid_nve", "pybullet_multibody",
                                    "pybullet_rigid_body", "rebound_BS"])
def test_the_files_say_what_the_table_says(method, tmp_path):
    """Judged again, with a reference made now."""
    found = _judged("free_body", method, tmp_path)
    row = next(row for row in judging.stored_rows()
               if row["problem"] == "free_body" and f"{row['code']}_{row['method']}" == method)
    for name in ("error_coarsest", "error_finest", "energy_error"):
        assert float(row[name]) == pytest.approx(found[name], rel=1e-6, abs=1e-12), name
    assert row["class"] == (found["class"] or "")
    assert float(row["order_found"] or "nan") == pytest.approx(
        np.nan if found["order_found"] is None else found["order_found"], abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("name", CASES)
def test_what_codes_are_told_is_the_preset(name, tmp_path):
    told = problem(name)
    write_problem(told, tmp_path/"told.json")
    back = read_problem(tmp_path/"told.json")
    for one, other in zip(told, back, strict=True):
        assert np.array_equal(one, other)
    assert np.abs(matrices(told.quaternion[None])[0] - told.attitude).max() < 1e-15
    assert np.abs(told.momenta(told.attitude[None], told.rate[None])[0] - told.momentum).max() < 1e-15
    assert told.between(told.fewest*2**(LADDER - 1)) >= 1
    with pytest.raises(ValueError, match="no multiple"):
        told.between(told.samples)


def test_quaternions_and_matrices_agree():
    turn = about_axis(0.7, 0) @ about_axis(0.4, 2)
    told = problem("free_body")._replace(attitude=turn)
    assert np.abs(matrices(told.quaternion[None])[0] - turn).max() < 1e-15


@pytest.mark.parametrize("name", CASES)
def test_equations_told_to_solvers_are_those_of_the_system(name, tmp_path):
    """A run of scipy, which is a dependency, ends where the core ends."""
    told = problem(name)._replace(t_end=0.2, samples=3)
    states = importlib.import_module("rotation_bench.other_codes.codes.scipy").prepare(told, "DOP853", 1e-12)()
    case = CASES[name]
    found = run_once(specify(case.system, "dop853", preset=case.preset, t_end=0.2, tolerance=1e-12, samples=3,
                             options={"atol": 1e-12}))
    assert found.status == Status.OK
    fields = found.formulated.to_fields(found.outputs.states)
    assert np.abs(matrices(states.rotation)[-1] - fields["attitude"][-1]).max() < 1e-10
    assert np.abs(states.momentum[-1] - fields["angular_momentum"][-1]).max() < 1e-9


def test_a_written_file_can_be_judged(tmp_path):
    told = problem("free_body")
    path = write.write(told, "still", Method(2, "", 3), 100, tmp_path,
                       lambda: States(np.tile(told.quaternion, (51, 1)), np.tile(told.momentum, (51, 1))))
    assert path.name == "free_body.still.n100.csv"
    lines = path.read_text().splitlines()
    assert {"# label = still", "# steps = 100", "# order = 2", "# rhs_evaluations = 300"} <= set(lines)
    header = next(line for line in lines if not line.startswith("#"))
    assert header.startswith("time,quaternion_w")
    assert len(next(csv.reader([lines[-1]]))) == 8
    with pytest.raises(ArithmeticError):
        write.write(told, "lost", Method(2, ""), 100, tmp_path,
                    lambda: States(np.full((51, 4), np.nan), np.zeros((51, 3))))


def test_a_code_that_is_missing_is_a_line(tmp_path):
    said = {code: {"version": "1", "failed": []} for code in program.CODES}
    said["drake"] = program.asked(sys.executable, "nothing", tmp_path, tmp_path)
    assert "nothing" in said["drake"]["missing"]
    said["exudyn"] = program.asked(str(tmp_path/"no-python"), "exudyn", tmp_path, tmp_path)
    assert said["exudyn"]["missing"]
    failed = {"version": "1", "failed": [{"problem": "heavy_top", "label": "mujoco RK4", "size": 100, "reason": "no"}]}
    row, = judging.table(tmp_path, {"mujoco": failed}, tmp_path)
    assert (row["problem"], row["code"], row["method"], row["missing"], row["runs"]) == (
        "heavy_top", "mujoco", "RK4", "no", 0)
    rows = judging.table(tmp_path, {name: said[name] for name in ("drake", "exudyn")}, tmp_path)
    assert [row["code"] for row in rows] == ["drake", "exudyn"]
    assert all(row["missing"] for row in rows)


@pytest.mark.parametrize(("name", "method", "steps"), [("heavy_top", "dmv 2, strang", 6400), ("free_body", "rkmk4", 50),
                                                       ("long_top", "lie_midpoint", 50_000)])
def test_our_own_files_are_made_again(name, method, steps, tmp_path):
    """The rows of this package come from this package: another start, step or option would show."""
    own = importlib.import_module("rotation_bench.other_codes.codes.liestep")
    states = own.prepare(problem(name), method, steps)()
    stored = judging.stored_files()[f"{name}.liestep_{write.file_name(method)}.n{steps}.csv"].decode().splitlines()
    kept = np.array([line.split(",") for line in stored if not line.startswith("#")][1:], float)
    made = np.column_stack([states.rotation.reshape(len(kept), -1), states.momentum])
    assert np.abs(kept[:, 1:] - made).max() < 1e-9


def test_the_picture_is_that_of_the_stored_table(tmp_path):
    rows = judging.stored_rows()
    shown = {code for name in figure.SHORT for code, _ in figure.work_points(rows, name)}
    assert {"liestep", "heyoka", "mujoco", "drake"} <= shown <= set(figure.COLOURS)
    long = [row for row in rows if row["problem"] == figure.LONG]
    assert {row["code"] for row in long} == set(program.CODES)
    assert len(figure.long_points(rows)) == sum(not row["missing"] for row in long)
    with PIL.Image.open(figure.PICTURE) as picture:
        assert picture.text[figure.OF_TABLE] == figure.table_hash(), MAKE_AGAIN
    figure.write(path=tmp_path/"again.png")
    with PIL.Image.open(tmp_path/"again.png") as one, PIL.Image.open(figure.PICTURE) as other:
        assert one.size == other.size
    texts = [text.get_text() for text in figure.draw(rows).axes[0].get_yticklabels()]
    assert {"liestep: DMV, order = 10, RKN 6", "liestep: RKMK4", "MuJoCo: RK4", "Drake: runge kutta3"} <= {*texts}


def test_long_runs_are_told_apart_by_growth():
    """Methods that conserve do not grow; Runge-Kutta methods do, steadily."""
    growth = {(code, method): exponent for code, method, _, exponent in figure.long_points(judging.stored_rows())}
    assert figure.growth_marker(growth["liestep", "dmv_2_strang"]) == "o"
    assert figure.growth_marker(growth["liestep", "rkmk4"]) == "^"
    assert figure.growth_marker(growth["mujoco", "RK4"]) == "^"


def test_the_page_shows_the_stored_table():
    made = shown((TOP/"docs"/"other_codes.md").read_text("utf-8"), TOP/"docs")
    assert page.text(judging.stored_rows()) in made
    assert page.text([{"problem": "", "code": "drake", "missing": "not installed", "method": ""}]).endswith(
        "| drake | missing: not installed |" + " |"*8 + "\n")


@pytest.mark.parametrize("text", ["", "not json", "[1]"])
def test_output_without_an_answer(text):
    assert judging.last_json(text) is None
    assert judging.last_json(f'{text}\n{{"version": "1"}}') == {"version": "1"}


def test_wrong_calls_end_in_one_sentence(tmp_path):
    with pytest.raises(SystemExit, match=r"other_codes: .*said.json cannot be read"):
        program.main(["judge", str(tmp_path)])
    with pytest.raises(SystemExit, match="there is no code 'everything': dartpy, diffrax"):
        program.main(["everything"])


def test_no_finding_rests_on_steps_that_their_author_gave_up():
    """sdof marks two steps as broken and comments one out; its working trapezoidal rule is there, of order 2."""
    given_up = {"bb_rkmk_trap_wdexp", "rotint_nmb", "incrso3_svq"}
    rows = [row for row in judging.stored_rows() if row["code"] == "sdof"]
    assert given_up.isdisjoint(row["method"] for row in rows)
    assert given_up.isdisjoint(importlib.import_module("rotation_bench.other_codes.codes.sdof").METHODS)
    found = {row["problem"]: row for row in rows if row["method"] == "bb_rkmk_trap"}
    assert float(found["free_body"]["order_found"]) == pytest.approx(2.0, abs=0.01)
    assert float(found["free_body"]["error_finest"]) == pytest.approx(5.6e-6, rel=0.01)
    assert set(found) == set(CASES)


def test_one_code_is_judged_anew_and_the_others_stay(tmp_path, copied):
    """As `python -m rotation_bench.other_codes rebound` does after its runs."""
    folder = tmp_path/"run"
    (folder/"files").mkdir(parents=True)
    for name, content in judging.stored_files(copied).items():
        if ".rebound_" in name:
            (folder/"files"/name).write_bytes(content)
    before, versions = judging.stored_rows(copied), judging._read(copied/judging.CODES)
    archive = (copied/judging.ARCHIVE).read_bytes()
    (folder/"said.json").write_text(json.dumps({"rebound": {"version": "5.2.2", "failed": []}}))
    program.keep(folder, copied)
    after = judging.stored_rows(copied)
    assert [row for row in after if row["code"] != "rebound"] == [row for row in before if row["code"] != "rebound"]
    assert [(row["problem"], row["sha256"]) for row in after] == [(row["problem"], row["sha256"]) for row in before]
    assert (copied/judging.ARCHIVE).read_bytes() == archive
    assert [{**row, "date": "", "machine": ""} for row in judging._read(copied/judging.CODES)] == [
        {**row, "date": "", "machine": ""} for row in versions]
    assert judging.others((), tmp_path/"nothing") == ([], [], {})


def test_states_whose_energy_overflows_are_no_run(tmp_path):
    told = problem("free_body")
    with pytest.raises(ArithmeticError, match="not finite"):
        write.write(told, "lost", Method(1, ""), 100, tmp_path,
                    lambda: States(np.tile(told.quaternion, (51, 1)), np.full((51, 3), 1e200)))


@cache
def _rows() -> list[dict[str, str]]:
    return judging.stored_rows()


def _found(problem: str, code: str, method: str, name: str = "order_found") -> float:
    row, = (row for row in _rows() if (row["problem"], row["code"], row["method"]) == (
        problem, code, method))
    return float(row[name])


def test_answers_to_users_agree_with_the_stored_states():
    """What the scripts printed, and rows that were judged from other runs of the same engines."""
    said = {path.stem: path.read_text("utf-8") for path in (CODES/"questions").glob("*.txt")}
    order = {name: [float(value) for value in re.findall(r", (\d\.\d\d)(?:;|$)", line)]
             for name, _, line in (line.partition(": ") for line in said["jsbsim_1453"].splitlines())}
    error = {name: float(line.split(",")[0]) for name, _, line in (
        line.partition(": ") for line in said["jsbsim_1453"].splitlines()[2:])}
    for method, name in (("Euler", "Euler"), ("AdamsBashforth3", "Adams-Bashforth 3"),
                         ("AdamsBashforth4", "Adams-Bashforth 4"), ("Buss2", "Adams-Bashforth 2, Buss 2")):
        assert order[name][0] == pytest.approx(_found("free_body", "jsbsim", method), abs=0.05), name
    assert error["trapezoidal"]/error["Euler"] == pytest.approx(2.0, abs=0.01)
    assert order["Adams-Bashforth 3"][1] == pytest.approx(3.0, abs=0.05)
    assert order["Adams-Bashforth 4"][1] == pytest.approx(4.0, abs=0.05)
    for thread, name, code, method in (("bullet3_4636", "btMultiBody (default)", "pybullet", "multibody"),
                                       ("bullet3_4636", "btRigidBody", "pybullet", "rigid_body"),
                                       ("dart_424", "BallJoint", "dartpy", "BallJoint")):
        exact = said[thread].splitlines()[1].partition("acceleration ")[2]
        line, = (line for line in said[thread].splitlines() if line.startswith(name))
        assert f"acceleration {exact}," in line
        printed = float(re.search(r"order (\S+?)[,;]", line)[1])
        assert printed == pytest.approx(_found("free_body", code, method), abs=0.02)
    moments, rate = np.array([1.5, 1.0, 0.6]), np.array([0.3, 0.2, 1.5])
    assert exact == str(np.round(np.cross(moments*rate, rate)/moments, 6))
    damped = re.search(r"damping: acceleration \[(.+?)\]", said["bullet3_4636"])[1]
    assert np.array(damped.split(), float) == pytest.approx(
        np.cross(moments*rate, rate)/moments - 0.04*(1.0 + np.linalg.norm(rate))*rate, abs=1e-5)


def test_scripts_for_users_need_their_engine_numpy_and_scipy_only():
    scripts = sorted((CODES/"questions").glob("*.py"))
    assert len(scripts) == 3
    page_text = shown((TOP/"docs"/"other_codes.md").read_text("utf-8"), TOP/"docs")
    for path in scripts:
        tree = ast.parse(path.read_text("utf-8"))
        names = {part.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import)
                 for part in node.names} | {node.module.partition(".")[0] for node in ast.walk(tree)
                                            if isinstance(node, ast.ImportFrom)}
        assert names - {"numpy", "scipy", "tempfile", "pathlib"} <= {"jsbsim", "pybullet", "dartpy"}, path
        assert path.with_suffix(".txt").read_text("utf-8").strip() in page_text


def test_semi_implicit_steps_of_four_engines_are_the_same():
    """Engines that do not know each other agree, to round-off that grows with the steps."""
    for name in figure.SHORT:
        errors = [_found(name, code, method, "error_finest") for code, method in (
            ("dartpy", "BallJoint"), ("pybullet", "multibody"), ("pinocchio", "integrate"), ("mujoco", "Euler"))]
        assert max(errors) - min(errors) < 1e-10*min(errors)


def test_the_page_of_the_bench_lists_all_methods_best_first():
    made = shown((TOP/"docs"/"rotation_bench.md").read_text("utf-8"), TOP/"docs")
    rows = _rows()
    table = page.engines(rows)
    assert table.strip() in made
    lines = table.splitlines()[2:]
    assert len(lines) == len({(row["code"], row["method"]) for row in rows})
    errors = [float(line.split(" | ")[5]) for line in lines]
    assert errors == sorted(errors)
    euler, = (line for line in lines if "jsbsim" in line and "`Euler`" in line)
    assert euler.split(" | ")[2:4] == ["1.00", "1.00"]
    assert "unstable" in euler


def test_the_page_quotes_the_milliseconds_of_the_table():
    rows = [row for row in csv.DictReader((judging.STORED/"table.csv").open())
            if row["problem"] in ("free_body", "heavy_top")]
    found = {code: [float(row[key]) for row in rows if row["code"] == code for key in row
                    if key.startswith("milliseconds") and row[key]] for code in ("liestep", "heyoka")}
    page = " ".join((TOP/"docs"/"other_codes.md").read_text("utf-8").split())
    ours, low, high = map(float, re.search(r"are ([\d.]+) ms or more; heyoka's ([\d.]+) to ([\d.]+) ms", page).groups())
    assert (ours, low, high) == (round(min(found["liestep"]), 2), *(round(f(found["heyoka"]), 3) for f in (min, max)))
