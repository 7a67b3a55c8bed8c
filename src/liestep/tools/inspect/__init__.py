"""What a system or an integrator is, and whether a system is right: `liestep describe`, `liestep check-system`."""
