"""Every kind of file that is read, damaged, foreign or not a file at all: one sentence that names it, exit
code 2, no file changed.

The configuration's keys are in test_malformed.py.
"""
import fnmatch
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from commands import contents, main, refused
from plugin_room import _nothing_stays  # noqa: F401

EXAMPLES = Path(__file__).parents[2]/"docs"/"examples"
RUN, OTHER = "results/tiny/runs/bodies/vi_sphere/h0.1.nc", "results/tiny/runs/bodies/vi_sphere/h0.05.nc"
FILM = "results/tiny/animations/bodies.vi_sphere.h0.1.gif"
REFERENCE = "results/tiny/references/bodies.nc"
STUDY = """\
title: Four bodies
problems:
  bodies: {system: sphere_nbody, preset: four_bodies, t_end: 1.0}
integrators:
  vi_sphere: {}
steps: [0.1, 0.05]
samples: 11
reference: true
timing: true
tables: [orders, energy, drift, work]
figures: [energy_error, work_precision]
animations: [bodies/vi_sphere/h0.1]
"""
CLAIMS = """\
paper: paper
citation: c
claims:
  - {id: one, statement: s, quote: q, source: p, asserted_by: paper, scope: general,
     quantity: error, criterion: {kind: limit, at_most: 1.0}, known: false,
     runs: [{study: tiny, problem: bodies, integrator: vi_sphere}]}
  - {id: two, statement: s, quote: q, source: p, asserted_by: paper, scope: general,
     criterion: {kind: order, theory: 2}, known: false,
     runs: [{study: tiny, problem: bodies, integrator: vi_sphere}]}
  - {id: three, statement: s, quote: q, source: p, asserted_by: paper, scope: general,
     quantity: energy, criterion: {kind: drift}, known: false,
     runs: [{study: tiny, problem: bodies, integrator: vi_sphere}]}
"""
ERRATA = ("paper: twospheres2009\ncitation: c\nerrata:\n  - {number: 1, place: p, printed: x, correct: y,"
          " kind: misprint, text_only: words}\n")
PLUGIN_STUDY = """\
title: own
plugins: [own.py]
problems:
  one: {system: own}
integrators:
  rk4: {steps: {counts: [10]}}
"""
NOISE = bytes(range(256))*8
FOLDER = object()
Damage = bytes | object | Callable[[bytes], bytes]  # new content, a folder in its place, or a function of the content


def half(content: bytes) -> bytes:
    return content[:len(content)//2]


def changed(**attributes) -> Callable[[bytes], bytes]:
    """Other global attributes of a NetCDF file, without its checksums made anew."""
    def change(content: bytes) -> bytes:
        path = Path("changed.nc")
        path.write_bytes(content)
        with netCDF4.Dataset(path, "a") as data:
            for name, value in attributes.items():
                data.delncattr(name)
                if value is not None:
                    data.setncattr(name, value)
        return taken(path)

    return change


def variable(name: str, values) -> Callable[[bytes], bytes]:
    """Another first value of a variable of a NetCDF file."""
    def change(content: bytes) -> bytes:
        path = Path("changed.nc")
        path.write_bytes(content)
        with netCDF4.Dataset(path, "a") as data:
            data[name][0] = values
        return taken(path)

    return change


def states(dims: tuple = ("time", "body", "axis"), bodies: int = 4, kind: str = "f8", name: str = "q",
           value: float = 0.0) -> Callable[[bytes], bytes]:
    """A NetCDF file of somebody else with states."""
    def make(_: bytes) -> bytes:
        path = Path("changed.nc")
        with netCDF4.Dataset(path, "w") as data:
            for dim, size in (("time", 11), ("body", bodies), ("axis", 3)):
                data.createDimension(dim, size)
            data.createVariable("time", "f8", ("time",))[:] = np.linspace(0.0, 1.0, 11)
            for field in (name, "omega"):
                found = data.createVariable(field, str if kind == "text" else kind, dims)
                found[:] = np.full(found.shape, "a", dtype=object) if kind == "text" else value
        return taken(path)

    return make


def taken(path: Path) -> bytes:
    content = path.read_bytes()
    path.unlink()
    return content


UNREADABLE = [(NOISE, "is not a text file in UTF-8"),
              ("caf\xe9: 1\n".encode("latin-1"), "is not a text file in UTF-8 (byte 4)"),
              ("title: t\n".encode("utf-16"), "is not a text file in UTF-8"), (FOLDER, "cannot read")]
YAML = [*UNREADABLE, (b"5\n", "must be a mapping"), (b"[1, 2]\n", "must be a mapping"),
        (b"some words\n", "must be a mapping"), (b"\0\0\0", "malformed YAML"), (b"a: [1, 2\n", "malformed YAML"),
        (b"a: 1\n\tb: 2\n", "line 2: malformed YAML"), (b"a: &b [*b]\n", "nested too deeply, or in itself"),
        (b"["*100_000, "nested deeper than 1000 levels"), (b"[a, b]: 1\n", "a key must be a name"),
        (b"a: 2020-13-45\n", "malformed YAML"), (b"a: !!python/object:os.system x\n", "malformed YAML"),
        (b"a: 1\na: 2\n", "key a appears twice")]
NETCDF = [(b"", "is not a readable NetCDF file"), (NOISE, "is not a readable NetCDF file"),
          (b"time,q\n0,1\n", "is not a readable NetCDF file"), (half, "is not a readable NetCDF file"),
          (lambda content: content[:-1], "is not a readable NetCDF file"), (FOLDER, "does not exist"),
          (changed(complete=None), "is incomplete"), (changed(run_sha256=None), "is not a run of liestep"),
          (changed(format="0"), "has file format 0"),
          (changed(message="better"), "was changed after it was written: attributes"),
          (states(), "is not a run of liestep")]
TABLE = [*UNREADABLE, (b"", "is truncated"), (lambda content: content[:-3], "is truncated"),
         (b"a,b\n1,2\n", "has no column"), (b"a\n1,2\n1,2,3\n", "is not a table"),
         (b"{}\n", "has no column")]
STATES_CSV = [(b"", "has no header"), (NOISE, "is neither NetCDF nor a text file with UTF-8"), (FOLDER, "cannot read"),
              (b"some words\n", "has no column"), (half, "values, the header has"),
              (b"\x89PNG\r\n", "is neither NetCDF nor a text file"), (b"time,time\n0,0\n", "has two columns 'time'")]
STATES_NETCDF = [(half, "is not a readable NetCDF file"), (b"CDF", "is not a readable NetCDF file"),
                 (FOLDER, "cannot read"), (states(name="p"), "has no variable 'q'"),
                 (states(bodies=3), "is of shape (11, 3, 3)"), (states(("time", "axis")), "is of shape"),
                 (states(kind="text"), "is not a readable NetCDF file of numbers"),
                 (states(value=np.nan), "q is not finite at sample 0"), (states(), "write 17 digits"),
                 (changed(complete=np.int32(0)), "is incomplete")]
PLUGIN = [(b"", "declares neither SHEET nor SHEETS"), (NOISE, "own.py"), (b"def f(:\n", "line 1: syntax error"),
          (FOLDER, "there is no plugin file"), (b"import nowhere\n", "No module named 'nowhere'"),
          (b"SHEET = 3\n", "must be a Sheet"), (b"METHODS = [1]\n", "must be a mapping"),
          ("# caf\xe9\n".encode("latin-1"), "own.py"), (b"raise SystemExit('no')\n", "own.py"), (half, "own.py")]
PICTURE = [(b"", "is not a readable PNG file"), (NOISE, "is not a readable PNG file"),
           (half, "is not a readable PNG file"), (FOLDER, "is not a readable PNG file")]
MANIFEST = [(b"", "is not a readable manifest"), (b"{}", "was changed after it was written"),
            (half, "is not a readable manifest"), (NOISE, "is not a readable manifest"),
            (b"["*100_000, "is not a readable manifest"),
            (lambda content: content.replace(b"data", b"date", 1), "was changed after it was written"),
            (FOLDER, "is not a readable manifest"), (b"[1]", "was changed after it was written")]
JUDGE = ["--problem", "sphere_nbody", "--preset", "four_bodies"]
# kind -> (file, commands that read it, damages)
KINDS: dict[str, tuple[str, list[list[str]], list[tuple[Damage, str]]]] = {
    "config.yaml": ("config/config.yaml", [["job", "manifest"], ["job", "report"]],
                    [entry for entry in YAML if entry[1] != "key a appears twice"]),
    "study": ("config/studies/tiny.yaml", [["check", "tiny"], ["job", "sweep", "tiny", "bodies"], ["status", "tiny"]],
              [*((what, part.replace("must be a mapping", "a study is a mapping")) for what, part in YAML),
               (b"", "a study is a mapping")]),
    "claims": ("config/claims/paper.yaml", [["job", "claims"], ["job", "report"]],
               [*YAML, (b"", "must be a mapping, not empty")]),
    "errata": ("config/errata/twospheres2009.yaml", [["job", "errata"], ["job", "report"]],
               [*YAML, (b"", "must be a mapping, not empty")]),
    "plugin": ("own/own.py", [["check", "own/own.yaml"]], PLUGIN),
    "run": (RUN, [["check", RUN], ["job", "analyse", "tiny"], ["animate", RUN],
                  ["job", "figure", "tiny", "energy_error"]], NETCDF),
    "run, values": (RUN, [["job", "analyse", "tiny"], ["animate", RUN]],
                    [(variable("q", 0.5), "was changed after it was written: variable q"),
                     (variable("time", 0.5), "was changed after it was written: variable time")]),
    "run, of another": (RUN, [["job", "analyse", "tiny"], ["job", "figure", "tiny", "energy_error"]],
                        [(lambda _: Path(OTHER).read_bytes(), "is of another specification"),
                         (lambda _: Path(REFERENCE).read_bytes(), "is of another specification")]),
    "reference": (REFERENCE, [["check", REFERENCE], ["job", "analyse", "tiny"]], NETCDF),
    "reference, kept": (REFERENCE, [["judge", RUN, *JUDGE, "--reference", REFERENCE]],
                        [(b"", "is not a readable NetCDF file"), (half, "is not a readable NetCDF file"),
                         (lambda _: Path(RUN).read_bytes(), "is of another specification")]),
    "export's reference": ("out/sphere_nbody.four_bodies.nc", [["export-reference", *JUDGE, "-o", "out"]],
                           [(b"", "is not a file of liestep"), (NOISE, "is not a file of liestep"),
                            (states(), "is not a file of liestep")]),
    "states, CSV": ("states.csv", [["judge", "states.csv", *JUDGE, "--no-reference"]], STATES_CSV),
    "states, NetCDF": (RUN, [["judge", RUN, *JUDGE, "--no-reference"]], STATES_NETCDF),
    "metrics.csv": ("results/tiny/metrics.csv", [["job", "claims"], ["job", "report"],
                                                 ["job", "figure", "tiny", "work_precision"]],
                    [*TABLE, (lambda content: content.split(b"\n")[0] + b"\n", "of another state of the study")]),
    "orders.csv": ("results/tiny/orders.csv", [["job", "claims"], ["job", "report"]], TABLE),
    "drift.csv": ("results/tiny/drift.csv", [["job", "claims"], ["job", "report"]], TABLE),
    "energy.csv": ("results/tiny/energy.csv", [["job", "report"]], TABLE),
    "work.csv": ("results/tiny/work.csv", [["job", "report"]], TABLE),
    "seconds.csv": ("results/tiny/seconds.csv", [["job", "report"]], TABLE),
    "timings.csv": ("results/tiny/timings.csv", [["job", "figure", "tiny", "work_precision"], ["job", "report"]],
                    [entry for entry in TABLE if entry[0] is not FOLDER]),
    "claims.csv": ("results/claims.csv", [["job", "report"]], [*((what, "") for what, _ in TABLE), (half, "")]),
    "errata.csv": ("results/errata.csv", [["job", "report"]], [*((what, "") for what, _ in TABLE), (half, "")]),
    "figure": ("results/tiny/figures/energy_error.png", [["job", "report"]], PICTURE),
    "film": (FILM, [["job", "report"]], [(b"", "is not a readable GIF file"), (NOISE, "is not a readable GIF file"),
                                  (half, "is not a readable GIF file"), (FOLDER, "is not a readable GIF file")]),
    "caption": ("results/tiny/figures/energy_error.caption.txt", [["job", "report"]],
                [(b"", "of another state of the study"), (NOISE, "is not a text file in UTF-8"),
                 (FOLDER, "cannot read")]),
    "manifest": ("results/manifest.json", [["verify"]], MANIFEST),
}
NOT_READ = ("*.pdf", "*.md", "*.rst", "*.html", "environment.json")  # products that are only compared with the manifest


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the configuration and all products of the study `tiny`, a study with a
    plugin, and states as CSV."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, text in {"config/config.yaml": "studies: all\n", "config/studies/tiny.yaml": STUDY,
                           "config/claims/paper.yaml": CLAIMS, "config/errata/twospheres2009.yaml": ERRATA,
                           "own/own.yaml": PLUGIN_STUDY,
                           "own/own.py": (EXAMPLES/"my_pendulum.py").read_text("utf-8")}.items():
            path = folder/name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        for command in (["job", "sweep", "tiny", "bodies"], ["job", "reference", "tiny", "bodies"],
                        ["job", "time", "tiny"], ["job", "analyse", "tiny"], ["job", "figure", "tiny"],
                        ["job", "claims"], ["job", "errata"], ["animate", RUN, "-o", FILM], ["job", "report"],
                        ["job", "manifest"]):
            assert main(command) == 0, command
        with netCDF4.Dataset(RUN) as data:
            table = np.column_stack([data["time"][:], *(data[name][:].reshape(11, 12) for name in ("q", "omega"))])
        header = ["time", *(f"{name}_{body}_{axis}" for name in ("q", "omega") for body in range(4) for axis in "xyz")]
        lines = [",".join(header), *(",".join(f"{value:.17g}" for value in row) for row in table)]
        (folder/"states.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_kind_of_product_is_in_the_table(made):
    files = {Path(path) for path, _, _ in KINDS.values()}
    products = [Path("results", name) for name in json.loads((made/"results"/"manifest.json").read_text())["products"]]
    assert len(products) > 20
    for product in products:
        known = (product in files
                 or any(product.parts[:3] == path.parts[:3] and product.suffix == path.suffix for path in files))
        assert known or any(fnmatch.fnmatch(product.name, pattern) for pattern in NOT_READ), product
    assert all(len(damages) >= 2 for _, _, damages in KINDS.values())


def test_the_files_are_read_as_they_are(place, capsys):
    for command in {tuple(command): None for _, commands, _ in KINDS.values()
                    for command in commands if command[0] != "export-reference"}:
        assert main(list(command)) == 0, capsys.readouterr().err


@pytest.mark.parametrize(("kind", "number"),
                         [(kind, number) for kind, (_, _, damages) in KINDS.items() for number in range(len(damages))])
def test_malformed_files(kind, number, place, capsys):
    name, commands, damages = KINDS[kind]
    damage, part = damages[number]
    path = Path(name)
    content = path.read_bytes() if path.is_file() else b""
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    if damage is FOLDER:
        path.mkdir()
    else:
        path.write_bytes(damage(content) if callable(damage) else damage)
    for command in commands:
        before = contents(place)
        sentence = refused(command, capsys)
        assert part in sentence
        assert name in sentence or path.stem.split(".")[0] in sentence
        assert contents(place) == before
        assert path.is_dir() == (damage is FOLDER)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_without_permission(place, capsys):
    for name, commands, _ in KINDS.values():
        if not Path(name).is_file():
            continue
        mode = os.stat(name).st_mode
        os.chmod(name, 0)
        for command in commands:
            assert Path(name).stem.split(".")[0] in refused(command, capsys)
        os.chmod(name, mode)
