"""The second process of a recommendation: it compiles classes of integrators, whose machine code it leaves on disk."""
import json
import sys
from typing import Any

from liestep.plugins.loading import load_plugin
from liestep.recommendation.classes import compile_one
from liestep.recommendation.request import request


def main(told: dict[str, Any]) -> None:
    """Compile what a request names."""
    for path in told["plugins"]:
        load_plugin(path)
    asked = request(told["problem"], error=told["error"], parameters=told["parameters"], initial=told["initial"],
                    t_end=told["t_end"])
    for name in told["names"]:
        compile_one(asked, name)


if __name__ == "__main__":
    main(json.load(sys.stdin))
