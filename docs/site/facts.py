"""Pages made from what the package declares: systems from sheets, methods of each family, keys of files, names of the
API."""
import importlib
import inspect
import re
from collections.abc import Collection
from pathlib import Path

import liestep
from docs.site.formulas import block, equations, inline
from docs.site.source import cell
from liestep import extend
from liestep.api import functions as api
from liestep.api.command_line import FILES
from liestep.simulation.catalogue import integrator_ids, integrator_module, method, sheet, system_entry, system_ids
from liestep.simulation.runs.specification import applicable
from liestep.workflow.schemas import tables

FAMILIES = {  # page below docs/theory -> formulations of its methods
    "spheres": ("sphere_lagrangian",), "rotations": ("cotangent_rotation", "quadratic_rotation"),
    "rigid_bodies": ("rigid_bodies",),
    "energy_momentum": ("constrained_lagrangian", "quaternion_hamiltonian", "constant_mass"),
    "multibody": ("index_three",), "lie_groups": ("lie_action", "lie_chart"),
    "vector_fields": ("vector_field", "parts", "canonical_field", "separable_hamiltonian", "skew_gradient",
                      "charged_particles"),
}
TASKS = {  # what public names are for; any other one comes last
    "Make a run": ("simulate", "ensemble", "Event", "consistent_start", "tangent"),
    "Which integrator": ("recommend", "list_integrators", "list_systems"),
    "A system of your own": ("system", "from_urdf", "from_mjcf", "load_plugin"),
    "Look at runs": ("plot", "compare", "open_run"), "How good is it": ("reference", "observed_order")}
MODULES = ("liestep.mechanics.contracts.formulations", "liestep.figures.interactive.accessor", "liestep.lgt",
           "liestep.plain.solvers")


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table; cells are Markdown."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(["| " + " | ".join(heads) + " |", "|" + " --- |"*len(heads), *lines]) + "\n"


def paragraphs(doc: str, known: Collection[str] = ()) -> str:
    """A docstring as Markdown: its texts flow, formulas are TeX, lists stay as they are."""
    def shown(part: str) -> str:
        if re.search(r"^[-*] ", part, re.MULTILINE):
            return f"```text\n{part}\n```"
        return block(part, known) if part.startswith(" ") else inline(part, known)

    return "\n\n".join(map(shown, doc.split("\n\n")))


def family_of(name: str) -> str:
    """Page of the family of an integrator."""
    return next(page for page, formulations in FAMILIES.items() if method(name).formulation in formulations)


def methods_of(page: str) -> str:
    """The methods of a family: what follows its page."""
    rows = []
    for name in integrator_ids():
        if family_of(name) == page:
            facts = method(name)
            kind = "tolerance" if facts.adaptive else "step"
            order = "of the tableau" if facts.order is None else str(facts.order)
            order += ", symmetric"*bool(facts.symmetric)
            rows.append((f"`{name}`", cell(facts.summary), order, kind, cell(facts.sentence),
                         cell(facts.citation or "")))
    modules = sorted({integrator_module(name) for name in integrator_ids() if family_of(name) == page})
    parts = ["\n## Methods\n", table(("id", "what it is", "order", "given", "conserves", "source"), rows),
             "\n## What the files say\n"]
    for module in modules:
        doc = inspect.cleandoc(importlib.import_module(module).__doc__ or "")
        parts.append(f"`{module}`\n\n{paragraphs(doc)}\n")
    return "\n".join(parts)


def system_page(name: str) -> str:
    """A system from its sheet."""
    facts = sheet(name)
    parameters = facts.check(facts.presets[facts.default].parameters)
    shapes = ", ".join(f"`{key}` {list(shape)}" for key, shape in facts.state_shapes(parameters).items())
    able: dict[str, list[str]] = {}
    for key in integrator_ids():
        if applicable(name, key):
            able.setdefault(family_of(key), []).append(f"`{key}`")
    rules = [(f"`{key}`", cell(rule.units), cell(rule.doc), cell(" or ".join(rule.choices) or rule.rule))
             for key, rule in facts.parameters.items()]
    presets = [(f"`{key}`", cell(preset.doc), cell(preset.kind), f"{preset.t_end:g} s", cell(preset.citation))
               for key, preset in facts.presets.items()]
    doc = inspect.cleandoc(importlib.import_module(system_entry(name).module).__doc__ or "")
    return "\n".join([
        f"# {cell(facts.title)}\n", f"`{name}`\n", f":::{{figure}} ../pictures/{name}.webp\n:alt: {facts.title}\n\n"
        f"Drawn from the preset `{facts.default}`.\n:::\n",
        "## Equations\n", f"{equations(facts.equations, facts.parameters)}\n\n{paragraphs(doc, facts.parameters)}\n",
        f"Source: {cell(facts.citation or 'none')}\n", f"State at the default preset: {shapes}.\n",
        "## Parameters\n", table(("name", "units", "meaning", "allowed"), rules), "\n## Presets\n",
        table(("name", "what it is", "kind", "duration", "source"), presets), "\n## Integrators\n",
        table(("family", "methods"), [(f"[{page.replace('_', ' ')}](../theory/{page}.md)", ", ".join(names))
                                      for page, names in able.items()]),
        f"\n```python\nimport liestep\n\nliestep.list_systems()[\"{name}\"]\n```\n"])


def write_systems(target: Path) -> None:
    """One page for each system and their index."""
    target.mkdir(parents=True, exist_ok=True)
    for name in system_ids():
        (target/f"{name}.md").write_text(system_page(name), "utf-8")
    rows = [(f"[`{name}`]({name}.md)", cell(sheet(name).title), str(len(sheet(name).presets)),
             str(sum(applicable(name, key) for key in integrator_ids()))) for name in system_ids()]
    names = "\n".join(system_ids())
    (target/"index.md").write_text("# Systems\n\nEach page is made from the system's sheet; `liestep describe ID` says"
                                   " the same and more.\n\n" + table(("id", "system", "presets", "integrators"), rows)
                                   + f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n", "utf-8")


def write_theory(target: Path) -> None:
    """Add the methods to the pages of the families."""
    for page in FAMILIES:
        path = target/f"{page}.md"
        path.write_text(path.read_text("utf-8") + methods_of(page), "utf-8")


def write_api(path: Path) -> None:
    """The public names with their docstrings, by task."""
    parts = ["# Python interface\n", "Names of `liestep`, from their docstrings.\n"]
    others = sorted({*liestep.__all__} - {"lgt"}.union(*TASKS.values()))
    for title, names in {**TASKS, "Errors": others}.items():
        parts += [f"\n## {title}\n", *(directive(public(name), name, "liestep") for name in names)]
    parts.append("\n## For authors of systems and integrators\n\nNames of `liestep.extend`.\n")
    known = {id(public(name)) for name in liestep.__all__}
    parts += [directive(getattr(extend, name), name, "liestep.extend") for name in extend.__all__
              if id(getattr(extend, name)) not in known]
    parts.append("\n## Modules\n")
    parts += [f"### {module}\n\n```{{eval-rst}}\n.. automodule:: {module}\n   :members:\n```\n" for module in MODULES]
    path.write_text("\n".join(parts), "utf-8")


def write_keys(path: Path) -> None:
    """All keys of the configuration files and the names of all figures, as `liestep describe` says them."""
    parts = ["# All keys of the files\n", "Which keys does a file take, which figures are there, which columns have the"
             " tables? These are the words of `liestep describe study`, `config`, `claims`, `errata`, `figures` and"
             " `tables`. [Configuration](studies.md) says how the files are used.\n"]
    heads = {"figures": ("name", "what it shows"), "tables": ("column", "unit, times", "meaning")}
    for name in FILES:
        head = heads.get(name, ("key", "value", "meaning"))
        for k, (title, meaning, rows) in enumerate(tables(name)):
            parts.append(f"\n##{'#'*bool(k)} {title}\n\n{cell(meaning)}\n")
            parts.append(table(head, [(f"`{key}`", *map(cell, row[-len(head) + 1:])) for key, *row in rows]))
    path.write_text("\n".join(parts), "utf-8")


def public(name: str) -> object:
    """What a public name of `liestep` stands for; `systems` and `integrators` are modules too."""
    value = getattr(liestep, name)
    return getattr(api, name) if inspect.ismodule(value) and hasattr(api, name) else value


def directive(value: object, name: str, package: str) -> str:
    """What shows an object's docstring under its name in the package that exports it; nothing for plain constants and
    names of other packages."""
    module = getattr(value, "__module__", "")
    if not module.startswith("liestep") or not (inspect.isclass(value) or inspect.isfunction(value)):
        return ""
    kind = "autoclass" if inspect.isclass(value) else "autofunction"
    hidden = inspect.ismodule(getattr(importlib.import_module(package), name))  # by a package of the same name
    place = f"{module}.{getattr(value, '__qualname__', name)}" if hidden else f"{package}.{name}"
    return f"```{{eval-rst}}\n.. {kind}:: {place}\n```\n"
