"""A paper that a stranger replicates outside of the repository with the wheel and its extra `study`, by the commands
and files that docs/replicate.md names."""
import csv
import re

from installed import Installed
from place import TOP
from strangers_paper import ID, complete


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_figure_column_table_erratum_and_verdict_of_a_paper_outside(once, tmp_path):
    place = Installed(tmp_path, once, "study")
    home = tmp_path/"stranger"
    home.mkdir()
    page = (TOP/"docs"/"replicate.md").read_text()
    begin, make = re.search(r"```\n(liestep new-paper .*)\n(snakemake .*)\n```", page).groups()
    place.call("sh", "-c", begin, folder=home)
    paper, results = home/"papers"/ID, home/"results"
    complete(paper)
    place.call("sh", "-c", make, folder=home)

    study = results/ID/"first"
    assert (study/"figures"/f"{ID}.figure1.pdf").read_bytes().startswith(b"%PDF")
    lowest = {row["integrator"]: float(row[f"{ID}_lowest_energy"]) for row in rows_of(study/"metrics.csv")}
    assert set(lowest) == {"vi_sphere", "rk4"}
    assert {row["integrator"]: float(row["lowest"]) for row in rows_of(study/"falls.csv")} == lowest
    verdicts = {row["claim"]: row["verdict"] for path in results.rglob("claims.csv") for row in rows_of(path)}
    assert verdicts == {"stays_on_sphere": "met", "energy_is_negative": "met"}
    errata = [row for path in results.rglob("errata.csv") for row in rows_of(path)]
    assert [row["confirmed"] for row in errata] == ["true"]
    shown = f"results/report/{ID}.html"
    assert f"`{shown}` shows them" in page
    assert "energy_is_negative" in (home/shown).read_text()
    assert "spherical_pendulum_chain" in place.call("liestep", "list", folder=home)
