"""Proven bounds of the answers, by interval arithmetic: `python bench/prove_bounds.py [NAME ...]`; needs gmpy2, mpmath.

A polynomial p of time stands for the state in each step. Its coefficients are those of Taylor, found without care for
round-off: nothing is claimed about them. Intervals then enclose the whole defect p' - f(p), a polynomial as f is one,
and the derivatives of f in a box about p. The solution differs from p by at most e with e' <= L e + |defect|, e of the
step before and the gap between polynomials at its start (Gronwall's inequality; E. Hairer, S. P. Norsett, G. Wanner,
Solving Ordinary Differential Equations I, theorem I.10.2). Rates count in units of the fastest, so that L stays small.
What is left is the distance from p to the printed digits. `ball_joint` has no polynomial equations, and in `free_long`
the inequality loses 400 digits: their bounds come from two runs.
"""
import itertools
import sys
from collections.abc import Callable
from math import ceil

import make_cases
from make_cases import CASES, OUTPUTS, Motion
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
    """One case: its equations on attitude and rate (or direction and velocity), and cosine and sine of time."""

    def __init__(self, name: str):
        self.case = CASES[name]
        self.start = [text for part in self.case["start"].values() for text in (
            part if isinstance(part, str) else part[0]).split()]
        given = self.case["parameters"]
        self.swing = given.get("force_frequency") or given.get("orbit_rate")
        self.fields = {kind: self.equations(kind) for kind in (mp.mpf, Constant)}
        self.fastest = mp.mpf(make_cases.fastest_of(self.case))
        attitudes = len(self.start) - 3
        self.units = [mp.mpf(1)]*attitudes + [self.fastest]*3 + [mp.mpf(1)]*(2 if self.swing else 0)

    def equations(self, kind: Callable) -> Callable:
        """f(state) in numbers of a kind, of anything that can be added to them and multiplied by them."""
        motion, frequency = Motion(self.case, kind), kind(self.swing or "0")

        def found(y: list) -> list:
            if len(y) == len(self.start):
                return motion.slopes(y, (1, 0))
            *state, c, s = y
            return [*motion.slopes(state, (c, s)), s*frequency*-1, c*frequency]
        return found

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
        """Upper bound of the norm of f's derivatives in a box about p in [0, h]."""
        time, unit, n = iv.mpf([0, h]), iv.mpf([-RADIUS, RADIUS]), len(p)
        box = [sum(iv.mpf(x)*time**k for k, x in enumerate(row)) + unit*size for row, size in zip(
            p, self.units, strict=True)]
        slopes = self.fields[Constant]([Dual(x, [iv.mpf(int(i == j)) for j in range(n)]) for i, x in enumerate(box)])
        return largest([sum(abs(x)*size for x, size in zip(slope.slopes, self.units, strict=True))/own
                        for slope, own in zip(slopes, self.units, strict=True)])

    def bound(self, path: list[list[str]], t_end: str, steps: int) -> mp.mpf:
        """Largest distance of the solution from printed states at the ends of equal parts."""
        y = [mp.mpf(x) for x in self.start] + ([mp.mpf(1), mp.mpf(0)] if self.swing else [])
        texts = self.start + (["1", "0"] if self.swing else [])
        error = largest([(iv.mpf(x) - iv.mpf(text))/unit for x, text, unit in zip(y, texts, self.units, strict=True)])
        inner, printed = ceil(steps/OUTPUTS), mp.mpf(0)
        exact = iv.mpf(t_end)/(OUTPUTS*inner)
        for k in range(OUTPUTS*inner):
            p = self.polynomial(y, DEGREE)
            level = self.growth(p, mp.mpf(exact.b))
            grown = iv.exp(iv.mpf(level)*exact)*(iv.mpf(error) + exact*iv.mpf(self.defect(p, mp.mpf(exact.b))))
            if not grown.b < RADIUS:
                raise ValueError(f"step {k}: the error may leave the box of {RADIUS:g}")
            ends = [sum(iv.mpf(x)*exact**j for j, x in enumerate(row)) for row in p]
            y = [mp.mpf(x.mid) for x in ends]
            gap = largest([(x - iv.mpf(new))/unit for x, new, unit in zip(ends, y, self.units, strict=True)])
            error = mp.mpf((iv.mpf(grown.b) + iv.mpf(gap)).b)
            if (k + 1) % inner == 0:
                gaps = [abs(iv.mpf(text) - iv.mpf(x)) + iv.mpf(error)*unit for text, x, unit in zip(
                    path[(k + 1)//inner], y, self.units, strict=False)]
                printed = max(printed, largest(gaps))
        return printed


def proven(name: str, path: list[str]) -> mp.mpf:
    """Proven bound of every printed number of the path of a case. Raises ValueError where nothing is proven."""
    mp.dps = iv.dps = DIGITS
    proof, t_end = Proof(name), CASES[name]["t_end"]
    return proof.bound([row.split() for row in path], t_end, ceil(8*mp.mpf(t_end)*proof.fastest))


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
