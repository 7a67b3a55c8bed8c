"""Figures of twospheres2009."""
