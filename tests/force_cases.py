"""Systems with forces in the three families that have them, loaded from docs/examples."""
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
from place import TOP

import liestep
from liestep.simulation.catalogue import plugin_entries

EXAMPLES = TOP/"docs"/"examples"


def load(name):
    """An example of the docs as a plugin; returns its id."""
    if name not in plugin_entries():
        liestep.load_plugin(EXAMPLES/f"{name}.py")
    return name


def changed(original, name, replacements):
    """A module with other text; the caller takes it out of sys.modules."""
    text = Path(original.__file__).read_text()
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new)
    module = ModuleType(f"mutant_{abs(hash(name))}")
    sys.modules[module.__name__] = module
    exec(compile(text, module.__name__, "exec"), module.__dict__)
    return module


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
