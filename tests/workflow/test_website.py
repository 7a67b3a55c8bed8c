"""The documentation site: built without a warning, nothing asked of another host, links that lead somewhere, and a
snapshot of one run only."""
import ast
import importlib.util
import inspect
import re
import textwrap
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import browser
import pytest
import yaml
from PIL import Image

import liestep
from docs.site.build import SNAPSHOT, build
from docs.site.facts import FAMILIES, family_of, public
from docs.site.snapshot import Snapshot
from docs.site.source import PICTURES, TOP, notebook, shown, staged
from liestep.api.command_line import build_parser
from liestep.simulation.catalogue import integrator_ids, system_ids

needs_sphinx = pytest.mark.skipif(importlib.util.find_spec("sphinx") is None,
                                  reason="Sphinx is not installed: make the environment of the lock")


def test_every_integrator_has_a_family():
    assert {family_of(name) for name in integrator_ids()} == set(FAMILIES)


def blocks(language: str) -> list[tuple[str, str]]:
    """(page, text) of the blocks of a language on all pages that are copied."""
    found = []
    for name in staged():
        if not name.endswith(PICTURES):
            text = shown((TOP/name).read_text("utf-8"), (TOP/name).parent)
            text = notebook(text) if name.endswith(".ipynb") else text
            found += [(name, block) for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)
                      if kind == language]
    return found


def test_code_on_the_pages_is_code():
    """Python compiles, YAML is read, commands of liestep exist with the names of their options."""
    assert len(blocks("python")) > 5
    for _, block in blocks("python"):
        ast.parse(textwrap.dedent(block))
    for _, block in blocks("yaml"):
        yaml.safe_load(block)
    commands = next(action.choices for action in build_parser()._actions if action.dest == "command")
    named = {(page, word) for language in ("", "bash", "sh") for page, block in blocks(language)
             for word in re.findall(r"^liestep ([a-z][a-z-]+)", block, re.M)}
    assert len(named) > 5
    assert {word for _, word in named} <= set(commands)


class Links(HTMLParser):
    """Ids of a page, where its links lead, and what it loads."""

    def __init__(self, path: Path):
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        self.loaded += [found[name] for name in ("src", "srcset", "data") if found.get(name)]
        if tag == "link" and found.get("href"):
            self.loaded.append(found["href"])


@pytest.fixture(scope="module")
def site(once):
    def fill(folder: Path) -> None:
        assert "pages" in build(folder/"pages")  # a warning is an error

    return once("site", fill)/"pages"


@needs_sphinx
def test_the_site_builds_loads_nothing_from_other_hosts_and_its_links_lead_somewhere(site):
    pages = {path: Links(path) for path in site.rglob("*.html")}
    assert len(pages) > 50
    for path, page in pages.items():
        for address in page.loaded:
            if address == "#":  # the page that is shown
                continue
            assert "//" not in address.replace("data:", ""), (path, address)
            assert address.startswith("data:") or (path.parent/unquote(address.partition("?")[0])).is_file(), address
        for address in page.links:
            file, _, fragment = unquote(address).partition("#")
            if "://" in file:
                assert file.startswith("https://"), address
                continue
            target = (path.parent/file).resolve() if file else path
            assert target.is_file(), (path, address)
            assert not fragment or target.suffix != ".html" or fragment in pages[target].ids, (path, address)
    for path in site.rglob("*.css"):
        for address in re.findall(r"url\(([^)]*)\)|@import ([^;]*)", path.read_text("utf-8")):
            assert not re.match(r"[\"']?(https?:)?//", "".join(address)), path


@needs_sphinx
@pytest.mark.parametrize("name", sorted(name for name in liestep.__all__ if inspect.isfunction(public(name))))
def test_the_api_page_shows_all_arguments_with_types(site, name):
    text = (site/"api.html").read_text("utf-8").partition(f'id="liestep.{name}"')[2]
    text = text.partition('<dl class="py')[0]
    shown = dict(re.findall(r"<strong>\**(\w+)</strong> \((.*?)\)", text))
    shared = {"name", "parameters", "t_end", "start"} if name == "system" else set()
    assert {*shown} | shared == {*inspect.signature(public(name)).parameters}
    assert "_Buffer" not in text  # what numpy.typing.ArrayLike stands for


@needs_sphinx
def test_the_page_about_liestep_has_its_own_title_and_leads_to_made_pages(site):
    text = (site/"readme.html").read_text("utf-8")
    assert "<h1>About liestep<" in text
    for page in ("claims.html", "errata.html", "run_it_here.html"):
        assert re.search(rf'<article.*<a [^>]*href="{page}"', text, re.DOTALL), page


@needs_sphinx
def test_pictures_say_what_they_show_and_headings_have_a_level(site):
    for path in site.rglob("*.html"):
        text = path.read_text("utf-8")
        assert not re.search(r'role="heading"(?! aria-level)|aria-label=""|<img(?![^>]* alt="[^"])'
                             r'|<div class="table-wrapper|<aside class="sidebar-drawer">'
                             r'| role="switch"| accent="true"', text), path


@needs_sphinx
def test_headings_skip_no_level_and_links_hold_no_links(site):
    for path in site.rglob("*.html"):
        text = path.read_text("utf-8")
        levels = [int(level) for level in re.findall(r"<h([1-6])[ >]", text)]
        assert all(after <= before + 1 for before, after in pairwise(levels)), path
        assert not re.search(r"<a [^>]*>(?:(?!</a>).)*<a ", text, re.DOTALL), path


@needs_sphinx
def test_every_system_method_figure_and_public_name_is_on_a_page(site):
    for name in system_ids():
        text = (site/"systems"/f"{name}.html").read_text("utf-8")
        picture, = re.findall(rf'src="([^"]*{name}[^"]*\.webp)"', text)
        with Image.open(site/"systems"/picture) as image:
            assert len(image.convert("RGB").getcolors(256) or range(256)) > 8
    for name in integrator_ids():
        assert f">{name}<" in (site/"theory"/f"{family_of(name)}.html").read_text("utf-8")
    assert "<math" in (site/"theory"/"spheres.html").read_text("utf-8")
    shown = "".join(path.read_text("utf-8") for path in (site/"gallery").glob("*.html"))
    for figure in Snapshot(SNAPSHOT).figures:
        assert f"<strong>{figure.name}</strong>" in shown
        assert "papers/{}/studies/{}.yaml".format(*figure.study.split("/")) in shown
    api = (site/"api.html").read_text("utf-8")
    for name in liestep.__all__:
        assert re.search(rf'id="(module-)?liestep[\w.]*\.{name}"', api), name


@needs_sphinx
@pytest.mark.skipif(browser.find() is None, reason="no Chromium on this machine; the pages were checked as text only")
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_pages_fit_the_window_and_ask_nobody_for_anything(site, width, dark):
    with browser.Browser(width, 844, dark) as found:
        found.folder = site.resolve().as_uri()
        for page in ("index.html", "theory/spheres.html", "systems/heavy_top.html", "claims.html"):
            found.open(site/page)
            assert found.value("document.documentElement.scrollWidth") <= width, page
            assert found.value("getComputedStyle(document.body).fontFamily").count(",") > 1
        assert found.requests == []
        assert found.complaints == []
