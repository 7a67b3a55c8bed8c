"""Errors that name what a person wrote wrong. This module imports nothing of the package, so that
everything may import it."""
import difflib
from collections.abc import Iterable
from typing import Any

FEW, CLOSEST = 12, 5  # so many allowed names are all shown, else the closest
LONGEST = 60         # characters of a wrong name that are shown


class InputError(ValueError):
    """Something a person wrote is wrong; the message is one sentence: what, where, what is allowed."""


class PluginError(InputError):
    """The code of a plugin cannot be compiled: a single run is refused, a sweep records it as a
    failed run and goes on."""


def number_or_nan(value: Any) -> float:
    """What a person wrote as a number; NaN, which no rule allows, for anything else: for
    booleans and complex numbers too."""
    try:
        return float("nan") if isinstance(value, bool | complex) else float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def unknown(what: str, name: str, allowed: Iterable[str]) -> str:
    """Sentence for an unknown name, closest match first."""
    known, given = sorted(set(map(str, allowed))), str(name)
    close = difflib.get_close_matches(given, known, n=CLOSEST, cutoff=0.0)
    hint = f"; did you mean {close[0]}?" if difflib.get_close_matches(given, close[:1], cutoff=0.5) else ""
    shown = given if len(given) <= LONGEST else f"{given[:LONGEST]}..."
    some = f"closest of {len(known)}: {', '.join(close)}" if len(known) > FEW else f"allowed: {', '.join(known)}"
    return f"unknown {what} {shown!r}{hint} ({some})"
