"""Write a figure into its files: one layout for both formats, and fonts without what text needs to be laid out."""
import io
from pathlib import Path
from typing import Any

import matplotlib
from fontTools import subset
from matplotlib.figure import Figure

from liestep.errors import InputError
from liestep.figures.captions import fill, plain, restructured
from liestep.figures.labels import coinciding
from liestep.figures.panels import leave_out
from liestep.figures.style import DPI, RC, Drawing, Results
from liestep.files.textfiles import replacing, write_text_atomically
from liestep.study.plan.papers import given, paper_code

_load_font = subset.load_font


def _font_of_a_pdf(*arguments: Any, **options: Any) -> Any:
    """A font without the tables for laying out text, which matplotlib has done: they take a third of its time."""
    font = _load_font(*arguments, **options)
    for table in {"GDEF", "GPOS", "GSUB"} & set(font.keys()):
        del font[table]
    return font


subset.load_font = _font_of_a_pdf


def save(figure: Figure, base: Path) -> list[Path]:
    """Write base.png and base.pdf, each whole or not at all, equal bytes for equal figures. Raises InputError."""
    paths = []
    with matplotlib.rc_context(RC):
        figure.set_dpi(DPI)
        if engine := figure.get_layout_engine():
            engine.execute(figure)
        figure.set_layout_engine(None)  # both files have this layout; each further one would cost as much as drawing
        for kind, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, dpi=DPI, metadata=metadata)
            paths.append(base.with_name(f"{base.name}.{kind}"))
            with replacing(paths[-1]) as temporary:
                temporary.write_bytes(buffer.getvalue())
    return paths


def write(results: Results, name: str, draw: Drawing) -> list[Path]:
    """Write <folder of the study>/figures/<name>.pdf, .png, .caption.txt and .caption.rst; returns the paths. Raises
    InputError: a product that the figure needs is missing or stale, or the folder cannot be written."""
    base = results.study.folder/"figures"/name
    try:
        with paper_code(draw):
            figure = given(Figure, draw, results)
            if not figure.axes:
                raise InputError("it has no axes, so it shows nothing")
            left_out = leave_out(figure) + coinciding(figure)
            text = fill(draw, results, name) + plain(left_out)
            paths = save(figure, base)
    except InputError as error:
        raise InputError(f"figure {name} of {results.study.name}: {error}") from None
    captions = {base.with_name(f"{base.name}.caption.txt"): text,
                base.with_name(f"{base.name}.caption.rst"): restructured(text)}
    for path, content in captions.items():
        write_text_atomically(path, content + "\n")
    return [*paths, *captions]
