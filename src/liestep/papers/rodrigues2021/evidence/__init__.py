"""Evidence for the errata of rodrigues2021, in plain numpy: nothing of the package is used that it judges."""
