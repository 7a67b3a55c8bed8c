"""Numbers of public test sets, on plain functions."""
from liestep.paper import Paper

PAPER = Paper(
    id="testsets",
    citation="Numbers of public test sets: source, repository and commit stand with each")
