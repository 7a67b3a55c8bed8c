"""Systems with forces in the three families that have them, loaded from docs/examples."""
import numpy as np
from place import TOP

import liestep
from liestep.catalogue import plugin_entries

EXAMPLES = TOP/"docs"/"examples"


def load(name):
    """An example of the docs as a plugin; returns its id."""
    if name not in plugin_entries():
        liestep.load_plugin(EXAMPLES/f"{name}.py")
    return name


def errors(problem, method, counts, reference, *, t_end, options=None, fields=("q", "omega"), preset=None):
    """Largest errors of the fields for numbers of steps."""
    found = []
    for steps in counts:
        data = liestep.simulate(problem, method, steps=steps, t_end=t_end, samples=reference.sizes["time"],
                                options=options, preset=preset)
        found.append(max(float(np.abs(data[name].values - reference[name].values).max()) for name in fields))
    return found


def order(counts, found):
    """Slope of the last two."""
    return np.log(found[-2]/found[-1])/np.log(counts[-1]/counts[-2])
