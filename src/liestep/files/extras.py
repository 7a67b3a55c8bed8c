"""Packages that an installation may lack, and the extras that bring them."""
from collections.abc import Iterator
from contextlib import contextmanager

from liestep.errors import InputError

# extras of pyproject.toml and the modules that they bring; an extra that brings another one has only its own
EXTRAS = {"certify": "gmpy2 mpmath", "completion": "argcomplete", "evidence": "sympy",
          "figures": "fontTools matplotlib PIL", "references": "heyoka", "robots": "mujoco",
          "study": "jinja2 markupsafe pydantic snakemake yaml"}


@contextmanager
def extras() -> Iterator[None]:
    """Where packages of extras are used, as `with` or as a decorator. Raises InputError with the command that installs
    what is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        for extra, modules in EXTRAS.items():
            if missing in modules.split():
                raise InputError(f"this needs {missing}, which is not installed: pip install"
                                 f' "liestep[{extra}]"') from None
        raise
