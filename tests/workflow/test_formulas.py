"""Formulas of pages: the plain text of sheets as TeX, and TeX as MathML."""
import re
from pathlib import Path

import pytest

from docs.site.facts import system_page
from docs.site.formulas import inline, mathml, tex
from liestep.claims.errata import errata_files, load_errata
from liestep.simulation.catalogue import system_ids

CONFIG = Path(__file__).parents[2]/"config"


@pytest.mark.parametrize(("text", "wanted"), [
    ("dq_i/dt = omega_i x q_i", r"\frac{\mathrm{d} q_{i}}{\mathrm{d}t} = \omega_{i} \times q_{i}"),
    ("w = Q I^-1 Q^T pi", r"w = Q I^{-1} Q^{T} \pi"),
    ("m d2x/dt2 = -EA/(2 l^4) (|x|^2 - l^2) x", r"m \frac{\mathrm{d}^{2} x}{\mathrm{d}t^{2}} = -\mathrm{EA} /(2 l^{4})"
     r" (|x|^{2} - l^{2}) x"),
    ("sum_{j!=i} M_ij q_i.q_j", r"\sum_{j\neq i} M_{i j} q_{i} \cdot q_{j}"),
    ("dC/dt = C hat V", r"\frac{\mathrm{d} C}{\mathrm{d}t} = C \widehat{V}"),
    ("[[m_1, 0], [0, m_2]]", r"\begin{pmatrix}m_{1} & 0 \\ 0 & m_{2}\end{pmatrix}"),
    ("dX/dt = dcay^-1_(-X) V", r"\frac{\mathrm{d} X}{\mathrm{d}t} = \mathrm{dcay} ^{-1}_{-X} V"),
    ("c/sqrt(1 + (a + b)/2)", r"c/\sqrt{1 + (a + b)/2}"),
    ("rest_length + c~", r"\,\mathrm{rest length} + \tilde{c}"),
    ("mu' = -ad*_(I^-1 mu) mu", r"\mu' = -\mathrm{ad}^{*}_{I^{-1} \mu} \mu"),
    ("(tol/e)^(1/(p~+1)) h", r"(\mathrm{tol} /e)^{1/(\tilde{p} +1)} h")])
def test_plain_formulas_as_tex(text, wanted):
    assert tex(text) == wanted


def test_sentences_keep_their_words_and_ids():
    assert inline("Q is the attitude; see `joint_in`, which index_three takes at 1e-3 of q_i.q_j.") == (
        r"$Q$ is the attitude\; see `joint_in`\, which `index_three` takes at 1e\-3 of $q_{i} \cdot q_{j}$.")


@pytest.mark.parametrize(("text", "wanted"), [
    ("for h |w| <= 1, turns up to pi/2", r"for $h |w| \leq 1$, turns up to $\pi /2$"),
    ("e1 = [1, 0, 0], not as printed", r"$e_{1} = [1, 0, 0]$, not as printed"),
    ("0.1 m with k/4 and 30 N/m and/or 2 pi rad/s",
     r"0\.1 m with $k/4$ and 30 N\/m and\/or 2 $\pi$ rad\/s"),
    ("-h DV + ..., as (72b) gives", r"$-h \mathrm{D} V + \ldots$, as \(72b\) gives"),
    ("Y3 = exp(h(5/12 f1).y", r"$Y_{3} = \exp (h(5/12 f_{1}) \cdot y$"),
    ("beside l = 9.81 m (g, not printed)", r"beside $l = 9.81 m$ ($g$, not printed\)")])
def test_formulas_in_sentences(text, wanted):
    assert inline(text) == wanted


@pytest.mark.parametrize("paper", errata_files(CONFIG))
def test_no_formula_of_an_erratum_stays_plain_text(paper):
    for entry in load_errata(paper, CONFIG).errata:
        for text in (entry.printed, entry.correct):
            rest = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", "", inline(text), flags=re.DOTALL)
            assert not re.search(r"[_^=~|<>*]|\bsqrt\b|\bphi\b|\bpi\b", rest), (entry.number, rest)


def test_the_index_of_a_letter_with_an_accent_stands_beside_it():
    for written in (r"{\dot q}_i", r"\dot q_i"):
        found = re.sub(r"\s", "", mathml(written))
        assert "<msub><mover><mi>q</mi>" in found
        assert "</mover><mi>i</mi></msub>" in found


@pytest.mark.parametrize("name", system_ids())
def test_every_formula_of_a_systems_page_is_mathml(name):
    page = system_page(name)
    assert "```text" not in page
    formulas = re.findall(r"\$\$\n(.*?)\n\$\$|(?<!\$)\$([^$\n]+)\$(?!\$)", page)
    assert formulas
    for display, within in formulas:
        assert mathml(display or within).startswith("<math")
