"""Which integrator, with which step, for one system: a tournament of compiled runs over the whole horizon."""
