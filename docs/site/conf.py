"""Settings of Sphinx. Everything that the pages need lies in the site: no page asks another host for anything."""
import inspect
import re

from docutils.nodes import SkipNode

import liestep
from docs.site.formulas import mathml
from liestep.plain.kinds import KINDS

project = "liestep"
author = "The liestep developers"
copyright = "The liestep developers, MIT licence"
release = version = liestep.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "dollarmath", "attrs_inline"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "liestep"
html_show_sphinx = False
html_copy_source = False
html_scaled_image_link = False  # a thumbnail is a link already
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["../run_it_here.html", "../film.webp", "../energy.webp"]  # beside the first page
html_math_renderer = "mathml"
templates_path: list[str] = []
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_google_docstring = True


def _plain(app, what, name, obj, options, lines):
    """Docstrings are plain text: signs that mean something in reStructuredText stand for themselves, names in backticks
    and indented blocks after a colon are code."""
    found, literal, deep = [], False, 0
    for k, line in enumerate(lines):
        blank, before = not line.strip(), deep
        deep = before if blank else len(line) - len(line.lstrip())
        literal = literal and (blank or deep > 0)
        if literal or blank:
            found.append(line)
            continue
        if deep == 0 < before and found[-1]:
            found.append("")
        rest = [text for text in lines[k + 1:] if text.strip()]
        literal = (line.endswith(":") and deep == 0 and k + 1 < len(lines) and not lines[k + 1].strip()
                   and bool(rest) and rest[0].startswith(" "))
        example = line == "Example:"  # followed by code without a blank line
        literal = literal or example
        found += [_escaped(line) + ":"*literal, *[""]*example]
    lines[:] = found


def _kinds(app, what, name, obj, options, lines):
    """Of `liestep.system`, each kind has its call and a list of its arguments, instead of an indented text."""
    if obj is liestep.system:
        head = inspect.getdoc(obj).partition(KINDS[0].text())[0]
        lines[:] = [*head.splitlines(), *(line for one in KINDS for line in (
            "", f"`{one.call}`", "", *inspect.getdoc(one.overload).splitlines()))]


# what numpy.typing.ArrayLike is made of
ARRAY_LIKE = re.compile(r"(Union\[)?[~\w.]*_Buffer\b.*?_NestedSequence\[complex \| bytes \| str\](?(1)\])")


def _readable(app, what, name, obj, options, signature, returns):
    """Signatures with the name of a type that stands for many."""
    return ARRAY_LIKE.sub("ArrayLike", signature) if signature else signature, returns


def _typed(app, what, name, obj, options, lines):
    """Types and defaults of arguments, from the signature: of `liestep.system` from that of each kind."""
    kinds, found, parameters = iter(KINDS), [], {}
    if any(line.startswith(":param ") for line in lines):
        parameters = inspect.signature(obj).parameters
    for line in lines:
        if obj is liestep.system and line.startswith("``system("):
            parameters = next(kinds).signature.parameters
        argument = re.match(r":param ([^:]+):", line)
        one = parameters.get(argument[1].replace("\\", "").lstrip("*")) if argument else None
        if one is not None:
            kind = "" if one.annotation is one.empty else inspect.formatannotation(one.annotation).strip("'")
            kind = re.sub(r"\b[a-z_.]+\.(?=[A-Z])| \| None\b", "", ARRAY_LIKE.sub("ArrayLike", kind))
            given = "" if one.default is one.empty else f"default {one.default!r}"
            given = "optional" if one.default is None else given
            found.append(f":type {argument[1]}: {', '.join(filter(None, (kind, given)))}")
        found.append(line)
    lines[:] = found


def _escaped(line: str) -> str:
    return "".join(f"``{part[1:-1]}``" if len(part) > 2 and part[0] == "`" == part[-1]
                   else re.sub(r"([*|_\\])", r"\\\1", part) for part in re.split(r"(`[^`]+`)", line))


def _inline(translator, node):
    translator.body.append(mathml(node.astext()))


def _block(translator, node):
    translator.body.append(f'<div class="math" tabindex="0">{mathml(node.astext(), block=True)}</div>')


def _visit(render):
    def visit(translator, node):
        render(translator, node)
        raise SkipNode
    return visit


def setup(app):
    app.connect("autodoc-process-docstring", _kinds, priority=0)
    app.connect("autodoc-process-docstring", _plain, priority=1)
    app.connect("autodoc-process-docstring", _typed, priority=600)  # behind napoleon
    app.connect("autodoc-process-signature", _readable)
    app.add_html_math_renderer("mathml", inline_renderers=(_visit(_inline), None),
                               block_renderers=(_visit(_block), None))
    return {"parallel_read_safe": True}
