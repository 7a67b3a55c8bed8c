"""Errors of a plugin's code in one sentence: where in the user's file, and what to do, instead of
Numba's or Python's traceback."""
import linecache
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from liestep.compile.sources import MARK, PAPERS

HEAP = ("compiled code cannot make arrays, lists, sets or texts: use tuples and numbers, put(out, i, (x, y, z)), and"
        " take scratch arrays from a field or from workspace")
REASONS = (  # what Numba says -> what it means
    (r"Unknown attribute '(\w+)' of type (\w+)", "{1} has no field or method {0!r}"),
    (r"Untyped global name '(\w+)': Cannot determine Numba type of <class '([\w.]+)'>",
     "the name {0!r} stands for a {1}: compiled code knows numbers, tuples and functions marked @kernel; make data a"
     " field of the component"),
    (r"NameError: (?:global )?name '(\w+)' is not defined", "the name {0!r} is not defined"),
    (r"Cannot unify (\S+) and (\S+) for '(\w+?)(?:\.\d+)?'",
     "the variable {2!r} is {0} in one place and {1} in another"),
    (r"NRT required but not enabled|Only accept returning of array", HEAP),
    (r"(\S+ is called with other arguments than it has: .+)", "{0}"),
    (r"no BLAS", "compiled code has no matrix products: use dot, cross and loops over rows"),
    (r"No implementation of function Function\(.*?\) found for signature:\s*>>> (.+)",
     "there is no compiled version of {0}"),
)
PLACE = re.compile(r'(?:File "(?P<file>[^"]+)", line (?P<line>\d+))|(?: at (?P<at>/\S+\.py) \((?P<number>\d+)\))')


def plugin_files() -> set[str]:
    """Files of all loaded plugins, and of the papers' code."""
    return {str(Path(module.__file__).resolve()) for name, module in list(sys.modules.items())
            if (getattr(module, MARK, None) or name.startswith(f"{PAPERS}.")) and module.__file__}


def at_line(file: str | Path, line: int, message: str) -> str:
    """Sentence with file, line, and what stands there."""
    text = linecache.getline(str(file), line).strip()
    return f"{file}, line {line}: {message}" + (f" [{text}]" if text else "")


def compile_error(error: BaseException) -> str | None:
    """One sentence for an error of compilation in a plugin; None when no plugin has to do with it."""
    text, files = str(error), plugin_files()
    said = ((match["file"] or match["at"], int(match["line"] or match["number"])) for match in PLACE.finditer(text))
    place = next(((file, line) for file, line in chain(said, _statements(error))
                  if str(Path(file).resolve()) in files), None)
    return None if place is None else at_line(Path(place[0]).resolve(), place[1],
                                              f"cannot be compiled: {_reason(text)}")


def without_folders(sentence: str) -> str:
    """The sentence with plugins by the names of their files only, and without addresses in memory:
    the same on every machine."""
    for file in plugin_files() if os.sep in sentence else ():  # it looks at all modules: 1 ms
        sentence = sentence.replace(file, Path(file).name)
    return re.sub(r" at 0x[0-9a-f]+", "", sentence)


def _statements(error: BaseException) -> Iterator[tuple[str, int]]:
    """Places that Numba was compiling when the error was raised, the innermost first: errors that are not its own
    do not say them."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        place = getattr(frame.f_locals.get("self"), "loc", None)
        if place is not None:
            yield place.filename, place.line


def _reason(text: str) -> str:
    for pattern, sentence in REASONS:
        match = re.search(pattern, text)
        if match:
            return sentence.format(*match.groups())
    headers = ("Failed in", "- Resolution", "During", "File ")
    return next((line.strip() for line in text.splitlines() if line.strip() and not line.startswith(headers)),
                type(text).__name__)


@contextmanager
def plugin_errors(place: Path | None = None) -> Iterator[None]:
    """Where code of a plugin or of a paper runs, as `with` or as a decorator: its exceptions become InputError, one
    sentence with its line. Others stay as they are; all are those of `place`, where it is the file that runs."""
    from liestep.errors import InputError

    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        files = plugin_files()
        passed = [frame.filename for frame in traceback.extract_tb(error.__traceback__)
                  if str(Path(frame.filename).resolve()) in files]
        last = Path(passed[-1]) if passed else place
        sentence = plain_error(error, last) if last else compile_error(error) if files else None
        if sentence is None:
            raise
        raise InputError(sentence) from None


def plain_error(error: BaseException, file: Path) -> str:
    """One sentence for an exception of plain Python: the last line of the user's file that it passed."""
    what = ": ".join(filter(None, (type(error).__name__, " ".join(str(error).split()))))
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return at_line(file, error.lineno or 1, f"syntax error: {error.msg}")
    lines = [frame.lineno or 1 for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return at_line(file, lines[-1], what) if lines else f"{file}: {what}"
