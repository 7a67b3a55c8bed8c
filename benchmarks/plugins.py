"""Systems of the package beside the same files as plugins: the same code, the same time, the same bits."""
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import liestep
from benchmarks.timing import interleaved, ratio
from liestep.simulation.catalogue import method
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.specified import RunSpecification

LEAST = 0.05  # s of processor time of a run
# system, preset of its own file, integrator, step or tolerance
CHAIN = "spherical_pendulum_chain"
PAIRS = ((CHAIN, "chain3", "dop853", 1e-8), (CHAIN, "chain3", "rk4", 5e-3), (CHAIN, "chain3", "taylor", 1e-8),
         (CHAIN, "chain3", "rkmk", 5e-3), (CHAIN, "chain3", "rkmk853", 1e-8), (CHAIN, "chain5", "dop853", 1e-8),
         (CHAIN, "chain5", "rkmk", 2e-3), ("heavy_top", "asymmetric", "dop853", 1e-8),
         ("jointed_body", "slow_top", "rkmk", 1e-3), ("free_rigid_body", "asymmetric", "taylor", 1e-8))


def own_file(folder: Path, system: str) -> Path:
    """A copy of a system's file under another name, which is a plugin; without the default preset that a paper has."""
    text = (Path(liestep.__file__).parent/"mechanics"/"systems"/f"{system}.py").read_text("utf-8")
    path = folder/f"own_{system}.py"
    path.write_text(re.sub(r'default_preset="\w+",?', "", text), "utf-8")
    return path


def request(system: str, preset: str, integrator: str, size: float, steps: int = 200) -> RunSpecification:
    """A run of so many steps, or of the same time with a tolerance."""
    if method(integrator).adaptive:
        return specify(system, integrator, preset=preset, tolerance=size, t_end=5e-3*steps, samples=3)
    return specify(system, integrator, preset=preset, steps=steps, t_end=size*steps, samples=3)


def compare(folder: Path, repeats: int) -> Iterator[dict[str, Any]]:
    """Time of the plugin over that of the package, of each pair in turns; whether all bits agree."""
    loaded: set[str] = set()
    for system, *rest in PAIRS:
        if system not in loaded:
            load_plugin(own_file(folder, system))
            loaded.add(system)
        steps, spent = 200, 0.0
        while spent < LEAST:
            steps *= 2
            run_once(request(system, *rest, steps))
            start = time.thread_time()
            run_once(request(system, *rest, steps))
            spent = time.thread_time() - start
        calls = {name: partial(run_once, request(name, *rest, steps)) for name in (system, f"own_{system}")}
        seconds = interleaved({name: lambda call=call: (call,) for name, call in calls.items()}, repeats)
        first, second = (call().outputs for call in calls.values())
        yield {"system": system, "integrator": rest[1], "ms": 1e3*min(seconds[system]),
               "plugin over package": ratio(seconds, f"own_{system}", system),
               "same bits": (first.states.tobytes(), first.series.tobytes()) == (second.states.tobytes(),
                                                                                second.series.tobytes())}
