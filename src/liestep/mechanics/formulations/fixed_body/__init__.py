"""Formulations of a rigid body about a fixed point."""
