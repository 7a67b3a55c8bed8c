"""Evidence for the errata of livens2025."""
