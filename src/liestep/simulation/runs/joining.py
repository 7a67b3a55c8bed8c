"""Files of the shards of an ensemble, or of a map that is reduced, as one file."""
from collections.abc import Iterable, Sequence

import numpy as np

from liestep.compile.status import Status
from liestep.simulation.runs.files import RunFile


def joined(files: Sequence[RunFile]) -> RunFile:
    """Members of all files in their order, with the attributes of the first file that stopped early, else of the first;
    samples up to the shortest."""
    attributes = next((file.attributes for file in files if file.failed), files[0].attributes)
    if "time" not in files[0].variables:
        return RunFile(files[0].path, dict(attributes), _together(files, files[0].variables))
    samples = min(len(file["time"]) for file in files)
    cut = [RunFile(file.path, file.attributes, {name: values[:, :samples] if values.ndim > 1 else values
                                                for name, values in file.variables.items() if name != "time"})
           for file in files]
    return RunFile(files[0].path, dict(attributes), {"time": files[0]["time"][:samples],
                                                     **_together(cut, cut[0].variables)})


def _together(files: Sequence[RunFile], names: Iterable[str]) -> dict[str, np.ndarray]:
    return {name: np.concatenate([file[name] for file in files]) for name in names
            if all(name in file.variables for file in files)}


def aggregated(file: RunFile) -> RunFile:
    """What is reduced, as one run: the largest of what is a maximum and the mean of other numbers, over what came to
    its end; the time that all have reached; how many came to their end."""
    status = file["status"]
    done = status == Status.OK
    found = dict(file.attributes) | {"trajectories": len(status), "trajectories_ok": int(done.sum())}
    for name, values in file.variables.items():
        if values.ndim != 1 or name == "status" or name.startswith(("parameter_", "turn_")):
            continue
        if name == "steps":
            found[name] = round(float(values.mean()))
        elif name == "time_reached":
            found[name] = float(np.nanmin(values)) if np.isfinite(values).any() else 0.0
        elif np.isfinite(values[done]).any():
            over = np.nanmax if "_max" in name else np.nanmean
            found[name] = float(over(values[done]))
    return RunFile(file.path, found, {})
