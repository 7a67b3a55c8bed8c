"""Which machine code a run gets."""
