"""The rooms of the package are layers: no import upwards, no circle; papers import what they are promised, and never
each other (docs/architecture.md)."""
import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import liestep
from liestep.compile.sources import places

ROOT = Path(liestep.__file__).parent
LAYERS = (  # from the bottom; rooms of one line do not import each other
    "errors", "files", "compile", "geometry", "mechanics", "extend", "integrators", "simulation", "study",
    "claims", "figures", "paper", "tools", "plain", "workflow", "lgt", "api", "__init__ __main__")
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms.split()}
FILES = {".".join(("liestep", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
         for path in sorted(ROOT.rglob("*.py"))}


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(FILES[module].read_text("utf-8"))


def imports(module: str) -> Iterator[str]:
    """Modules of the package that a file imports anywhere, in functions and under TYPE_CHECKING too."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in FILES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "liestep":
            for name in node.names:
                full = f"{node.module}.{name.name}"
                if node.module == "liestep.extend":  # its names are those of their modules
                    yield from {places("liestep.extend")[name.name]} & set(FILES)
                    continue
                yield full if full in FILES else node.module


def test_every_room_has_a_layer():
    assert {room(module) for module in FILES} == set(LEVEL)


def test_rooms_of_the_architecture_page_are_these():
    page = (ROOT.parents[1]/"docs"/"architecture.md").read_text()
    rows = re.findall(r"^\| (`.*?) \|", page.partition("## Rooms")[2].partition("## ")[0], re.MULTILINE)
    assert [set(re.findall(r"`(\w+)`", row)) for row in rows] == [set(line.split()) for line in LAYERS]


def test_nothing_imports_upwards():
    upwards = [f"{module} imports {other}" for module in FILES if module != "liestep" for other in imports(module)
               if LEVEL[room(other)] > LEVEL[room(module)]
               or (LEVEL[room(other)] == LEVEL[room(module)] and room(other) != room(module))]
    assert not upwards


def test_the_house_can_be_taken_in():
    arrows = {(room(module), room(other)) for module in FILES if module != "liestep" for other in imports(module)}
    below = {one: {other for first, other in arrows if first == one != other} for one in LEVEL}

    @cache
    def floor(one: str) -> int:
        return 1 + max(map(floor, below[one]), default=0)

    assert len(LEVEL) <= 20
    assert sum(map(len, below.values())) <= 120
    assert max(map(floor, LEVEL)) <= 13


def test_there_is_no_circle():
    TopologicalSorter({module: set(imports(module)) - {module} for module in FILES if module != "liestep"}).prepare()


def test_a_step_of_own_equations_needs_no_plots():
    rooms = {room(other) for other in imports("liestep.lgt")}
    assert rooms == {"compile", "errors", "geometry", "integrators", "mechanics"}


def test_only_registries_import_by_name():
    """What is imported by name draws no arrow: the registries of systems, integrators, papers, figures, tables and
    criteria may, plugins and what a person's function imports (`plain.arrays`) lie outside the package, and public
    names (`compile.sources`) and commands are loaded when used."""
    by_name = {module for module in FILES for node in ast.walk(tree(module))
               if getattr(node, "attr", getattr(node, "id", "")) in ("import_module", "__import__")}
    assert {module for module in by_name if room(module) not in ("api", "__init__")} == {
        "liestep.compile.sources", "liestep.plain.arrays", "liestep.simulation.catalogue", "liestep.claims.criteria",
        "liestep.study.tables.kinds", "liestep.study.plan.papers", "liestep.figures.kinds",
        "liestep.simulation.plugins.loading", "liestep.simulation.plugins.reads"}
    assert not [module for module in FILES for node in ast.walk(tree(module)) if isinstance(node, ast.ImportFrom)
                and node.module == "importlib"
                and any(name.name in ("import_module", "__import__") for name in node.names)]


def long_parts(path: Path) -> Iterator[tuple[str, str]]:
    """A file with too many lines, and its functions that have too many without their docstrings."""
    text = path.read_text("utf-8")
    if len(text.splitlines()) > 600:
        yield str(path), "file"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            said = node.body[0] if ast.get_docstring(node) else None
            if node.end_lineno - node.lineno - (said.end_lineno - said.lineno + 1 if said else 0) >= 60:
                yield str(path), node.name


PAPERS = ROOT.parents[1]/"papers"
CODE = [path for path in sorted(PAPERS.rglob("*.py")) if not {"tests", "studies"} & set(path.parts)]
INSIDE = 85  # names of rooms of liestep that papers import beside those of liestep.paper: this number may only shrink


def imported(path: Path) -> Iterator[ast.ImportFrom]:
    yield from (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom))


def test_papers_do_not_import_each_other():
    for path in CODE:
        for node in imported(path):
            assert not (node.module or "").startswith("liestep_papers"), path
            assert node.level <= len(path.relative_to(PAPERS).parts) - 1, path


def test_papers_need_ever_less_of_the_inside():
    names = {f"{node.module}.{name.name}" for path in CODE for node in imported(path)
             if (node.module or "").startswith("liestep.") and node.module != "liestep.paper" for name in node.names}
    assert len(names) == INSIDE, sorted(names)


def test_files_and_functions_are_short():
    assert not [part for path in [*FILES.values(), *CODE] for part in long_parts(path)]


def test_long_files_and_functions_are_seen(tmp_path):
    path = tmp_path/"long.py"
    for lines, found in ((58, []), (59, ["long"]), (600, ["file", "long"])):
        path.write_text("def long():\n    \"\"\"Said.\"\"\"\n" + "    pass\n"*(lines + 1))
        assert [name for _, name in long_parts(path)] == found


def test_no_two_test_modules_have_one_name():
    """pytest imports them by their names alone, and stops where two folders have the same."""
    names = [path.name for path in Path(__file__).parents[1].rglob("*.py")]
    assert sorted(set(names)) == sorted(names)
