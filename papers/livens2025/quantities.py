"""Numbers of a run that only livens2025 defines: increments of invariants between samples (its figures 2, 4, 6, 8, 10,
11, 16), the range of the total energy (80), the error (121) of the axis of the steady top and its largest errors along
e1 and e3 (figure 12), and q.v in the middle of steps (remark 4.8). Increments are those of samples: studies that use
them store every step. The range of (80) is that of every step, from the extrema of blocks: the energy alternates from
step to step, and samples at even steps miss half of it."""
import numpy as np

from liestep.mechanics.presets._cone import PRECESSION, TILT
from liestep.paper import RunFile
from liestep.simulation.runs.content import BLOCKS_SUFFIX

AFTER_LOAD, BEFORE_PARASITE = 1.05, 5.0  # s, of the closed loop
TOTAL_BLOCKS = f"total_energy{BLOCKS_SUFFIX}"  # (statistic, block): mean, least and largest deviation
INVARIANTS = ("energy", "generalized_energy", "total_energy", "momentum_map")
VARIABLES = (*INVARIANTS, TOTAL_BLOCKS, "attitude", "time", "quaternion", "quaternion_velocity")
NAMES = (*(f"{name}_increment" for name in INVARIANTS), "momentum_increment_z", "total_energy_range", "axis_error",
         "axis_error_x", "axis_error_z", "loop_energy_range", "loop_total_energy_range",
         "loop_momentum_increment", "midpoint_velocity_constraint_error")


def increments(file: RunFile, reference: RunFile | None) -> dict[str, float]:
    """Largest change of each invariant from one sample to the next, and the range of (80); NaN for a single sample."""
    found = {}
    for name in INVARIANTS:
        if name in file.variables and len(file["time"]) > 1:
            steps = np.abs(np.diff(file[name], axis=0))
            found[f"{name}_increment"] = float(steps.max())
            if name == "momentum_map":
                found["momentum_increment_z"] = float(steps[:, 2].max())
    if TOTAL_BLOCKS in file.variables:
        _, least, largest = file[TOTAL_BLOCKS]
        found["total_energy_range"] = float(np.nanmax(largest) - np.nanmin(least))
    return found


def axis_error(file: RunFile, reference: RunFile | None) -> dict[str, float]:
    """(121): distance of the axis from steady precession (120) at the last time, and the largest distances of its
    components along e1 and e3 over the run; of the preset livens2025 only."""
    if file.attributes["problem"] != "heavy_top" or "attitude" not in file.variables:
        return {}
    angle = PRECESSION*file["time"]
    exact = np.stack([np.sin(TILT)*np.sin(angle), -np.sin(TILT)*np.cos(angle), np.cos(TILT) + 0.0*angle], axis=-1)
    gap = file["attitude"][:, :, 2] - exact
    return {"axis_error": float(np.linalg.norm(gap[-1])), "axis_error_x": float(np.abs(gap[:, 0]).max()),
            "axis_error_z": float(np.abs(gap[:, 2]).max())}


def after_load(file: RunFile, reference: RunFile | None) -> dict[str, float]:
    """Of the closed loop: ranges of (74) and, where it is defined, of (80) after the load, and largest increment of a
    component of the angular momentum from there to 5 s."""
    if file.attributes["problem"] != "rigid_loop":
        return {}
    time = file["time"]
    late, early = time > AFTER_LOAD, (time > AFTER_LOAD) & (time < BEFORE_PARASITE)
    if np.count_nonzero(early) < 2:
        return {}
    total = ({"loop_total_energy_range": float(np.ptp(file["total_energy"][late]))}
             if "total_energy" in file.variables else {})
    return {"loop_energy_range": float(np.ptp(file["generalized_energy"][late])), **total,
            "loop_momentum_increment": float(np.abs(np.diff(file["momentum_map"][early], axis=0)).max())}


def middle_velocities(file: RunFile, reference: RunFile | None) -> dict[str, float]:
    """Largest |q_m.v_m| of the means of neighbouring samples of any quaternion."""
    if "quaternion_velocity" not in file.variables or len(file["time"]) < 2:
        return {}
    q, v = (0.5*(file[name][1:] + file[name][:-1]) for name in ("quaternion", "quaternion_velocity"))
    return {"midpoint_velocity_constraint_error": float(np.abs(np.sum(q*v, axis=-1)).max())}


QUANTITIES = (increments, axis_error, after_load, middle_velocities)
