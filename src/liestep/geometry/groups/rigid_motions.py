"""The Lie algebra of SE(3)^n in rows A_1..A_n, a_1..a_n: what all actions of rigid motions
share, whatever they act on."""
import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import put, row
from liestep.geometry.se3 import bracket as bracket_of_one
from liestep.geometry.se3 import dexpinv as dexpinv_of_one
from liestep.geometry.se3 import in_chart as one_in_chart


@kernel
def dexpinv(sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
    """out = dexpinv_sigma(v); False where a rotation of sigma reaches 2 pi. out may be v."""
    n = v.shape[0]//2
    ok = True
    for i in range(n):
        a = row(sigma, i)
        ok = ok and one_in_chart(a)
        b, c = dexpinv_of_one(a, row(sigma, n + i), row(v, i), row(v, n + i))
        put(out, i, b)
        put(out, n + i, c)
    return ok


@kernel
def in_chart(sigma: np.ndarray) -> bool:
    """Whether all rotations of sigma stay below 2 pi."""
    n = sigma.shape[0]//2
    ok = True
    for i in range(n):
        ok = ok and one_in_chart(row(sigma, i))
    return ok


@kernel
def bracket(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = [a, b]; out may be a or b."""
    n = a.shape[0]//2
    for i in range(n):
        rotation, translation = bracket_of_one(row(a, i), row(a, n + i), row(b, i), row(b, n + i))
        put(out, i, rotation)
        put(out, n + i, translation)
