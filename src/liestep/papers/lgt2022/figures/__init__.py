"""Figures of lgt2022: the paper has one diagram and no number; these answer its open question."""
