"""Methods in machine code without loops have the bits of the methods themselves, for every form of every system."""
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import numpy as np
import pytest

from liestep.compile import rows
from liestep.compile.cache import class_names, compiles
from liestep.compile.dispatch import kernel
from liestep.compile.driver import advance
from liestep.compile.separate import call_address
from liestep.compile.straight import routines
from liestep.compile.straight.exact import STALE, exact
from liestep.compile.straight.routines import Call, routine, sum_of_stages
from liestep.compile.straight.straight import loaded
from liestep.compile.straight.symbols import Untraceable
from liestep.compile.tracing import Functions, plain_component
from liestep.errors import InputError
from liestep.integrators.runge_kutta import ExplicitRungeKutta
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet, system_ids
from liestep.simulation.machine_code import straight as module
from liestep.simulation.machine_code.straight import LONG, MOST_NUMBERS, MOST_OPERATIONS, Machine, for_loop, straight
from liestep.simulation.machine_code.traced import Trace, check_stage, field_methods, generator_methods
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify
from liestep.tools.inspect.describe import describe

PLAIN = Functions(*(getattr(rows, name).py_func for name in ("sqrt", "sin", "cos", "below", "atan2")))


def forms(formulation):
    """Every system in every form of a formulation, each option changed by itself; none twice, as a form with one of
    its defaults would be."""
    for name in system_ids():
        facts, seen = sheet(name), []
        if formulation in facts.forms:
            form, parameters = facts.forms[formulation], facts.check(facts.presets[facts.default].parameters)
            changes = [{}, *({key: value} for key, option in form.options.items() for value in option.choices or ())]
            for change in changes:
                try:
                    options = form.complete(parameters, change)
                except InputError:
                    continue  # there is no such form at these parameters
                if options not in seen:
                    seen.append(options)
                    yield pytest.param(name, change, id="-".join([name, *(f"{k}_{v}" for k, v in change.items())]))


def formulated_with(name, formulation, change, preset=None):
    """A system in a form whose state is small enough for machine code."""
    facts = sheet(name)
    chosen = facts.presets[preset or facts.default]
    parameters = facts.check(chosen.parameters)
    found = formulate(facts, parameters, chosen.initial(parameters), formulation, change)
    if found.start.size > MOST_NUMBERS:
        pytest.skip("too large")
    return found


def states(start, random):
    """States near a start, states with zeros of both signs, and states whose squares are not finite."""
    for scale in (0.0, 1.0):
        yield start + scale*random.standard_normal(start.shape)
    for value in (-0.0, 1e200, np.inf):
        state = start.copy()
        state.flat[random.integers(0, start.size, 2)] = value
        yield state


def bits(values):
    """Numbers by their bits, NaN as one number."""
    return np.where(np.isnan(values), np.nan, values).view(np.int64)


def compared(problem, method, machine, given):
    """Results of machine code and of the plain method, with what both count."""
    found = []
    for plain in (False, True):
        counters = problem.counters
        counters[:] = 0
        arguments = [np.array(item) if isinstance(item, np.ndarray) else item for item in given]
        if method.out is not None:
            arguments.append(np.full(method.out, 0.5))
        if plain:
            with np.errstate(all="ignore"):
                copy = plain_component(problem, PLAIN, np.float64)
                value = getattr(copy, method.name)(*arguments)
            value = True if value is None else bool(value)
        else:
            arrays = dict(zip((array for array, _ in method.arguments), arguments, strict=False))
            first = arrays.get("a")
            value = machine.call(arrays.get("t", 0.0), first, arrays.get("b", first), counters, arguments[-1])
        found.append((value, bits(arguments[-1]) if value else None, counters.copy()))
    return found


def same_bits(problem, y, methods):
    """Names of the methods that trace; their machine code has the bits of plain Python, or an assertion fails."""
    random, names = np.random.Generator(np.random.PCG64(15)), []
    for method in methods:
        try:
            code = Trace(problem, MOST_OPERATIONS).routines([method], y)[method.name]
        except Untraceable:
            continue
        names.append(method.name)
        machine = Machine(loaded(code.text).addresses["routine"], code.constants)
        for state in states(y, random):
            given = [0.3 if array == "t" else state for array, _ in method.arguments]
            try:
                (value, numbers, counted), (wanted, expected, counts) = compared(problem, method, machine, given)
            except ZeroDivisionError:
                continue  # plain Python has no infinity there
            assert (value, *counted) == (wanted, *counts), method.name
            assert not value or np.array_equal(numbers, expected), method.name
    return names


@pytest.mark.parametrize(("name", "change"), list(forms("vector_field")))
def test_machine_code_has_the_bits_of_the_methods(name, change):
    formulated = formulated_with(name, "vector_field", change)
    problem, y = formulated.problem, formulated.start
    same_bits(problem, y, field_methods(y.shape, formulated.width))
    check_stage(problem, y)


# charts and projections act on what a map gives: its code is the same
BEHIND = [{"chart": "cayley"}, {"chart": "cayley2"}, {"chart": "second_kind"}, {"stabilisation": "projection"}]


def test_charts_and_projections_are_in_no_code_of_a_map():
    found = set()
    for change in ({}, *BEHIND):
        formulated = formulated_with("jointed_body", "lie_action", change)
        y = formulated.start
        methods = generator_methods(y.shape, (formulated.problem.algebra_rows(), 3), formulated.width)
        traced = Trace(formulated.problem).routines(methods, y)
        found.add(tuple((name, code.text, code.constants.tobytes()) for name, code in sorted(traced.items())))
    assert len(found) == 1


@pytest.mark.parametrize(("name", "change"), [form for form in forms("lie_action") if form.values[1] not in BEHIND])
def test_machine_code_has_the_bits_of_maps_to_algebras(name, change):
    formulated = formulated_with(name, "lie_action", change)
    problem, y = formulated.problem, formulated.start
    methods = generator_methods(y.shape, (problem.algebra_rows(), 3), formulated.width)
    names = same_bits(problem, y, methods)
    # a matrix of 10 x 10; and where rows that have become dependent are softened, the code asks for pivots
    assert "algebra" in names or name == "elastic_rod" or "soft_projection" in change.values()


# code and constants of two are those of four_bar-stabilisation_baumgarte among the maps
LEFT_OUT = ("redundant", "tilted", "at_rest")


@pytest.mark.parametrize(("name", "preset"), [(name, preset) for name in ("jointed_body", "four_bar")
                                              for preset in sheet(name).presets if preset not in LEFT_OUT])
def test_machine_code_of_mechanisms_has_their_bits(name, preset):
    formulated = formulated_with(name, "lie_action", {"stabilisation": "baumgarte"}, preset)
    problem, y = formulated.problem, formulated.start
    (method, _) = generator_methods(y.shape, (problem.algebra_rows(), 3), formulated.width)
    assert same_bits(problem, y, [method]) == ["algebra"]


def test_systems_with_the_same_action_share_a_loop():
    found = set()
    for name, preset in (("jointed_body", "revolute"), ("jointed_body", "screw"), ("four_bar", "tilted")):
        formulated, method = build(specify(name, "rkmk", preset=preset, steps=1, t_end=1e-3))
        problem, method = for_loop(formulated, method)
        found |= set(class_names(problem, method))
    assert len(found) == 2


def test_traces_are_kept_with_their_refusals(tmp_path, monkeypatch):
    monkeypatch.setattr(routines, "cache_root", lambda: tmp_path)

    def refused():
        raise Untraceable("it is none")

    new = routines.Routine("text", np.array([0.1, np.inf]), routines.LARGE)
    for traced in (lambda: {"one": new}, dict):  # the second one is not asked
        found = routines.kept("a key", traced)["one"]
        assert (found.text, found.constants.tolist(), found.operations) == ("text", [0.1, np.inf], routines.LARGE)
    for traced in (refused, lambda: {"one": new}):
        with pytest.raises(Untraceable, match="it is none"):
            routines.kept("another key", traced)
    for path in tmp_path.glob("trace-*"):
        path.write_bytes(path.read_bytes()[:-4])  # torn
    assert routines.kept("a key", lambda: {"one": new})["one"].text == "text"
    routines.kept("a small one", lambda: {"one": new._replace(operations=3)})
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(("name", "preset"), [("spherical_pendulum_chain", None), ("heavy_top", "printed"),
                                              ("sphere_nbody", None)])
def test_stages_of_dop853_have_the_bits_of_the_loops(name, preset):
    """In plain Python, by the loops of the integrator; time, counters and a step that is far too long as well."""
    spec = specify(name, "dop853", preset=preset, tolerance=1e-9, t_end=1.0, samples=2)
    formulated, method = build(spec)
    problem, fast = straight(formulated.problem, formulated.start, formulated.width, method)
    for h in (1e-3, 0.1, 30.0, 1e6):
        found = []
        for kind, pair in ((plain_component(formulated.problem, PLAIN, np.float64), method), (problem, fast)):
            y, work = formulated.start.copy(), pair.workspace(formulated.problem, formulated.start)
            formulated.problem.counters[:] = 0
            formulated.problem.rhs(0.2, y, work.k[0])
            with np.errstate(all="ignore"):
                done = pair.stages.run(pair, kind, 0.2, y, h, work)
            found.append((done, formulated.problem.counters.tolist(),
                          [bits(x) for x in (work.k[:13], work.new, work.stage)]))
        (done, counted, numbers), (wanted, counts, expected) = found
        assert (done, counted) == (wanted, counts)
        assert not done or all(np.array_equal(a, b) for a, b in zip(numbers, expected, strict=True))


def code_of(method, inputs=2, text=lambda text: text):
    """A function of numbers as machine code; `text` may change the code."""
    found = routine(lambda symbols: (Call(True, ()), list(method(*symbols))), [("a", i) for i in range(inputs)])
    address = loaded(text(found.text)).addresses["routine"]

    def call(*numbers):
        a, out = np.array(numbers), np.full(4, np.nan)
        call_address(address, 0.0, a, a, found.constants, np.zeros(7, dtype=np.int64), out)
        return out[0]

    return call


def test_nothing_is_fused():
    """The product is rounded before the sum; a fused one, the mutant, gives another number."""
    x, y = 1.0 + 2.0**-30, -(1.0 + 2.0**-29)
    call = code_of(lambda a, b: [a*a + b])
    assert call(x, y) == x*x + y == 0.0
    fused = code_of(lambda a, b: [a*a + b], text=lambda text: "declare double @llvm.fma.f64(double, double, double)\n"
                    + text.replace("ret i64", "%f = call double @llvm.fma.f64(double %v1, double %v1, double %v3)\n"
                                   "store double %f, ptr %out\nret i64"))
    assert fused(x, y) == 2.0**-60


@pytest.mark.parametrize(("function", "numbers"), [
    (lambda a, b: [0.0*a + b], (np.inf, 1.0)), (lambda a, b: [0.0*a + b], (-1.0, -0.0)),
    (lambda a, b: [a + 0.0*b], (-0.0, 1.0)), (lambda a, b: [a - a + b], (np.inf, 1.0)),
    (lambda a, b: [0.0 - a], (0.0, 1.0)),
    (lambda a, b: [a/3.0 + b], (5.0, 0.0)), (lambda a, b: [-a*b + a*-b], (3.0, 0.1)),
    (lambda a, b: [(a + b) + 0.1], (0.3, 1e16)), (lambda a, b: [abs(a)*b**2], (-0.3, 0.7)),
], ids=["zero of infinity", "zero of a sign", "plus zero", "difference of infinities", "minus zero", "quotient",
        "signs", "order of a sum", "powers"])
def test_no_operation_is_simplified_that_could_change_a_bit(function, numbers):
    assert bits(np.array([code_of(function)(*numbers)])) == bits(np.array(function(*numbers)))


def test_a_branch_is_followed_on_both_sides():
    def method(a, b):
        return [a - b if a < b else (a if b > 0.0 else a*b)]

    call = code_of(method)
    for numbers in ((1.0, 2.0), (2.0, 1.0), (2.0, -1.0), (np.nan, 1.0)):
        assert np.array_equal(call(*numbers), method(*numbers)[0], equal_nan=True)


def test_a_kernel_that_branches_is_one_node():
    """Ten of them in a row have one way, not a thousand; both sides hold."""
    def method(a, b):
        for _ in range(10):
            a = exact(rows.larger)(a, b)*0.5
        return [a]

    call = code_of(method)
    for numbers in ((5.0, 0.1), (0.1, 5.0)):
        a, b = numbers
        for _ in range(10):
            a = max(a, b)*0.5
        assert call(*numbers) == a


def test_a_guard_keeps_its_place():
    """A mutant without the guard of a pivot gives True where the method says False."""
    facts = sheet("spherical_pendulum_chain")
    parameters = facts.check(facts.presets[facts.default].parameters)
    found = formulate(facts, parameters, facts.presets[facts.default].initial(parameters), "vector_field", {})
    y, out = np.zeros_like(found.start), np.zeros_like(found.start)
    (method, *_) = field_methods(y.shape, found.width)
    code = Trace(found.problem).routines([method], found.start)["rhs"]
    for text, expected in ((code.text, False), (code.text.replace("ret i64 0", "ret i64 1"), True)):
        machine = Machine(loaded(text).addresses["routine"], code.constants)
        assert machine.call(0.0, y, y, found.problem.counters, out) is expected


def test_numbers_that_an_earlier_call_left_are_no_constants():
    def method(a, b):
        return [a + STALE]

    with pytest.raises(Untraceable, match="an earlier call left"):
        code_of(method)


def test_a_method_that_leaves_arithmetic_is_refused_with_its_line():
    with pytest.raises(Untraceable, match=r"test_straight.py, line \d+: .*math.exp"):
        code_of(lambda a, b: [math.exp(a)])


@kernel
def sin(x):
    """A kernel with the name of a function that it calls as an attribute."""
    return math.sin(x)


def by_a_function_inside(a, b):
    def inner(x):
        return x + sin(a)
    return [inner(b)]


def test_a_kernel_may_have_the_name_of_an_attribute():
    assert exact(sin)(0.5) == math.sin(0.5)
    assert code_of(exact(by_a_function_inside))(0.5, 0.1) == 0.1 + math.sin(0.5)


@pytest.mark.parametrize("n", [1, 3, 12, 15, 60])
def test_sums_of_stages(n):
    random = np.random.Generator(np.random.PCG64(3))
    weights, k, y = np.array([0.0, 0.3, 0.0, -1.7]), random.standard_normal((4, n)), random.standard_normal(n)
    out = np.zeros(n)
    call_address(loaded(sum_of_stages(n)).addresses["routine"], weights, 0.1, k, 4, y, out)
    assert np.array_equal(out, 0.1*(-1.7*k[3] + (0.3*k[1] + 0.0*k[0])) + y)


def test_a_system_without_expressions_keeps_its_loops():
    spec = specify("elastic_rod", "dop853", tolerance=1e-4, samples=2)
    formulated, method = build(spec)
    assert for_loop(formulated, method) == (formulated.problem, method)
    for name in ("Stages of dop853", "Map to the algebra"):
        assert f"{name}: loops: it takes more than 8000 operations" in describe("elastic_rod")
    assert "Stages of dop853: straight-line code" in describe("spherical_pendulum_chain")


@pytest.mark.parametrize("integrator", ["rk4", "rkmk"])
def test_small_systems_share_a_loop_unless_the_run_is_long(integrator):
    """A second system compiles no loop; in a run of more than a million steps its own is faster."""
    def kind(name, steps):
        formulated, method = build(specify(name, integrator, steps=10))
        return type(for_loop(formulated, method, steps)[0])

    shared = {kind(name, 10) for name in ("free_rigid_body", "heavy_top")}
    assert len(shared) == 1
    assert kind("free_rigid_body", LONG + 1) not in shared


def test_other_numbers_are_traced_as_long_as_loops_have_no_code(monkeypatch):
    """A trace takes 4 ms, as long as 30,000 steps; what traces take is counted until the loop has code, but for the
    first one of a class, which is made anyway."""
    taken, numbers, problem = [], [], "free_rigid_body"
    monkeypatch.setattr(module, "_found", {})
    monkeypatch.setattr(module, "_traced", set())
    monkeypatch.setattr(module, "spent", lambda seconds, *loop: taken.append((seconds, *loop)) or 0.0)

    def run(last):
        return carry_out(specify(problem, "rk4", steps=50, parameters={"inertia": [1.0, 2.0, last]}))

    for there, last, traces in ((True, 2.1, 1), (False, 2.2, 2), (True, 2.3, 2), (True, 2.2, 2), (False, 2.3, 3)):
        monkeypatch.setattr(module, "pays", lambda function, *loop, there=there: there)
        found = run(last)
        assert len(module._found) == len(taken) + 1 == traces
        assert all(seconds > 0.0 for seconds, *_ in taken)
        assert {(function, type(first)) for _, function, first, *_ in taken} <= {(advance, ExplicitRungeKutta)}
        if last == 2.3:
            numbers.append([values.tobytes() for _, values, _ in found.variables.values()])
    assert numbers[0] == numbers[1]


def test_threads_share_the_owner_of_machine_code():
    """Of two owners one would go with the code at its addresses, which the other thread calls: the process ended."""
    text = sum_of_stages(97)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(loaded, [text]*8))
    assert len({id(one.owner) for one in found}) == 1


def test_a_thread_may_ask_while_another_one_imports_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", ModuleType("numba"))
    assert compiles()
