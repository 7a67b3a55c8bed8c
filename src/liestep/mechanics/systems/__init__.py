"""Mechanical systems, one file each; the file name is the public id. See `liestep.simulation.catalogue`."""
