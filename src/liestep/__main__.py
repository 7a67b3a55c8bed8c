"""`python -m liestep`: the command line. The working folder, where anybody may have put a numpy.py, is taken off the
path first."""
import os
import sys

if sys.path and os.path.realpath(sys.path[0] or ".") == os.path.realpath("."):
    del sys.path[0]

from liestep.api.command_line import main

if __name__ == "__main__":
    sys.exit(main())
