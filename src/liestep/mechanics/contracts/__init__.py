"""What systems, formulations and integrators promise each other."""
