"""JSBSim: an aircraft that is a body only, on a planet that does not turn. Its position is frozen, so that the local
frame is inertial. The top's weight is an external force on a body with the moments about the fixed point. Numbers are
in slug, ft and lb as they are in SI. Euler is the default; "Trapezoidal" is left out: its authors warn of it."""
import tempfile
from pathlib import Path

import numpy as np

from rotation_bench.other_codes.contract import Method, Problem, Run, States

DISTRIBUTION = "jsbsim"
NUMBERS = {"Euler": (1, 1), "AdamsBashforth3": (4, 4), "AdamsBashforth4": (5, 5), "Buss2": (3, 7)}
METHODS = {name: Method(order, "rate/rotational {}, position/rotational {}".format(*NUMBERS[name]), 1)
           for name, order in (("Euler", 1), ("AdamsBashforth3", 3), ("AdamsBashforth4", 4), ("Buss2", 2))}
# its structural axes point aft, right and up, those of the body forward, right and down
AIRCRAFT = """<fdm_config name="body" version="2.0">
<metrics/><mass_balance><ixx>{0!r}</ixx><iyy>{1!r}</iyy><izz>{2!r}</izz><emptywt>32.2</emptywt>
<location name="CG" unit="FT"><x>0</x><y>0</y><z>0</z></location></mass_balance>
<ground_reactions/><propulsion/><flight_control name="none"/><aerodynamics/><external_reactions>
<force name="weight" frame="LOCAL"><location unit="FT"><x>{3!r}</x><y>{4!r}</y><z>{5!r}</z></location>
<direction><x>{6!r}</x><y>{7!r}</y><z>{8!r}</z></direction></force></external_reactions></fdm_config>"""
PLANET = '<planet name="still"><rotation_rate unit="RAD/SEC">0</rotation_rate></planet>'


def prepare(problem: Problem, name: str, steps: int) -> Run:
    import jsbsim

    pull, every, q = problem.mass*problem.gravity, problem.between(steps), problem.attitude.T  # q: local to body
    size = float(np.linalg.norm(pull))
    numbers = (*problem.inertia, *problem.lever*[-1.0, 1.0, -1.0], *(pull/size if size else [0.0, 0.0, 1.0]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)/"aircraft"/"body"/"body.xml"
        path.parent.mkdir(parents=True)
        path.write_text(AIRCRAFT.format(*map(float, numbers)))
        (path.parent/"planet.xml").write_text(PLANET)
        body = jsbsim.FGFDMExec(folder)
        body.set_debug_level(0)
        body.load_planet(str(path.parent/"planet.xml"), False)
        body.load_model("body")
    told = {"simulation/integrator/rate/translational": 0, "simulation/integrator/position/translational": 0,
            "simulation/integrator/rate/rotational": NUMBERS[name][0], "external_reactions/weight/magnitude": size,
            "simulation/integrator/position/rotational": NUMBERS[name][1],
            "ic/phi-rad": np.arctan2(q[1, 2], q[2, 2]), "ic/theta-rad": -np.arcsin(q[0, 2]),
            "ic/psi-true-rad": np.arctan2(q[0, 1], q[0, 0]),
            **{f"ic/{axis}-rad_sec": part for axis, part in zip("pqr", problem.rate, strict=True)}}
    body.set_dt(problem.t_end/steps)

    def run() -> States:
        for what, value in told.items():
            body[what] = value
        body.run_ic()
        rotation, rates = [], []
        for k in range(steps + 1):
            if k % every == 0:
                rotation.append(np.array(body.get_propagate().get_Tl2b()).T)
                rates.append([body[f"velocities/{axis}i-rad_sec"] for axis in "pqr"])
            body.run()
        return States(np.array(rotation), problem.momenta(np.array(rotation), np.array(rates)))

    return run
