"""The stored table as the site shows it in docs/other_codes.md."""
from collections.abc import Mapping, Sequence

LONG = "long_top"
LONG_HEAD = "| code | method | energy | verdict | growth | momentum | orthogonality |\n|" + "---|"*7
HEAD = ("| code | method | problem | order stated | order found | class | error, finest | energy | momentum |"
        " ms at 1e-6 |\n|" + "---|"*10)


def text(rows: Sequence[Mapping[str, str]]) -> str:
    """One line for each method and problem, one for each code that is missing; then the long runs."""
    lines = [HEAD]
    rows = sorted(rows, key=lambda row: (row["code"], row["method"], row["problem"]))
    for row in (row for row in rows if row["problem"] != LONG):
        if not row["problem"]:
            lines.append(f"| {row['code']} | missing: {row['missing']} |" + " |"*8)
            continue
        lines.append("| " + " | ".join((
            f"{row['code']} {row['version']}", f"`{row['method']}`", row["problem"].replace("_", " "),
            _number(row["order_stated"], "g"), _number(row["order_found"], ".2f"),
            row["class"] or row["missing"],
            *(_number(row[name], ".1e") for name in ("error_finest", "energy_error", "momentum_error")),
            _number(row["milliseconds_1e-06"], ".3g"))) + " |")
    if long := [_long_line(row) for row in rows if row["problem"] == LONG]:
        lines += ["", "The heavy top for 1,000 s (155 periods), one run of each method:", "", LONG_HEAD, *long]
    return "\n".join(lines) + "\n"


def _long_line(row: Mapping[str, str]) -> str:
    energy, momentum, orthogonality = (_number(row[f"{name}_error"], ".1e")
                                       for name in ("energy", "momentum", "orthogonality"))
    return (f"| {row['code']} {row['version']} | `{row['method']}` | {energy} | {row['drift'] or row['missing']} |"
            f" {_number(row['growth'], '.2f')} | {momentum} | {orthogonality} |")


def _number(value: str, form: str) -> str:
    return "" if value in ("", "nan") else format(float(value), form)
