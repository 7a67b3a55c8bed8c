"""The force of the molecules as row sums, compiled by the core's own compiler: the core's bits,
one target after the other."""
from liestep.compile.rows import add
from liestep.mechanics.systems.lennard_jones_sphere import LennardJonesSphere


class RowSums(LennardJonesSphere):
    """The inner loop is a sum over the sources, which must not be reordered and is therefore not vectorised."""

    def gradient(self, q, out):
        self.load(q)
        n = q.shape[0]
        strength = 48.0*self.epsilon/self.sigma
        for j in range(n):
            x, y, z = self.x[j], self.y[j], self.z[j]
            g = (0.0, 0.0, 0.0)
            for i in range(n):
                g = add(g, self.pair((self.x[i] - x, self.y[i] - y, self.z[i] - z)))
            out[j, 0], out[j, 1], out[j, 2] = strength*g[0], strength*g[1], strength*g[2]
