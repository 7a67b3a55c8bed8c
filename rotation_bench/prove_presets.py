"""Proven bounds of presets' end states: `liestep export-reference --digits 30 -o exported` for some, then
`python rotation_bench/prove_presets.py exported/references.json src/liestep/tools/certify/preset_bounds.json`, which
adds them to the second file; needs mpmath.

Equations are written here once more, on the exported fields: attitude R, spatial momentum L and, so that they are
polynomials of low degree, p = R^T L; position and velocity of the trap. What is proven is that the exact solution from
the printed start, with the printed parameters, is within the bound of the printed end.
"""
import json
import sys
from collections.abc import Callable
from math import ceil
from pathlib import Path

from make_cases import cross, dot
from mpmath import iv, mp
from prove_bounds import DIGITS, Proof, rounded_up

SPOKEN = ("parameters", "initial", "t_end", "final")   # what a bound speaks of


def body(given: dict, kind: Callable) -> Callable:
    """R' = R hat(w), L' = m l (R chi) x g, p' = p x w + R^T L' with w = J^-1 p; without weight L' = 0."""
    inverse = [kind(1)/kind(x) for x in given["inertia"]]
    if "gravity" in given:
        arm = [kind(given["mass"])*kind(given["length"])*kind(x) for x in given["axis"]]
        weight = [kind(x) for x in given["gravity"]]

    def found(y: list) -> list:
        a, p = [y[0:3], y[3:6], y[6:9]], y[12:15]
        w = [x*j for x, j in zip(p, inverse, strict=True)]
        push = cross([dot(row, arm) for row in a], weight) if "gravity" in given else [0*y[9]]*3
        turned = [dot(column, push) for column in zip(*a, strict=True)]
        return [*(x for row in a for x in cross(row, w)), *push, *(
            x + y for x, y in zip(cross(p, w), turned, strict=True))]
    return found


def trap(given: dict, kind: Callable) -> Callable:
    """dx/dt = v, dv/dt = (axial^2/2) (x, y, -2z) + v x cyclotron."""
    pull, turn = kind(given["axial"])**2/kind(2), [kind(x) for x in given["cyclotron"]]

    def found(y: list) -> list:
        bent = cross(y[3:], turn)
        return [*y[3:], *(y[i]*pull*(-2 if i == 2 else 1) + bent[i] for i in range(3))]
    return found


EQUATIONS = {"free_rigid_body": body, "heavy_top": body, "penning_trap": trap}


def proof_of(entry: dict) -> tuple[Proof, float]:
    """The proof of an exported preset, and its fastest rate at the start."""
    given, start = entry["parameters"], [iv.mpf(text) for part in entry["initial"].values() for text in part]
    if EQUATIONS[entry["problem"]] is trap:
        return Proof(lambda kind: trap(given, kind), start, [mp.mpf(1)]*3 + [mp.mpf(5)]*3), max(map(
            abs, given["cyclotron"]))
    p = [sum(start[3*i + j]*start[9 + i] for i in range(3)) for j in range(3)]
    middle = [mp.mpf(x.mid) for x in p]
    size, fastest = mp.norm(middle), float(mp.norm([x/j for x, j in zip(middle, given["inertia"], strict=True)]))
    weight = given["mass"]*given["length"]*float(mp.norm(given["gravity"])) if "gravity" in given else 0.0
    swing = (weight/min(given["inertia"]))**0.5   # how fast a top falls
    # rates count in the unit that makes both couplings of attitude and momentum small
    unit = mp.mpf(min(given["inertia"]))*swing if swing else size/10**6
    return Proof(lambda kind: body(given, kind), start + p, [mp.mpf(1)]*9 + [unit]*6), fastest + swing


def proven(entry: dict) -> str:
    """Bound of every printed number of the end of an exported preset."""
    mp.dps = iv.dps = DIGITS
    proof, fastest = proof_of(entry)
    end = [text for part in entry["final"].values() for text in part]
    return rounded_up(proof.bound([end], str(entry["t_end"]), ceil(4*entry["t_end"]*fastest)))


def main(path: str, bounds: str) -> None:
    file = Path(bounds)
    for entry in json.loads(Path(path).read_text("utf-8"))["references"]:
        name, found = f"{entry['problem']} {entry['preset']}", {key: entry[key] for key in SPOKEN}
        found["bound"] = proven(entry)
        print(f"{name}: every printed number within {found['bound']}", flush=True)
        stored = json.loads(file.read_text("utf-8")) if file.exists() else {}
        file.write_text(json.dumps(dict(sorted((stored | {name: found}).items())), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
