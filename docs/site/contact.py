"""Contact sheets: all figures of a results folder as one picture for each paper, to look at before they are shown."""
from pathlib import Path

from PIL import Image, ImageDraw

from liestep.errors import InputError
from liestep.workflow.report.pictures import narrower

COLUMNS, WIDTH, GAP = 3, 640, 26  # pictures in a row; pixels of one, and of the line with its name above it


def sheets(results: Path, target: Path) -> str:
    """Write PAPER.png for each folder of studies; returns one line about them.

    Raises:
        InputError: no figure.
    """
    found: dict[str, list[Path]] = {}
    for path in sorted(results.glob("*/*/figures/*.png")):
        found.setdefault(path.relative_to(results).parts[0], []).append(path)
    if not found:
        raise InputError(f"{results} has no figures; make results first: python3 make.py results")
    target.mkdir(parents=True, exist_ok=True)
    for paper, paths in found.items():
        small = []
        for path in paths:
            with Image.open(path) as image:
                small.append(narrower(image.convert("RGB"), WIDTH))
        rows = [range(start, min(start + COLUMNS, len(small))) for start in range(0, len(small), COLUMNS)]
        heights = [GAP + max(small[k].height for k in row) for row in rows]
        sheet = Image.new("RGB", (COLUMNS*(WIDTH + GAP), sum(heights)), "white")
        draw = ImageDraw.Draw(sheet)
        for place, row in enumerate(rows):
            for k in row:
                corner = (WIDTH + GAP)*(k - row.start), sum(heights[:place])
                draw.text(corner, f"{paths[k].parts[-3]}: {paths[k].stem}", fill="black", font_size=16)
                sheet.paste(small[k], (corner[0], corner[1] + GAP))
        sheet.save(target/f"{paper}.png")
    return f"{target}: {sum(map(len, found.values()))} figures on {len(found)} sheets"
