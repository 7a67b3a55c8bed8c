"""python rotation_bench/example.py: an engine in Python, which the judge calls with the steps that it needs: replace
`slope` and the step by yours."""
import liestep_judge
import numpy as np


def engine(case, h, steps):
    """Explicit midpoint rule on quaternion and body rate."""
    moments = case.moments[0]

    def slope(y):
        (w, *v), rate = y[:4], y[4:]
        return np.array([-np.dot(v, rate), *(w*rate + np.cross(v, rate)), *2*np.cross(moments*rate, rate)/moments])/2

    rows = [np.concatenate([case.start["quaternion"][0], case.start["rate"][0]])]
    for _ in range(steps):
        rows.append(rows[-1] + h*slope(rows[-1] + h/2*slope(rows[-1])))
    return {"quaternion": np.array(rows)[:, :4], "rate": np.array(rows)[:, 4:]}


if __name__ == "__main__":
    print(liestep_judge.judge("free_asymmetric", engine, order=2, long=False).text)
