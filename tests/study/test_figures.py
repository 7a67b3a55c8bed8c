"""Figures: style, byte-identical files, and what every generic figure shows for a small study."""
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import jinja2
import numpy as np
import pandas
import pytest
from docutils.core import publish_doctree
from figure_faults import faults
from matplotlib.figure import Figure

from liestep.api import command_line as cli
from liestep.errors import InputError
from liestep.figures import commands, labels, marks, panels, rendering, style
from liestep.figures.captions import plain, restructured
from liestep.figures.kinds import ladders, series
from liestep.study.plan.plan import Study
from liestep.study.tables.order import FLOOR_FACTOR, LARGEST_ERROR
from liestep.study.tables.results import StudyResults

STUDY = """
title: Tiny study
reference: true
timing: true
tables: [orders, energy, drift, work]
problems:
  bodies: {label: three bodies, system: sphere_nbody, t_end: 1}
integrators:
  vi_sphere: {steps: {counts: [4, 8, 32, 64, 128, 256, 512]}}
  rk2_velocity: {id: rk2_midpoint, options: {form: velocity}, label: "RK2, velocities", steps: {counts: [32, 64, 128]}}
  ode45: {tolerances: [1e-4, 1e-8]}
samples: 3
"""
MEMBERS = """
title: Tiny ensembles
problems:
  bodies: {system: sphere_nbody, t_end: 1}
integrators:
  vi_sphere: {steps: {counts: [64]}}
samples: 17
ensemble: {members: 5, amplitude: 1e-3}
tables: [energy, horizons]
"""
SOLVERS = """
title: Tiny solvers
problems:
  two: {system: spherical_pendulum_chain, preset: paper_scaled, t_end: 1}
  three: {system: spherical_pendulum_chain, preset: chain3, t_end: 1, steps: {counts: [40]}}
integrators:
  vi_sphere: {steps: {counts: [10, 20, 40]}}
samples: 3
tables: [energy]
"""
CLAIMS = """
paper: none
citation: none
claims:
  - {id: one, statement: s, source: t, printed: 0.25, quantity: energy_error_mean,
     criterion: {kind: factor, factor: 2.0}, known: false, asserted_by: own,
     runs: [{study: members, problem: bodies, integrator: vi_sphere}]}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> dict[str, StudyResults]:
    """The three studies with all runs, references, times and tables."""
    root = tmp_path_factory.mktemp("figures")
    (root/"config"/"studies").mkdir(parents=True)
    (root/"config"/"claims").mkdir()
    (root/"config"/"claims"/"none.yaml").write_text(CLAIMS)
    found = {}
    for name, text in (("tiny", STUDY), ("members", MEMBERS), ("solvers", SOLVERS)):
        (root/"config"/"studies"/f"{name}.yaml").write_text(text)
        study = Study.find(name, root/"config", root/"results")
        start = ["--config", str(root/"config"), "--results", str(root/"results")]
        for sweep in study.sweeps:
            assert cli.main([*start, "job", "sweep", name, sweep.problem, sweep.integrator]) == 0
        if study.config.reference:
            assert cli.main([*start, "job", "reference", name, "bodies"]) == 0
        if study.config.timing:
            assert cli.main([*start, "job", "time", name]) == 0
        assert cli.main([*start, "job", "analyse", name]) == 0
        found[name] = StudyResults(study)
    return found


def lines(axes, colour) -> list:
    from matplotlib.colors import to_hex

    return [line for line in axes.get_lines() if to_hex(line.get_color()) == to_hex(colour)]


def test_fonts_are_legible_at_final_size():
    sizes = [style.RC[name] for name in ("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize",
                                         "xtick.labelsize", "ytick.labelsize")]
    assert min(sizes) >= 7.0
    assert max(sizes) <= 9.0


def test_options_of_one_method_look_different(made):
    base = marks.mark_of("rk2_midpoint")
    looks = {(mark.marker, mark.dash) for mark in (marks.variant(base, number) for number in range(9))}
    assert len(looks) == 9
    assert marks.variant(base, 0) == base
    assert marks.marks(made["tiny"])["rk2_velocity"].label == "RK2, velocities"
    assert marks.marks(made["tiny"])["vi_sphere"].label == marks.mark_of("vi_sphere").label


def test_drawing_twice_gives_the_same_bytes_and_sizes(made, tmp_path):
    for folder in ("a", "b"):
        rendering.save(commands.drawing_of("energy_error")(made["tiny"]), tmp_path/folder/"figure")
    for kind in ("pdf", "png"):
        assert (tmp_path/"a"/f"figure.{kind}").read_bytes() == (tmp_path/"b"/f"figure.{kind}").read_bytes()
    pdf = (tmp_path/"a"/"figure.pdf").read_bytes()
    assert b"CreationDate" not in pdf
    assert b"/FontFile2" in pdf
    from PIL import Image

    assert Image.open(tmp_path/"a"/"figure.png").size[0] == int(style.DOUBLE/25.4*style.DPI)
    assert sorted(path.name for path in (tmp_path/"a").iterdir()) == ["figure.pdf", "figure.png"]


def test_unwritable_folder_is_one_sentence(made, tmp_path):
    (tmp_path/"file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        rendering.save(style.new_figure(20.0, 20.0), tmp_path/"file"/"figure")


def shown_by_snakemake(template: str) -> str:
    """What Snakemake's report makes of a caption: a template, then reStructuredText with links after it; any complaint
    of the latter raises."""
    text = jinja2.Environment().from_string(template + "\n\n.. _a: #a\n").render(snakemake=None)
    tree = publish_doctree(text, settings_overrides={"halt_level": 2, "report_level": 5})
    return tree.astext().strip()


@pytest.mark.parametrize("text", [
    "|E(t) - E(0)| of *one* run_ and `two` of |q|_; see [1]_ and :math:`x` x::",
    "(a) A. Author: {{ t_end }} of {% if %} {# none #} ** || .. note:: - a \\ b <c> http://a.b/_c_ __",
    *(commands.drawing_of(name).caption for name in sorted(commands.figure_modules()))])
def test_captions_stand_for_themselves_in_snakemakes_report(text):
    assert shown_by_snakemake(restructured(text)) == text


# of studies with a grid or with every integrator, which their own tests draw: test_maps.py; or of one step's derivative
OF_LARGE_STUDIES = ("map", "symplectic_error")
GENERIC = [name for name in sorted(commands.figure_modules()) if "." not in name and name not in OF_LARGE_STUDIES]


@pytest.mark.parametrize("name", GENERIC)
def test_every_generic_figure_is_written_with_its_caption(made, name):
    study = {"ensemble": "members", "separation": "members", "iterations": "solvers",
             "scaling": "solvers"}.get(name, "tiny")
    paths = commands.make_figure(made[study], name)
    assert [path.name for path in paths] == [f"{name}.png", f"{name}.pdf", f"{name}.caption.txt",
                                               f"{name}.caption.rst"]
    caption = paths[2].read_text()
    assert shown_by_snakemake(paths[3].read_text()) == caption.strip()
    assert made[study].config.title in caption
    assert "h = " in caption
    assert "{" not in caption


@pytest.mark.parametrize("name", GENERIC)
def test_no_generic_figure_has_overprints_ids_or_curves_without_names(made, name, tmp_path):
    study = {"ensemble": "members", "separation": "members", "iterations": "solvers",
             "scaling": "solvers"}.get(name, "tiny")
    figure = commands.drawing_of(name)(made[study])
    rendering.save(figure, tmp_path/name)
    assert faults(figure) == []


@pytest.mark.parametrize(("wrong", "said"), [
    (lambda axes: axes.set_title("spherical_pendulum"), "has the id spherical_pendulum"),
    (lambda axes: axes.plot([1.0, 2.0], [2.0, 5.0], color="#00aa00"), "without name"),
    (lambda axes: [axes.text(1.2, 2.0, text) for text in ("one label", "another")], "lies on"),
    (lambda axes: axes.text(3.0, 2.0, "far beyond the page"), "is cut off"),
    (lambda axes: axes.clear(), "is empty")])
def test_faults_of_a_figure_are_found(wrong, said):
    figure = style.new_figure(80.0, 60.0, layout=None)
    axes = figure.add_axes((0.2, 0.2, 0.5, 0.6))
    axes.plot([1.0, 2.0], [1.0, 3.0], color="#cc3311", label="method")
    axes.legend()
    assert faults(figure) == []
    wrong(axes)
    assert any(said in fault for fault in faults(figure))


def test_names_lead_to_drawings():
    for name in sorted(commands.figure_modules()):
        assert isinstance(commands.drawing_of(name).caption, str)


def test_unknown_figure_names_the_closest():
    with pytest.raises(InputError, match="unknown figure 'energy_eror'; did you mean energy_error"):
        commands.require_figure("energy_eror", None)


def test_names_are_checked_without_loading_matplotlib():
    code = ("import sys; from liestep.figures.commands import require_figure; require_figure('drift', None); assert"
            " 'matplotlib' not in sys.modules")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_command_refuses_unknown_names_before_drawing(made, capsys):
    root = made["tiny"].study.path.parents[1]
    assert cli.main(["--config", str(root), "--results", str(root.parent/"results"), "job", "figure", "tiny",
                     "failures", "failure"]) == 2
    assert "did you mean failures" in capsys.readouterr().err


def test_missing_tables_are_refused(made, tmp_path):
    study = made["tiny"].study
    with pytest.raises(InputError, match=r"figure convergence of tiny: .*metrics\.csv does not exist"):
        commands.make_figure(StudyResults(Study(study.path, "tiny", tmp_path)), "convergence")


def test_series_show_the_largest_step_that_most_completed(made):
    shown = panels.shown_cells(made["tiny"], "bodies")
    assert {key: cell.resolution for key, cell in shown.items()} == {"vi_sphere": "h0.03125",
                                                                     "rk2_velocity": "h0.03125", "ode45": "tol0.0001"}


def test_energy_curve_bounds_every_sample(made):
    figure = series.energy_error(made["tiny"])
    curve, = (line for line in lines(figure.axes[0], marks.shade("vi_sphere")) if line.get_linewidth() > 0.5)
    file = made["tiny"].file("bodies", "vi_sphere", "h0.03125")
    samples = np.abs(file["energy"] - file["energy"][0])
    assert curve.get_ydata().max() >= samples.max() > 0.0
    assert curve.get_ydata().max() == pytest.approx(file.attributes["energy_error_max"], rel=1e-12)


def test_convergence_marks_admissible_points_and_orders(made):
    results = made["tiny"]
    figure = commands.drawing_of("convergence")(results)
    axes = figure.axes[0]
    runs = results.select("bodies", "vi_sphere").dropna(subset=["error"])
    usable = (runs["error"] >= FLOOR_FACTOR*runs["floor"]) & (runs["error"] <= LARGEST_ERROR)
    solid, hollow = (line for line in lines(axes, marks.shade("vi_sphere")) if line.get_linestyle() == "None")
    assert 0 < usable.sum() < len(runs)
    assert sorted(solid.get_xdata()) == sorted(runs["step"][usable])
    assert sorted(hollow.get_xdata()) == sorted(runs["step"][~usable])
    assert hollow.get_markerfacecolor() == "white"
    order = results.table("orders").set_index("integrator").loc["vi_sphere"]
    assert order["class"] == "asymptotic"
    texts = [text.get_text() for text in axes.texts]
    assert texts.count(f"{order['p']:.2f} ± {order['u']:.2f}: VI") == 1
    assert texts.count("ode45") == 1  # adaptive: no number, as the legend's title says
    assert "adaptive steps" in figure.legends[0].get_title().get_text()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["VI", "RK2, velocities", "ode45"]


@pytest.mark.parametrize(("label", "shown"), [("three bodies", "three bodies"), ("b"*60, "b"*60),
                                              ("b"*61, "b"*57 + "..."), ("a word "*9, ("a word "*9)[:57] + "...")])
def test_a_label_of_any_length_begins_with_its_own_letters(label, shown):
    problems = {"bodies": SimpleNamespace(label=label)}
    assert panels.label_of(SimpleNamespace(config=SimpleNamespace(problems=problems)), "bodies") == shown


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_labels_beside_a_panel_keep_their_order_and_distance(count):
    dice, gap = np.random.default_rng(count), 0.02
    for _ in range(20):
        wanted = dice.choice([0.0, 0.5, 1.0], count) + 0.01*dice.standard_normal(count)
        found = labels.spread(np.clip(wanted, 0.0, 1.0), gap)
        order = np.argsort(np.clip(wanted, 0.0, 1.0), kind="stable")
        assert (np.diff(found[order]) >= gap - 1e-12).all()
        assert found.min() >= -1e-12
        assert found.max() <= 1.0 - gap + 1e-12  # the top line ends below the title
    assert labels.spread(np.array([0.3, 0.8, 0.6]), gap).tolist() == pytest.approx([0.3, 0.8, 0.6])
    assert labels.spread(np.array([0.5, 0.5]), gap).tolist() == pytest.approx([0.49, 0.51])


def test_curves_over_measured_seconds_never_go_back():
    seconds, errors = np.array([1.0, 3.0, 2.0, 4.0, 5.0, 2.5]), np.array([1e-2, 1e-4, 1e-3, 2e-4, 1e-6, np.nan])
    kept = ladders.front(seconds, errors)
    assert kept.tolist() == [0, 2, 1, 4]
    assert (np.diff(seconds[kept]) > 0.0).all()
    assert (np.diff(errors[kept]) < 0.0).all()


def test_slope_triangle_has_its_slope_and_touches_the_data(made):
    axes = style.new_figure(60.0, 60.0).subplots()
    h = np.array([0.1, 0.2, 0.4, 0.8])
    panels.slope_triangle(axes, h, 3.0*h**4, 4, below=0.5)
    x, y = axes.get_lines()[0].get_data()
    assert np.log(y[2]/y[0])/np.log(x[2]/x[0]) == pytest.approx(4.0)
    assert y[0] == pytest.approx(0.5*3.0*x[0]**4)


@pytest.mark.parametrize(("p", "u", "more", "expected"), [
    (2.0, 0.02, {}, 2), (1.02, 0.02, {}, 1), (1.7, 0.02, {}, None), (1.7, 0.4, {}, 2), (0.2, 0.3, {}, None),
    (2.0, 0.02, {"class": "pre-asymptotic"}, None), (2.0, 0.02, {"adaptive": True}, None)])
def test_triangles_of_convergence_have_the_measured_exponent(p, u, more, expected):
    """Theory promises order 1 of theta = 0, but a body without torque shows 2."""
    row = {"adaptive": False, "order_theory": 1.0, "class": "asymptotic", "p": p, "u": u, **more}
    assert ladders._whole_order(row, "") == expected
    energy = {"adaptive": False, "class": "failed", "energy_class": "asymptotic", "energy_order": p, "energy_u": u}
    energy |= {"energy_class": more["class"]} if "class" in more else more
    assert ladders._whole_order(energy, "energy_") == expected


def test_legends_stand_outside_the_panels(made):
    for name in ("convergence", "energy_error", "work_precision"):
        figure = commands.drawing_of(name)(made["tiny"])
        figure.draw_without_rendering()
        legends = [axes.get_legend() for axes in figure.axes if axes.get_legend()] + figure.legends
        assert legends
        for legend in legends:
            box = legend.get_window_extent()
            assert figure.bbox.x0 - 1 <= box.x0 <= box.x1 <= figure.bbox.x1 + 1
            assert not any(box.overlaps(axes.get_window_extent()) for axes in figure.axes)


@pytest.mark.parametrize(("members", "said"), [([np.nan, np.nan], "stopped early"), ([1.0, np.nan], "stopped early"),
                                               ([0.0, 0.0], "zero"), ([1.0, 2.0, np.nan], "median 1.5")])
def test_ensembles_whose_members_stopped_say_so(members, said):
    axes = Figure().subplots()
    series._strip(axes, 0, np.array(members), "red", None)
    assert [text.get_text() for text in axes.texts] == [said]


def test_ensemble_marks_the_printed_value(made):
    figure = commands.drawing_of("ensemble")(made["members"])
    file = made["members"].file("bodies", "vi_sphere", "h0.015625")
    middle = np.median(file["energy_error_mean"])
    offsets = [collection.get_offsets() for collection in figure.axes[0].collections]
    assert any(len(points) == 1 and points[0][0] == pytest.approx(0.25/middle) for points in offsets)
    members = next(points for points in offsets if len(points) == 4)
    assert sorted(members[:, 0]) == pytest.approx(sorted(file["energy_error_mean"][1:]/middle))


def test_work_precision_has_panels_for_what_was_measured(made):
    titles = [axes.get_title(loc="left") for axes in commands.drawing_of("work_precision")(made["tiny"]).axes]
    assert titles == ["(a) three bodies", "(a) over seconds"]


def test_a_problem_without_a_cost_has_no_panel_of_it(made):
    config, metrics = made["tiny"].config, made["tiny"].metrics.assign(seconds=0.0)
    metrics = pandas.concat([metrics.assign(iterations=9.0), *(metrics.assign(problem=name, iterations=0.0)
                                                               for name in ("second", "third"))])
    problems = dict.fromkeys(("bodies", "second", "third"), config.problems["bodies"])
    figure = ladders.work_precision(SimpleNamespace(
        study=made["tiny"].study, metrics=metrics,
        config=SimpleNamespace(problems=problems, integrators=config.integrators)))
    assert [(axes.get_title(loc="left"), axes.get_xlabel()) for axes in figure.axes] == [
        ("(a) three bodies", ""), ("(a) over solver iterations", "solver iterations"), ("(b) three bodies", ""),
        ("(c) three bodies", "evaluations")]
    assert [axes.xaxis.get_tick_params()["labelbottom"] for axes in figure.axes] == [False, True, False, True]


def test_a_cost_of_problems_without_a_row_has_no_column(made):
    """Errors of the second problem are too large to be shown; only there are iterations. The first has evaluations of
    none, and its row its name beside another panel."""
    config, metrics = made["tiny"].config, made["tiny"].metrics
    metrics = pandas.concat([metrics.assign(rhs_evaluations=0.0, steps_accepted=0.0),
                             metrics.assign(problem="second", iterations=9.0, error=1.0)])
    problems = dict.fromkeys(("bodies", "second"), config.problems["bodies"])
    figure = ladders.work_precision(SimpleNamespace(
        study=made["tiny"].study, metrics=metrics, table=made["tiny"].table,
        config=SimpleNamespace(problems=problems, integrators=config.integrators)))
    assert "solver iterations" not in {axes.get_xlabel() for axes in figure.axes}
    assert figure.axes[0].get_ylabel() == "state error"
    assert figure.axes[0].get_title(loc="left") == "(a) three bodies"


def test_figures_without_their_data_say_what_is_missing(made):
    for study, name, words in (("tiny", "ensemble", "has no ensembles"), ("tiny", "scaling", "in several sizes"),
                               ("solvers", "work_precision", "reference: true")):
        with pytest.raises(InputError, match=words):
            commands.make_figure(made[study], name)
    assert not (Path(made["tiny"].study.folder)/"figures"/"ensemble.pdf").exists()


def test_more_than_eight_methods_are_named_at_the_ends_of_their_lines_and_coinciding_ones_together():
    shades = [colour for hue in "abcdefghi" for colour in marks.PALETTE[hue][:1]]
    styles = [marks.Mark(colour, "o", "-", f"method {k}") for k, colour in enumerate(shades)]
    figure, axes = panels.grid(["one"], 50.0)
    for k, mark in enumerate(styles):
        axes[0].plot([1.0, 2.0, 3.0], [max(k, 1)]*3, **mark.line)
    panels.legend_below(figure, styles)
    assert len(figure.legends[0].get_texts()) == 9
    names = [text.get_text() for text in axes[0].texts]
    assert sorted(names) == ["method 0; method 1", *(f"method {k}" for k in range(2, 9))]


def test_the_range_comes_from_values_that_say_something():
    """The first samples are round-off."""
    axes = Figure().subplots()
    axes.plot([0.0, 5.0, 20.0, 50.0, 100.0], [1e-14, 2e-6, 1e-3, 3e-2, 2e-2], "-")
    series._range(axes, 100.0)
    panels.logarithmic(axes, x=False)
    low, high = axes.get_ylim()
    assert 1e-6 < low < 2e-6
    assert 3e-2 < high < 1e-1


def test_curves_that_grow_from_round_off_are_shown_whole():
    axes = Figure().subplots()
    axes.plot([0.0, 20.0, 100.0], [1e-15, 1e-14, 1e-8])
    series._range(axes, 100.0)
    panels.logarithmic(axes, x=False)
    assert axes.get_ylim()[0] < 1e-15


def test_curves_over_time_that_coincide_share_a_label():
    _, axes = panels.grid(["one"], 46.0)
    axes[0].set(yscale="log", ylim=(1e-6, 1e-1))
    time, error = np.linspace(0.0, 1.0, 9), np.geomspace(1e-5, 1e-2, 9)
    styles = [marks.Mark(marks.PALETTE[hue][2], "o", "-", hue) for hue in "abc"]
    labels.name_together(axes[0], [(mark, np.stack([time, factor*error]))
                                    for mark, factor in zip(styles, (1.0, 1.2, 3.0), strict=True)], 32.0)
    assert [text.get_text() for text in axes[0].texts] == ["a; b"]
    labels.name_together(axes[0], [(mark, np.zeros((2, 0))) for mark in styles], 32.0)  # runs that stop at once
    assert len(axes[0].texts) == 1


def test_captions_name_curves_that_coincide_and_have_no_label():
    figure, axes = panels.grid(["one", "two", "three"], 46.0)
    styles = [marks.Mark(marks.PALETTE[hue][2], "o", "-", f"${hue}$") for hue in "abc"]
    x = np.geomspace(1.0, 10.0, 5)
    for panel, factors in zip(axes, ((1.0, 1.01, 8.0), (1.0, 8.0, 8.01), (1.0, 1.01, 8.0)), strict=True):
        for mark, factor in zip(styles, factors, strict=True):
            panels.hollow(panel, x, factor*x**2, mark, x < 3.0)
        panels.logarithmic(panel)
    assert labels.coinciding(figure) == (
        " Curves that coincide in (a), (c): $a$; $b$. Curves that coincide in (b): $b$; $c$.")
    labels.end_labels(axes[0], [labels.EndLabel(10.0, 100.0, "", tuple(styles[:2]))], 32.0)
    assert plain(labels.coinciding(figure)) == (
        " Curves that coincide in (b): b; c. Curves that coincide in (c): a; b.")
    for panel, title in zip(axes, ("", "energy,\nJ", "power"), strict=True):
        panel.set_title(title, loc="left")
    assert plain(labels.coinciding(figure)) == (
        " Curves that coincide in “energy, J”: b; c. Curves that coincide in “power”: a; b.")
    axes[1].set_title("", loc="left")
    assert plain(labels.coinciding(figure)).startswith(" Curves that coincide in an untitled panel: b; c.")


def test_curves_without_numbers_or_alone_do_not_coincide():
    """Of a run that stopped at once, or has zeros on a logarithmic axis; no warning, no sentence."""
    x, zeros, none = np.arange(1.0, 6.0), np.zeros(5), np.full(5, np.nan)
    for curves, scale, said in (([], "log", ""), ([x], "log", ""), ([none, none], "linear", ""), ([x, none], "log", ""),
                                ([np.arange(5.0), np.arange(5.0)], "log", " Curves that coincide: a; b."),
                                ([zeros, zeros], "linear", " Curves that coincide: a; b.")):
        figure = Figure()
        axes = figure.subplots()
        for name, values in zip("ab", curves, strict=False):
            axes.plot(x, values, gid=name)
        axes.set_yscale(scale)
        assert labels.coinciding(figure) == said


@pytest.mark.parametrize(("text", "lines"), [
    ("RKMK, θ = 1/4; RKMK, θ = 3/4", ["RKMK, θ = 1/4;", "RKMK, θ = 3/4"]),
    ("exact one RKN 4", ["exact one", "RKN 4"]),
    ("a long MPL; MPH (a)", ["a long MPL;", "MPH (a)"]), ("five turns; 12 more", ["five turns;", "12 more"])])
def test_a_label_keeps_names_and_their_numbers_in_one_line(text, lines):
    assert labels.folded(text, 14).split("\n") == lines


@pytest.mark.parametrize(("tex", "text"), [
    ("$D_t$ = 3 m (not evaluable), $\\phi = 1$", "D_t = 3 m (not evaluable), phi = 1"),
    ("contact energy $s^{5/2}$", "contact energy s^(5/2)"), ("5 $ and no formula", "5 $ and no formula"),
    ("$\\Sigma J\\Omega$, $10^{14}\\,P_y$, $|1 - q_i\\cdot q_i|$", "Sigma J Omega, 10^(14) P_y, |1 - q_i.q_i|"),
    ("5 $ and 6 $ each", "5 $ and 6 $ each")])
def test_captions_have_no_tex(tex, text):
    assert plain(tex) == text


def test_texts_of_an_ensemble_stay_beside_the_line_at_one():
    axes = Figure().subplots()
    series._strip(axes, 0, np.array([1.234567e-7, 2.345678e-7]), "red", 1.23456e-7)
    assert [(text.get_text(), text.get_ha()) for text in axes.texts] == [
        ("median 1.79e-7", "left"), ("printed 1.2346e-7", "right")]


def test_a_look_that_two_methods_share_stands_once_below_series(monkeypatch):
    """One method on two problems, with the step where that is the same."""
    mark, other = marks.Mark("#000000", "o", "-", "one"), marks.Mark("#0000ff", "s", "-", "other")
    monkeypatch.setattr(series, "marks", lambda results: {"one": mark, "one_again": mark, "other": other})
    monkeypatch.setattr(series, "label_of", lambda results, problem: problem)
    monkeypatch.setattr(series, "_curve", lambda panel, *given, **more: panel.plot([0.5], [1.0]) and np.ones((2, 1)))

    def cell(step):
        return SimpleNamespace(spec=SimpleNamespace(steps=10, step=step, t_end=1.0))

    def words(steps):
        found = {"first": [("one", cell(0.1), None), ("other", cell(0.1), None)], "second": [
            ("one_again", cell(steps), None)]}
        monkeypatch.setattr(series, "curves", lambda results, problem: found[problem])
        figure = series._draw(SimpleNamespace(), [*found], None, None, "error")
        return [text.get_text() for text in figure.legends[0].get_texts()]

    assert words(0.1) == ["one, h = 0.1", "other, h = 0.1"]
    assert words(0.2) == ["one", "other, h = 0.1"]


def test_panels_of_equal_values_are_left_out_and_named():
    figure, axes = panels.grid(["first", "level", "empty", "last"], 50.0)
    mark = marks.Mark("#000000", "o", "-", "one")
    for panel, values in zip(axes, ([1.0, 3.0], [2.0, 2.0], [np.nan, np.nan], [5.0, 1.0]), strict=True):
        panel.plot([0.0, 1.0], values, **mark.line)
    height = figure.get_figheight()
    assert panels.leave_out(figure).endswith(": level, empty.")
    assert [panel.get_title(loc="left") for panel in figure.axes] == ["(a) first", "(b) last"]
    assert height - figure.get_figheight() == pytest.approx(50.0/25.4)
    assert panels.leave_out(figure) == ""


def test_panels_whose_runs_end_at_once_are_left_out():
    figure, axes = panels.grid(["stops", "goes on"], 50.0)
    mark = marks.Mark("#000000", "o", "-", "one")
    for panel, end in zip(axes, (2.0, 100.0), strict=True):
        panel.semilogy([0.0, end], [1e-14, 1e4], **mark.line)
        panel.set_xlim(0.0, 100.0)
    assert panels.leave_out(figure).endswith("all runs end at once: stops.")


def test_round_off_has_no_slope_on_a_logarithmic_axis():
    axes = Figure().subplots()
    axes.loglog([0.005, 0.01], [1.5e-15, 3.5e-15])
    panels.logarithmic(axes)
    low, high = axes.get_ylim()
    assert np.log10(high/low) == pytest.approx(1.5)
    assert np.sqrt(low*high) == pytest.approx(np.sqrt(1.5e-15*3.5e-15))
