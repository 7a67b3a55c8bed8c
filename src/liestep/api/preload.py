"""What the fork server of `liestep.api.pool` loads before its first job: importing this module loads what jobs use.

Whatever fails here fails again in the job that needs it, which says so."""
import gc
import importlib
import os
import signal
from contextlib import suppress

JOBS = ("liestep.study.plan.sweep", "liestep.study.plan.plan",
        "liestep.simulation.references.reference", "scipy.integrate", "liestep.workflow.products",
        "liestep.study.tables.results", "liestep.study.tables.tables", "liestep.figures.rendering")


def load() -> None:
    """Load the package, and the compiler as far as all loops need it."""
    from liestep.api.command_line import build_parser
    from liestep.compile.sources import package_modules
    from liestep.simulation.catalogue import own_systems, ranked, sheet

    build_parser()
    for module in (*JOBS, *package_modules("liestep.geometry", "liestep.mechanics", "liestep.integrators")):
        importlib.import_module(module)
    for name in own_systems():
        len(sheet(name).presets)  # with those of the papers
    if os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0"):
        from liestep.compile.cache import cache_root
        from liestep.compile.dispatch import compiler

        compiler().load_types()
        # where no machine code is kept yet, one loop: its functions that all loops have, and what Numba loads with
        # them, are a quarter of the time of a loop, which the forks need not spend again
        if not any(cache_root().glob("advance-*")):
            from liestep.simulation.runs.execution import run_once
            from liestep.simulation.runs.specification import specify

            bodies = (name for name in own_systems() if "cotangent_rotation" in sheet(name).forms)
            run_once(specify(next(bodies), ranked("shown", "vector_field")[0], steps=1, t_end=1e-3))


before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the jobs and the workflow
with suppress(Exception):
    load()
gc.collect()
gc.freeze()  # the collector of a fork would copy all pages
signal.signal(signal.SIGINT, before)
