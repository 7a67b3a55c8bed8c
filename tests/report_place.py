"""A small study of a paper and one of nobody's paper with everything that the report shows."""
from pathlib import Path

import pytest

from liestep.api.command_line import main

TOP = Path(__file__).parents[1]

STUDY = """title: Three bodies & more
description: A study of the test.
reference: true
samples: 2
tables: [orders, energy]
figures: [convergence, energy_error]
animations: [bodies/rk4/h0.03125]
problems:
  bodies: {system: sphere_nbody, t_end: 2.5, label: three bodies}
integrators:
  vi_sphere: {steps: {counts: [1, 80, 40, 160]}, label: "<script>alert(1)</script>"}
  rk4: {steps: {counts: [80]}}
"""
OWN = """title: A study of nobody's paper
problems:
  pendulum: {system: spherical_pendulum_chain, preset: paper_scaled, t_end: 0.5}
integrators:
  vi_sphere: {steps: [0.1, 0.05]}
"""
CLAIMS = """paper: paper
citation: "A. Author: On bodies"
headlines:
  - {finding: impossible, figure: paper/bodies/energy_error}
  - {about: small_error, figure: paper/bodies/convergence}
  - {misprint: erratum 2a}
claims:
  - id: small_error
    statement: "the error is small (erratum 2)"
    source: "figure 1"
    quote: its words
    asserted_by: paper
    printed: 0.1
    units: J
    runs: [{study: paper/bodies, problem: bodies, integrator: rk4, resolution: h0.03125}]
    quantity: energy_error_mean
    criterion: {kind: limit, at_most: 1.0}
    verdict: confirmed
    known: false
  - id: impossible
    statement: "the error vanishes"
    source: "section 2"
    quote: its words
    asserted_by: paper
    scope: general
    runs: [{study: paper/bodies, problem: bodies, integrator: rk4}]
    quantity: energy_error_max
    criterion: {kind: limit, at_most: 1e-30}
    verdict: confirmed
    known: true
    setting: "errata 1 and 2 are not applied"
  - id: words
    statement: "the motion is beautiful"
    source: "abstract"
    quote: its words
    asserted_by: paper
    criterion: {kind: none}
    verdict: not testable
    known: false
    setting: "beauty has no units"
"""
ERRATA = """paper: paper
citation: "A. Author: On bodies"
errata:
  - {number: 1, place: eq. (1), printed: a < b, correct: a > b, kind: misprint, text_only: words}
  - {number: 2, part: a, place: eq. (2), printed: x, correct: y, kind: ambiguity, text_only: words}
"""
NAMES = ("paper/bodies", "own")
RUN, FILM = "paper/bodies/runs/bodies/rk4/h0.03125.nc", "paper/bodies/animations/bodies.rk4.h0.03125.gif"


class Place:
    """A folder with configuration and results; `liestep` calls the command line there."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.report = folder/"results"/"report.html"
        self.page, self.own = (folder/"results"/"report"/f"{name}.html" for name in ("paper", "studies"))

    @property
    def files(self) -> list[Path]:
        return [self.report, self.page, self.own]

    def liestep(self, *arguments: str) -> int:
        return main(["--config", str(self.folder/"config"), "--results", str(self.folder/"results"), *arguments])


def made_place(folder: Path) -> Place:
    """A folder with configuration, results and the report, made where there is the page that repeats runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(TOP)
        return _made(Place(folder))


def _made(place: Place) -> Place:
    for name, text in {"studies/paper/bodies": STUDY, "studies/own": OWN, "claims/paper": CLAIMS,
                       "errata/paper": ERRATA}.items():
        path = place.folder/"config"/f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for command in (("job", "sweep", "paper/bodies", "bodies"), ("job", "reference", "paper/bodies", "bodies"),
                    ("job", "sweep", "own", "pendulum"), ("job", "analyse", "paper/bodies"), ("job", "analyse", "own"),
                    ("job", "figure", "paper/bodies"),
                    ("animate", str(place.folder/"results"/RUN), "-o", str(place.folder/"results"/FILM)),
                    ("job", "claims"), ("job", "errata"), ("job", "report")):
        assert place.liestep(*command) == 0, command
    return place
