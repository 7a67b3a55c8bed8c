"""Pairs of particles that may touch: a list with a skin, found by hashed cells in time proportional to the number of
particles, wherever they are."""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel, outlined
from liestep.compile.rows import dot, put, row, sub

FAR = 1e9       # cells from the origin beyond which nothing is listed: the run has blown up
PER_BODY = 40   # room for partners of a body; spheres of one size have at most 15 with larger numbers


@kernel
def cell_of(x: float, size: float) -> int:
    """Number of the cell of a coordinate, rounded down."""
    place = x/size
    k = int(place)
    return k - 1 if place < k else k


@kernel
def bucket(a: int, b: int, c: int, mask: int) -> int:
    return (a*73856093 ^ b*19349663 ^ c*83492791) & mask


class NeighbourList(NamedTuple):
    """For each body i the bodies j > i, in rising order, that were closer than `reach` when the list was made. It is
    made anew once a body has moved by half of the skin, so that no pair closer than reach - skin is missing: forces
    summed over it are those of a double loop, in the same order, to the last bit."""

    reach: float
    skin: float
    anchor: np.ndarray   # (n + 1, 3) positions when it was made; in the last row the number of the making
    offset: np.ndarray   # (n + 1,) int64: partners of i are at offset[i] to offset[i + 1]
    partner: np.ndarray  # (capacity,) int64
    cells: np.ndarray    # (n, 3) int64
    heads: np.ndarray    # (2^k,) int64: first body of each bucket, -1 for none
    chain: np.ndarray    # (n,) int64: next body of the same bucket
    made: np.ndarray     # (1,) int64: how often it was made

    def update(self, x: np.ndarray) -> bool:
        """Make the list anew for positions x (n, 3) if need be. False where a position is no place, or the partners
        have no room."""
        n, limit = x.shape[0], 0.25*self.skin*self.skin
        # a copy of the component on other numbers shares the whole numbers, not the anchors
        fresh = self.anchor[n, 0] == self.made[0] and self.made[0] > 0
        for i in range(n):
            if not fresh:
                break
            gap = sub(row(x, i), row(self.anchor, i))
            fresh = dot(gap, gap) <= limit
        return True if fresh else self.search(x)

    @outlined
    def search(self, x: np.ndarray) -> bool:
        n, mask = x.shape[0], self.heads.shape[0] - 1
        self.made[0] += 1
        self.anchor[n, 0] = -1.0
        for c in range(mask + 1):
            self.heads[c] = -1
        for k in range(n):
            i = n - 1 - k
            for d in range(3):
                if not abs(x[i, d]) < FAR*self.reach:
                    return False
                self.cells[i, d] = cell_of(x[i, d], self.reach)
            put(self.anchor, i, row(x, i))
            c = bucket(self.cells[i, 0], self.cells[i, 1], self.cells[i, 2], mask)
            self.chain[i] = self.heads[c]
            self.heads[c] = i
        total = 0
        for i in range(n):
            self.offset[i] = total
            for near in range(27):
                total = self.gather(x, i, near//9 - 1, near//3 % 3 - 1, near % 3 - 1, total)
                if total < 0:
                    return False
        self.offset[n] = total
        self.anchor[n, 0] = self.made[0]
        return True

    def gather(self, x: np.ndarray, i: int, u: int, v: int, w: int, total: int) -> int:
        """Insert the partners of i in one neighbouring cell by their numbers; the new total, -1 for no room."""
        a, b, c = self.cells[i, 0] + u, self.cells[i, 1] + v, self.cells[i, 2] + w
        j = self.heads[bucket(a, b, c, self.heads.shape[0] - 1)]
        while j >= 0:
            if j > i and self.cells[j, 0] == a and self.cells[j, 1] == b and self.cells[j, 2] == c:
                gap = sub(row(x, i), row(x, j))
                if dot(gap, gap) < self.reach*self.reach:
                    if total == self.partner.shape[0]:
                        return -1
                    k = total
                    while k > self.offset[i] and self.partner[k - 1] > j:
                        self.partner[k] = self.partner[k - 1]
                        k -= 1
                    self.partner[k] = j
                    total += 1
            j = self.chain[j]
        return total


def neighbour_list(diameters: np.ndarray, listed: bool) -> NeighbourList:
    """An empty list for spheres that touch at distances of at most their largest diameter; without room where it is
    never asked for."""
    n = len(diameters) if listed else 0
    largest = float(diameters.max())
    ratio = min((largest/float(diameters.min()))**3, max(n, 1))
    return listed_within(n, largest, 0.5*largest, PER_BODY*ratio)


def listed_within(n: int, distance: float, skin: float, each: float) -> NeighbourList:
    """An empty list of n bodies that act on each other up to a distance, with room for `each` partners of a body on
    average."""
    buckets = 1
    while buckets < 2*n:
        buckets *= 2
    integers = np.int64
    return NeighbourList(distance + skin, skin, np.zeros((n + 1, 3)), np.zeros(n + 1, integers),
                         np.zeros(int(each*n), integers), np.zeros((n, 3), integers),
                         np.zeros(buckets, integers), np.zeros(n, integers), np.zeros(1, integers))
