"""Statistics over every step: those of adaptive runs over their accepted steps, not over their outputs."""
import pandas

ACCEPTED = "_accepted"  # suffix of the names of statistics over accepted steps


def over_steps(metrics: pandas.DataFrame) -> pandas.DataFrame:
    """The rows of metrics.csv with the statistics over accepted steps in place of those over outputs, where a run has
    them: with two outputs the latter are those of its ends. Claims use metrics.csv itself."""
    table = metrics.copy()
    adaptive = metrics["adaptive"].astype(bool)
    for name in metrics.columns:
        if name.endswith(ACCEPTED) and name.removesuffix(ACCEPTED) in metrics:
            plain = name.removesuffix(ACCEPTED)
            table[plain] = metrics[plain].where(~adaptive | metrics[name].isna(), metrics[name])
    if "energy_scale" in metrics:
        relative = table["energy_error_mean"]/metrics["energy_scale"].where(metrics["energy_scale"] > 0.0)
        table["energy_error_mean_relative"] = metrics["energy_error_mean_relative"].where(~adaptive, relative)
    if "momentum_error_max_x" in metrics and "momentum_conserved" in metrics:
        largest = table.apply(_largest_momentum_error, axis=1)
        table["momentum_error_max"] = metrics["momentum_error_max"].where(~adaptive | largest.isna(), largest)
    return table


def _largest_momentum_error(row: pandas.Series) -> float:
    """The largest momentum error over accepted steps and conserved components."""
    axes = [axis for axis in "xyz" if row["momentum_conserved"] != "none" and axis in row["momentum_conserved"]]
    return max((row[f"momentum_error_max_{axis}"] for axis in axes), default=float("nan"))
