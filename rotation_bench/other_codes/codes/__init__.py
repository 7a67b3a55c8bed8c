"""One file for each code, named like its module: DISTRIBUTION, METHODS and `prepare`. None imports liestep, so that
each runs in an environment without it."""
