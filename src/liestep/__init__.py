"""liestep: reproducible numerical studies of structure-preserving integrators."""
