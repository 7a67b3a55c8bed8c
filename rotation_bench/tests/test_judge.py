"""Files of other codes: the worked example of the documentation, agreement with our own runs, and one
sentence for every bad file."""
import csv
import re
import shlex
import subprocess
import sys
from pathlib import Path

import bench_engines
import netCDF4
import numpy as np
import pandas
import pytest
from commands import contents, refused
from plugin_room import nothing_stays

from docs.site.source import shown
from liestep.api.command_line import main as liestep_main
from liestep.compile import counters
from liestep.simulation.catalogue import sheet, system_ids
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.references.reference import compute_reference, specify_reference
from liestep.simulation.runs.files import read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
from liestep.study.tables.errors import state_error
from liestep.study.tables.kinds.drift import NUMBERS
from liestep.tools.certify.judgement import Problem, run_file
from rotation_bench import judgement
from rotation_bench.__main__ import main
from rotation_bench.judgement import COLUMNS, Request, columns, judge, problem_of
from rotation_bench.liestep_judge import BadStates, Case
from rotation_bench.states import COUNTERS, read_states

BENCH = Path(__file__).resolve().parents[1]
TOP = BENCH.parent
PAGE = shown((TOP/"docs"/"judging.md").read_text(), TOP/"docs")
PROBLEM = ["--problem", "sphere_nbody", "--preset", "four_bodies"]


def layout_of(*names):
    return judgement.layout_of(problem_of(*names))


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Files of four bodies by our own integrator, three steps, and the reference."""
    folder = tmp_path_factory.mktemp("own")
    for steps in (40, 80, 160):
        spec = specify("sphere_nbody", "vi_sphere", preset="four_bodies", t_end=1.0, steps=steps, samples=41)
        write(carry_out(spec), folder/f"vi_{steps}.nc")
    write(compute_reference(specify_reference("sphere_nbody", preset="four_bodies", t_end=1.0, samples=41)),
          folder/"reference.nc")
    return folder


def lines_of(path: Path, layout, digits: str = "%.17g") -> list[str]:
    """A NetCDF run as lines of the CSV format."""
    run = read(path)
    table = np.column_stack([run["time"], *(run[name].reshape(len(run["time"]), -1) for name in layout.fields)])
    header = ",".join(["time", *(column for name in layout.fields for column in layout.columns(name))])
    return [f"# label = vi\n# step = {run.attributes['step']!r}".replace("np.float64(", "").replace(")", ""), header,
            *(",".join(digits % value for value in row) for row in table)]


def test_example_of_the_documentation(tmp_path, monkeypatch, capsys):
    """An independent code in plain scipy has the order that theory says, and its work at equal error is found."""
    monkeypatch.chdir(tmp_path)
    program, = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    commands = [shlex.split(line) for line in re.findall(r"^(?:liestep|rotation-bench) (.*)$", PAGE, re.M)]
    exporting = next(words for words in commands if words[0] == "export-reference" and "--preset" in words)
    assert liestep_main(exporting) == 0
    exec(compile(program, "judging.md", "exec"), {})
    judging = next(words for words in commands if words[0] == "judge")
    place = judging.index("scipy_*.csv")
    judging[place:place + 1] = sorted(map(str, Path().glob("scipy_*.csv")))
    assert len(judging) > 10
    assert main(judging) == 0
    assert "## errors" in capsys.readouterr().out
    errors, orders, drift, work = (pandas.read_csv(f"judged/{name}.csv")
                                   for name in ("errors", "orders", "drift", "work"))
    row, = orders.to_dict("records")
    assert row["class"] == "asymptotic", row["verdict"]
    assert row["passed"]
    assert abs(row["p"] - 3.0) < 0.05
    errors = errors.sort_values("step")
    assert errors["error"].is_monotonic_increasing
    assert errors["rhs_evaluations"].is_monotonic_decreasing
    assert set(drift["invariant"]) == {"energy", "momentum_x", "momentum_y", "momentum_z", "unit_length"}
    assert work["error"].tolist() == [1e-6, 1e-8]
    assert work["rhs_evaluations"].is_monotonic_increasing
    assert (errors["error"] == errors[["error_q", "error_omega"]].max(axis=1)).all()
    exported = pandas.read_csv("exported/references.csv")
    assert exported["error_bound"].max() < 1e-9


def test_our_own_files_get_our_own_numbers(own):
    """NetCDF in, the same errors and energies as the run's file."""
    files = sorted(own.glob("vi_*.nc"))
    found = judge(files, Request("sphere_nbody", "four_bodies", reference=own/"reference.nc"))
    reference = read(own/"reference.nc")
    for row, path in zip(found["errors"], files, strict=True):
        run = read(path)
        wanted = state_error(run, reference)
        assert row["error"] == wanted.error
        assert row["error_final"] == wanted.final
        assert row["label"] == "vi_sphere"
        assert row["force_evaluations"] == run.attributes["force_evaluations"]
        samples = np.abs(run["energy"] - run["energy"][0])
        assert row["energy_error_max"] == pytest.approx(samples.max(), rel=1e-6, abs=1e-15)
    assert len({row["error"] for row in found["errors"]}) == 3
    order, = found["orders"]
    assert order["order_theory"] is None or np.isnan(order["order_theory"])


def test_csv_gives_the_same_as_netcdf(own, tmp_path):
    layout = layout_of("sphere_nbody", "four_bodies")
    (tmp_path/"vi.csv").write_text("\n".join(lines_of(own/"vi_40.nc", layout)) + "\n")
    from_csv, from_nc = read_states(tmp_path/"vi.csv", layout), read_states(own/"vi_40.nc", layout)
    for name in ("q", "omega"):
        assert np.array_equal(from_csv.fields[name], from_nc.fields[name])
    assert from_csv.facts["step"] == from_nc.facts["step"] == 1.0/40


def test_velocity_stands_for_omega(own, tmp_path):
    layout, run = layout_of("sphere_nbody", "four_bodies"), read(own/"vi_40.nc")
    with netCDF4.Dataset(tmp_path/"v.nc", "w") as data:
        for name, size in (("time", 41), ("body", 4), ("xyz", 3)):
            data.createDimension(name, size)
        data.createVariable("time", "f8", ("time",))[:] = run["time"]
        data.createVariable("q", "f8", ("time", "body", "xyz"))[:] = run["q"]
        data.createVariable("velocity", "f8", ("time", "body", "xyz"))[:] = np.cross(run["omega"], run["q"])
    assert np.abs(read_states(tmp_path/"v.nc", layout).fields["omega"] - run["omega"]).max() < 1e-14


@pytest.mark.parametrize("problem", system_ids())
def test_rows_and_energies_of_every_system(problem, tmp_path):
    """Fields are read back into the system's rows: energies, momenta and residuals are those of the run."""
    preset = "level1" if problem == "lennard_jones_sphere" else None
    spec = specify(problem, "rk4", preset=preset, t_end=1e-4, steps=4)
    write(carry_out(spec), tmp_path/"run.nc")
    run, layout = read(tmp_path/"run.nc"), layout_of(problem, preset)
    states = read_states(tmp_path/"run.nc", layout)
    found = run_file(states, Problem(problem, preset).specify(1e-4, 4))
    for name in ("energy", "momentum_map", "unit_length_error", "orthogonality_error"):
        if name in run.variables:
            assert np.allclose(found[name], run[name], rtol=1e-12, atol=1e-14), name


def test_drift_of_a_damped_file_is_found(tmp_path, capsys):
    """Directions stay, all velocities decay by 2 %: the energy drifts, the lengths do not."""
    columns = layout_of("free_rigid_body").columns
    time = np.linspace(0.0, 8000.0, 10001)
    initial = sheet("free_rigid_body").presets["symmetric"]
    parameters = sheet("free_rigid_body").check(initial.parameters)
    start = initial.initial(parameters)
    from liestep.mechanics.systems.free_rigid_body import SHEET
    rows = SHEET.exact(parameters, start, time)
    momentum = rows[:, 3]*(1.0 - 0.02*time/time[-1])[:, None]
    table = np.column_stack([time, np.swapaxes(rows[:, :3], 1, 2).reshape(len(time), 9), momentum])
    with open(tmp_path/"damped.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *columns("attitude"), *columns("angular_momentum")])
        writer.writerows(table.tolist())
    folder = tmp_path/"judged"
    assert main(["judge", str(tmp_path/"damped.csv"), "--problem", "free_rigid_body", "--preset", "symmetric",
                 "--no-reference",
                 "-o", str(folder)]) == 0
    capsys.readouterr()
    verdicts = pandas.read_csv(folder/"drift.csv").set_index("invariant")["verdict"]
    assert verdicts["energy"] == "drift"
    assert verdicts["orthogonality"] != "drift"


BROKEN = {  # name -> (what is done to the lines, part of the sentence)
    "empty": (lambda lines: [], "has no header"),
    "no_time": (lambda lines: [lines[0], lines[1].replace("time", "t"), *lines[2:]], "has no column 'time'"),
    "misspelt": (lambda lines: [lines[0], lines[1].replace("omega_2_x", "omega2_x"), *lines[2:]],
                 "(is it 'omega2_x'?)"),
    "twice": (lambda lines: [lines[0], lines[1].replace("q_1_x", "q_0_x"), *lines[2:]], "has two columns 'q_0_x'"),
    "nan": (lambda lines: [*lines[:5], lines[5].rsplit(",", 1)[0] + ",nan", *lines[6:]],
            "omega is not finite at sample 3"),
    "text": (lambda lines: [*lines[:5], lines[5].rsplit(",", 1)[0] + ",oops", *lines[6:]],
             "line 7: 'oops' is not a number"),
    "short_row": (lambda lines: [*lines[:5], lines[5].rsplit(",", 1)[0], *lines[6:]],
                  "line 7: 24 values, the header has 25 columns"),
    "one_time": (lambda lines: lines[:3], "needs at least two times, it has 1"),
    "late": (lambda lines: [*lines[:2], *lines[3:]], "times must start at 0"),
    "backwards": (lambda lines: [*lines[:4], lines[3], *lines[5:]], "times must increase"),
    "uneven": (lambda lines: [*lines[:4], *lines[5:]], "times must be equally spaced"),
    "other_start": (lambda lines: [*lines[:2], "0" + lines[5][lines[5].index(","):], *lines[3:]],
                    "from the start of sphere_nbody with preset"),
    "fact": (lambda lines: ["# stepp = 0.1", *lines[1:]], "did you mean step?"),
    "bad_fact": (lambda lines: ["# step = small", *lines[1:]], "line 1: step must be a positive number, not 'small'"),
    "more_bodies": (lambda lines: [lines[0], *(f"{line},{'q_4_x' if k == 0 else 0}"
                                               for k, line in enumerate(lines[1:]))], "number of bodies?"),
}


def test_starts_of_small_numbers_are_compared_by_their_size(tmp_path):
    """A gap of 5e-13 is half of a momentum of 1e-12, and was once below an absolute limit."""
    parameters, paths = {"inertia": [1.5e-12, 1e-12, 6e-13]}, [tmp_path/"one.nc", tmp_path/"other.nc"]
    for path, size in zip(paths, (1e-12, 1.5e-12), strict=True):
        write(carry_out(specify("free_rigid_body", "rk4", steps=10, t_end=1.0, samples=11, parameters=parameters,
                                initial={"attitude": np.eye(3), "angular_momentum": [size, 0.0, size]})), path)
    asked = Request("free_rigid_body", parameters=parameters, own_start=True, without_reference=True)
    with pytest.raises(BadStates, match="angular_momentum at t = 0 is 5e-13 from the start"):
        judge(paths, asked)
    assert judge(paths[:1], asked)["drift"]


@pytest.mark.parametrize("name", BROKEN)
def test_bad_csv_files(name, own, tmp_path, capsys):
    damage, expected = BROKEN[name]
    path = tmp_path/f"{name}.csv"
    path.write_text("\n".join(damage(lines_of(own/"vi_40.nc", layout_of("sphere_nbody", "four_bodies")))) + "\n")
    before = contents(tmp_path)
    assert expected in refused(["judge", str(path), *PROBLEM, "-o", str(tmp_path/"out")], capsys)
    assert contents(tmp_path) == before


def test_few_digits_are_off_the_manifold(own, tmp_path, capsys):
    path = tmp_path/"few.csv"
    path.write_text("\n".join(lines_of(own/"vi_40.nc", layout_of("sphere_nbody", "four_bodies"),
                                       "%.5g")).replace("-0.6,", "-0.61,"))
    assert "write 17 digits" in refused(["judge", str(path), *PROBLEM], capsys)


def test_bad_netcdf_files(own, tmp_path, capsys):
    whole = (own/"vi_40.nc").read_bytes()
    cases = {"missing.nc": (None, "No such file"), "cut.nc": (whole[:2000], "not a readable NetCDF file"),
             "noise.csv": (b"\xff\xfe\x00\x81", "neither NetCDF nor a text file")}
    for name, (content, expected) in cases.items():
        if content is not None:
            (tmp_path/name).write_bytes(content)
        assert expected in refused(["judge", str(tmp_path/name), *PROBLEM], capsys)
    assert "has no variable 'attitude'" in refused(["judge", str(own/"vi_40.nc"), "--problem", "heavy_top"], capsys)
    assert "(41, 3, 3)" in refused(["judge", str(own/"vi_40.nc"), "--problem", "sphere_nbody", "--preset", "paper"],
                                   capsys)


@pytest.mark.parametrize(("more", "expected"), [
    (["--preset", "for_bodies"], "did you mean four_bodies?"),
    (["--step", "0.1", "--step", "0.2"], "give one step for each file: 1 files, 2 steps"),
    (["--parameter", "gamm=1"], "did you mean gamma?"),
    (["--parameter", "gamma"], "parameter 'gamma' must be written NAME=VALUE"),
    (["--json", "x.json"], "--json is not for a problem"),
    (["--reference", "r.nc", "--no-reference"], "not both"),
])
def test_wrong_requests(more, expected, own, capsys):
    assert expected in refused(["judge", str(own/"vi_40.nc"), *PROBLEM, *more], capsys)


def test_foreign_reference_is_not_overwritten(own, tmp_path, capsys):
    """A file of something else is refused and stays."""
    foreign = tmp_path/"foreign.nc"
    foreign.write_bytes((own/"vi_40.nc").read_bytes())
    assert "is of another specification" in refused(["judge", str(own/"vi_80.nc"), *PROBLEM, "--reference",
                                                     str(foreign)], capsys)
    assert foreign.read_bytes() == (own/"vi_40.nc").read_bytes()


def test_a_pendulum_in_wind_needs_the_work_before_its_energy_is_judged(tmp_path, capsys):
    with nothing_stays():
        name, = load_plugin(TOP/"docs"/"examples"/"gusty_pendulum.py")
        spec = specify(name, "rk4", t_end=0.5, steps=200, samples=201)
        write(carry_out(spec), tmp_path/"flight.nc")
        with netCDF4.Dataset(tmp_path/"flight.nc", "a") as data:
            data.renameVariable("work", "hidden")
            data.delncattr("run_sha256")  # a file of another program, or one that somebody has changed
        for name, verdict in (("hidden", "not judged"), ("work", None)):
            if name == "work":
                with netCDF4.Dataset(tmp_path/"flight.nc", "a") as data:
                    data.renameVariable("hidden", "work")
            assert main(["judge", str(tmp_path/"flight.nc"), "--problem", "gusty_pendulum", "--no-reference", "-o",
                         str(tmp_path/name)]) == 0
            capsys.readouterr()
            found = pandas.read_csv(tmp_path/name/"drift.csv").set_index("invariant")["verdict"]["energy"]
            assert (found == verdict) if verdict else found != "not judged"


def test_words_that_the_bench_and_liestep_write_twice_are_equal(own):
    assert COUNTERS == counters.NAMES
    found = judge([own/"vi_40.nc", own/"vi_80.nc"], Request("sphere_nbody", "four_bodies"))
    for name, rows in found.items():
        there = {key for row in rows for key in row}
        assert there >= {*COLUMNS[name]} - ({*NUMBERS, "period", "deciding_time"} if name == "drift" else set()), name
    assert {*NUMBERS} < {*COLUMNS["drift"]}
    assert {"error_q", "error_omega"} <= {*columns("errors", found)}


def test_without_a_package_of_problems_there_are_the_cases(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(judgement, "entry_points", lambda group: ())
    assert "no package that is installed brings others, as liestep does; without one there is --case" in refused(
        ["judge", str(tmp_path/"x.csv"), "--problem", "heavy_top"], capsys)


def test_the_bench_needs_numpy_only_and_never_imports_liestep():
    """But for the file that runs liestep as one of the other codes."""
    for path in BENCH.rglob("*.py"):
        if "tests" not in path.parts and path != BENCH/"other_codes"/"codes"/"liestep.py":
            assert not re.findall(r"^\s*(?:from|import) liestep\b(?!_)", path.read_text(), re.M), path
    code = ("import rotation_bench.__main__, sys; print(sorted({'liestep', 'netCDF4', 'pandas', 'scipy'}"
            " & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_case_is_judged_by_the_command(tmp_path):
    """The exit code says whether the files are right; options of problems are refused."""
    case, paths = Case("free_asymmetric"), []
    names = [*(f"quaternion_{x}" for x in "wxyz"), *(f"rate_{x}" for x in "xyz")]
    for steps in (64, 128, 256, 512):
        h, raw = case.t_end/steps, bench_engines.RIGHT["midpoint"][0](case, case.t_end/steps, steps)
        table = np.column_stack([h*np.arange(steps + 1), raw["quaternion"], raw["rate"]])
        paths.append(tmp_path/f"{steps}.csv")
        np.savetxt(paths[-1], table, "%.17g", ",", header=f"# step = {h!r}\ntime,{','.join(names)}", comments="")

    def called(*more):
        return subprocess.run([sys.executable, "-m", "rotation_bench", "judge", *paths, "--case", "free_asymmetric",
                               *more], cwd=TOP, capture_output=True, text=True)

    done = called("--order", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("free_asymmetric: right\norder of the state: 2.0")
    assert called("--order", "3").returncode == 1
    done = called("--preset", "one")
    assert (done.returncode, done.stderr) == (2, "rotation-bench: --preset is not for a case\n")
