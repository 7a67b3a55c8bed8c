"""Films of many bodies: a flat ring is seen from above, a block from the side; colours follow the turns."""
import numpy as np
import pytest
from liestep_papers.rodrigues2021.studies import bonded_block

from liestep import load_plugin
from liestep.figures.films.motions import PICTURE, motion_of
from liestep.simulation.runs.files import read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify


class Recorded:
    """A scene that notes what is put into it."""

    def balls(self, points, colours, size, lift):
        self.points, self.colours, self.size = points, colours, size
        self.sizes = [*getattr(self, "sizes", []), size]


@pytest.mark.parametrize(("system", "changes", "count", "flat"), [
    ("bonded_ring", {"particles": 6, "ring_diameter": 2.0, "gap": 0.05}, 6, True), ("bonded_block", {}, 8, False)])
def test_bodies_are_balls(system, changes, count, flat, tmp_path):
    load_plugin(bonded_block.__file__)
    preset = {"bonded_ring": "rescaled", "bonded_block": "small"}[system]
    run = carry_out(specify(system, "rodrigues", preset=preset, parameters=changes, step=0.01, t_end=0.5,
                            samples=6))
    write(run, tmp_path/"run.nc")
    file = read(tmp_path/"run.nc")
    motion, scene = motion_of(file), Recorded()
    assert (motion.view.axes[2] @ [0.0, 0.0, 1.0] > 0.99) == flat
    motion.draw(scene, 0)
    assert np.array_equal(scene.points, file["position"][0])
    extent = np.ptp(motion.view(motion.reach)[:, :2], axis=0).max()
    assert scene.size == pytest.approx((1.0 if flat else 1.178)*PICTURE/extent, rel=1e-12)  # 2 sin(pi/6) of the ring
    assert len(set(scene.colours)) == 1
    motion.draw(scene, 5)
    assert len(scene.colours) == count
    assert (len(set(scene.colours)) > 1) == flat  # the ring's particles turn, the block's do not


def test_balls_have_the_sizes_of_the_particles(tmp_path):
    run = carry_out(specify("bonded_particles", "rodrigues", preset="cluster", step=0.01, t_end=0.1, samples=2))
    write(run, tmp_path/"run.nc")
    motion, scene = motion_of(read(tmp_path/"run.nc")), Recorded()
    motion.draw(scene, 0)
    assert len(scene.sizes) == 2
    assert scene.sizes[0]/scene.sizes[1] == pytest.approx(0.9, rel=1e-12)
    assert scene.sizes[1] == PICTURE  # nothing moves as far as its diameter
