"""Code without loops: expressions, routines, and Taylor series of them."""
