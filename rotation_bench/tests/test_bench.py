"""The rotation bench: certified answers, the judge's rules, planted mistakes and right engines."""
import csv
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import bench_engines
import bench_faults
import mpmath
import numpy as np
import pytest

from liestep.simulation.runs import execution
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
from liestep.study.tables import liestep_judge as rules
from liestep.study.tables.order import observed_order
from rotation_bench import liestep_judge as packaged

BENCH = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(BENCH))
import liestep_judge  # noqa: E402
import make_cases  # noqa: E402
import prove_bounds  # noqa: E402
from liestep_judge import DATA, BadStates, Case, judge  # noqa: E402

FREE = ("free_symmetric", "free_asymmetric", "free_middle_axis", "free_fast_spin", "free_long")


def test_files_are_those_of_the_checksums():
    for line in (BENCH/"SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((BENCH/name).read_bytes()).hexdigest() == digest


def test_a_case_is_made_anew_digit_by_digit():
    made = make_cases.entry("free_symmetric")
    changed = {key for key, part in made.items() if part != DATA["cases"]["free_symmetric"][key]}
    assert changed <= {"bound", "bound_kind"}   # proven afterwards
    assert {key: list(value) for key, value in make_cases.TABLEAUX.items()} == DATA["tableaux"]
    assert DATA["mistakes"] == make_cases.MISTAKES


def elliptic_rates(moments, start, t):
    """Rates of a torque-free body, J1 < J2 < J3, in closed form: Jacobi's functions of a shifted time (Landau and
    Lifshitz, Mechanics, section 37)."""
    a, b, c = moments
    energy, square = (mpmath.fsum(j**k*w**2 for j, w in zip(moments, start, strict=True)) for k in (1, 2))
    outer = square > energy*b
    if not outer:
        a, c = c, a
    first, second, third = (start if outer else start[::-1])
    size = mpmath.sqrt((energy*c - square)/(b*(c - b)))
    speed = mpmath.sqrt((c - b)*(square - energy*a)/(a*b*c))
    m = (b - a)*(energy*c - square)/((c - b)*(square - energy*a))
    scales = [mpmath.sqrt((energy*c - square)/(a*(c - a))), size, mpmath.sqrt((square - energy*a)/(c*(c - a)))]
    phase = mpmath.ellipf(mpmath.atan2(second/size, first/scales[0]), m)
    side = mpmath.sign(third)
    sn, cn, dn = (mpmath.ellipfun(name, phase + side*speed*t, m=m) for name in ("sn", "cn", "dn"))
    found = [scales[0]*cn, size*sn, side*scales[2]*dn]
    return found if outer else found[::-1]


@pytest.mark.parametrize("name", [name for name in FREE if name != "free_symmetric"])
def test_rates_of_free_bodies_agree_with_closed_forms(name):
    with mpmath.workdps(45):
        system = DATA["cases"][name]["systems"]["SI"]
        moments, start, end = ([mpmath.mpf(x) for x in part[0]] for part in (
            system["parameters"]["moments"], system["start"]["rate"], system["end"]["rate"]))
        found = elliptic_rates(moments, start, mpmath.mpf(system["t_end"]))
        gap = max(abs(x - y) for x, y in zip(found, end, strict=True))
        assert gap <= 2*mpmath.mpf(DATA["cases"][name]["bound"])


def test_invariants_hold_to_more_digits_than_are_printed():
    """Energies and momenta, which the computation does not use, the ball joint's included."""
    assert len(DATA["cases"]) == 12
    for name, case in DATA["cases"].items():
        assert float(case["invariants_lost"]) < 1e-40, name
        assert float(case["bound"]) <= 5e-29, name
        assert len(case["path"]) == 65


@pytest.mark.parametrize("units", DATA["units"])
@pytest.mark.parametrize("name", DATA["cases"])
def test_invariants_of_the_judge_are_constant_along_the_answers(name, units):
    case = Case(name, units)
    found = case.invariants(case.t, case.a, case.w)
    assert found or case.frequency
    for values, size in found.values():
        assert np.abs(values - values[0]).max() <= 1e-14*size


def test_verdicts_are_those_of_the_study_on_every_ladder_of_the_matrix():
    """Classes, orders and uncertainties as the study had them when it had rules of its own: 391 methods on problems."""
    classes = set()
    with open(Path(__file__).with_name("matrix_ladders.csv"), newline="") as file:
        for row in csv.DictReader(file):
            h, error, floor = (np.array(row[key].split(), float) for key in ("steps", "errors", "floors"))
            claim = float(row["order"]) if row["order"] else None, row["symmetric"] == "1"
            ours, theirs = liestep_judge.observed_order(h, error, floor, *claim), observed_order(
                h, error, floor=floor, theory=claim[0], symmetric=claim[1])
            assert ours["class"] == theirs.classification == row["class"]
            for found in (ours["order"], theirs.order):
                assert found == pytest.approx(float(row["p"]), rel=1e-7, nan_ok=True)
            assert ours["uncertainty"] == pytest.approx(float(row["u"]), rel=1e-6, nan_ok=True)
            classes.add(row["class"])
    assert classes == {"asymptotic", "pre-asymptotic", "floor-limited", "saturated"}


def test_the_judge_is_one_short_file_whose_rules_are_those_of_studies():
    assert len((BENCH/"liestep_judge.py").read_text().splitlines()) <= 400
    assert {Path(one.__file__).resolve() for one in (packaged, rules)} == {BENCH/"liestep_judge.py"}
    assert (liestep_judge.BLOCKS, liestep_judge.LEAST_SAMPLES) == (execution.BLOCKS, execution.LEAST_SAMPLES)


def test_a_bound_is_proven_anew():
    """And a wrong digit of the path is seen; its first eighth shows that."""
    case = DATA["cases"]["spherical_pendulum"]
    assert case["bound_kind"] == "proven"
    with mpmath.workdps(prove_bounds.DIGITS):
        assert prove_bounds.rounded_up(prove_bounds.proven("spherical_pendulum", case["path"])) == case["bound"]
        proof = prove_bounds.case_proof(prove_bounds.CASES["spherical_pendulum"])
        path, t_end = case["path"][1:9], str(mpmath.mpf(prove_bounds.CASES["spherical_pendulum"]["t_end"])/8)
        for last, wrong in ((path[-1], False), (path[-1].replace("1", "2", 1), True)):
            assert (proof.bound([row.split() for row in (*path[:-1], last)], t_end, 16) > 1e-20) == wrong
    proven = [name for name, case in DATA["cases"].items() if case["bound_kind"] == "proven"]
    assert proven == prove_bounds.PROVEN
    assert all(float(DATA["cases"][name]["bound"]) <= 1e-20 for name in proven)


@pytest.mark.parametrize("name", list(bench_faults.RIGHT))
@pytest.mark.parametrize("case", ["free_asymmetric", "free_symmetric", "heavy_top_slow"])
def test_more_right_codes_raise_no_alarm(case, name):
    engine, order, implicit = bench_faults.RIGHT[name]
    report = judge(case, engine, order, implicit, long=False)
    assert report.verdict == "right", report.text


@pytest.mark.parametrize("name", list(bench_faults.WRONG))
@pytest.mark.parametrize("case", ["free_asymmetric", "free_fast_spin"])
def test_more_planted_mistakes_are_named(case, name):
    engine, order, implicit, names = bench_faults.WRONG[name]
    report = judge(case, engine, order, implicit, long=False)
    assert report.verdict == "wrong"
    assert names & set(report.names), report.text


@pytest.mark.parametrize("name", list(bench_faults.TOP))
def test_more_mistakes_with_a_torque_are_named(name):
    engine, order, names = bench_faults.TOP[name]
    report = judge("heavy_top_slow", engine, order, long=False)
    assert report.verdict == "wrong"
    assert names & set(report.names), report.text


@pytest.mark.parametrize("case", ["free_asymmetric", "heavy_top_slow"])
def test_right_engines_raise_no_alarm(case):
    """And have the order that they claim, where it is asymptotic."""
    case, found = Case(case), {}
    for name, (engine, order, implicit) in bench_engines.RIGHT.items():
        if case.free or name not in bench_engines.FREE_ONLY:
            report = judge(case, engine, order, implicit, long=False)
            assert report.verdict == "right", f"{name}: {report.text}"
            found[name] = report.data["orders"]["state"]
            assert report.data["claimed"]["order"] == order
    assert len(found) >= 10
    asymptotic = [name for name, part in found.items() if part["class"] == "asymptotic"]
    assert set(found) - set(asymptotic) <= {"single precision", "lie euler"}   # ended by round-off; large on the top
    assert all(abs(found[name]["order"] - bench_engines.RIGHT[name][1]) < 0.05 for name in asymptotic)


def faint(change):
    """RK4 with a small mistake in its slope."""
    return bench_engines.runge_kutta(*bench_engines.RK4, slope=lambda case: change(bench_engines.body_slope(case)))


def turned_a_little(side):
    """Right attitudes behind a rotation of 5.6e-4 rad, of the body or of space."""
    small, right = bench_engines.exponential(np.array([0.0, 4e-4, -4e-4])), bench_engines.RIGHT["rk4"][0]

    def engine(case, h, steps):
        raw, times = right(case, h, steps), bench_engines.times
        return raw | {"quaternion": np.array([times(q, small) if side == "body" else times(small, q)
                                              for q in raw["quaternion"]])}
    return engine


FAINT = {**{f"damped {c:g}": (faint(lambda slope, c=c: lambda t, q, w: slope(t, q, w) - c*w), "damping")
            for c in (3e-4, 1e-3, 7e-3, 1e-2, -1e-3)},
         "gyroscopic 1.004": (bench_engines.runge_kutta(
             *bench_engines.RK4, slope=lambda case: bench_engines.body_slope(case, gyro=1.004)), "factor"),
         "turn": (bench_engines.runge_kutta(*bench_engines.RK4, turn=0.5005), "factor"),
         "body": (turned_a_little("body"), "misaligned"), "space": (turned_a_little("space"), "misaligned")}


@pytest.mark.parametrize("name", list(FAINT))
@pytest.mark.parametrize("case", ["free_asymmetric", "heavy_top_slow"])
def test_small_mistakes_have_their_names(case, name):
    """Errors of 2e-4 to 6e-2 that no step mends."""
    engine, mistake = FAINT[name]
    report = judge(case, engine, 4, long=False)
    assert (report.verdict, report.names) == ("wrong", [mistake]), report.text


def test_single_precision_has_its_name_and_is_no_mistake():
    for engine in (bench_engines.RIGHT["single precision"][0], bench_faults.RIGHT["single storage"][0]):
        report = judge("free_asymmetric", engine, 4, long=False)
        assert (report.verdict, report.names, report.data["mistakes"]) == ("right", ["single_precision"], [])


@pytest.mark.parametrize("name", list(bench_engines.WRONG))
def test_planted_mistakes_are_named(name):
    engine, order, implicit, mistake = bench_engines.WRONG[name]
    report = judge("free_asymmetric", engine, order, implicit, long=False)
    assert report.verdict == "wrong"
    assert mistake in report.names, report.text
    assert mistake in report.text
    assert "unknown" not in report.names


TORQUES = {
    "sign": (lambda case: bench_engines.body_slope(case, torque=-1.0), "torque_sign"),
    "missing": (lambda case: bench_engines.body_slope(case, torque=0.0), "missing_torque"),
    "twice": (lambda case: bench_engines.body_slope(case, torque=2.0), "step_factor"),
    "gyroscopic": (lambda case: bench_engines.body_slope(case, gyro=0.0), "missing_gyroscopic"),
    "inertia": (bench_engines.wrong_inertia, "inertia_frame")}


@pytest.mark.parametrize("name", list(TORQUES))
def test_mistakes_with_a_torque_are_named(name):
    slope, mistake = TORQUES[name]
    report = judge("heavy_top_slow", bench_engines.runge_kutta(*bench_engines.RK4, slope=slope), 4, long=False)
    assert mistake in report.names, report.text


@pytest.mark.parametrize("name", [name for name in DATA["cases"] if name not in FREE])
def test_every_other_case_is_of_order_4_with_rk4(name):
    """Equations written a third time; the ball joint with all fifteen unknowns."""
    report = judge(name, bench_engines.rk4, 4, long=False)
    assert report.verdict == "right", report.text
    assert abs(report.data["orders"]["state"]["order"] - 4.0) < 0.1
    assert 0.2 < report.data["times_rk4"] < 5.0   # equations that differ where a quaternion is not of unit length


def test_example_in_python_runs():
    done = subprocess.run([sys.executable, BENCH/"example.py"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("free_asymmetric: right\norder of the state: 2.000")
    page = (BENCH.parent/"docs"/"rotation_bench.md").read_text()
    assert "(../rotation_bench/example.py)" in page
    assert len(page.split()) <= 500


def test_units_change_nothing_but_the_numbers():
    engine = bench_engines.RIGHT["rk4"][0]
    found = [judge("free_asymmetric", engine, 4, units=units, long=False).data for units in DATA["units"]]
    assert all(part["verdict"] == "right" for part in found)
    assert np.allclose(found[0]["errors"], found[2]["errors"], rtol=1e-2)
    assert found[2]["steps"][0] == pytest.approx(1000*found[0]["steps"][0])


def test_drift_of_a_long_run():
    """RK4 loses energy and momentum, a splitting into exact rotors keeps both."""
    case = Case("free_fast_spin")
    kept, lost = (judge(case, bench_engines.RIGHT[name][0], order).data["drift"] for name, order in (
        ("rotors", 2), ("rk4", 4)))
    assert kept["energy"]["class"] in ("bounded", "round-off")
    assert lost["energy"]["class"] == "drift"
    assert all(kept[f"momentum_{x}"]["largest"] < 1e-6*lost[f"momentum_{x}"]["largest"] for x in "xyz")


def runs_of(engine=bench_engines.RIGHT["midpoint"][0], case="free_asymmetric", counts=(64, 128, 256, 512)):
    case = Case(case)
    return {case.t_end/n: engine(case, case.t_end/n, n) for n in counts}


def damaged(key, change):
    """Runs whose first one has another part."""
    def found():
        runs = runs_of()
        part = next(iter(runs.values()))
        part[key] = change(part[key])
        return runs
    return found


def with_nan(w):
    w = w.copy()
    w[7, 0, 1] = np.nan
    return w


def with_gap(raw):
    """The first run without its row 9."""
    h = next(iter(raw))
    raw[h] = {key: np.delete(part, 9, 0) for key, part in (raw[h] | {"time": np.arange(65)*h}).items()}
    return raw


def spoilt(raw, row, factors):
    """Matrices of the first run, of which rows have columns that are longer or opposite."""
    h = next(iter(raw))
    a = np.array([bench_engines.matrix(q) for q in raw[h]["quaternion"]])
    a[row] *= factors
    raw[h] = {"attitude": a, "rate": raw[h]["rate"]}
    return raw


def grown(case, h, steps):
    """Quaternions that grow, however small the step."""
    raw = bench_engines.RIGHT["midpoint"][0](case, h, steps)
    return raw | {"quaternion": raw["quaternion"]*(1 + 0.3*h*np.arange(steps + 1))[:, None]}


BAD = {
    "gap": (lambda: with_gap(runs_of()), "equally spaced without gaps; they are not at row 9"),
    "nan": (damaged("rate", lambda w: with_nan(w.reshape(-1, 1, 3))), "rate is not a finite number in row 7"),
    "few": (lambda: runs_of(counts=(64, 128, 256)), "3 step sizes until 3 are too few: give 4 or more"),
    "stopped": (lambda: {h: {key: x[:-5] for key, x in raw.items()} for h, raw in runs_of().items()}, "did the code"),
    "quaternion": (damaged("quaternion", lambda q: 1.1*q), "has not the length 1: the defect of its square is 0.21"),
    "matrix": (lambda: spoilt(runs_of(), 5, [1.5, 1, 1]), "of row 5 is not a rotation: the defect of its square is"),
    "reflections": (lambda: spoilt(runs_of(), ..., [1, 1, -1]), "is not a rotation: the defect of its square is 2,"),
    "reflection": (lambda: spoilt(runs_of(), 9, [1, 1, -1]), "row 9 is not a rotation: the defect of its square is 2"),
    "growing": (lambda: runs_of(grown), "no rotations: the smallest step's squares have the defect 2.61"),
    "step": (lambda: {1.3*h: raw | {"time": h*np.arange(len(raw["rate"]))} for h, raw in runs_of().items()},
             "times are 0.046875 apart, no multiple of h"),
    "units of rates": (lambda: {h: raw | {"rate": 7*raw["rate"]} for h, raw in runs_of().items()}, "first rate is 5.4"),
    "no arrays": (lambda: dict.fromkeys(runs_of(), (1, 2)), "must be a mapping from names to arrays of numbers"),
    "no runs": (lambda: [1, 2], "runs are no engine or mapping: list"),
    "no states": (lambda: lambda case, h, steps: None, "must be a mapping from names to arrays of numbers"),
    "rows": (lambda: runs_of(counts=(64, 128, 256, 500)), "has 500 intervals, not a multiple of 64"),
    "shape": (damaged("rate", lambda w: w[:, :2]), "numbers of rate in each, not"),
    "start": (lambda: {h: raw | {"rate": raw["rate"] + 0.3} for h, raw in runs_of().items()}, "another start, conv"),
    "milliseconds": (lambda: {1000*h: raw | {"time": 1000*h*np.arange(len(raw["rate"]))}
                              for h, raw in runs_of().items()}, "0 step sizes until 3 are too few"),
    "infinite": (damaged("quaternion", lambda q: q/0.0), "quaternion is not a finite number in row 0"),
    "empty": (lambda: {h: {"quaternion": [], "rate": []} for h in runs_of()}, "needs quaternion and rate"),
    "unequal times": (lambda: {h: raw | {"time": np.linspace(0, 3**0.5, len(raw["rate"]))**2}
                               for h, raw in runs_of().items()}, "must start at 0 and be equally spaced"),
    "nothing": (lambda: {h: {"rate": raw["rate"]} for h, raw in runs_of().items()}, "needs quaternion and rate")}


@pytest.mark.parametrize("name", list(BAD))
def test_bad_states_get_one_sentence_and_no_verdict(name):
    make, sentence = BAD[name]
    with np.errstate(divide="ignore", invalid="ignore"):
        runs = make()
    with pytest.raises(BadStates) as found:
        judge("free_asymmetric", runs)
    assert sentence in str(found.value)
    assert "\n" not in str(found.value)


def test_the_judge_alone_and_in_the_package(tmp_path):
    """A copy of the one file and its data judges, but names nothing; that of the package names."""
    engine = bench_engines.WRONG["xyzw"][0]
    assert packaged.judge("free_asymmetric", engine, 4, long=False).names == ["quaternion_order"]
    for name in ("liestep_judge.py", "cases.json"):
        shutil.copy(BENCH/name, tmp_path)
    program = ("import bench_engines, liestep_judge\nfor name in ('rk4', 'xyzw'):\n"
               "    found = {**bench_engines.RIGHT, **bench_engines.WRONG}[name]\n"
               "    print(liestep_judge.judge('free_asymmetric', found[0], 4, long=False).text)\n")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True,
                          env={"PYTHONPATH": f"{tmp_path}:{Path(__file__).parent}"})
    assert "right\norder of the state: 4.00" in done.stdout
    assert "wrong\n  unknown: " in done.stdout
    assert done.stdout.count("mistakes are not named: liestep_mistakes.py is not beside liestep_judge.py") == 2
    done = subprocess.run([sys.executable, tmp_path/"liestep_judge.py"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        1, "liestep_judge: files are read by liestep_files.py, which is not beside it\n")


def test_command_refuses_files(tmp_path):
    """One sentence each, no verdict; and its JSON has no NaN, which other languages cannot read."""
    case, texts = Case("free_asymmetric"), []
    head = ",".join(["time", *(f"quaternion_{x}" for x in "wxyz"), *(f"rate_{x}" for x in "xyz")]) + "\n"
    for steps in (64, 128, 256, 512):
        h = case.t_end/steps
        raw = bench_engines.RIGHT["midpoint"][0](case, h, steps)
        rows = np.column_stack([h*np.arange(steps + 1), raw["quaternion"], raw["rate"]])
        texts.append(f"# step = {h!r}\n{head}" + "".join(",".join(map(repr, row)) + "\n" for row in rows.tolist()))

    def judged(changed):
        for k, text in enumerate(changed):
            (tmp_path/f"{k}.csv").write_text(text)
        done = subprocess.run([sys.executable, BENCH/"liestep_judge.py", "free_asymmetric", *sorted(
            tmp_path.glob("*.csv")), "--json", tmp_path/"found.json"], capture_output=True, text=True)
        assert done.returncode == 0 or not done.stdout
        return done.stderr
    assert judged(texts) == ""
    assert "NaN" not in (tmp_path/"found.json").read_text()
    for changed, said in (([texts[0], *texts[:3]], "1.csv: its step 0.046875 is that of another file"),
                          ([texts[0].rpartition(",")[0], *texts[1:]], "row 65 has 7 numbers, the header 8 names"),
                          (["", *texts[1:]], "0.csv needs a header with time"),
                          ([texts[0].replace("0.3", "x", 1), *texts[1:]], "0.csv needs a header with time"),
                          ([texts[0].replace("# step = 0.0", "# step = -"), *texts[1:]], "-46875 is not positive")):
        found = judged(changed)
        assert said in found
        assert (found[:15], found.count("\n")) == ("liestep_judge: ", 1)


def test_a_failing_engine_and_wrong_names_get_a_sentence():
    def engine(case, h, steps):
        raise ZeroDivisionError("no mass")

    with pytest.raises(BadStates, match="stopped: ZeroDivisionError: no mass"):
        judge("free_asymmetric", engine)
    with pytest.raises(BadStates, match="there is no case 'free'; there are free_symmetric"):
        judge("free", engine)
    with pytest.raises(BadStates, match="there is no unit system 'imperial'; there are SI, cgs, kg-mm-ms"):
        judge("free_long", engine, units="imperial")


@pytest.mark.parametrize(("method", "order"), [("lgvi", 2), ("rk4", 4), ("rkmk", 4)])
def test_our_own_runs_are_right(method, order):
    """States of liestep itself on the bench's body."""
    case, runs = Case("free_asymmetric"), {}
    moments, start = case.moments[0], bench_engines.matrix(case.start["quaternion"][0])
    for steps in (64, 128, 256, 512, 1024):
        initial = {"attitude": start, "angular_momentum": start @ (moments*case.start["rate"][0])}
        spec = specify("free_rigid_body", method, preset="asymmetric", parameters={"inertia": moments.tolist()},
                       initial=initial, t_end=case.t_end, steps=steps, samples=65)
        run = {name: entry[1] for name, entry in carry_out(spec).variables.items()}
        a = run["attitude"]
        runs[case.t_end/steps] = {"time": run["time"], "attitude": a, "rate": np.einsum(
            "nji,nj->ni", a, run["angular_momentum"])/moments}
    report = judge(case, runs, order)
    assert report.verdict == "right", report.text
    assert abs(report.data["orders"]["state"]["order"] - order) < 0.05


def test_example_in_javascript_is_judged(tmp_path):
    """The example runs where node is, and its files are judged by the command."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here")
    subprocess.run([node, BENCH/"example.js", tmp_path], check=True)
    command = [sys.executable, BENCH/"liestep_judge.py", "free_asymmetric", *tmp_path.glob("js_*.csv"), "--order", "2"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("free_asymmetric: right\norder of the state: 2.000 +- 0.020 (asymptotic)\n")
    claimed = subprocess.run([*command[:-1], "3"], capture_output=True, text=True)
    assert claimed.returncode == 1
    assert "order 2.00 where 3 is claimed" in claimed.stdout


def test_header_for_c_compiles_without_a_warning():
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler is here")
    done = subprocess.run([compiler, "-Wall", "-Wextra", "-Wno-unused-function", "-Wno-pragma-once-outside-header",
                           "-fsyntax-only", "-x", "c", BENCH/"liestep_bench.h"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("plugin", "folder"), [("pytest_liestep", BENCH), ("rotation_bench.pytest_liestep",
                                                                            BENCH.parent)])
def test_plugin_of_pytest(plugin, folder, tmp_path):
    """A right engine passes, a wrong one fails with the name of its mistake."""
    (tmp_path/"test_it.py").write_text(
        "import bench_engines, pytest\n\n"
        "@pytest.mark.parametrize('name', ['rk4', 'no gyroscopic term'])\n"
        "def test_rotation(liestep_case, name):\n"
        "    found = {**bench_engines.RIGHT, **bench_engines.WRONG}[name]\n"
        "    liestep_case.check(found[0], order=found[1])\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", plugin, "--liestep-cases",
                           "free_asymmetric", tmp_path], cwd=tmp_path, capture_output=True, text=True,
                          env={"PYTHONPATH": f"{folder}:{Path(__file__).parent}"})
    assert "1 failed, 1 passed" in done.stdout
    assert "missing_gyroscopic: w x J w is missing" in done.stdout


def test_files_are_short_and_need_numpy_only():
    for name, most in (("liestep_judge.py", 400), ("liestep_mistakes.py", 345), ("liestep_bench.h", 40),
                       ("example.js", 40), ("example.jl", 40), ("example.py", 40)):
        assert len((BENCH/name).read_text().splitlines()) <= most
    program = (f"import sys; sys.path.insert(0, {str(BENCH)!r}); import liestep_mistakes; "
               "print(sorted({'scipy', 'liestep', 'pandas', 'numba'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
