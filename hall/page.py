"""The part of docs/hall.md that is made from the stored table."""
from collections.abc import Mapping, Sequence
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent/"docs"/"hall.md"
BEGIN, END = "<!-- made by python -m hall -->\n", "<!-- end of what is made -->\n"
HEAD = ("| code | method | problem | order stated | order found | class | error, finest | energy | momentum |"
        " ms at 1e-6 |\n|" + "---|"*10)


def text(rows: Sequence[Mapping[str, str]]) -> str:
    """One line for each method and problem, one for each code that is missing."""
    lines = [HEAD]
    for row in sorted(rows, key=lambda row: (row["code"], row["method"], row["problem"])):
        if not row["problem"]:
            lines.append(f"| {row['code']} | missing: {row['missing']} |" + " |"*8)
            continue
        lines.append("| " + " | ".join((
            f"{row['code']} {row['version']}", f"`{row['method']}`", row["problem"].replace("_", " "),
            _number(row["order_stated"], "g"), _number(row["order_found"], ".2f"),
            row["class"] or row["missing"],
            *(_number(row[name], ".1e") for name in ("error_finest", "energy_error", "momentum_error")),
            _number(row["milliseconds_1e-06"], ".3g"))) + " |")
    return "\n".join(lines) + "\n"


def _number(value: str, form: str) -> str:
    return "" if value in ("", "nan") else format(float(value), form)


def with_table(page: str, rows: Sequence[Mapping[str, str]]) -> str:
    """The page with its part made anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{text(rows)}\n{END}{after}"
