"""Small kernels on vectors and groups: scalars and tuples of three in, scalars and tuples out."""
