"""Figures of liegroup2021: all of them from the study files with made-up runs, and what they take from the runs."""
import json
from functools import cache

import numpy as np
import pandas
import pytest
from figure_faults import faults
from liestep_papers.liegroup2021.figures.pendula import _accelerations
from matplotlib.patches import StepPatch

from liestep.errors import InputError
from liestep.figures.commands import drawing_of, figure_modules
from liestep.figures.rendering import save
from liestep.figures.scenes.looks import parameters
from liestep.figures.style import ladder
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.runs.files import RunFile
from liestep.study.plan.plan import Study

STUDY = {
    "figure2": "heavy_top", "figure2_parts": "heavy_top", "figure3": "heavy_top_energy", "figure5": "pendulum_orders",
    "figure6": "manifold", "figure7": "manifold", "figure8": "chain_unit", "figure9": "double_pendulum",
    "figure10": "chain_fixed_length", "reference_bias": "chain_unit", "figure11": "double_pendulum",
    "chain_motion": "chain_motion", "gain": "gain",
    "figure13": "quadrotors", "figure14": "quadrotor_tracking", "figure15": "quadrotor_tracking",
    "figure16": "quadrotor_tracking", "figure17": "quadrotor_tracking", "figure18": "quadrotor_tracking"}
PANELS = {"figure2": "abc", "figure2_parts": "abcd", "figure3": "abcd", "figure5": "abcdef", "figure6": "abcdefgh",
          "figure7": "abcdefgh", "figure8": "abc", "figure9": "abcdef", "figure10": "abc",
          "figure11": "abc", "reference_bias": "ab", "chain_motion": "abc", "gain": "abc", "figure13": "ab",
          "figure16": "ab", "figure17": "ab", "figure18": "abc"}
STEPS = 40  # accepted ones of a made-up adaptive run


class MadeUp:
    """Results of a study whose runs were never made: nothing moves, but link directions and load turn a little; errors
    fall with the order of the method."""

    def __init__(self, name: str, folder):
        self.study = Study.find(f"liegroup2021/{name}", results=folder)
        self.config = self.study.config
        self.metrics = pandas.DataFrame([self._row(cell) for cell in self.study.cells])

    def _row(self, cell) -> dict:
        step = cell.spec.step or cell.spec.t_end/STEPS
        error = (step/cell.spec.t_end)**method(cell.spec.integrator).order_of(
            cell.spec.options, sheet(cell.spec.problem), cell.spec.parameters)
        columns = ("error", "error_final", "error_final_second", "error_attitude", "error_angular_momentum")
        return {"problem": cell.problem, "integrator": cell.integrator, "status": "ok", "step": step, "floor": 1e-14,
                "tolerance": cell.spec.tolerance,
                "steps": cell.spec.steps or STEPS, **dict.fromkeys(columns, error)}

    def select(self, problem: str, integrator: str) -> pandas.DataFrame:
        return self.metrics[(self.metrics["problem"] == problem) & (self.metrics["integrator"] == integrator)]

    def file(self, problem: str, integrator: str, resolution: str) -> RunFile:
        cell, = self.study.select(problem, integrator, [resolution])
        spec = cell.spec
        formulated = formulate(sheet(spec.problem), spec.parameters, spec.initial, "vector_field", {})
        time = np.linspace(0.0, spec.t_end, spec.samples)
        fields = formulated.to_fields(np.tile(formulated.start, (time.size, 1, 1)))
        if "q" in fields:
            fields["q"] = fields["q"] + 1e-3*len(cell.integrator)*np.sin(time)[:, None, None]
        ends = np.linspace(0.0, spec.t_end, STEPS + 1)[1:]
        attributes = {"specification": json.dumps(spec.canonical()), "problem": spec.problem, "status": "ok",
                      "t_end": spec.t_end, "steps": spec.steps or STEPS}
        return RunFile(cell.path, attributes,
                       {"time": time, "energy": 1.0 + 1e-3*np.sin(time), **fields, "accepted_time": ends,
                        "accepted_step": np.full(STEPS, spec.t_end/STEPS)})


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    """Made-up results of a study by name, planned once."""
    return cache(lambda name: MadeUp(name, tmp_path_factory.mktemp(name)))


def test_every_figure_is_wanted_by_a_study():
    assert ({name.removeprefix("liegroup2021.") for name in figure_modules() if name.startswith("liegroup2021.")}
            == {*STUDY, "growth", "error_constants"})  # which reads a table: test_growth.py; a study: test_isotropy.py


@pytest.mark.parametrize("name", STUDY)
def test_figures_draw_from_their_study_files(name, made_up, tmp_path):
    results = made_up(STUDY[name])
    assert f"liegroup2021.{name}" in results.config.figures
    figure = drawing_of(f"liegroup2021.{name}")(results)
    titles = [text.get_text() for text in figure.texts] + [axes.get_title(loc="left") for axes in figure.axes]
    assert [letter for letter in PANELS.get(name,
                                            "") if not any(title.startswith(f"({letter})") for title in titles)] == []
    save(figure, tmp_path/name)
    assert [fault for fault in faults(figure) if "has the id" in fault or "without name" in fault] == []


def test_reference_bias_shows_both_errors_of_each_method(made_up):
    results = made_up("chain_unit")
    for axes, key in zip(drawing_of("liegroup2021.reference_bias")(results).axes, ("rkmk5", "rkmk54"), strict=True):
        shown = [line.get_ydata() for line in axes.get_lines()]
        for column, method_key in (("error_final", "ode45_paper"), ("error_final", key), ("error_final_second", key)):
            wanted = [results.select(problem, method_key)[column].iloc[0] for problem in results.config.problems]
            assert any(np.array_equal(values, wanted) for values in shown)
    with pytest.raises(InputError, match="names no second_reference"):
        drawing_of("liegroup2021.reference_bias")(made_up("double_pendulum"))


def test_gain_map_shows_each_gain_and_which_are_lower_bounds(tmp_path, made_up):
    """Made-up errors fall with the fifth power of the step: 40 steps, of which as many constant ones stopped, gain at
    least (40/50)^5."""
    results = MadeUp("gain", tmp_path)
    stopped = (results.metrics["integrator"] == "rkmk5") & (results.metrics["steps"] < 50)
    runs = int((results.metrics["integrator"] == "rkmk54").sum())
    for status, wanted in (("ok", "1"), ("chart_limit", f">{(STEPS/50)**5:.2g}")):
        results.metrics.loc[stopped, "status"] = status
        assert [text.get_text() for text in drawing_of("liegroup2021.gain")(results).axes[0].texts] == [wanted]*runs
    with pytest.raises(InputError, match="no runs of rkmk54"):
        drawing_of("liegroup2021.gain")(made_up("heavy_top"))


def test_ladder_leaves_failed_runs_out_and_grows(tmp_path):
    results = MadeUp("quadrotors", tmp_path)
    results.metrics.loc[results.select("payload", "lie_euler").index[:2], "status"] = "not_finite"
    steps, errors = ladder(results, "payload", "lie_euler", "error_final")
    assert len(steps) == len(results.select("payload", "lie_euler")) - 2
    assert np.all(np.diff(steps) > 0.0)
    np.testing.assert_allclose(errors, steps/5.0)
    results.metrics["status"] = "not_finite"
    with pytest.raises(InputError, match="no complete run of lie_euler on payload"):
        ladder(results, "payload", "lie_euler", "error_final")


def test_steps_of_figure_11_are_the_accepted_ones(made_up):
    axes = drawing_of("liegroup2021.figure11")(made_up("double_pendulum")).axes[0]
    stairs = [patch.get_data() for patch in axes.patches if isinstance(patch, StepPatch)]
    assert len(stairs) == 2  # RKMK(5,4) and ode45
    for values, edges, _ in stairs:
        np.testing.assert_allclose(np.diff(edges), values, rtol=1e-12)


def test_accelerations_of_figure_11_are_those_of_the_equations(made_up):
    """At the start the links are parallel and turn alike: R omega' = -weight x down, by hand for two
    equal links of length 1."""
    file = made_up("double_pendulum").file("unit_2", "rkmk5", "h0.025641")
    file.variables["q"][:] = file["q"][0]  # exactly the start
    rates = _accelerations(file)[0]
    gravity, slope = 9.81, 0.5**0.5
    mass, moment = np.array([[2.0, 1.0], [1.0, 1.0]]), gravity*slope*np.array([2.0, 1.0])
    np.testing.assert_allclose(rates[:, 1], np.linalg.solve(mass, moment), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(rates[:, [0, 2]], 0.0, atol=1e-14)


def test_parameters_are_checked_arrays(made_up):
    file = made_up("quadrotor_tracking").file("payload", "rkmk4", "h0.00250125")
    assert parameters(file)["inertia"].shape == (2, 3)
