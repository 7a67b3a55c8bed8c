"""Textbook problems in R^n, by every method that takes them."""
from liestep.paper import Paper

PAPER = Paper(
    id="classics",
    citation="Closed forms of textbooks; HLW is Hairer, Lubich and Wanner 2006, Geometric Numerical Integration",
    figures={"classics.phase_portrait": "figures", "classics.section": "figures"})
