"""Structure-preserving integrators on spheres, rotations and rigid motions.

A system that is there:

    data = liestep.simulate("heavy_top", "rkmk", step=0.01, t_end=10.0)
    print(data["attitude"].values[-1], data.attrs["energy_error_max"])

One of your own, from functions in numpy:

    orbit = liestep.system("orbit", lagrangian=lambda q, v: 0.5*(v @ v) + 1/np.linalg.norm(q),
                           start={"q": [1, 0], "v": [0, 1.2]})
    print(orbit.simulate("verlet", step=0.01)["q"].values[-1], orbit.recommend(error=1e-6))

In the words of scipy:

    found = liestep.solve(lambda t, y: -y, (0, 1), [1.0], rtol=1e-9)

help() explains each name: simulate, ensemble, system, solve, recommend, reference, tangent, compare, plot, open_run,
observed_order, consistent_start, Event, Impact, from_urdf, from_mjcf, load_plugin, list_systems, list_integrators.
"""
import importlib
from typing import Any

__all__ = ["Event", "Impact", "InputError", "IntegrationError", "System", "compare", "consistent_start", "ensemble",
           "from_mjcf", "from_urdf", "lgt", "list_integrators", "list_systems", "load_plugin", "observed_order",
           "open_run", "plot", "recommend", "reference", "simulate", "solve", "system", "tangent"]


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "__doc__", "__name__", "__file__", "__path__"])


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, because a sweep needs few of them and must start fast."""
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("liestep")
    if name in ("lgt", "scipy"):  # scipy: classes for its solve_ivp; `import *` must not hide scipy itself
        return importlib.import_module({"lgt": "liestep.lgt", "scipy": "liestep.plain.solvers"}[name])
    from liestep.compile.sources import public_name

    return public_name(__name__, name)
