"""From the repository to a folder of HTML pages."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from docs.site.facts import write_api, write_keys, write_systems, write_theory
from docs.site.gallery import write_gallery, write_verdicts, write_which
from docs.site.snapshot import Snapshot
from docs.site.source import TOP, stage
from liestep.errors import InputError

HERE = Path(__file__).resolve().parent
SNAPSHOT = TOP/"docs"/"snapshot"
MENDED = {  # what Sphinx and its theme leave out: levels of captions, names of landmarks, keys for what can be scrolled
    # (a switch needs a state beside that of its checkbox)
    'role="heading">': 'role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    ' role="switch"': ""}


def write_source(target: Path) -> None:
    """Everything that Sphinx reads.

    Raises:
        InputError: a link that leads to nothing, or a snapshot of mixed runs.
    """
    snapshot = Snapshot(SNAPSHOT)
    stage(target)
    write_systems(target/"systems")
    write_theory(target/"theory")
    write_api(target/"api.md")
    write_keys(target/"keys.md")
    write_gallery(target/"gallery", snapshot)
    write_verdicts(target, snapshot)
    write_which(target/"which", snapshot)
    draw_pictures(target/"pictures")


def draw_pictures(target: Path) -> None:
    """Pictures of the systems, in a process of its own without compilation.

    Raises:
        InputError: one cannot be drawn.
    """
    path = os.pathsep.join(filter(None, (str(TOP), str(TOP/"src"), os.environ.get("PYTHONPATH"))))
    done = subprocess.run([sys.executable, "-m", "docs.site.pictures", str(target)], capture_output=True, text=True,
                          env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path})
    if done.returncode != 0:
        raise InputError(f"the pictures of the systems cannot be drawn: {done.stderr.strip().splitlines()[-1]}")


def build(target: Path) -> str:
    """Make the site; any warning of Sphinx is an error.

    Raises:
        InputError: a warning, a link that leads to nothing, a snapshot of mixed runs.
    """
    from sphinx.cmd.build import main

    with tempfile.TemporaryDirectory(prefix="site-") as folder:
        source, pages = Path(folder)/"source", Path(folder)/"pages"
        write_source(source)
        arguments = ["-q", "-W", "--keep-going", "-b", "html", "-c", str(HERE), "-d", f"{folder}/doctrees"]
        if main([*arguments, str(source), str(pages)]) != 0:
            raise InputError("the site has warnings, see above")
        for page in pages.rglob("*.html"):
            text = page.read_text("utf-8")
            for made, mended in MENDED.items():
                text = text.replace(made, mended)
            page.write_text(text, "utf-8")
        # Sphinx keeps pictures in _images under other names; figures of the gallery lead to these
        shutil.copytree(source/"gallery", pages/"gallery", dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.md"))
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(pages, target, ignore=shutil.ignore_patterns(".buildinfo*", "objects.inv"))
    return f"{target/'index.html'}: {len(list(target.rglob('*.html')))} pages"
