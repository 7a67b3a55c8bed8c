"""The command of the judge: CSV files of one case, one for each step, as the page of the bench describes them."""
import argparse
import csv
import json
import sys
from math import inf
from pathlib import Path

import numpy as np
from liestep_judge import DATA, BadStates, judge


def read_csv(path):
    """Step and states of a CSV file: `# step = 0.01`, then a header such as time,quaternion_w,...,rate_x,..."""
    lines = Path(path).read_text("utf-8-sig").splitlines()
    facts = dict(part.strip("# ").split(" = ") for part in lines if part.startswith("#") and " = " in part)
    rows = list(csv.reader(line for line in lines if line.strip() and not line.startswith("#")))
    try:
        for k, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise BadStates(f"{path}: row {k} has {len(row)} numbers, the header {len(rows[0])} names")
        table = np.array([[float(x) for x in row] for row in rows[1:]]).reshape(-1, len(rows[0]))
        names = {name.split("_")[0] for name in rows[0]}
        raw = {name: table[:, [k for k, head in enumerate(rows[0]) if head.split("_")[0] == name]] for name in names}
        raw["time"] = raw["time"][:, 0]
        return float(facts.get("step", raw["time"][1])), raw
    except BadStates:
        raise
    except (IndexError, KeyError, ValueError) as error:
        raise BadStates(f"{path} needs a header with time, and rows of as many numbers: {error}") from None


def runs_of(paths):
    """States by steps of files."""
    found = {}
    for path in paths:
        h, raw = read_csv(path)
        if h in found or not 0 < h < inf:
            raise BadStates(f"{path}: its step {h:g} is {'that of another file' if h in found else 'not positive'}")
        found[h] = raw
    return found


def main():
    parser = argparse.ArgumentParser(description="Is my code's rotation right? Files of one case, one for each step.")
    parser.add_argument("case", help=", ".join(DATA["cases"]))
    parser.add_argument("files", nargs="+", help="CSV with `# step = 0.01` and a header")
    for name, kind in (("--order", float), ("--units", str), ("--json", Path)):
        parser.add_argument(name, type=kind, default="SI" if name == "--units" else None)
    for name in ("--implicit", "--symmetric"):
        parser.add_argument(name, action="store_true")
    given = vars(parser.parse_args())
    try:
        return report(given.pop("case"), given.pop("files"), given.pop("json"), **given)
    except (BadStates, OSError) as error:
        sys.exit(f"liestep_judge: {error}")


def report(case, files, path, **claims):
    """Print what is found about files, and keep it as JSON in `path`; whether they are not right. Raises BadStates,
    OSError."""
    found = judge(case, runs_of(files), **claims)
    if path:
        data = json.loads(json.dumps(found.data, default=float), parse_constant=lambda _: None)   # NaN is no JSON
        path.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    print(found.text)
    return found.verdict != "right"


if __name__ == "__main__":
    sys.exit(main())
