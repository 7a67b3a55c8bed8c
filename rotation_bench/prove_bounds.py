"""Proven bounds of the answers, by interval arithmetic: `python rotation_bench/prove_bounds.py [NAME ...]`; needs
gmpy2, mpmath.

A polynomial p of time stands for the state in each step. Its coefficients are those of Taylor, found without care for
round-off: nothing is claimed about them. Intervals then enclose the whole defect p' - f(p), a polynomial as f is one,
and the derivatives of f in a box about p. The solution differs from p by at most e with e' <= L e + |defect|, e of the
step before and the gap between polynomials at its start, L the logarithmic norm (E. Hairer, S. P. Norsett, G. Wanner,
Solving Ordinary Differential Equations I, theorem I.10.6). Rates count in units of the fastest, so that L stays small.
What is left is the distance from p to the printed digits. `ball_joint` has no polynomial equations, and in `free_long`
the inequality loses 400 digits: their bounds come from two runs.
"""
import itertools
import sys
from collections.abc import Callable
from math import ceil

import make_cases
from make_cases import CASES, Motion
from mpmath import iv, mp

DIGITS, DEGREE, RADIUS = 80, 40, 1e-6   # RADIUS: half the width of the box, of the size of attitudes and fastest rates
PROVEN = [name for name in CASES if name not in ("ball_joint", "free_long")]


class Ring:
    """What can be added and multiplied, by numbers too."""

    def __neg__(self):
        return self*-1

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self*other


class Constant(Ring):
    """An interval; those of mpmath refuse to be added to what they do not know."""

    def __init__(self, value):
        self.value = iv.mpf(value)

    def __bool__(self):
        return self.value != 0

    def __add__(self, other):
        return other + self.value if isinstance(other, Model | Dual) else Constant(self.value + raw(other))

    def __mul__(self, other):
        return other*self.value if isinstance(other, Model | Dual) else Constant(self.value*raw(other))

    def __truediv__(self, other):
        return Constant(self.value/raw(other))

    def __pow__(self, power):
        return Constant(self.value**power)


def raw(x):
    return x.value if isinstance(x, Constant) else x


class Series(Ring):
    """Power series whose coefficients are computed when they are asked for."""

    def __init__(self, rule: Callable | None = None, known: list | None = None):
        self.rule, self.known = rule, known if known is not None else []

    def __getitem__(self, k: int):
        while len(self.known) <= k:
            self.known.append(self.rule(len(self.known)))
        return self.known[k]

    def __add__(self, other):
        if isinstance(other, Series):
            return Series(lambda k: self[k] + other[k])
        return Series(lambda k: self[k] if k else self[k] + other)

    def __mul__(self, other):
        if isinstance(other, Series):
            return Series(lambda k: sum(self[i]*other[k - i] for i in range(k + 1)))
        return Series(lambda k: self[k]*other)

    def __truediv__(self, other):
        return Series(lambda k: self[k]/other)


class Model(Ring):
    """Polynomial in [0, 1] with intervals as coefficients, and a bound of what it leaves out (a Taylor model)."""

    def __init__(self, terms: list, rest=0):
        self.terms, self.rest = terms, rest

    def __add__(self, other):
        if isinstance(other, Model):
            return Model([a + b for a, b in zip(self.terms, other.terms, strict=True)], self.rest + other.rest)
        return Model([self.terms[0] + raw(other), *self.terms[1:]], self.rest)

    def __mul__(self, other):
        if not isinstance(other, Model):
            other = raw(other)
            return Model([a*other for a in self.terms], self.rest*abs(other))
        a, b, n = self.terms, other.terms, len(self.terms)
        tails = list(itertools.accumulate(map(abs, reversed(b))))   # of the last terms: 1, 2, ...
        size = sum(map(abs, a))
        above = sum(abs(a[i])*tails[i - 1] for i in range(1, n))
        return Model([sum(a[i]*b[k - i] for i in range(k + 1)) for k in range(n)],
                     above + size*other.rest + tails[-1]*self.rest + self.rest*other.rest)

    def __truediv__(self, other):
        return self*(1/raw(other))


class Dual(Ring):
    """A number and its derivatives by all unknowns."""

    def __init__(self, value, slopes: list):
        self.value, self.slopes = value, slopes

    def __add__(self, other):
        if isinstance(other, Dual):
            return Dual(self.value + other.value, [a + b for a, b in zip(self.slopes, other.slopes, strict=True)])
        return Dual(self.value + raw(other), self.slopes)

    def __mul__(self, other):
        if isinstance(other, Dual):
            return Dual(self.value*other.value, [self.value*b + other.value*a for a, b in zip(
                self.slopes, other.slopes, strict=True)])
        return Dual(self.value*raw(other), [a*raw(other) for a in self.slopes])

    def __truediv__(self, other):
        return self*(1/raw(other))


def largest(values: list) -> mp.mpf:
    """Upper bound of |x| for all x of intervals."""
    return max(mp.mpf(abs(x).b) for x in values)


class Proof:
    """A polynomial equation of motion: `fields(kind)` is f(state) in numbers of a kind, or of what can be added to them
    and multiplied by them; the start as intervals; units of the state."""

    def __init__(self, fields: Callable, start: list, units: list):
        self.fields, self.start, self.units = {kind: fields(kind) for kind in (mp.mpf, Constant)}, start, units

    def polynomial(self, y: list, degree: int) -> list[list]:
        """Coefficients of Taylor at a state."""
        series = [Series(known=[x]) for x in y]
        slopes = self.fields[mp.mpf](series)
        for k in range(degree):
            for one, slope in zip(series, slopes, strict=True):
                one.known.append(slope[k]/(k + 1))
        return [one.known for one in series]

    def defect(self, p: list[list], h: mp.mpf) -> mp.mpf:
        """Upper bound of |p' - f(p)| in [0, h], in the units of the state."""
        step = iv.mpf(h)
        models = [Model([iv.mpf(x)*step**k for k, x in enumerate(row)]) for row in p]
        found = []
        for one, slope, unit in zip(models, self.fields[Constant](models), self.units, strict=True):
            rates = [(k + 1)*x/step for k, x in enumerate(one.terms[1:])] + [0]
            found.append((sum(abs(a - b) for a, b in zip(slope.terms, rates, strict=True)) + slope.rest)/unit)
        return largest(found)

    def growth(self, p: list[list], h: mp.mpf) -> mp.mpf:
        """Upper bound of the logarithmic norm of f's derivatives, at least 0, in a box about p in [0, h]: the largest
        eigenvalue of their symmetric part, by Gershgorin's discs."""
        time, unit, n = iv.mpf([0, h]), iv.mpf([-RADIUS, RADIUS]), len(p)
        box = [sum(iv.mpf(x)*time**k for k, x in enumerate(row)) + unit*size for row, size in zip(
            p, self.units, strict=True)]
        slopes = self.fields[Constant]([Dual(x, [iv.mpf(int(i == j)) for j in range(n)]) for i, x in enumerate(box)])
        scaled = [[x*size/own for x, size in zip(slope.slopes, self.units, strict=True)]
                  for slope, own in zip(slopes, self.units, strict=True)]
        rows = [scaled[i][i] + sum(abs(scaled[i][j] + scaled[j][i]) for j in range(n) if j != i)/2 for i in range(n)]
        return max(mp.mpf(0), *(mp.mpf(row.b) for row in rows))

    def bound(self, path: list[list[str]], t_end: str, steps: int) -> mp.mpf:
        """Largest distance of the solution from printed states at the ends of equal parts. Errors are lengths."""
        y, width = [mp.mpf(x.mid) for x in self.start], iv.sqrt(len(self.start))
        gap = largest([(x - iv.mpf(own))/unit for x, own, unit in zip(self.start, y, self.units, strict=True)])
        error, inner, printed = mp.mpf((width*iv.mpf(gap)).b), ceil(steps/len(path)), mp.mpf(0)
        exact = iv.mpf(t_end)/(len(path)*inner)
        for k in range(len(path)*inner):
            p = self.polynomial(y, DEGREE)
            level = self.growth(p, mp.mpf(exact.b))
            defect = width*iv.mpf(self.defect(p, mp.mpf(exact.b)))
            grown = iv.exp(iv.mpf(level)*exact)*(iv.mpf(error) + exact*defect)
            if not grown.b < RADIUS:
                raise ValueError(f"step {k}: the error may leave the box of {RADIUS:g}")
            ends = [sum(iv.mpf(x)*exact**j for j, x in enumerate(row)) for row in p]
            y = [mp.mpf(x.mid) for x in ends]
            gap = largest([(x - iv.mpf(new))/unit for x, new, unit in zip(ends, y, self.units, strict=True)])
            error = mp.mpf((iv.mpf(grown.b) + width*iv.mpf(gap)).b)
            if (k + 1) % inner == 0:
                gaps = [abs(iv.mpf(text) - iv.mpf(x)) + iv.mpf(error)*unit for text, x, unit in zip(
                    path[k//inner], y, self.units, strict=False)]
                printed = max(printed, largest(gaps))
        return printed


def case_proof(case: dict) -> Proof:
    """A case: its equations on attitude and rate (or direction and velocity), and cosine and sine of time."""
    start = [text for part in case["start"].values() for text in (part if isinstance(part, str) else part[0]).split()]
    swing = case["parameters"].get("force_frequency") or case["parameters"].get("orbit_rate")

    def equations(kind: Callable) -> Callable:
        motion, frequency = Motion(case, kind), kind(swing or "0")

        def found(y: list) -> list:
            if len(y) == len(start):
                return motion.slopes(y, (1, 0))
            *state, c, s = y
            return [*motion.slopes(state, (c, s)), s*frequency*-1, c*frequency]
        return found
    units = [mp.mpf(1)]*(len(start) - 3) + [mp.mpf(make_cases.fastest_of(case))]*3
    more = [1, 0] if swing else []
    return Proof(equations, [iv.mpf(x) for x in start + more], units + [mp.mpf(1)]*len(more))


def proven(name: str, path: list[str]) -> mp.mpf:
    """Proven bound of every printed number of the path of a case. Raises ValueError where nothing is proven."""
    mp.dps = iv.dps = DIGITS
    t_end = CASES[name]["t_end"]
    steps = ceil(8*mp.mpf(t_end)*make_cases.fastest_of(CASES[name]))
    return case_proof(CASES[name]).bound([row.split() for row in path[1:]], t_end, steps)


def rounded_up(bound: mp.mpf) -> str:
    power = int(mp.floor(mp.log10(bound)))
    text = f"{int(mp.ceil(bound/mp.mpf(10)**power))}e{power}"
    return text if mp.mpf(text) >= bound else f"{int(text.split('e')[0]) + 1}e{power}"


def main(names: list[str]) -> None:
    known = make_cases.stored()
    for name in names or PROVEN:
        known[name] |= {"bound": rounded_up(proven(name, known[name]["path"])), "bound_kind": "proven"}
        print(f"{name}: every printed number within {known[name]['bound']}", flush=True)
        make_cases.write(known)


if __name__ == "__main__":
    main(sys.argv[1:])
