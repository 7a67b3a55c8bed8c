"""The problems by which `liestep.recommend` is judged. They were written down before the first judgement, and nothing
in the tournament was chosen by a result of theirs; a problem that was used so must leave this list.

Own parameters, presets and horizons: other ones than those with which the tournament was written and than those of an
earlier judgement on eight problems. Five whose answers had been too dear or too coarse were replaced by others when
the tournament was mended with them.
"""
from pathlib import Path
from typing import Any, NamedTuple

TOP = Path(__file__).parents[1]
PLUGINS = (TOP/"docs"/"examples", *(TOP/"papers"/paper/"studies" for paper in ("liegroup2021", "livens2025")))


class Case(NamedTuple):
    """One problem; plugin: its system is the file of that name in one of PLUGINS."""

    system: str
    preset: str
    error: float
    t_end: float
    plugin: bool = False
    parameters: tuple[tuple[str, Any], ...] = ()

    def file(self) -> str:
        """Of the plugin; empty for systems of the package."""
        return next((str(path) for folder in PLUGINS if self.plugin and (path := folder/f"{self.system}.py").is_file()),
                    "")


SPRING = (("stiffness", 3.0), ("anchor", (0.5, -0.2, 0.6)))
TUMBLER = (("inertia", (2.0, 1.2, 0.9)), ("drag", 0.05), ("rate", 2.0))
CASES = (
    Case("magnetic_pendulum", "default", 1e-6, 12.0, True, (("field", 5.0), ("length", 0.8))),
    Case("magnetic_pendulum", "default", 1e-2, 20.0, True, (("field", -1.0),)),
    Case("magnetic_pendulum", "default", 1e-8, 6.0, True, (("mass", 3.0), ("g", 3.7))),
    Case("satellite", "default", 1e-5, 8.0, True, TUMBLER), Case("satellite", "free", 1e-9, 6.0, True),
    Case("satellite", "default", 3e-3, 9.0, True, (("drag", 0.35), ("inertia", (1.1, 0.9, 1.6)))),
    Case("my_pendulum", "default", 1e-10, 4.0, True, SPRING),
    Case("my_pendulum", "default", 1e-4, 10.0, True, (("stiffness", 30.0),)),
    Case("spring_pendulum", "drag", 1e-5, 2.0, True),
    Case("spring_pendulum", "spatial", 1e-7, 4.0, True, (("stiffness", 50.0),)),
    Case("spring_pendulum", "printed", 1e-2, 3.0, True, (("mass", 0.5),)),
    Case("quadrotor_payload", "no_moment", 1e-3, 3.0, True),
    Case("quadrotor_payload", "paper", 1e-5, 3.0, True, (("load_mass", 0.4),)),
    Case("sphere_nbody", "four_bodies", 1e-5, 6.0), Case("sphere_nbody", "paper", 1e-9, 3.0, False, (("gamma", 0.5),)),
    Case("sphere_nbody", "four_bodies", 1e-2, 10.0),
    Case("my_bodies", "three", 1e-6, 3.0, True, (("stiffness", 4.0),)), Case("my_bodies", "three", 1e-2, 8.0, True),
    Case("my_crane", "default", 1e-4, 3.0, True, (("rope", 0.8),)), Case("my_crane", "default", 1e-7, 1.5, True))
