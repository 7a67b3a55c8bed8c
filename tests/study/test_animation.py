"""Films of runs: every system can be drawn, frames are stored samples, bytes repeat, and wrong
requests are one sentence."""
import base64
import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from commands import contents, refused
from PIL import Image
from place import STUDY, Place

from liestep.api.command_line import main
from liestep.errors import InputError
from liestep.figures.films.film import SIDE, animate, chosen, frame_of, stage, writer_for
from liestep.figures.films.motions import motion_of
from liestep.figures.films.viewer import page_of
from liestep.figures.scenes.space import Scene
from liestep.figures.style import MM, new_figure
from liestep.simulation.catalogue import sheet, system_ids
from liestep.simulation.references.reference import compute_reference, specify_reference
from liestep.simulation.runs.files import read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
from liestep.study.plan.plan import Study
from liestep.workflow.workflow import StudyProducts

SMALL = ["--frames", "4", "--width", "120"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A short run of every system, and one in body coordinates."""
    folder = tmp_path_factory.mktemp("runs")
    for name in system_ids():
        preset = "level1" if name == "lennard_jones_sphere" else None
        write(carry_out(specify(name, "rk4", preset=preset, t_end=1e-3, steps=10)), folder/f"{name}.nc")
    write(carry_out(specify("heavy_top", "rkmk", t_end=1e-3, steps=10, options={"action": "coadjoint"})),
          folder/"coadjoint.nc")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", [*system_ids(), "coadjoint"])
def test_every_system_is_drawn_inside_the_picture(name, runs):
    """All that a scene draws at the first and the last sample lies within the limits that were made for all samples."""
    motion = motion_of(read(runs/f"{name}.nc"))
    (left, right, bottom, top), _, _ = frame_of(motion)
    for k in (0, 10):
        scene = Scene(new_figure(90.0, 90.0, layout=None).add_axes([0.0, 0.0, 1.0, 1.0]), motion.view)
        motion.draw(scene, k)
        assert scene.items
        points = np.concatenate([np.reshape(content[0], (-1, 2)) for _, _, _, content in scene.items])
        assert points[:, 0].min() >= left
        assert points[:, 0].max() <= right
        assert points[:, 1].min() >= bottom
        assert points[:, 1].max() <= top


@pytest.mark.slow
@pytest.mark.parametrize("name", [*system_ids(), "coadjoint"])
def test_every_system_has_a_page_of_what_its_film_draws(name, runs):
    """Every place of the first sample lies in the picture, which reaches from -1 to 1 about its centre."""
    page = page_of([read(runs/f"{name}.nc")], 3)
    packed = page.partition('id="runs">')[2].partition("</script>")[0]
    run, = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert (len(run["frames"]), len(run["time"])) == (3, 3)
    calls = run["still"] + run["frames"][0]
    assert calls
    places = np.concatenate([np.reshape(call[1], (-1, 3)) for call in calls])
    seen = (places - run["centre"]) @ np.transpose(run["axes"])
    assert np.abs(seen[:, :2]).max() <= 1.0


@pytest.mark.slow
def test_chain_ends_where_its_links_add_up(runs):
    file = read(runs/"spherical_pendulum_chain.nc")
    length = np.array(sheet("spherical_pendulum_chain").presets["paper"].parameters["length"])
    motion = motion_of(file)
    joints = motion.reach.reshape(11, -1, 3)
    assert np.array_equal(joints[:, 0], np.zeros((11, 3)))
    assert np.allclose(joints[:, -1], np.einsum("n,tnx->tx", length, file["q"]), rtol=1e-14, atol=0.0)


@pytest.mark.slow
def test_film_repeats_byte_for_byte_and_moves(runs, tmp_path, capsys):
    source = tmp_path/"top.nc"
    shutil.copy(runs/"heavy_top.nc", source)
    assert main(["animate", str(source), *SMALL]) == 0
    assert capsys.readouterr().out == f"{tmp_path/'top.gif'}: 4 frames\n"
    assert main(["animate", str(source), *SMALL, "-o", str(tmp_path/"again.gif")]) == 0
    assert (tmp_path/"top.gif").read_bytes() == (tmp_path/"again.gif").read_bytes()
    with Image.open(tmp_path/"top.gif") as film:
        attributes = read(source, ()).attributes
        assert film.info["comment"].decode() == f"{attributes['run_sha256']} {attributes['source_hash']}"
        assert film.size == (120, 120)
        assert film.n_frames == 4
        assert film.info["duration"] == 50
        first = np.asarray(film.convert("RGB"))
        film.seek(3)
        assert not np.array_equal(first, np.asarray(film.convert("RGB")))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.gif", "top.gif", "top.nc"]


@pytest.mark.slow
def test_frames_are_stored_samples(runs):
    file = read(runs/"heavy_top.nc")
    assert chosen(file, 4).tolist() == [0, 3, 7, 10]
    assert chosen(file, 100).tolist() == list(range(11))


def test_references_can_be_drawn(tmp_path):
    write(compute_reference(specify_reference("sphere_nbody", t_end=0.1, samples=5)), tmp_path/"r.nc")
    assert animate(tmp_path/"r.nc", tmp_path/"r.gif", frames=2, width=100) == 2


@pytest.mark.slow
def test_mp4_is_refused_without_ffmpeg_and_repeatable_with_it(runs, tmp_path, monkeypatch, capsys):
    target = tmp_path/"top.mp4"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "MP4 needs the program ffmpeg" in refused(["animate", str(runs/"heavy_top.nc"), "-o", str(target)], capsys)
    assert not list(tmp_path.iterdir())
    assert "+bitexact" in writer_for(target, 20, "").extra_args


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_mp4(runs, tmp_path):
    for name in ("a.mp4", "b.mp4"):
        animate(runs/"heavy_top.nc", tmp_path/name, frames=4, width=120)
    assert (tmp_path/"a.mp4").read_bytes() == (tmp_path/"b.mp4").read_bytes()


@pytest.mark.parametrize(("arguments", "expected"), [
    (["none.nc"], "none.nc does not exist"),
    (["RUN", "-o", "film.avi"], "must end with .gif, .webp or .mp4"),
    (["RUN", "--frames", "1"], "frames must be from 2 to 10000, not 1"),
    (["RUN", "--fps", "500"], "fps must be from 1 to 50, not 500"),
    (["RUN", "--width", "10"], "width must be from 100 to 4000, not 10"),
    (["RUN", "-o", "RUN/film.gif"], "cannot write"),
])
@pytest.mark.slow
def test_wrong_requests(arguments, expected, runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    place = str(runs/"heavy_top.nc")
    before = contents(Path(tmp_path)) | contents(runs)
    assert expected in refused(["animate", *(item.replace("RUN", place) for item in arguments)], capsys)
    assert contents(Path(tmp_path)) | contents(runs) == before


def test_ensembles_and_empty_runs_are_refused(tmp_path, capsys):
    many = specify("sphere_nbody", "vi_sphere", t_end=0.1, steps=2, ensemble={"members": 2, "amplitude": 1e-3})
    write(carry_out(many), tmp_path/"many.nc")
    assert "holds an ensemble" in refused(["animate", str(tmp_path/"many.nc")], capsys)


def test_workflow_makes_the_films_that_a_study_names(tmp_path):
    place = Place(tmp_path)
    place.study.write_text(STUDY + "animations: [bodies/rk4/h0.1]\n")
    place.make("--until", "animate")
    film = tmp_path/"results"/"tiny"/"animations"/"bodies.rk4.h0.1.gif"
    with Image.open(film) as pictures:
        assert pictures.n_frames == 6


@pytest.mark.parametrize(("entry", "expected"), [
    ("bodies", "'bodies' must be problem/integrator or problem/integrator/resolution"),
    ("body/rk4/h0.1", "did you mean bodies?"),
    ("bodies/rk5/h0.1", "did you mean rk4?"),
    ("bodies/rk4/h0.2", "did you mean h0.1?"),
])
def test_wrong_entries_name_file_and_line(entry, expected, tmp_path):
    path = tmp_path/"tiny.yaml"
    path.write_text(STUDY + f"animations: [{entry}]\n")
    with pytest.raises(InputError) as caught:
        StudyProducts(Study.find(str(path)))
    assert expected in str(caught.value)
    assert str(caught.value).startswith(f"{path}, line 10: animations: ")
    assert str(caught.value).count(str(path)) == 1


def test_one_pendulum_has_its_sphere_and_letters_that_can_be_read(tmp_path):
    write(carry_out(specify("spherical_pendulum_chain", "rk4", steps=10, t_end=8.0, samples=11, preset="paper_scaled",
                            parameters={"mass": [1.0], "length": [1.0], "gravity": [0.0, 0.0, -1.0]},
                            initial={"q": [[0.8, 0.0, -0.6]], "omega": [[0.42, 0.0, 0.56]]})), tmp_path/"one.nc")
    file = read(tmp_path/"one.nc")
    motion = motion_of(file)
    assert motion.note is not None
    assert motion.note(10) == f"{np.linalg.norm(file['q'][10, 0]):.3f} m from the pivot"
    assert float(motion.note(10).split()[0]) < 0.99
    assert len(motion.reach) == 2*11 + 6
    for width, lines in ((180, 2), (480, 1), (960, 1)):
        figure = new_figure(SIDE, SIDE, layout=None)
        axes, clock = stage(figure, file, motion, width)
        letters = [clock, *(text for text in (*figure.texts, *axes.child_axes[0].texts) if text.get_text())]
        assert len(letters) == 5
        assert min(text.get_fontsize() for text in letters)*width/(72.0*SIDE*MM) > 15.0
        assert figure.texts[0].get_text().count("\n") == lines - 1
