"""How many random trials a test makes: few each day, more before a release, many when somebody asks for them."""
import os

FOR_RELEASES = "LIESTEP_TEST_ALL"  # set by `pytest --all`


def trials(daily: int, release: int, full: int) -> int:
    """With --all as many as `release`, and with LIESTEP_FULL=1 as many as `full`."""
    if os.environ.get("LIESTEP_FULL"):
        return full
    return release if os.environ.get(FOR_RELEASES) else daily
