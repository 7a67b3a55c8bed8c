"""Wrong versions of splittings, of budgets and of the tables that choose methods: one edit of one source file each, and
the test that must fail for it. Edits follow the source: when it changes, `old` is no longer found and the test says so.
"""
from typing import NamedTuple

SPLIT, STEPS = "tests/integrators/test_rigid_split.py", "tests/integrators/test_rigid_split_steps.py"
CROSS, CROSSOVER_TIME = (f"tests/papers/cross/tests/test_{name}.py" for name in ("cross", "crossover_time"))
CAPS = "tests/study/test_caps.py"


class FamilyMutant(NamedTuple):
    name: str
    file: str       # below the package, or of papers
    old: str        # exactly once in the file
    new: str
    killed_by: str  # node id


FREE = "integrators/rigid_split.py"
KICK = "        if self.kicks[0] != 0.0:\n            kick"

FAMILY_MUTANTS = (
    FamilyMutant("sign of d in the series", FREE, "1.0/(s/j[2] + d)", "1.0/(s/j[2] - d)",
                 f"{STEPS}::test_modified_moments_of_random_bodies_have_their_order[1-10]"),
    FamilyMutant("sign of d on all axes", FREE, "s, d = series_sums(work[i], x, z)",
                 "s, d = series_sums(work[i], x, z)\n            d = -d",
                 f"{STEPS}::test_frequencies_of_a_symmetric_body_in_closed_form[4]"),
    FamilyMutant("one coefficient of order 10 dropped", FREE, "(67*s3 - 735*e - 15*e*y(2, 2)",
                 "(67*s3 - 735*e - 0*e*y(2, 2)",
                 f"{STEPS}::test_modified_moments_of_random_bodies_have_their_order[2-10]"),
    FamilyMutant("a wrong digit of a kick of order 6", "integrators/weights.toml", "0.04146499851826284329877",
                 "0.04146499851826284329878",
                 f"{SPLIT}::test_nystroem_coefficients_meet_their_conditions_in_all_digits[rkn6]"),
    FamilyMutant("one panel", FREE, "while count < panels:", "while count < 1:",
                 f"{SPLIT}::test_exact_flow_against_elliptic_integrals"),
    FamilyMutant("sign of a swapped axis pair", FREE, "1.0 if right else -1.0", "1.0",
                 f"{SPLIT}::test_exact_flow_against_elliptic_integrals"),
    FamilyMutant("torques of a step taken anew", "integrators/kicks.py", KICK,
                 KICK.replace("    kick", "    problem.forces(y, forces)\n            kick"),
                 f"{STEPS}::test_evaluations_of_a_step[rkn4-6]"),
    FamilyMutant("gradient of a step taken anew", "integrators/sphere_split.py",
                 f"{KICK}_spheres(problem, self.kicks[0]*h, work, y)",
                 f"{KICK}_spheres(problem, self.kicks[0]*h, work, y)".replace(
                     "    kick", "    problem.gradient(y[:y.shape[0]//2], work)\n            kick"),
                 "tests/integrators/test_sphere_split.py::test_evaluations_of_a_step"),
    FamilyMutant("Cayley for exp", FREE, "turn(to_space(q, u), q, q)", "turn_by_cayley(to_space(q, u), q)",
                 f"{STEPS}::test_the_lie_midpoint_rule_turns_a_sphere_by_the_exponential"),
    FamilyMutant("T + E_0", "integrators/sphere_split.py", "kinetic_energy(problem, y) - energy, c)",
                 "kinetic_energy(problem, y) + energy, c)",
                 "tests/integrators/test_sphere_regularised.py::"
                 "test_the_energy_with_the_wrong_sign_loses_the_order"),
    FamilyMutant("budget counted in steps", "study/plan/budget.py", "round(budget/each/intervals)",
                 "round(budget/intervals)", f"{CROSS}::test_a_budget_counts_evaluations_not_steps"),
    FamilyMutant("cap of evaluations, not of operations", "study/plan/budget.py", "return self.most//self.each",
                 "return self.most", f"{CAPS}::test_budgets_above_the_cap_are_replaced_by_it"),
    FamilyMutant("a capped row that says nothing", "papers/cross/tables/matrix.py",
                 '(outcome["sentence"], results.study.capped(problem, name))', '(outcome["sentence"],)',
                 f"{CAPS}::test_the_row_says_that_it_was_capped"),
    FamilyMutant("failed runs counted as wins", "papers/cross/tables/which.py",
                 '(runs["status"] == "ok") & runs["error"]', 'runs["error"]',
                 f"{CROSS}::test_known_winners_ties_gaps_and_failures"),
    FamilyMutant("crossover from the wrong side", "papers/cross/tables/crossover_time.py", "~(errors < others)",
                 "errors < others",
                 f"{CROSSOVER_TIME}::test_the_time_is_the_first_from_which_on_the_error_stays_smaller"),
    FamilyMutant("crossover for the first time", "papers/cross/tables/crossover_time.py", "float(times[above[-1] + 1])",
                 "float(times[above[0] + 1])",
                 f"{CROSSOVER_TIME}::test_the_time_is_the_first_from_which_on_the_error_stays_smaller"),
)
