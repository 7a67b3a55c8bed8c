"""Write a figure into its files: one layout for both formats, and no work of matplotlib twice. The pictures are those
of matplotlib. What is shared are results that it computes again for each of its passes (two of the layout, one for each
file): ticks of an axis, formulas, and the reading of fonts. Together they are half of the time of a figure."""
import functools
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from fontTools import subset
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.mathtext import MathTextParser
from matplotlib.ticker import NullFormatter, NullLocator

from liestep.errors import InputError
from liestep.figures.captions import fill, restructured
from liestep.figures.panels import leave_out
from liestep.figures.style import DPI, RC, Drawing, Results
from liestep.files.textfiles import replacing, write_text_atomically

_load_font = subset.load_font


def _font_of_a_pdf(*arguments: Any, **options: Any) -> Any:
    """A font without the tables for laying out text: matplotlib has done that. To read them and thin them out would
    take a third of a figure's time."""
    font = _load_font(*arguments, **options)
    for table in {"GDEF", "GPOS", "GSUB"} & set(font.keys()):
        del font[table]
    return font


subset.load_font = _font_of_a_pdf
# Matplotlib remembers 50 formulas, fewer than the labels of one figure at two resolutions; to parse one takes 4 ms.
_parser: Any = MathTextParser  # the types of matplotlib do not know what it keeps to itself
_parser._parse_cached = functools.lru_cache(maxsize=4096)(_parser._parse_cached.__wrapped__)
TICKS = "_update_ticks"  # the method of an axis that places them


def save(figure: Figure, base: Path) -> list[Path]:
    """Write base.png and base.pdf, each whole or not at all; the same figure gives the same bytes. Raises InputError:
    the folder cannot be written."""
    base = Path(base)
    paths = []
    use_plain_numbers(figure)
    with matplotlib.rc_context(RC), _shared_ticks(figure):
        figure.set_dpi(DPI)
        if engine := figure.get_layout_engine():
            with _without_bare_ticks(figure):
                engine.execute(figure)
        figure.set_layout_engine(None)  # both files have this layout; each further one would cost as much as drawing
        for kind, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, dpi=DPI, metadata=metadata)
            paths.append(base.with_name(f"{base.name}.{kind}"))
            with replacing(paths[-1]) as temporary:
                temporary.write_bytes(buffer.getvalue())
    return paths


@contextmanager
def _without_bare_ticks(figure: Figure) -> Iterator[None]:
    """Inside, axes have no minor ticks without labels: these need no room, but half of the layout's time."""
    bare = [axis for axes in figure.axes
            for axis in (axes.xaxis, axes.yaxis) if isinstance(axis.get_minor_formatter(), NullFormatter)]
    locators = [axis.get_minor_locator() for axis in bare]
    for axis in bare:
        axis.set_minor_locator(NullLocator())
    yield
    for axis, locator in zip(bare, locators, strict=True):
        axis.set_minor_locator(locator)


@contextmanager
def _shared_ticks(figure: Figure) -> Iterator[None]:
    """Inside, the ticks of an axis are placed once for each size and view of its panel, not three times a pass."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            setattr(axis, TICKS, _once_for_each_view(axis))
    yield
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            delattr(axis, TICKS)


def _once_for_each_view(axis: Axis) -> Callable[[], list[Any]]:
    known: dict[str, Any] = {"view": None, "ticks": []}
    update = getattr(axis, TICKS)

    def ticks() -> Any:
        box, figure = axis.axes.bbox, axis.get_figure(root=True)
        assert figure is not None
        view = (*box.bounds, figure.dpi, *axis.get_view_interval(), axis.get_minor_locator())
        if view != known["view"]:
            known.update(ticks=update(), view=view)
        return known["ticks"]

    return ticks


RAISED = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
UPRIGHT = re.compile(r"\\mathdefault\{((?:[^{}]|\{[^{}]*\})*)\}")
POWER = re.compile(r"\^\{([-−]?\d+)\}")


def plain(label: str) -> str:
    """A number that matplotlib has written as a formula, as text; anything else unchanged."""
    if not (label.startswith("$") and label.endswith("$") and len(label) > 1):
        return label
    text = UPRIGHT.sub(r"\1", label[1:-1]).replace(r"\times", "×")
    text = POWER.sub(lambda found: found[1].translate(RAISED), text).replace("-", "−")
    return label if re.search(r"[\\{}^_$]", text) else text


def use_plain_numbers(figure: Figure) -> None:
    """Let all axes of a figure write their numbers as text."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            for formatter in (axis.get_major_formatter(), axis.get_minor_formatter()):
                kind = type(formatter)
                setattr(formatter, "format_ticks",  # noqa: B010  its type knows no assignment to a method
                        lambda values, of=formatter, kind=kind: [plain(text) for text in kind.format_ticks(of, values)])
                setattr(formatter, "get_offset",  # noqa: B010
                        lambda of=formatter, kind=kind: plain(kind.get_offset(of)))


def write(results: Results, name: str, draw: Drawing) -> list[Path]:
    """Write <folder of the study>/figures/<name>.pdf, .png, .caption.txt and .caption.rst; returns the paths. Raises
    InputError: a product that the figure needs is missing or stale, or the folder cannot be written."""
    base = results.study.folder/"figures"/name
    try:
        figure = draw(results)
        left_out = leave_out(figure)
        paths = save(figure, base)
    except InputError as error:
        raise InputError(f"figure {name} of {results.study.name}: {error}") from None
    text = fill(draw, results, name) + left_out
    captions = {base.with_name(f"{base.name}.caption.txt"): text,
                base.with_name(f"{base.name}.caption.rst"): restructured(text)}
    for path, content in captions.items():
        write_text_atomically(path, content + "\n")
    return [*paths, *captions]
