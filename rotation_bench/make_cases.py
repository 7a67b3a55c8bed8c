"""Make the data of the bench anew: `python rotation_bench/make_cases.py [NAME ...]`, then prove_bounds.py; needs gmpy2.

States come from the modified midpoint rule of W. B. Gragg, extrapolated to orders above 20, with 150 bits. A second run
has a higher order and 180 bits; the bound is ten times the largest difference of the two, at least half a unit of the
30th digit. Equations are written here a second time, on quaternions: the judge has matrices.
"""
import csv
import hashlib
import io
import json
import sys
from collections.abc import Callable
from decimal import Context, Decimal
from math import ceil, factorial, floor, log10
from pathlib import Path

import gmpy2
from gmpy2 import cos, mpfr, sin, sqrt

HERE = Path(__file__).resolve().parent
VERSION, LICENCE, DIGITS, OUTPUTS = "1.1.0", "CC0-1.0", 30, 64
PRECISIONS = (150, 180)   # bits
UNITS = {  # unit system -> units of mass, length and time, and how many of them are a kg, a m and a s
    "SI": (("kg", "m", "s"), ("1", "1", "1")),
    "cgs": (("g", "cm", "s"), ("1000", "100", "1")),
    "kg-mm-ms": (("kg", "mm", "ms"), ("1", "1000", "1000"))}
DIMENSIONS = {  # of parameters, starts and invariants: powers of mass, length and time
    "moments": (1, 2, 0), "arm": (0, 1, 0), "force": (1, 1, -2), "force_frequency": (0, 0, -1), "orbit_rate":
    (0, 0, -1), "frame_rate": (0, 0, -1), "gravity": (0, 1, -2), "length": (0, 1, 0), "masses": (1, 0, 0),
    "arms": (0, 1, 0), "rate": (0, 0, -1), "velocity": (0, 0, -1), "quaternion": (0, 0, 0), "direction": (0, 0, 0),
    "t_end": (0, 0, 1), "energy": (1, 2, -2), "momentum": (1, 2, -1)}
Q = "0.1 0.3 0.3 0.9"   # a unit quaternion of short decimals that is like no other by chance


def body(title: str, moments: str, rate: str, t_end: str, steps: int, quaternion: str = Q, levels: int = 5,
         t_drift: str = "800", **more: str) -> dict:
    """A rigid body: its turning decides everything."""
    return {"title": title, "kind": "body", "parameters": {"moments": [moments], **more}, "start": {
            "quaternion": [quaternion], "rate": [rate]}, "t_end": t_end, "steps": steps, "levels": levels,
            "t_drift": t_drift}


CASES = {
    "free_symmetric": body("torque-free, two moments equal", "2 2 1", "0.6 -0.4 1.0", "3", 64),
    "free_asymmetric": body("torque-free, three different moments", "2 3 4", "0.9 -0.6 0.7", "3", 64,
                            t_drift="2000"),
    "free_middle_axis": body("torque-free, started near the middle axis: it turns over", "2 3 4", "0.01 1.2 0.01", "24",
                             128, levels=6, t_drift="4000"),
    "free_fast_spin": body("torque-free, fast spin about the largest axis", "2 3 4", "1 2 40", "0.2", 64, t_drift="20"),
    "free_long": body("torque-free, tumbling for long", "2 3 4", "0.9 -0.6 0.7", "300", 2048, levels=4),
    "heavy_top_slow": body("heavy top, slow spin", "1.5 1.5 0.6", "0.3 0.2 3", "2", 64, "0.8 0.6 0 0", t_drift="800",
                           arm="0 0 0.5", force="0 0 -9.81"),
    "heavy_top_fast": body("heavy top, fast spin", "1.5 1.5 0.6", "0.3 0.2 40", "0.2", 64, "0.8 0.6 0 0", t_drift="100",
                           arm="0 0 0.5", force="0 0 -9.81"),
    "spherical_pendulum": {
        "title": "spherical pendulum", "kind": "pendulum", "parameters": {"gravity": "9.81", "length": "1"},
        "start": {"direction": "0.6 0 -0.8", "velocity": "0 1.5 0"}, "t_end": "2", "steps": 64, "levels": 5,
        "t_drift": "400"},
    "gravity_gradient": body("satellite on a circular orbit, torque of the gravity gradient", "2 3 4",
                             "0.0004 -0.0003 0.0012", "3000", 64, "0.8 0 0 0.6", t_drift="1000000",
                             orbit_rate="0.001"),
    "ball_joint": {
        "title": "two bodies with a ball joint, free in space", "kind": "joint",
        "parameters": {"moments": ["2 3 4", "1 1.5 2"], "masses": "3 2", "arms": ["0.1 0.2 0.6", "0.1 -0.3 -0.5"]},
        "start": {"quaternion": [Q, "0.8 0 0.6 0"], "rate": ["0.9 -0.6 0.7", "-0.3 0.5 0.8"]}, "t_end": "3",
        "steps": 64, "levels": 5, "t_drift": "1000"},
    "pushed_body": body("a body that is pushed at a point of its own by a force that swings", "2 3 4", "0.9 -0.6 0.7",
                        "3", 64, arm="0.3 0.1 -0.2", force="4 0 3", force_frequency="2"),
    "rotating_frame": body("a torque-free body seen from a frame that turns", "2 3 4", "0.9 -0.6 0.7", "3", 64,
                           frame_rate="0.1 -0.3 0.5")}


MISTAKES = {
    "transposed": "attitudes are transposed: from space to body, or conjugate quaternions",
    "quaternion_order": "quaternions are written x y z w",
    "half_angle": "quaternions or attitudes turn by half of the angle",
    "double_angle": "quaternions or attitudes turn by twice the angle",
    "spatial_rates": "rates are spatial, not in the body",
    "rates_frame": "rates are turned by the wrong side of the attitude",
    "momentum_for_rate": "the angular momentum stands for the rate",
    "left_handed": "a sign is opposite: a left-handed cross product or angle",
    "degrees": "degrees stand for radians, or radians for degrees",
    "revolutions": "revolutions or revolutions per minute stand for radians",
    "step_factor": "h stands for h/2, or h/2 for h",
    "axes": "axes are exchanged",
    "misaligned": "attitudes are seen from a frame that is turned a little",
    "missing_gyroscopic": "the gyroscopic term w x J w is missing",
    "inertia_frame": "the inertia stands in the wrong frame",
    "inertia_axes": "the moments of inertia stand at other axes",
    "inertia_inverse": "the inverse of the inertia acts for it",
    "torque_frame": "the torque acts in the wrong frame",
    "torque_sign": "the torque acts in the opposite direction",
    "missing_torque": "the torque is missing",
    "damping": "the rates are damped or driven",
    "factor": "a term has a factor",
    "time_level": "angular velocities belong to another time than they should",
    "first_order_quaternion": "the attitude's step is of first order",
    "hidden_drift": "states are normalised, which hides their drift",
    "single_precision": "states have 7 digits: no mistake, but what ends the error",
    "explicit": "the step is explicit where an implicit one is claimed",
    "order": "the order is lower than claimed",
    "attitude": "the attitude follows the rates by no known rule",
    "rates": "the rates follow no known equation",
    "unknown": "another motion, by a mistake that is not known"}
THIRD, SIXTH, EIGHTH = 1/3, 1/6, 1/8
TABLEAUX = {  # rows of stages after the first, weights
    "the explicit Euler method": ([], [1]), "the explicit midpoint rule": ([[0.5]], [0, 1]),
    "Heun's method": ([[1]], [0.5, 0.5]), "Ralston's method": ([[2*THIRD]], [0.25, 0.75]),
    "Kutta's method of order 3": ([[0.5], [-1, 2]], [SIXTH, 4*SIXTH, SIXTH]),
    "Heun's method of order 3": ([[THIRD], [0, 2*THIRD]], [0.25, 0, 0.75]),
    "SSPRK3": ([[1], [0.25, 0.25]], [SIXTH, SIXTH, 4*SIXTH]),
    "RK4": ([[0.5], [0, 0.5], [0, 0, 1]], [SIXTH, THIRD, THIRD, SIXTH]),
    "the 3/8 rule": ([[THIRD], [-THIRD, 1], [1, -1, 1]], [EIGHTH, 3*EIGHTH, 3*EIGHTH, EIGHTH])}


def numbers(text: str, kind: Callable = mpfr) -> list:
    return [kind(word) for word in text.split()]


def cross(a: list, b: list) -> list:
    return [a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]]


def dot(a: list, b: list) -> mpfr:
    return a[0]*b[0] + a[1]*b[1] + a[2]*b[2]


def turned(q: list, v: list) -> list:
    """From body to space, by a quaternion of any length near one."""
    t = [2*x for x in cross(q[1:], v)]
    s = cross(q[1:], t)
    return [v[i] + q[0]*t[i] + s[i] for i in range(3)]


def back(q: list, v: list) -> list:
    return turned([q[0], -q[1], -q[2], -q[3]], v)


def kinematics(q: list, w: list) -> list:
    c = cross(q[1:], w)
    return [-dot(q[1:], w)/2, *((q[0]*w[i] + c[i])/2 for i in range(3))]


class Motion:
    """Equations of one case on a flat list of numbers of a kind, or of what can be multiplied by them."""

    def __init__(self, case: dict, kind: Callable = mpfr):
        given = case["parameters"]
        self.kind = case["kind"]
        if self.kind == "pendulum":
            self.pull = kind(given["gravity"])/kind(given["length"])
            return
        self.moments = [numbers(text, kind) for text in given["moments"]]
        self.arm, self.force, self.frame = (numbers(given.get(key, "0 0 0"), kind) for key in (
            "arm", "force", "frame_rate"))
        self.frequency, self.orbit = (kind(given.get(key, "0")) for key in ("force_frequency", "orbit_rate"))
        if self.kind == "joint":
            first, second = numbers(given["masses"], kind)
            self.reduced, self.arms = first*second/(first + second), [numbers(text, kind) for text in given["arms"]]

    def rates(self, t: mpfr, y: list) -> list:
        angle = (self.frequency or self.orbit)*t if self.kind == "body" else mpfr(0)
        return self.slopes(y, (cos(angle), sin(angle)))

    def slopes(self, y: list, swing: tuple) -> list:
        """Rates of change; `swing` is cosine and sine of what turns with the time."""
        return getattr(self, f"_{self.kind}")(y, swing)

    def _pendulum(self, y: list, swing: tuple) -> list:
        q, v = y[:3], y[3:]
        along = self.pull*q[2] - dot(v, v)
        return [*v, along*q[0], along*q[1], along*q[2] - self.pull]

    def _body(self, y: list, swing: tuple) -> list:
        q, w, moments = y[:4], y[4:], self.moments[0]
        turning = back(q, self.frame)
        total = [a + b for a, b in zip(w, turning, strict=True)]
        push = swing[0] if self.frequency else 1
        torque = cross(self.arm, back(q, [push*x for x in self.force]))
        if self.orbit:
            down = back(q, [*swing, 0*swing[0]])
            moved = cross(down, [a*b for a, b in zip(moments, down, strict=True)])
            torque = [a + 3*self.orbit**2*b for a, b in zip(torque, moved, strict=True)]
        gyro = cross([a*b for a, b in zip(moments, total, strict=True)], total)
        frame = cross(w, turning)
        return [*kinematics(q, w), *((gyro[i] + torque[i])/moments[i] + frame[i] for i in range(3))]

    def _joint(self, y: list, swing: tuple) -> list:
        bodies = [(y[0:4], y[4:7]), (y[7:11], y[11:14])]
        unit = [[mpfr(i == j) for j in range(3)] for i in range(3)]
        matrix, right, gyros = [[unit[i][j]/self.reduced for j in range(3)] for i in range(3)], [mpfr(0)]*3, []
        for k, (q, w) in enumerate(bodies):
            moments, arm, sign = self.moments[k], self.arms[k], 1 - 2*k
            gyro = cross([a*b for a, b in zip(moments, w, strict=True)], w)
            gyros.append(gyro)
            swing = cross([a/b for a, b in zip(gyro, moments, strict=True)], arm)
            pull = turned(q, [a + b for a, b in zip(swing, cross(w, cross(w, arm)), strict=True)])
            right = [a - sign*b for a, b in zip(right, pull, strict=True)]
            for j in range(3):
                torque = cross(arm, back(q, unit[j]))
                moved = turned(q, cross([a/b for a, b in zip(torque, moments, strict=True)], arm))
                for i in range(3):
                    matrix[i][j] += moved[i]
        rows = [cross(matrix[1], matrix[2]), cross(matrix[2], matrix[0]), cross(matrix[0], matrix[1])]
        size = dot(matrix[0], rows[0])
        force = [sum(rows[j][i]*right[j] for j in range(3))/size for i in range(3)]
        found = []
        for k, (q, w) in enumerate(bodies):
            torque = cross(self.arms[k], back(q, force))
            found += [*kinematics(q, w), *((gyros[k][i] + (1 - 2*k)*torque[i])/self.moments[k][i] for i in range(3))]
        return found

    def invariants(self, case: dict, t: mpfr, y: list) -> dict:
        """What the motion keeps, in SI units."""
        if self.kind == "pendulum":
            size = mpfr(case["parameters"]["length"])**2
            return {"energy": [size*(dot(y[3:], y[3:])/2 + self.pull*y[2])], "momentum": [size*(y[0]*y[4] - y[1]*y[3])]}
        parts = [(y[7*k:7*k + 4], y[7*k + 4:7*k + 7]) for k in range(len(self.moments))]
        spatial, energy = [mpfr(0)]*3, mpfr(0)
        for (q, w), moments in zip(parts, self.moments, strict=True):
            total = [a + b for a, b in zip(w, back(q, self.frame), strict=True)]
            turning = [a*b for a, b in zip(moments, total, strict=True)]
            energy += dot(total, turning)/2
            spatial = [a + b for a, b in zip(spatial, turned(q, turning), strict=True)]
        if self.kind == "joint":
            ends = [turned(q, arm) for (q, _), arm in zip(parts, self.arms, strict=True)]
            speeds = [turned(q, cross(w, arm)) for (q, w), arm in zip(parts, self.arms, strict=True)]
            apart, speed = ([a - b for a, b in zip(*pair, strict=True)] for pair in (ends, speeds))
            energy += self.reduced*dot(speed, speed)/2
            spatial = [a + self.reduced*b for a, b in zip(spatial, cross(apart, speed), strict=True)]
        q = parts[0][0]
        if self.orbit:
            down = back(q, [cos(self.orbit*t), sin(self.orbit*t), mpfr(0)])
            field = dot(down, [a*b for a, b in zip(self.moments[0], down, strict=True)])
            return {"energy": [energy - self.orbit*spatial[2] + 3*self.orbit**2*field/2]}
        if any(self.force):
            along = dot(spatial, self.force)/sqrt(dot(self.force, self.force))
            return {"momentum": [along]} | ({} if self.frequency else {
                "energy": [energy - dot(turned(q, self.arm), self.force)]})
        if any(self.frame):   # energy alone: the momentum turns with the frame
            return {"energy": [energy]}
        return {"energy": [energy], "momentum": spatial}


def step(motion: Motion, t: mpfr, y: list, size: mpfr, columns: int) -> list:
    """One extrapolated step."""
    first, table = motion.rates(t, y), []
    for k in range(columns):
        count = 2*(k + 1)
        h = size/count
        old, new = y, [a + h*b for a, b in zip(y, first, strict=True)]
        for i in range(1, count):
            slope = motion.rates(t + i*h, new)
            old, new = new, [a + 2*h*b for a, b in zip(old, slope, strict=True)]
        row = [new]
        for j in range(1, k + 1):
            factor = 1/((mpfr(k + 1)/(k + 1 - j))**2 - 1)
            row.append([a + (a - b)*factor for a, b in zip(row[-1], table[j - 1], strict=True)])
        table = row
    return table[-1]


def fastest_of(case: dict) -> float:
    """About the largest rate of a case."""
    fastest = max([0.0, *(float(sqrt(dot(w, w))) for w in map(numbers, case["start"].get("rate", [])))])
    return max(fastest, 6.0) if case["kind"] == "pendulum" or "force" in case["parameters"] else fastest


def integrated(case: dict, more: int) -> list[list]:
    """States at the ends of OUTPUTS equal intervals, in steps that turn a body by about 1 rad at most. The rule has as
    many columns as a first term of its error of 1e-38 asks for, and `more`."""
    motion, y, found = Motion(case), start(case), [start(case)]
    t_end = mpfr(case["t_end"])
    fastest = fastest_of(case)
    inner = max(ceil(float(t_end)*fastest/OUTPUTS), 1)
    turn = 2*float(t_end)*fastest/OUTPUTS/inner
    columns = next(k for k in range(8, 30) if (2*k + 1)*log10(turn) - 2*log10(2**k*factorial(k)) < -38) + more
    size = t_end/(OUTPUTS*inner)
    for k in range(OUTPUTS*inner):
        y = step(motion, k*size, y, size, columns)
        if (k + 1) % inner == 0:
            found.append(y)
    return found


def runge_kutta(case: dict, count: int) -> list[list]:
    """The same by the classical method of order 4, for comparison."""
    motion, y, found, h = Motion(case), start(case), [start(case)], mpfr(case["t_end"])/count
    for n in range(count):
        k, total = motion.rates(n*h, y), y
        for share, weight in ((mpfr(1)/2, 1), (mpfr(1)/2, 2), (mpfr(1), 2), (mpfr(0), 1)):
            total = [a + weight*h/6*b for a, b in zip(total, k, strict=True)]
            if share:
                k = motion.rates((n + share)*h, [a + share*h*b for a, b in zip(y, k, strict=True)])
        y = total
        if (n + 1)*OUTPUTS % count == 0:
            found.append(y)
    return found


def distance(case: dict, run: list[list], path: list[list]) -> mpfr:
    """Largest scaled error: attitudes |R - R_ref|/sqrt 2, directions and rates as lengths, rates over the largest."""
    if case["kind"] == "pendulum":
        parts = [(slice(0, 3), 0, slice(3, 6))]
    else:
        parts = [(slice(7*k, 7*k + 4), 1, slice(7*k + 4, 7*k + 7)) for k in range(len(path[0])//7)]
    unit, found = [[mpfr(i == j) for j in range(3)] for i in range(3)], mpfr(0)
    fastest = max(sqrt(dot(y[w], y[w])) for y in path for _, _, w in parts)
    for y, z in zip(run, path, strict=True):
        for q, rotates, w in parts:
            gaps = [[a - b for a, b in zip(turned(y[q], e), turned(z[q], e), strict=True)] for e in unit] if (
                rotates) else [[a - b for a, b in zip(y[q], z[q], strict=True)]]
            rate = [a - b for a, b in zip(y[w], z[w], strict=True)]
            turn = sqrt(sum(dot(gap, gap) for gap in gaps)/(2 if rotates else 1))
            found = max(found, turn, sqrt(dot(rate, rate))/fastest)
    return found


def start(case: dict) -> list:
    given = case["start"]
    if case["kind"] == "pendulum":
        return numbers(given["direction"]) + numbers(given["velocity"])
    return [x for q, w in zip(given["quaternion"], given["rate"], strict=True) for x in numbers(q) + numbers(w)]


def fields(case: dict, y: list) -> dict:
    """The flat list by names; quaternions with a positive scalar part are not asked for: q and -q are one attitude."""
    if case["kind"] == "pendulum":
        return {"direction": y[:3], "velocity": y[3:]}
    count = len(y)//7
    return {"quaternion": [y[7*k:7*k + 4] for k in range(count)], "rate": [y[7*k + 4:7*k + 7] for k in range(count)]}


def printed(values: list, factor: float | mpfr = 1) -> list:
    return [printed(value, factor) if isinstance(value, list) else short(value*factor) for value in values]


def short(value: mpfr, digits: int = DIGITS) -> str:
    return str(Decimal(f"{value:.{digits - 1}e}").normalize(Context(prec=DIGITS))).replace("E", "e")


def factor(name: str, system: str) -> mpfr:
    found = mpfr(1)
    for power, unit in zip(DIMENSIONS[name], UNITS[system][1], strict=True):
        found *= mpfr(unit)**power
    return found


def values(content: object) -> list:
    return [values(part) for part in content] if isinstance(content, list) else numbers(str(content))


def in_units(content: dict, system: str) -> dict:
    return {name: printed(values(value), factor(name, system)) for name, value in content.items()}


def entry(name: str) -> dict:
    """Everything about one case."""
    case, runs = CASES[name], []
    for precision, more in zip(PRECISIONS, (0, 2), strict=True):
        gmpy2.get_context().precision = precision
        runs.append(integrated(case, more))
    path = runs[1]
    gap = max(abs(a - b) for one, other in zip(*runs, strict=True) for a, b in zip(one, other, strict=True))
    largest = max(abs(x) for y in path for x in y)
    bound = max(10*gap, mpfr(10)**(floor(log10(float(largest))) + 1 - DIGITS)/2)   # half a unit of the last digit
    t_end = mpfr(case["t_end"])
    motion = Motion(case)
    kept = [motion.invariants(case, t, y) for t, y in ((mpfr(0), path[0]), (t_end, path[-1]))]
    lost = max(abs(a - b) for key in kept[0] for a, b in zip(kept[0][key], kept[1][key], strict=True))
    gmpy2.get_context().precision = 60
    counts = [case["steps"]*2**k for k in range(min(case["levels"], 5)) if case["steps"]*2**k <= 16384]
    rivals = {str(count): short(distance(case, runge_kutta(case, count), path), 4) for count in counts}
    gmpy2.get_context().precision = PRECISIONS[1]
    systems = {}
    for system, (units, _) in UNITS.items():
        systems[system] = {
            "units": dict(zip(("mass", "length", "time"), units, strict=True)) | {"angle": "rad"},
            "parameters": in_units(case["parameters"], system), "start": in_units(case["start"], system),
            "t_end": short(t_end*factor("t_end", system)),
            "end": {key: printed(part, factor(key, system)) for key, part in fields(case, path[-1]).items()},
            "invariants": {key: printed(part, factor(key, system)) for key, part in kept[0].items()}}
    return {"title": case["title"], "kind": case["kind"], "steps": case["steps"], "levels": case["levels"],
            "t_drift": case["t_drift"], "bound": rounded_up(bound), "bound_kind": "two runs",
            "invariants_lost": short(lost, 2), "rk4_errors": rivals, "systems": systems,
            "path": [" ".join(printed(y)) for y in path]}


def rounded_up(bound: mpfr) -> str:
    power = floor(log10(float(bound)))
    return f"{ceil(float(bound)/10.0**power*(1 - 1e-9))}e{power}"


def flat(content: object, path: str = "") -> list[tuple[str, str]]:
    if isinstance(content, str):
        return [(path, content)]
    parts = content.items() if isinstance(content, dict) else enumerate(content)
    return [pair for key, part in parts for pair in flat(part, f"{path}.{key}".strip("."))]


def stored() -> dict:
    """The cases that are there."""
    path = HERE/"cases.json"
    return json.loads(path.read_text("utf-8"))["cases"] if path.exists() else {}


def write(known: dict) -> None:
    """The files of the data and their checksums."""
    whole = {"title": "Rotation bench of liestep: motions with certified answers", "version": VERSION,
             "license": LICENCE, "convention": "quaternion: w x y z, body to space; rate: in the body, rad per time"
             " (relative to the frame where it turns); bound: of every number in SI units, absolute; bound_kind:"
             " proven, by intervals, or ten times the gap of two runs; path: states in SI"
             " units at the ends of 64 equal intervals, for each body its quaternion and its rate",
             "units": list(UNITS), "mistakes": MISTAKES, "tableaux": TABLEAUX,
             "cases": {name: known[name] for name in CASES if name in known}}
    text = json.dumps(whole, indent=1) + "\n"
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(["case", "units", "quantity", "value", "bound_in_SI", "bound_kind"])
    for name, case in whole["cases"].items():
        for system, content in case["systems"].items():
            rows.writerows([name, system, key, value, case["bound"], case["bound_kind"]]
                           for key, value in flat(content))
    files = {"cases.json": text, "cases.csv": table.getvalue()}
    for file, content in files.items():
        (HERE/file).write_text(content, "utf-8", newline="\n")
    sums = [f"{hashlib.sha256(content.encode()).hexdigest()}  {file}\n" for file, content in files.items()]
    (HERE/"SHA256SUMS").write_text("".join(sums), "utf-8", newline="\n")


def main(names: list[str]) -> None:
    known = stored()
    for name in names or CASES:
        known[name] = entry(name)
        print(name, known[name]["bound"], known[name]["invariants_lost"], flush=True)
    write(known)


if __name__ == "__main__":
    main(sys.argv[1:])
