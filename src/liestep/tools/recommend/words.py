"""Words of recommendations. Every command reads this module: it imports nothing."""
BUDGET = 30.0               # s
