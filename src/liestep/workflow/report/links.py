"""Addresses inside the pages: of studies, figures, tables, claims and errata, and which of them a claim rests on."""
import re
from collections.abc import Collection, Mapping, Sequence
from urllib.parse import quote

from markupsafe import Markup, escape

from liestep.claims.claimfile import Claim

# First part of a quantity's name -> figures and tables that show it.
SHOWN_BY = {"energy": ("energy_error", "energy_convergence", "energy"), "momentum": ("momentum_error", "momentum"),
            "unit_length": ("length_error", "length_convergence"), "tangency": ("length_error", "length_convergence"),
            "error": ("convergence", "work_precision"), "cost": ("work_precision", "work"),
            "iterations": ("iterations", "work"), "steps": ("work_precision", "work"), "status": ("failures",)}
# kind of criterion -> the same
DECIDED_BY = {"order": ("convergence", "orders"), "drift": ("drift",), "quantile": ("ensemble",)}


def anchor(*parts: str) -> str:
    """Id of a part of the page, which is also its address after `#`: anchor("figure", "mine/pendulum", "drift")."""
    return quote("/".join(parts), safe="/._-")


def evidence(claim: Claim, paper: str, figures: Mapping[str, Collection[str]],
             tables: Mapping[str, Collection[str]]) -> list[tuple[str, str, str]]:
    """(text, study, anchor) of the figures and tables that show what a claim is about, in the studies that it names.

    Args:
        figures, tables: names in the page, by study.
    """
    studies = list(dict.fromkeys(choice.study for choice in (*claim.runs, *claim.against)))
    numbers = re.findall(r"figures? (\d+)", claim.source)
    names = [*DECIDED_BY.get(claim.criterion.kind, ()),
             *(name for start, shown in SHOWN_BY.items() if claim.quantity.startswith(start)
               for name in shown)]
    found = [(f"figure {name}", study, anchor("figure", study, name)) for number in numbers
             for study, known in figures.items() for name in known if name == f"{paper}.figure{number}"]
    for study in studies:
        own = [name for name in figures.get(study, ()) if name in names
               or (not numbers and name.startswith(f"{paper}."))]
        found += [(f"figure {name} of {study}", study, anchor("figure", study, name)) for name in own]
        found += [(f"table {name} of {study}", study, anchor("table", study, name))
                  for name in names if name in tables.get(study, ())]
    return list(dict.fromkeys(found))


def link_errata(text: str, paper: str, known: Sequence[str]) -> Markup:
    """A text in which "erratum 9" and "errata 5 and 6" lead to the entries of the paper; `known` are their
    ids, for example 9 or 5a."""

    def link(match: re.Match) -> str:
        entry = next((name for name in known if name == match[0] or re.sub(r"\D", "", name) == match[0]), None)
        return f'<a href="#{anchor("erratum", paper, entry)}">{match[0]}</a>' if entry else match[0]

    def numbers(match: re.Match) -> str:
        return re.sub(r"\d+[a-z]?", link, match[0])

    return Markup(re.sub(r"\berrat(?:um|a) \d+[a-z]?(?:(?:, | and )\d+[a-z]?\b)*", numbers, str(escape(text))))
