"""The stored table as the site shows it: all of it in docs/other_codes.md, a line for each method in
docs/rotation_bench.md."""
from collections.abc import Mapping, Sequence

LONG = "long_top"
LONG_HEAD = "| code | method | energy | verdict | growth | momentum | orthogonality |\n|" + "---|"*7
HEAD = ("| code | method | problem | order stated | order found | class | error, finest | energy | momentum |"
        " ms at 1e-6 |\n|" + "---|"*10)
SHORT = ("free_body", "heavy_top")
ENGINES_HEAD = ("| code | method | order: free body | heavy top | error: free body | heavy top | energy, 1,000 s |"
                " growth |\n|" + "---|"*8)


def engines(rows: Sequence[Mapping[str, str]]) -> str:
    """One line for each method, by the error of the heavy top: order, finest error, energy and its growth."""
    found: dict[tuple[str, str], dict[str, Mapping[str, str]]] = {}
    for row in rows:
        if row["problem"]:
            found.setdefault((f"{row['code']} {row['version']}", row["method"]), {})[row["problem"]] = row
    lines = [ENGINES_HEAD]
    best_first = sorted(found.items(), key=lambda part: float(part[1][SHORT[1]]["error_finest"] or "inf"))
    for (code, method), cases in best_first:
        orders = (_number(cases[name]["order_found"], ".2f") or cases[name]["class"] or "adaptive" for name in SHORT)
        long = cases[LONG]
        lines.append("| " + " | ".join((code, f"`{method}`", *orders,
                                        *(_number(cases[name]["error_finest"], ".1e") for name in SHORT),
                                        _number(long["energy_error"], ".1e") or "unstable",
                                        _number(long["growth"], ".2f"))) + " |")
    return "\n".join(lines) + "\n"


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
