"""Code without loops: expressions, and Taylor series of them.

A routine is machine code of a method with the bits of its loops; rows of equal operations share a register (a pack).
A jet gives the Taylor coefficients of a solution, as straight-line code, or by a tape where that would be too large.
"""
