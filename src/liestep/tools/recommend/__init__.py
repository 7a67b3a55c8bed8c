"""Which integrator, with which step, for one system: a tournament of compiled runs over the whole horizon."""
BUDGET = 30.0  # s of processor time for runs
