"""What can be asked for, in words. This module imports nothing of the package: every command reads it."""

BUDGET = 30.0               # s
# what can be kept -> words of `Method.conserves`, of which one must be there
KEEP = {"energy": ("energy",), "momentum": ("momentum maps",),
        "manifold": ("unit length", "unit quaternions", "orthogonality", "the orbit of the action", "constraints",
                     "positions of joints")}
