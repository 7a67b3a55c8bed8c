"""What people do with data sets in a session of Python or Jupyter: pictures, comparisons, the accessor `liestep`."""
