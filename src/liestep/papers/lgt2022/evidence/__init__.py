"""Evidence for the errata of lgt2022."""
