"""Numbers that others printed for problems of this kind, each with its source."""
from liestep.paper import Paper

PAPER = Paper(
    id="external",
    citation="Numbers of other public codes: repository, file and commit stand with each",
    criteria="criteria")
