"""Criteria of claims: one class each, with its fields, its words and `judge`.

A class in a module of this package whose field `kind` names it is known to claims files, verdicts and schemas:
.ci/schemas.py writes these anew, and nothing else is touched by hand."""
import importlib
from pathlib import Path
from types import ModuleType
from typing import get_args

from liestep.claims.criteria.base import Criterion


def criteria_in(module: ModuleType) -> dict[str, type[Criterion]]:
    """Criteria of a module by their kinds."""
    return {(*get_args(item.model_fields["kind"].annotation), None)[0]: item for item in vars(module).values()
            if isinstance(item, type) and issubclass(item, Criterion) and "kind" in item.model_fields}


def _found() -> dict[str, type[Criterion]]:
    classes: dict[str, type[Criterion]] = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem == "__init__":
            continue
        for kind, item in criteria_in(importlib.import_module(f"{__name__}.{path.stem}")).items():
            if classes.setdefault(kind, item) is not item:
                raise RuntimeError(f"two criteria are called {kind}: {classes[kind].__name__}, {item.__name__}")
    return classes


CRITERIA = _found()  # kind -> class, by files and their lines
