"""Numbers that trials found before the study, each run again: errors at printed work, the symplectic form, spin, and a
turn beyond reach as the row of a study."""
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from liestep_papers.cross.tables.matrix import matrix_rows

from liestep import simulate
from liestep.simulation.catalogue import sheet
from liestep.simulation.references.reference import compute_reference, specify_reference
from liestep.simulation.runs.specification import start_of
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells
from liestep.study.tables.results import StudyResults
from liestep.study.tables.tables import analyse
from liestep.tools.certify import identities as symplecticity
from liestep.tools.certify import orders


def reference(problem, preset, t_end):
    """Fields of two engines' trajectory at the end."""
    found = compute_reference(specify_reference(problem, preset=preset, t_end=t_end, samples=2))
    return {name: np.asarray(variable[1])[-1] for name, variable in found.variables.items() if name != "time"}


def end(problem, integrator, preset, t_end, steps, **options):
    data = simulate(problem, integrator, preset=preset, t_end=t_end, steps=steps, samples=2, options=options)
    return {name: data[name].values[-1] for name in ("attitude", "q") if name in data}, data.attrs["force_evaluations"]


def test_tops_at_their_printed_work():
    """5 s of a top with three moments by dmv 10 in 100 steps, trial 9e-12; 1 s of a fast one by exact free motion in
    ten, trial 4e-10."""
    for preset, t_end, steps, integrator, limit in (("asymmetric", 5.0, 100, "dmv", 9e-12),
                                                    ("bruels_cardona", 1.0, 10, "exact_split", 4e-10)):
        found, spent = end("heavy_top", integrator, preset, t_end, steps)
        assert spent == 14*steps
        error = np.abs(found["attitude"] - reference("heavy_top", preset, t_end)["attitude"]).max()
        assert 0.1*limit <= error <= limit


def test_evaluations_of_four_bodies_at_1e_8():
    """Trial: rkn6 530, vi_sphere of order 8 850, of order 4 3,290."""
    true = reference("sphere_nbody", "four_bodies", 5.0)["q"]
    for integrator, options, printed, fewer, more in (
            ("sphere_split", {"splitting": "rkn6"}, 530, 44, 52), ("vi_sphere weights=kl8", {}, 850, 44, 54),
            ("vi_sphere weights=y4", {}, 3290, 1000, 1200)):
        work, errors = [], []
        for steps in (fewer, more):
            found, spent = end("sphere_nbody", integrator, "four_bodies", 5.0, steps, **options)
            work.append(spent)
            errors.append(np.abs(found["q"] - true).max())
        assert errors[1] < 1e-8 < errors[0]
        at = np.interp(-8.0, np.log10(errors)[::-1], np.log(work)[::-1])
        assert np.exp(at) == pytest.approx(printed, rel=0.1)


@pytest.mark.parametrize(("integrator", "options", "printed"), [
    ("exact_split", {"splitting": "strang"}, None), ("dmv", {"order": 2, "splitting": "strang"}, None),
    ("slgi", {}, None), ("dmv", {"order": 4, "splitting": "strang"}, 7e-5),
    ("dmv", {"order": 6, "splitting": "strang"}, 9e-7), ("dmv", {"order": 8, "splitting": "strang"}, 5e-9),
    ("body_midpoint", {"splitting": "strang"}, 5e-3), ("lie_midpoint", {"splitting": "strang"}, 2e-3)])
def test_changes_of_the_form_in_a_step_of_a_tenth(integrator, options, printed, monkeypatch):
    """Heavy top with three moments. The trial's numbers are those of |J^T Omega J - Omega|, printed with one digit;
    ours are relative to the largest entry of Omega, a momentum."""
    monkeypatch.setattr(symplecticity, "STEPS", (Fraction(1, 10), Fraction(1, 100)))
    size = 10.0**symplecticity.defect_of(orders.CASES[3], integrator, options).sizes[0]
    if printed is None:
        assert size <= 1e-11
    else:
        absolute = size*np.abs(start_of("heavy_top", preset="asymmetric").initial["angular_momentum"]).max()
        assert f"{absolute:.0e}" == f"{printed:.0e}"


@pytest.fixture(scope="module")
def fast_top():
    """Arguments of `simulate` for the start of the study, and the attitude at its end."""
    study = Study(Path(__file__).resolve().parents[1]/"studies"/"spin.yaml", "cross/spin", Path("results"))
    problem = study.config.problems["spin_1250"]
    start = {"preset": problem.preset, "parameters": problem.parameters, "initial": problem.initial,
             "t_end": problem.t_end, "samples": 2, "on_failure": "return"}
    found = compute_reference(specify_reference("heavy_top", **{key: start[key] for key in list(start)[:-1]}))
    return start, np.asarray(found.variables["attitude"][1])[-1]


def test_the_start_of_the_fast_top_turns_156_rad_in_a_step(fast_top):
    start, _ = fast_top
    moments = np.array(start["parameters"]["inertia"])
    rate = np.array(start["initial"]["attitude"]).T @ start["initial"]["angular_momentum"]/moments
    assert rate == pytest.approx([0.2, 0.3, 1250.0], abs=1e-9)
    assert np.linalg.norm(rate)/8 == pytest.approx(156.0, abs=0.5)
    assert len(set(moments)) == 3
    assert tuple(sheet("heavy_top").presets["slow_symmetric"].parameters["axis"]) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(("integrator", "least"), [
    ("exact_split", 8), ("dmv", 512), ("rkmk", 1024), ("slgi", 16384), ("rk4", 32768), ("body_midpoint", None)])
def test_steps_of_a_fast_top_for_an_error_of_1e_4(fast_top, integrator, least):
    """The trial's numbers, powers of two, by the largest entry of the difference of attitudes."""
    start, true = fast_top

    def error(steps):
        data = simulate("heavy_top", integrator, steps=steps, **start)
        return np.abs(data["attitude"].values[-1] - true).max() if data.attrs["status"] == "ok" else np.inf

    if least is None:
        assert error(131072) > 1e-4
    else:
        assert error(least) <= 1e-4 < error(least//2)


def test_long_steps_of_a_splitting_drift_with_exact_free_motion_too():
    """64,000 s of a chaotic top, trial 6e-5 J for dmv 10 at 0.2 s: not by its change of the symplectic form, for exact
    free motion comes as far with the same kicks; in steps of 0.125 s neither does."""
    def change(integrator, step):
        data = simulate("heavy_top", integrator, preset="asymmetric", t_end=64000.0, step=step, samples=3201)
        energy = np.abs(data["energy"].values - data["energy"].values[0])
        return energy[:201].max(), energy.max()

    for integrator in ("dmv", "exact_split"):
        assert 3e-5 <= change(integrator, 0.2)[1] <= 1.2e-4
    assert change("dmv", 0.125)[1] <= 2e-7


def test_a_turn_beyond_reach_is_a_row_with_its_remedy(tmp_path):
    """One run of the study stops, is kept with its sentence, and the others are made."""
    (tmp_path/"study.yaml").write_text(
        "title: Far\nsamples: 2\nsteps: {counts: [2, 500]}\n"
        "problems: {top: {system: heavy_top, preset: bruels_cardona}}\nintegrators: {dmv: {}, exact_split: {}}\n")
    study = Study(tmp_path/"study.yaml", "study", tmp_path/"results")
    for sweep in study.sweeps:
        run_cells(sweep.cells)
        assert all(cell.path.exists() for cell in sweep.cells)
    analyse(study)
    rows = {row["integrator"]: row for row in matrix_rows(StudyResults(study))}
    assert (rows["dmv"]["outcome"], rows["dmv"]["completed"]) == ("partly", 1)
    assert rows["dmv"]["sentence"].endswith("take a smaller step, or exact_split, which has no such limit")
    assert rows["exact_split"]["outcome"] == "ok"
