"""One run: its specification, how it is carried out, and its NetCDF file."""
