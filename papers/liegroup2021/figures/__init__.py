"""Figures of liegroup2021."""
