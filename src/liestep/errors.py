"""Errors that name what a person wrote wrong. This module imports nothing of the package, so that
everything may import it."""
import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Something a person wrote is wrong; the message is one sentence: what, where, what is allowed."""


class PluginError(InputError):
    """The code of a plugin cannot be compiled: a single run is refused, a sweep records it as a
    failed run and goes on."""


def unknown(what: str, name: str, allowed: Iterable[str]) -> str:
    """Sentence for an unknown name, closest match first."""
    close = difflib.get_close_matches(str(name), list(allowed), n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"unknown {what} {name!r}{hint} (allowed: {', '.join(sorted(allowed))})"
