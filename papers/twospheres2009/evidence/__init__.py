"""Evidence for the errata of twospheres2009."""
