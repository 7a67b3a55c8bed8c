"""Rigid bodies with joints in absolute coordinates (lgt2022): poses of bodies, joints as constraints."""
