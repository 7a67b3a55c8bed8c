"""Integrators: one file per family; a file's `METHODS` maps public ids to `Method` declarations.
See `liestep.simulation.catalogue`."""
