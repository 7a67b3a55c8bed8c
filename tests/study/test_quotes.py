"""The paper's own words beside each of its claims: every quote stands in the text, and no statement goes without."""
import pytest
from place import TOP
from quotes import FOLDER, not_found, pack, unpack

from liestep.claims.claimfile import claim_files, load_claims
from liestep.errors import InputError
from liestep.study.plan.yamlfile import line_of, read_yaml

FILES = claim_files(TOP/"config")
DONE = sorted(path.stem for path in FOLDER.iterdir())  # papers whose claims all have their quote
TEXT = """The vari-
ational integrator preserves the total energy (q of S2) \\emph{well}. The mean error is
3.5244×104Nm3.5244superscript104Nm3.5244\\times 10^{-4}\\,\\mathrm{Nm}; one
\N{LATIN SMALL LIGATURE FI}nds long\N{EN DASH}time results for N\N{MATHEMATICAL ITALIC CAPITAL N}N of 0.80.80.8 and
1014superscript101410^{-14}."""
CLAIMS = """\
paper: paper
claims:
  - {id: one, statement: s, source: x, asserted_by: paper, known: false, criterion: {kind: none}, setting: r,
     verdict: not testable,
     quote: "QUOTE"}
"""


def complaints(path, known):
    """One sentence for each quote of a claims file that the text with these hashes does not hold."""
    content, lines = read_yaml(path)
    for k, claim in enumerate(content["claims"]):
        missed = not_found(claim["quote"], known) if "quote" in claim else ""
        if missed:
            yield (f"{path}, line {line_of(('claims', k, 'quote'), lines)}: the quote of {claim['id']} is not in the"
                   f" text: '{missed}'")


@pytest.mark.parametrize("paper", sorted(path.stem for path in FOLDER.iterdir()))
def test_every_quote_stands_in_the_text_of_its_paper(paper):
    known = unpack((FOLDER/f"{paper}.bin").read_bytes())
    assert [*(found for path in FILES[paper] for found in complaints(path, known))] == []


@pytest.mark.parametrize("paper", DONE)
def test_who_says_what_a_paper_says_is_shown_by_its_words(paper):
    claims = load_claims(FILES[paper]).claims
    assert [one.id for one in claims if one.asserted_by in ("paper", "derived") and not one.quote] == []


@pytest.mark.parametrize(("quote", "missed"), [
    ("The variational integrator preserves the total energy", ""),
    ("the Variational integrator ... well. The mean", ""),
    ("mean error is 3.5244×10^-4 Nm", ""), ("10^-4 Nm; one finds long-time results", ""),
    ("the total energy", ""), ("results for N of 0.8 and 10^-14", ""), ("energy (q of", ""),
    ("the mean error is 3.5245×10^-4 Nm", "the mean error is 3.5245"),
    ("mean error is 3.5244×10^4 Nm", "error is 3.5244 10 4"),
    ("the variational integrator keeps the total energy", "the variational integrator keeps the"),
    ("total energy well", "total energy well"), ("the total energy ... well", "well"), ("energy well", "energy well")])
def test_a_quote_that_is_not_in_the_text_is_refused_with_its_first_words_and_the_line(tmp_path, quote, missed):
    path = tmp_path/"claims.yaml"
    path.write_text(CLAIMS.replace("QUOTE", quote), encoding="utf-8")
    assert load_claims([path]).claims[0].quote == quote
    said = [f"{path}, line 5: the quote of one is not in the text: '{missed}'"] if missed else []
    assert list(complaints(path, unpack(pack(TEXT)))) == said


@pytest.mark.parametrize(("old", "new", "said"), [
    ("QUOTE", "word "*26, "line 3: claims.0: a quote has at most 25 words"),
    ("asserted_by: paper", "asserted_by: own", "line 3: claims.0: a claim of our own quotes nobody (key quote)"),
    ("QUOTE", "a\\nb", "line 5: claims.0.quote: must be one line of characters that can be printed")])
def test_a_quote_is_one_line_of_few_words_of_somebody_else(tmp_path, old, new, said):
    path = tmp_path/"claims.yaml"
    path.write_text(CLAIMS.replace(old, new))
    with pytest.raises(InputError) as caught:
        load_claims([path])
    assert said in str(caught.value)
    path.write_text(CLAIMS.replace("QUOTE", "word ... "*25))
    assert load_claims([path])
