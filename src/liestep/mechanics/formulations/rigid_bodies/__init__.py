"""Formulations of several rigid bodies that turn and, where they are free, move."""
