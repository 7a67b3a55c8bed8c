"""Members of ensembles of `taylor` in lockstep, with the bits of single runs. `simulation.runs.execution` finds it by
its name; nothing else asks for it."""
