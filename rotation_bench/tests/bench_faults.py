"""More engines for the bench: faults and right codes that no rule of the judge was written for."""
import bench_engines as be
import numpy as np


def torque_of_last_step(case):
    """Half a step of torque: the kick uses h/2 at one end only."""
    slope = be.body_slope(case)
    free = be.body_slope(case, torque=0.0)

    def advance(t, h, q, w):
        new = be.rk4_rates(lambda s, u: free(s, q, u), t, h, w + h/2*(slope(t, q, w) - free(t, q, w)))
        return be.exp_turn(q, (w + new)/2, h), new
    return advance


def left_euler(case):
    """Body rates applied on the side of space, by a first-order step."""
    slope = be.body_slope(case)

    def advance(t, h, q, w):
        return be.times(be.exponential(h*w), q), w + h*slope(t, q, w)
    return advance


def inverse_for_inertia(case):
    moments = 1/case.moments[0]
    return lambda t, q, w: be.cross(moments*w, w)/moments


def permuted(case):
    moments = case.moments[0][[2, 0, 1]]
    return lambda t, q, w: be.cross(moments*w, w)/moments


def mirrored(raw):
    """All states seen in a mirror at the plane z = 0: rates are axial."""
    return {"quaternion": raw["quaternion"]*[1, -1, -1, 1], "rate": raw["rate"]*[-1, -1, 1]}


def flipped_axis(raw):
    """The z axis of the body counted downwards in the rates only."""
    return raw | {"rate": raw["rate"]*[1, 1, -1]}


def single_storage(raw):
    return {key: part.astype(np.float32).astype(float) for key, part in raw.items()}


def shifted(*names):
    """These parts are written one step too early: rows of the next step."""
    def found(case, h, steps):
        raw = be.RIGHT["rk4"][0](case, h, steps + 1)
        return {key: part[1:] if key in names else part[:-1] for key, part in raw.items()}
    return found


def spun_up(case):
    """Rates by RK4; the quaternion is normalised towards a wrong length of the rates: energy is restored each step."""
    slope, moments = be.body_slope(case), case.moments[0]
    start = case.start["rate"][0]
    energy = moments @ (start*start)

    def advance(t, h, q, w):
        new = w + h*slope(t, q, w)
        new = new*np.sqrt(energy/(moments @ (new*new)))
        return be.exp_turn(q, (w + new)/2, h), new
    return advance


def gyro_twice(case):
    return be.body_slope(case, gyro=1.5)


def changed(change, engine=None):
    engine = engine or be.RIGHT["rk4"][0]
    return lambda case, h, steps: change(engine(case, h, steps))


def flips(raw):
    """Quaternions of either sign, as codes that go through matrices have them."""
    signs = np.where(np.arange(len(raw["quaternion"])) % 7 < 3, -1.0, 1.0)
    return raw | {"quaternion": raw["quaternion"]*signs[:, None]}


def as_matrices(raw):
    return {"attitude": np.array([be.matrix(q/np.sqrt(q @ q)) for q in raw["quaternion"]]), "rate": raw["rate"]}


def with_time(raw):
    return raw | {"time": np.linspace(0.0, 3.0, len(raw["rate"]))}


def every_step_renormalised_orthonormal(raw):
    """Matrices brought to the nearest rotation."""
    found = []
    for a in as_matrices(raw)["attitude"]:
        u, _, v = np.linalg.svd(a)
        found.append(u @ v)
    return {"attitude": np.array(found), "rate": raw["rate"]}



def half_steps(case):
    """Rates by RK4 in two half steps, about a whole turn: what explicit splittings do."""
    slope = be.body_slope(case)

    def advance(t, h, q, w):
        middle = be.rk4_kick(slope, t, h/2, q, w)
        end = be.exp_turn(q, middle, h)
        return end, be.rk4_kick(slope, t + h/2, h/2, end, middle)
    return advance


def euler_angles(case, h, steps):
    """RK4 on roll, pitch and yaw."""
    slope = be.body_slope(case)

    def turned(e):
        parts = (be.exponential(np.eye(3)[i]*e[i]) for i in (2, 1, 0))
        z, y, x = parts
        return be.times(be.times(z, y), x)

    def f(t, state):
        (roll, pitch, _), w = state[:3], state[3:]
        along = np.sin(roll)*w[1] + np.cos(roll)*w[2]
        rates = w[0] + np.tan(pitch)*along, np.cos(roll)*w[1] - np.sin(roll)*w[2], along/np.cos(pitch)
        return np.array([*rates, *slope(t, turned(state[:3]), w)])

    a, w = be.matrix(case.start["quaternion"][0]), case.start["rate"][0]
    rows = [np.array([np.arctan2(a[2, 1], a[2, 2]), -np.arcsin(a[2, 0]), np.arctan2(a[1, 0], a[0, 0]), *w])]
    for n in range(steps):
        rows.append(be.rk4_rates(f, n*h, h, rows[-1]))
    return {"quaternion": np.array([turned(row[:3]) for row in rows]), "rate": np.array(rows)[:, 3:]}


RK38 = ([[1/3], [-1/3, 1], [1, -1, 1]], [1/8, 3/8, 3/8, 1/8])
RALSTON = ([[2/3]], [1/4, 3/4])
HEUN3 = ([[1/3], [0, 2/3]], [1/4, 0, 3/4])
SSP3 = ([[1], [0.25, 0.25]], [1/6, 1/6, 2/3])
BUTCHER5 = ([[1/4], [1/8, 1/8], [0, -1/2, 1], [3/16, 0, 0, 9/16], [-3/7, 2/7, 12/7, -12/7, 8/7]],
            [7/90, 0, 32/90, 12/90, 32/90, 7/90])
STORMER = (("turn", 0.5), ("kick", 1.0), ("turn", 0.5))
C1 = 1/(2 - 2**(1/3))
YOSHIDA = [(which, share*part) for part in (C1, 1 - 2*C1, C1) for which, share in be.STRANG]
RIGHT = {   # name -> (engine, order, implicit)
    "3/8 rule": (be.runge_kutta(*RK38), 4, False),
    "ralston": (be.runge_kutta(*RALSTON, normalise=True), 2, False),
    "heun of order 3": (be.runge_kutta(*HEUN3), 3, False),
    "ssp3 normalised": (be.runge_kutta(*SSP3, normalise=True), 3, False),
    "butcher of order 5": (be.runge_kutta(*BUTCHER5), 5, False),
    "stormer": (be.split(be.rk4_kick, be.exp_turn, STORMER), 2, False),
    "yoshida": (be.split(be.rk4_kick, be.exp_turn, YOSHIDA), 4, False),
    "euler angles": (euler_angles, 4, False),
    "sign flips": (changed(flips), 4, False),
    "matrices": (changed(as_matrices), 4, False),
    "nearest rotations": (changed(every_step_renormalised_orthonormal, be.runge_kutta(*be.HEUN)), 2, False),
    "euler that says so": (be.runge_kutta(*be.EULER), 1, False),
    "single storage": (changed(single_storage), 4, False)}
WRONG = {   # name -> (engine, order, implicit, names of which one is right)
    "left euler": (be.stepped(left_euler), 1, False, {"spatial_rates"}),
    "gyroscopic sign": (be.runge_kutta(*be.RK4, slope=lambda case: be.body_slope(case, gyro=-1.0)), 4, False,
                        {"left_handed"}),
    "inverse inertia": (be.runge_kutta(*be.RK4, slope=inverse_for_inertia), 4, False, {"inertia_inverse"}),
    "permuted axes": (be.runge_kutta(*be.RK4, slope=permuted), 4, False, {"inertia_axes"}),
    "rpm": (changed(lambda raw: raw | {"rate": raw["rate"]*30/np.pi}), 4, False, {"revolutions"}),
    "revolutions": (changed(lambda raw: raw | {"rate": raw["rate"]/(2*np.pi)}), 4, False, {"revolutions"}),
    "half steps": (be.stepped(half_steps), 2, True, {"explicit"}),
    "adams": (be.stepped(be.adams_bashforth), 2, True, {"explicit"}),
    "flipped axis": (changed(flipped_axis), 4, False, {"axes"}),
    "mirrored": (changed(mirrored), 4, False, {"axes", "left_handed"}),
    "shifted output": (shifted("quaternion", "rate"), 4, False, {"time_level"}),
    "rates of the next row": (shifted("rate"), 4, False, {"time_level"}),
    "energy restored": (be.stepped(spun_up), 2, False, {"hidden_drift", "order"}),
    "gyroscopic factor": (be.runge_kutta(*be.RK4, slope=gyro_twice), 4, False, {"factor"}),
    "euler that says 2": (be.runge_kutta(*be.EULER), 2, False, {"order", "first_order_quaternion"}),
    "xyzw of the inverse": (changed(lambda raw: raw | {"quaternion": np.roll(
        raw["quaternion"]*[1, -1, -1, -1], -1, 1)}), 4, False, {"quaternion_order"}),
    "degrees per second": (changed(lambda raw: raw | {"rate": np.degrees(raw["rate"])}), 4, False, {"degrees"}),
    "momentum in space": (changed(lambda raw: raw | {"rate": np.einsum(
        "nij,nj->ni", as_matrices(raw)["attitude"], raw["rate"]*[2, 3, 4])}), 4, False, {"momentum_for_rate"}),
    "rotation vectors halved": (changed(lambda raw: raw | {"quaternion": np.array(
        [be.times(q, q) for q in raw["quaternion"]])}), 4, False, {"double_angle", "half_angle"})}
TOP = {   # on the heavy top
    "half of the torque": (be.stepped(torque_of_last_step), 1, {"factor", "step_factor"}),
    "gravity upwards": (be.runge_kutta(*be.RK4, slope=lambda c: be.body_slope(c, torque=-1.0)), 4, {"torque_sign"}),
    "torque 2 % large": (be.runge_kutta(*be.RK4, slope=lambda c: be.body_slope(c, torque=1.02)), 4, {"factor"}),
    "torque 0.5 % small": (be.runge_kutta(*be.RK4, slope=lambda c: be.body_slope(c, torque=0.995)), 4, {"factor"})}
