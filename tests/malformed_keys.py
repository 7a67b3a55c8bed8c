"""Malformed values of every key of every configuration file, with a part of the sentence that refuses each.

One table for each kind of file: definition of the schema -> key -> [(value, part of the sentence)]; LOST stands
for a key that is not there. PLACES says where each definition stands in the valid file VALID, which the tests
change in one place at a time.
"""
NAN, INFINITE, LOST = float("nan"), float("inf"), object()
CHOICE = {"study": "tiny", "problem": "bodies", "integrator": "vi_sphere", "method": None, "resolution": "h0.1"}


def claim(name: str, criterion: dict, **more) -> dict:
    return {"id": name, "statement": "s", "source": "page 1", "asserted_by": "paper", "group": "", "printed": 1.0,
            "units": "J", "runs": [dict(CHOICE)], "against": [dict(CHOICE)], "quantity": "energy_error_mean",
            "criterion": criterion, "verdict": "qualitative",
            "scope": "experiment", "scan": None, "known": False, "setting": "none", **more}


CRITERIA = {  # definition -> its claim
    "Limit": claim("limit", {"kind": "limit", "at_most": 1.0, "at_least": 0.0, "statistic": "each"}),
    "Relative": claim("relative", {"kind": "relative", "tolerance": 0.1}),
    "Digits": claim("digits", {"kind": "digits", "digits": 3}),
    "Factor": claim("factor", {"kind": "factor", "factor": 2.0}, verdict="recovered", scan={
        "over": ["step"], "runs": [{**CHOICE, "resolution": None}, {**CHOICE, "problem": "many", "resolution": None}],
        "ends": None, "jointly": ["digits"]}),
    "Ratio": claim("ratio", {"kind": "ratio", "at_most": 2.0, "at_least": 0.5, "statistic": "median"}),
    "Order": claim("order", {"kind": "order", "theory": 2.0}, runs=[{**CHOICE, "resolution": None}]),
    "Drift": claim("drift", {"kind": "drift", "verdict": "bounded"}, runs=[{**CHOICE, "resolution": None}],
                   quantity="energy"),
    "Extremum": claim("extremum", {"kind": "extremum", "at_most": 1.0, "at_least": 0.0, "indices": [[0, 1]],
                                   "of": "largest", "rate": False, "prominence": 1.0}, quantity="q"),
    "State": claim("state", {"kind": "state", "expected": [[0.0, 0.0, 1.0]]*4, "tolerance": 10.0}, quantity="q"),
    "Quantile": claim("quantile", {"kind": "quantile", "level": 0.9}, quantity="energy_error_mean",
                      runs=[{**CHOICE, "problem": "many"}]),
    "Untestable": claim("untestable", {"kind": "none"}, verdict="not testable"),
    "Slope": claim("slope", {"kind": "slope", "at_most": 8.5, "at_least": 0.0, "over": "step", "points": 2},
                   runs=[{**CHOICE, "resolution": None}]),
    "Share": claim("share", {"kind": "share", "at_most": 1.0, "at_least": 0.0,
                             "within": {"at_most": 1.0, "at_least": 0.0}}, runs=[{**CHOICE, "problem": "many"}]),
    "SameState": claim("same_state", {"kind": "same_state", "tolerance": 0.0, "samples": "all"}, quantity="q"),
}
VALID = {
    "config": {"studies": ["tiny"], "granularity": "problem"},
    "study": {
        "title": "t", "description": "d",
        "problems": {"bodies": {"system": "sphere_nbody", "preset": "four_bodies", "parameters": {"gamma": 1.0},
                                "initial": {}, "t_end": 1.0, "label": "b", "integrators": ["vi_sphere", "ode45"],
                                "overrides": {"vi_sphere": {}, "ode45": {}}}},
        "integrators": {"vi_sphere": {"id": "vi_sphere", "options": {}, "label": "l", "variant": 1}, "ode45": {}},
        "steps": {"from": 0.1, "to": 0.025, "ratio": 0.5}, "tolerances": [1e-3], "samples": 6, "outputs": 11,
        "statistics_every": 1, "replicas": 1, "ensemble": {"members": 2, "amplitude": 0.1, "seed": 0},
        "log_steps": False, "reference": False, "timing": False, "tables": ["energy"], "figures": ["energy_error"],
        "animations": [], "plugins": []},
    "claims": {"paper": "paper", "citation": "c", "claims": list(CRITERIA.values())},
    "errata": {"paper": "twospheres2009", "citation": "c",
               "errata": [{"number": 1, "part": "a", "place": "p", "printed": "x", "correct": "y", "kind": "misprint",
                           "check": None}]},
}
PLACES = {  # definition -> the mappings of the valid file that it describes
    "config": {"WorkflowConfig": [()]},
    "study": {"StudyConfig": [()], "ProblemConfig": [("problems", "bodies")],
              "IntegratorConfig": [("integrators", "vi_sphere"), ("integrators", "ode45")],
              "PairConfig": [("problems", "bodies", "overrides", "vi_sphere"),
                             ("problems", "bodies", "overrides", "ode45")], "EnsembleConfig": [("ensemble",)],
              "Ladder": [("steps",)]},
    "claims": {"ClaimFile": [()], "Claim": [("claims", 0)],
               "RunChoice": [("claims", 0, "runs", 0), ("claims", 4, "against", 0)],
               **{name: [("claims", number, "criterion")] for number, name in enumerate(CRITERIA)},
               "Scan": [("claims", list(CRITERIA).index("Factor"), "scan")],
               "Limits": [("claims", list(CRITERIA).index("Share"), "criterion", "within")]},
    "errata": {"ErrataFile": [()], "Erratum": [("errata", 0)]},
}
TEXT = [(5, "must be text, not 5"), (["a"], "must be text, not a list"), (None, "must be text, not empty"),
        ({"a": "b"}, "must be text, not a mapping")]
NEEDED_TEXT = [*TEXT, (LOST, "is missing")]
SWITCH = [("perhaps", "must be true or false, not 'perhaps'"), (3, "must be true or false, not 3"),
          (None, "must be true or false, not empty")]
COUNT = [(0, "must be greater than 0, not 0"), (2.5, "must be a whole number, not 2.5"),
         ("many", "must be a whole number, not 'many'"), (True, "must be a whole number, not True"),
         ([2], "must be a whole number, not a list")]
LADDER = [("x", "must be a list, or a mapping with counts, or with from, to and ratio, not 'x'"),
          ([], "give exactly one of"), ([-0.1], "must be greater than 0, not -0.1"),
          ([NAN], "must be a finite number, not nan"), ([True], "must be a number, not True"),
          ({"from": 1.0}, "give exactly one of"), ({"form": 1.0}, "did you mean from?")]
SETTINGS = {
    "steps": LADDER, "tolerances": LADDER, "samples": COUNT, "outputs": COUNT, "statistics_every": COUNT,
    "replicas": COUNT, "log_steps": SWITCH[:2],
    "ensemble": [(3, "must be a mapping, not 3"), ({"members": 2}, "ensemble.amplitude is missing"),
                 ([], "must be a mapping, not a list")]}
POSITIVE = [(0.0, "must be greater than 0, not 0"), ("long", "must be a number, not 'long'"),
            (NAN, "must be a finite number"), (INFINITE, "must be a finite number"),
            (True, "must be a number, not True")]
NUMBER = [("small", "must be a number, not 'small'"), (NAN, "must be a finite number, not nan"),
          (True, "must be a number, not True")]
LIMITS = {"at_most": [*NUMBER, (-1.0, "at_least must not be greater than at_most")],
          "at_least": [*NUMBER, (9.0, "at_least must not be greater")]}
STATISTIC = {"statistic": [("media", "must be 'each' or 'median', not 'media'; did you mean median?"),
                           (3, "must be 'each' or 'median', not 3")]}
KIND = {"kind": [("nowhere", "kind must be one of 'extremum', 'state'"), (LOST, "key kind is missing"),
                 (3, "kind must be one of")]}
TABLES = {
    "config": {"WorkflowConfig": {
        "studies": [(["tny"], "did you mean tiny?"), ("tny", "did you mean tiny?"),
                    (3, "studies: must be text or a list, not 3"), ([3], "must be text, not 3")],
        "granularity": [("runs", "must be 'problem', 'sweep' or 'run', not 'runs'; did you mean run?"), (3, "not 3"),
                        (None, "not empty")]}},
    "study": {
        "StudyConfig": {
            **SETTINGS, "title": NEEDED_TEXT, "description": TEXT, "reference": SWITCH, "timing": SWITCH,
            "steps": [*LADDER, ([0.3], "nearest valid steps are 0.25 and 0.3333333333333333"),
                      ([0.1, 0.1], "steps give the resolution h0.1 twice"), ([1e-320], "more than 2^53 steps"),
                      ([2.0], "the longest valid step is 1.0")],
            "tolerances": [*LADDER, ([0.1, 0.1], "tolerances give the resolution tol0.1 twice"),
                           ({"counts": [3]}, "tolerances have no counts of steps")],
            "samples": [*COUNT, (1, "samples must be at least 2"), (8, "nearest valid numbers are 6 and 11"),
                        (10**30, "up to 2^53")],
            "outputs": [*COUNT, (1, "outputs must be at least 2"), (10**30, "up to 2^53")],
            "problems": [(LOST, "key problems is missing"), ({}, "must not be empty"),
                         ([], "must be a mapping, not a list"), ({"b": None}, "not empty"),
                         ({"1st": {"system": "sphere_nbody"}}, "must be a name"),
                         ({"../up": {"system": "sphere_nbody"}}, "must be a name")],
            "integrators": [(LOST, "key integrators is missing"), ({}, "must not be empty"),
                            ("rk4", "must be a mapping, not 'rk4'"), ({"vi sphere": {}}, "must be a name"),
                            ({"vi_sphere": 3}, "must be a mapping, not 3")],
            "tables": [(["ordrs"], "not 'ordrs'; did you mean orders?"), ("orders", "must be a list, not 'orders'"),
                       ([1], "not 1"), (["energy", "energy"], "energy appears twice")],
            "figures": [(["convergense"], "did you mean convergence?"), (3, "must be a list, not 3"),
                        ([3], "must be text, not 3"), (["drift", "drift"], "drift appears twice")],
            "animations": [(["bodies/vi_sphere"], "must be problem/integrator/resolution"),
                           (["bodies/vi_sphere/h0.02"], "did you mean h0.025?"), ("x", "must be a list"),
                           (["bodies/vi_sphere/h0.1"], "is an ensemble")],
            "plugins": [(["none.py"], "there is no plugin file none.py"), ("x.py", "must be a list, not 'x.py'"),
                        ([3], "must be text, not 3"), (["tiny.yaml"], "a plugin is a Python file")]},
        "ProblemConfig": {
            **SETTINGS, "system": [("sphere_nbdy", "did you mean sphere_nbody?"), *NEEDED_TEXT],
            "preset": [("for_bodies", "did you mean four_bodies?"), *TEXT[:2]],
            "parameters": [({"gama": 1.0}, "did you mean gamma?"), (3, "must be a mapping, not 3"),
                           ({"mass": [1.0, -1.0]}, "mass must be positive"),
                           ({"gamma": "x"}, "gamma must be numbers, not 'x'")],
            "initial": [({"omegas": []}, "did you mean omega?"), ([], "must be a mapping, not a list"),
                        ({"q": [[0.0, 0.0, 1.0]]}, "must be of shape (4, 3)"),
                        ({"q": [[0.0, 0.0, 1.1]]*4}, "q[0] is not a unit vector")],
            "t_end": POSITIVE, "label": TEXT[:2],
            "integrators": [(["vi_spher"], "did you mean vi_sphere?"), ("vi_sphere", "must be a list"),
                            ([], "must not be empty"), (["ode45", "ode45"], "ode45 appears twice")],
            "overrides": [({"vi_spher": {}}, "did you mean vi_sphere?"), ({"vi_sphere": 3}, "must be a mapping, not 3"),
                          ([], "must be a mapping")]},
        "IntegratorConfig": {
            **SETTINGS, "id": [("vi_spher", "did you mean vi_sphere?"), *TEXT[:2]], "label": TEXT[:2],
            "variant": [(-1, "must be at least 0, not -1"), (1.5, "must be a whole number, not 1.5"),
                        (True, "must be a whole number, not True")],
            "options": [({"nowhere": 1}, "unknown option"), (3, "must be a mapping, not 3"),
                        (None, "must be a mapping, not empty")]},
        "PairConfig": SETTINGS,
        "EnsembleConfig": {"members": [*COUNT, (LOST, "key ensemble.members is missing")],
                           "amplitude": [*POSITIVE, (LOST, "amplitude is missing")],
                           "seed": [(-1, "must be at least 0, not -1"), (0.5, "must be a whole number, not 0.5"),
                                    (True, "must be a whole number")]},
        "Ladder": {
            "values": [("x", "must be a list, not 'x'"), ([0.1], "give exactly one of"),
                       ([[]], "must be a number, not a list")],
            "counts": [([0], "must be greater than 0, not 0"), ([2.5], "must be a whole number"),
                       ([10], "give exactly one of"), (3, "must be a list")],
            "from": [*POSITIVE, (LOST, "give exactly one of"), (1e-320, "ratio must lead from `from` to `to`"),
                     (None, "give exactly one of")],
            "to": [*POSITIVE, (LOST, "give exactly one of"), (1e-320, "more than 2^53 steps"),
                   (10.0, "ratio must lead from `from` to `to`")],
            "ratio": [*POSITIVE, (LOST, "give exactly one of"), (1.0, "above 1 to grow"), (2.0, "below 1 to shrink"),
                      (0.9999999, "more than 10000 values")]},
    },
    "claims": {
        "ClaimFile": {"paper": NEEDED_TEXT, "citation": TEXT,
                      "claims": [(LOST, "key claims is missing"), ({}, "must be a list, not a mapping"),
                                 ([3], "must be a mapping, not 3")]},
        "Claim": {
            "id": [("First Claim", "must be a name"), *NEEDED_TEXT], "statement": NEEDED_TEXT,
            "source": NEEDED_TEXT, "units": TEXT, "setting": TEXT, "printed": NUMBER,
            "asserted_by": [("papre", "did you mean paper?"), (LOST, "asserted_by is missing"),
                            (3, "must be 'paper', 'derived', 'own' or 'external', not 3")],
            "group": [("Two Words", "must be a name"), *TEXT[:2]],
            "scope": [("genral", "did you mean general?"), ("general", "a general statement has no printed number")],
            "scan": [(3, "must be a mapping, not 3"), ({"over": ["step"]}, "scan.runs is missing"),
                     ({"over": ["step"], "runs": []}, "scan.runs: must not be empty"),
                     ({"over": ["step"], "runs": [dict(CHOICE)]}, "a scan belongs to the verdicts recovered and")],
            "runs": [([], "criterion limit needs runs"), ("x", "must be a list, not 'x'"),
                     ([3], "must be a mapping, not 3")],
            "against": [("x", "must be a list, not 'x'"), ([3], "must be a mapping, not 3"),
                        ([{}], "study is missing")],
            "quantity": [("energy_eror_mean", "did you mean energy_error_mean?"),
                         ("status", "unknown quantity 'status'"), (3, "must be text, not 3")],
            "criterion": [(LOST, "criterion is missing"), (3, "must be a mapping, not 3"), ({}, "key kind is missing"),
                          ({"kind": "limt"}, "not 'limt'; did you mean limit?"),
                          ({"kind": "limit"}, "give at_most, at_least or both"),
                          ({"kind": "digits", "tolerance": 1.0}, "unknown key 'tolerance' (allowed: digits, kind)")],
            "verdict": [("reproducd", "did you mean reproduced?"), ("recovered", "needs the scan that found the datum"),
                        ("reproduced", "needs data that the paper prints, but preset four_bodies of sphere_nbody is"),
                        ("undetermined", "is for claims without a criterion"),
                        ("not reproduced", "must be 'reproduced', 'recovered'"), (3, "not 3")],
            "known": [*SWITCH, (LOST, "known is missing")]},
        "RunChoice": {
            "study": [("tny", "unknown study 'tny'; did you mean tiny?"), *NEEDED_TEXT],
            "problem": [("bodis", "unknown problem 'bodis'; did you mean bodies?"), *NEEDED_TEXT],
            "method": [("rk4", "vi_sphere is the method vi_sphere, not rk4"), *TEXT[:2]],
            "integrator": [("vi_spher", "unknown integrator 'vi_spher'; did you mean vi_sphere?"), *NEEDED_TEXT],
            "resolution": [("h0.2", "unknown resolution 'h0.2'; did you mean h0.1?"), *TEXT[:2]]},
        "Limit": KIND | LIMITS | STATISTIC, "Ratio": KIND | LIMITS | STATISTIC,
        "Relative": KIND | {"tolerance": [*POSITIVE, (LOST, "tolerance is missing")]},
        "Digits": KIND | {"digits": [*COUNT, (18, "must be at most 17, not 18"), (LOST, "digits is missing")]},
        "Factor": KIND | {"factor": [*NUMBER, (1.0, "must be greater than 1, not 1.0"), (LOST, "factor is missing")]},
        "Order": KIND | {"theory": [*NUMBER, (LOST, "theory is missing")]},
        "Drift": KIND | {"verdict": [("boundd", "did you mean bounded?"),
                                     (3, "must be 'bounded', 'round-off' or 'drift', not 3")]},
        "Extremum": KIND | LIMITS | {
            "indices": [([], "must not be empty"), (3, "must be a list, not 3"),
                        ([[0]], "does not fit the shape (4, 3)"), ([[0, 3]], "does not fit the shape"),
                        ([[0, -1]], "must be at least 0, not -1"), ([["x"]], "must be a whole number, not 'x'")],
            "of": [("larges", "did you mean largest?"), (3, "must be 'largest' or 'smallest', not 3")], "rate": SWITCH,
            "prominence": [*NUMBER, (0.5, "must be at least 1, not 0.5")]},
        "State": KIND | {
            "expected": [([], "must not be empty"), ([1.0], "do not fit the shape (4, 3)"),
                         (["x"], "must be a number or a list, not 'x'"), ([[0.0, 0.0], [1.0]], "do not fit the shape"),
                         (LOST, "expected is missing")],
            "tolerance": [*POSITIVE, (LOST, "tolerance is missing")]},
        "Quantile": KIND | {"level": [*NUMBER, (0.0, "must be greater than 0, not 0"),
                                      (1.0, "must be less than 1, not 1")]}, "Untestable": KIND,
        "Slope": KIND | LIMITS | {
            "over": [("stp", "unknown quantity 'stp'; did you mean step?"), ("status", "unknown quantity 'status'"),
                     *TEXT[:2]],
            "points": [("many", "must be a whole number, not 'many'"), (1, "must be at least 2, not 1"),
                       (True, "must be a whole number, not True"), (7, "needs 7 runs, which are not there: 2")]},
        "Share": KIND | LIMITS | {"within": [(LOST, "within is missing"), (3, "must be a mapping, not 3"),
                                             ({}, "give at_most, at_least or both")]},
        "Limits": LIMITS,
        "Scan": {
            "over": [([], "must not be empty"), ("step", "must be a list, not 'step'"), (LOST, "over is missing"),
                     ([3], "must be text, not 3")],
            "runs": [([], "must not be empty"), (LOST, "runs is missing"), ([3], "must be a mapping, not 3"),
                     ([dict(CHOICE)], "a scan needs at least three settings, not 1"),
                     ([{**CHOICE, "integrator": "vi_spher"}], "did you mean vi_sphere?")],
            "ends": [*POSITIVE[:4], (0.1, "a scan of ends needs a quantity")],
            "jointly": [(["digit"], "unknown claim 'digit'; did you mean digits?"), ("digits", "must be a list"),
                        (["limit"], "claim limit has no criterion relative, digits or factor"),
                        (["digits", "digits"], "digits appears twice")]},
        "SameState": KIND | {"tolerance": [*NUMBER, (-1.0, "must be at least 0, not -1.0")],
                             "samples": [("lst", "did you mean last?"), (3, "must be 'all' or 'last', not 3")]},
    },
    "errata": {
        "ErrataFile": {"paper": NEEDED_TEXT, "citation": NEEDED_TEXT,
                       "errata": [(LOST, "key errata is missing"), ([], "must not be empty"),
                                  ([3], "must be a mapping, not 3"), ("x", "must be a list")]},
        "Erratum": {
            "number": [*COUNT, (LOST, "number is missing")], "part": [("ab", "must be a name that matches"), *TEXT],
            "place": NEEDED_TEXT, "printed": NEEDED_TEXT, "correct": NEEDED_TEXT,
            "kind": [("misprnt", "did you mean misprint?"), (LOST, "kind is missing"), (3, "not 3")],
            "check": [("determinnt", "unknown check 'determinnt'; did you mean determinant?"), *TEXT[:2]]},
    },
}
