"""Evidence for the errata of liegroup2021."""
