"""Formulations of systems on (S^2)^n."""
