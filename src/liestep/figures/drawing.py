"""Draw one figure of a study into its files. What is imported here is a source of every figure;
the list of figures is not."""
from pathlib import Path

from liestep.errors import InputError
from liestep.figures.captions import fill, restructured
from liestep.figures.rendering import save
from liestep.figures.style import Drawing, Results
from liestep.files.textfiles import write_text_atomically


def write(results: Results, name: str, draw: Drawing) -> list[Path]:
    """Write <folder of the study>/figures/<name>.pdf, .png, .caption.txt and .caption.rst; returns the paths.

    Raises:
        InputError: a product that the figure needs is missing or stale, or the folder cannot be written.
    """
    base = results.study.folder/"figures"/name
    try:
        paths = save(draw(results), base)
    except InputError as error:
        raise InputError(f"figure {name} of {results.study.name}: {error}") from None
    text = fill(draw, results)
    captions = {base.with_name(f"{base.name}.caption.txt"): text,
                base.with_name(f"{base.name}.caption.rst"): restructured(text)}
    for path, content in captions.items():
        write_text_atomically(path, content + "\n")
    return [*paths, *captions]
