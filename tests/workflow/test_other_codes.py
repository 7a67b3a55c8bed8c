"""The comparison with other codes: the stored table is that of its files, and the files say what the table says. No
other code is needed."""
import csv
import importlib
import importlib.metadata
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.geometry.attitude import about_axis
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specification import specify
from other_codes import __main__ as program
from other_codes import environment, figure, judging, page, write
from other_codes.contract import LADDER, Method, States, matrices, read_problem, write_problem
from other_codes.problems import CASES, problem
from website.source import TOP, shown

MAKE_AGAIN = "run python -m other_codes judge results/other_codes"

pytestmark = pytest.mark.slow  # the archive is unpacked and packed again and again


@pytest.fixture
def copied(tmp_path):
    return Path(shutil.copytree(judging.STORED, tmp_path/"stored"))


def test_the_stored_table_is_that_of_its_files():
    rows = judging.stored_rows()
    assert {row["code"] for row in rows} == set(program.CODES)
    assert all(row["missing"] for row in rows if not row["problem"])
    assert sum(path.stat().st_size for path in judging.STORED.iterdir()) < 2_500_000  # evidence, see the page


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
        methods = importlib.import_module(f"other_codes.codes.{row['code']}").METHODS
        assert methods[row["method"]].settings == row["settings"]


def test_a_table_of_another_version_is_refused(copied):
    path = copied/judging.TABLE
    version = judging.stored_rows(copied)[0]["version"]
    path.write_text(path.read_text().replace(f",{version},", ",0.0.0,", 1))
    with pytest.raises(InputError, match=r"is of version 0\.0\.0, the files are of"):
        judging.stored_rows(copied)


def test_a_changed_file_is_refused(copied, tmp_path):
    files = judging.stored_files(copied)
    folder = tmp_path/"files"
    folder.mkdir()
    for name, content in files.items():
        (folder/name).write_bytes(content)
    first = folder/min(files)
    first.write_bytes(first.read_bytes().replace(b"1", b"2", 1))
    rows, codes = judging._read(copied/judging.TABLE), judging._read(copied/judging.CODES)
    judging.store(rows, codes, folder, copied)
    with pytest.raises(InputError, match="of another version than the table"):
        judging.stored_rows(copied)


def test_a_file_beyond_the_table_and_a_damaged_archive_are_refused(copied):
    path = copied/judging.TABLE
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], *lines[2:]]))
    with pytest.raises(InputError, match="which the table does not have"):
        judging.stored_rows(copied)
    (copied/judging.ARCHIVE).write_bytes((copied/judging.ARCHIVE).read_bytes()[:1000])
    with pytest.raises(InputError, match="cannot be read"):
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


@pytest.mark.parametrize("method", ["mujoco_RK4", "sdof_bb_rkmk_trap", "pinocchio_integrate"])
def test_the_files_say_what_the_table_says(method, tmp_path):
    """Judged again, with a reference made now."""
    found = _judged("free_body", method, tmp_path)
    row = next(row for row in judging.stored_rows()
               if row["problem"] == "free_body" and f"{row['code']}_{row['method']}" == method)
    for name in ("error_coarsest", "error_finest", "energy_error"):
        assert float(row[name]) == pytest.approx(found[name], rel=1e-6, abs=1e-12), name
    assert row["class"] == found["class"]
    assert float(row["order_found"] or "nan") == pytest.approx(found["order_found"], abs=1e-6, nan_ok=True)


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
    states = importlib.import_module("other_codes.codes.scipy").prepare(told, "DOP853", 1e-12)()
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
    own = importlib.import_module("other_codes.codes.liestep")
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
    with pytest.raises(SystemExit, match="takes nothing, or judge FOLDER"):
        program.main(["everything"])


def test_no_finding_rests_on_steps_that_their_author_gave_up():
    """sdof marks two steps as broken and comments one out; its working trapezoidal rule is there, of order 2."""
    given_up = {"bb_rkmk_trap_wdexp", "rotint_nmb", "incrso3_svq"}
    rows = [row for row in judging.stored_rows() if row["code"] == "sdof"]
    assert given_up.isdisjoint(row["method"] for row in rows)
    assert given_up.isdisjoint(importlib.import_module("other_codes.codes.sdof").METHODS)
    found = {row["problem"]: row for row in rows if row["method"] == "bb_rkmk_trap"}
    assert float(found["free_body"]["order_found"]) == pytest.approx(2.0, abs=0.01)
    assert float(found["free_body"]["error_finest"]) == pytest.approx(5.6e-6, rel=0.01)
    assert set(found) == set(CASES)
