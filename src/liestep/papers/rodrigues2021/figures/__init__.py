"""Figures of rodrigues2021: 1 in the module pendulum, 2 and 3 in ring, 4 to 7 in impact; own ones in own."""
