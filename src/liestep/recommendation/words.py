"""What can be asked for, in words. Every command reads this module: it imports nothing that takes long."""
from liestep.analysis.choice import KEEP

__all__ = ["BUDGET", "KEEP"]

BUDGET = 30.0               # s
