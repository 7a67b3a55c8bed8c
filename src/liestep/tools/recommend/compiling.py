"""The second process of a recommendation: it compiles classes of integrators, whose machine code it leaves on disk. A
request comes as the first line of its input, then a name on each line; each is answered by a line when it is done."""
import json
import sys
from collections.abc import Iterable, Iterator

from liestep.simulation.plugins.loading import load_plugin
from liestep.tools.recommend.classes import compile_one
from liestep.tools.recommend.request import request


def done(lines: Iterable[str]) -> Iterator[str]:
    """The names that the lines ask for, each when its class is compiled."""
    reader = iter(lines)
    told = json.loads(next(reader))
    for path in told["plugins"]:
        load_plugin(path)
    asked = request(told["problem"], error=told["error"], parameters=told["parameters"], initial=told["initial"],
                    t_end=told["t_end"])
    for line in reader:
        compile_one(asked, line.strip())
        yield line.strip()


if __name__ == "__main__":
    for name in done(sys.stdin):
        print(name, flush=True)
