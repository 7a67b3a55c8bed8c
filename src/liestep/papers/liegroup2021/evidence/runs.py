"""Evidence from runs on the reference and on the step control of figures 8 and 10 of liegroup2021."""
from typing import Any

import numpy as np

from liestep.claims.errata import Evidence
from liestep.simulation.runs.simulation import simulate

TOLERANCE = 1e-6
RELATIVE, ABSOLUTE = 1e-6, 1e-12    # of the reference in the public code


def final_state(preset: str, integrator: str, tolerance: float,
                options: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
    """q and omega at T = 3 as one vector, and the attributes of the run."""
    run = simulate("spherical_pendulum_chain", integrator, preset=preset, tolerance=tolerance,
                   options=options, samples=2)
    return np.concatenate([run[name].values[-1].ravel() for name in ("q", "omega")]), run.attrs


def reference_bias() -> Evidence:
    """Error of ode45 with the tolerances of the public code's reference, beside that of RKMK(5,4)
    which it is meant to measure."""
    numbers: dict[str, float] = {}
    for preset, name in (("unit_2", "two"), ("total5_20", "twenty")):
        exact, _ = final_state(preset, "dop853", 1e-13, {"atol": 1e-14})
        reference, _ = final_state(preset, "ode45", RELATIVE, {"atol": ABSOLUTE, "mass": "dense"})
        pair, _ = final_state(preset, "rkmk_pair", TOLERANCE, {"norm": "algebra", "exponent": "quarter"})
        numbers |= {f"{name}_reference": float(np.linalg.norm(reference - exact)),
                    f"{name}_pair": float(np.linalg.norm(pair - exact)),
                    f"{name}_seen": float(np.linalg.norm(pair - reference))}
    comparable = all(numbers[f"{name}_reference"] >= 0.1*numbers[f"{name}_pair"] for name in ("two", "twenty"))
    return Evidence(comparable,
                    "error at T = 3 of ode45 at RelTol 1e-6, AbsTol 1e-12: {two_reference:.2g} for N = 2,"
                    " {twenty_reference:.2g} for N = 20, L = 5/N; of RKMK(5,4) at 1e-6: {two_pair:.2g} and"
                    " {twenty_pair:.2g}, which against that reference look like {two_seen:.2g} and {twenty_seen:.2g}",
                    numbers)


def control_exponent() -> Evidence:
    """RKMK(5,4) with the exponent 1/(1 + min(p, p~)) = 1/5 and with 1/4 of the public code, N = 2."""
    exact, _ = final_state("unit_2", "dop853", 1e-13, {"atol": 1e-14})
    numbers: dict[str, float] = {}
    for name, exponent in (("text", "default"), ("code", "quarter")):
        state, found = final_state("unit_2", "rkmk_pair", TOLERANCE, {"norm": "algebra", "exponent": exponent})
        numbers |= {f"{name}_steps": int(found["steps_accepted"]), f"{name}_rejected": int(found["steps_rejected"]),
                    f"{name}_error": float(np.linalg.norm(state - exact))}
    alike = 0.2 <= numbers["code_error"]/numbers["text_error"] <= 5.0
    return Evidence(alike and numbers["code_rejected"] > numbers["text_rejected"],
                    "N = 2 at 1e-6: {text_steps:d} steps, {text_rejected:d} rejected, error {text_error:.2g} with the"
                    " exponent 1/5; {code_steps:d}, {code_rejected:d}, {code_error:.2g} with 1/4", numbers)
