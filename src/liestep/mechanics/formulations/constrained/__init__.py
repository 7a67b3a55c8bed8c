"""Formulations in redundant coordinates with holonomic constraints, for Livens' principle and its rivals."""
