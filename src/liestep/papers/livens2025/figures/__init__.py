"""Figures of livens2025."""
