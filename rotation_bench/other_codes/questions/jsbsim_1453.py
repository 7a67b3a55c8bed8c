"""Of which order are the rotations of JSBSim? A free body of three moments for 10 s, against Euler's equations solved
to 1e-13. Needs jsbsim and scipy.

Prints, for each scheme of simulation/integrator/{rate,position}/rotational, the largest error of the attitude with 6400
steps and its order from 3200 to 6400 steps; then the same with the exact solution started from JSBSim's own state after
1 s, when multistep methods have a history."""
import tempfile
from pathlib import Path

import jsbsim
import numpy as np
from scipy.integrate import solve_ivp

MOMENTS, RATE, END, SAMPLES = np.array([1.5, 1.0, 0.6]), np.array([0.3, 0.2, 1.5]), 10.0, 50
SCHEMES = {"Euler": (1, 1), "trapezoidal": (2, 2), "Adams-Bashforth 2": (3, 3), "Adams-Bashforth 3": (4, 4),
           "Adams-Bashforth 4": (5, 5), "Euler, Buss 1": (1, 6), "Adams-Bashforth 2, Buss 2": (3, 7),
           "Adams-Bashforth 2, local linearization": (3, 8)}
AIRCRAFT = """<fdm_config name="body" version="2.0"><metrics/><mass_balance><ixx>{}</ixx><iyy>{}</iyy><izz>{}</izz>
<emptywt>32.2</emptywt><location name="CG" unit="FT"><x>0</x><y>0</y><z>0</z></location></mass_balance>
<ground_reactions/><propulsion/><flight_control name="none"/><aerodynamics/></fdm_config>"""
PLANET = '<planet name="still"><rotation_rate unit="RAD/SEC">0</rotation_rate></planet>'


def exact(attitude, rate, times):
    """Attitudes at `times`, the first of which is the start."""
    def slope(t, y):
        w = y[9:]
        hat = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([(y[:9].reshape(3, 3) @ hat).ravel(), np.cross(MOMENTS*w, w)/MOMENTS])

    start = np.concatenate([attitude.ravel(), rate])
    return solve_ivp(slope, times[[0, -1]], start, "DOP853", times, rtol=1e-13, atol=1e-13).y[:9].T.reshape(-1, 3, 3)


def simulated(scheme, steps):
    """Attitudes and rates at 51 times; position and velocity are frozen."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)/"aircraft"/"body"
        path.mkdir(parents=True)
        (path/"body.xml").write_text(AIRCRAFT.format(*MOMENTS))
        (path/"planet.xml").write_text(PLANET)
        body = jsbsim.FGFDMExec(folder)
        body.set_debug_level(0)
        body.load_planet(str(path/"planet.xml"), False)
        body.load_model("body")
    for part, number in zip(("rate", "position"), scheme, strict=True):
        body[f"simulation/integrator/{part}/rotational"] = number
        body[f"simulation/integrator/{part}/translational"] = 0
    for axis, value in zip("pqr", RATE, strict=True):
        body[f"ic/{axis}-rad_sec"] = value
    body.set_dt(END/steps)
    body.run_ic()
    attitudes, rates = [], []
    for k in range(steps + 1):
        if k % (steps//SAMPLES) == 0:
            attitudes.append(np.array(body.get_propagate().get_Tl2b()).T)
            rates.append([body[f"velocities/{axis}i-rad_sec"] for axis in "pqr"])
        body.run()
    return np.array(attitudes), np.array(rates)


def errors(scheme, first):
    times, found = np.linspace(0.0, END, SAMPLES + 1), []
    for steps in (3200, 6400):
        attitudes, rates = simulated(scheme, steps)
        found.append(np.abs(attitudes[first:] - exact(attitudes[first], rates[first], times[first:])).max())
    return found[1], np.log2(found[0]/found[1])


print("JSBSim", jsbsim.__version__)
print("scheme: error, order; from 1 s on: error, order")
for name, scheme in SCHEMES.items():
    print("{}: {:.2e}, {:.2f}; {:.2e}, {:.2f}".format(name, *errors(scheme, 0), *errors(scheme, 5)))
