"""What a study asks for that can be made but should be looked at."""
from collections.abc import Iterator

from liestep.study.plan.plan import Study

EXPLICIT = "rigid_bodies"  # formulation whose maps kick and drift


def warnings(study: Study) -> Iterator[str]:
    """One sentence for each problem and integrator with steps above the largest stable one of the system."""
    for problem, integrator in dict.fromkeys((cell.problem, cell.integrator) for cell in study.cells):
        specs = [cell.spec for cell in study.select(problem, integrator)]
        facts = specs[0].sheet
        if facts.largest_step is None or specs[0].method.formulation != EXPLICIT:
            continue
        limit = facts.largest_step(specs[0].parameters)
        above = sorted({spec.step for spec in specs if spec.step is not None and spec.step > limit})
        if above:
            listed = ", ".join(f"{step:.4g}" for step in above)
            yield (f"step {listed} of {integrator} on {problem} is above {limit:.4g} s, where explicit steps are"
                   f" unstable: its runs may end early")
