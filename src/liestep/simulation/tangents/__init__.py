"""Derivatives of trajectories with respect to their start, and what follows from them: Lyapunov exponents."""
