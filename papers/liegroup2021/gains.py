"""What variable steps gain: the error of as many constant steps, divided by that of an adaptive run."""
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # claims are read without pandas
    import pandas


def gains(adaptive: "pandas.DataFrame", constant: "pandas.DataFrame", quantity: str,
          over: str) -> tuple[np.ndarray, np.ndarray]:
    """Gain of each adaptive run (rows of metrics.csv of one problem), and whether it is a lower bound. The `quantity`
    of constant steps at the adaptive run's number `over` (steps, for example) is interpolated in logarithms between
    complete runs. A run with fewer than the fewest of them counts with the quantity of the fewest, which is a lower
    bound. NaN where an adaptive run stopped early or has more than the most of them."""
    complete = constant[constant["status"] == "ok"].sort_values(over)
    counts, sizes = complete[over].to_numpy(float), complete[quantity].to_numpy(float)
    own, small = adaptive[over].to_numpy(float), adaptive[quantity].to_numpy(float)
    if not counts.size:
        return np.full(len(own), np.nan), np.zeros(len(own), dtype=bool)
    known = (adaptive["status"] == "ok").to_numpy() & (own <= counts[-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.exp(np.interp(np.log(own), np.log(counts), np.log(sizes)))
        return np.where(known, expected/small, np.nan), known & (own < counts[0])
