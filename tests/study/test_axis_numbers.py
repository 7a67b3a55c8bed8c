"""Numbers at the axes of figures: text that says what matplotlib's formula says."""
import matplotlib
import numpy as np
import pytest
from matplotlib.font_manager import findfont, get_font

from liestep.figures.rendering import RAISED, plain, use_plain_numbers
from liestep.figures.style import RC, new_figure


@pytest.mark.parametrize(("formula", "text"), [
    (r"$\mathdefault{10^{-3}}$", "10⁻³"), (r"$\mathdefault{-10^{12}}$", "−10¹²"),
    (r"$\mathdefault{2\times10^{4}}$", "2×10⁴"), (r"$\mathdefault{0.25}$", "0.25"),
    (r"$\times\mathdefault{10^{−6}}\mathdefault{}$", "×10⁻⁶"),
    ("0.5", "0.5"), ("$", "$"), (r"$10^{0.5}$", r"$10^{0.5}$"), (r"$\omega_1$", r"$\omega_1$")])
def test_a_number_keeps_its_meaning(formula, text):
    assert plain(formula) == text


def test_the_font_has_all_signs():
    font = get_font(findfont("DejaVu Sans"))
    assert all(font.get_char_index(sign) for sign in {*RAISED.values(), ord("×"), ord("−")})


def test_axes_of_a_figure_have_no_formulas_and_the_same_values():
    with matplotlib.rc_context(RC):
        figure = new_figure(90.0, 60.0)
        axes = figure.subplots()
        axes.loglog(np.logspace(-7, 2, 10), np.logspace(-3, 5, 10))
        before = [text.get_text() for text in axes.get_xticklabels()]
        second = figure.add_subplot(2, 1, 2)
        second.plot([0.0, 1.0], [-2e-7, 3e-7])
        use_plain_numbers(figure)
        figure.canvas.draw()
        after = [text.get_text() for text in axes.get_xticklabels()]
        assert any("$" in text for text in before)
        assert after == [plain(text) for text in before]
        for each in (axes, second):
            labels = [*each.get_xticklabels(), *each.get_yticklabels(), each.yaxis.get_offset_text()]
            assert not any("$" in text.get_text() for text in labels)
        assert second.yaxis.get_offset_text().get_text() == "×10⁻⁷"
