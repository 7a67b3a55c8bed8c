"""Exact coefficients, and certificates of order, identities and symplecticity: the shipped step methods on numbers of
many digits."""
import hashlib
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from order_conditions import conditions, residuals

from liestep.api.command_line import main
from liestep.compile.precision import above_round_off, coefficients, number_type
from liestep.geometry import so3
from liestep.integrators import commutator_free
from liestep.integrators.rkmk import dexpinv_component
from liestep.integrators.tableaux import DOP853, TABLEAUX
from liestep.integrators.weights import SCHEMES, composition_weights
from liestep.simulation.catalogue import integrator_calls, method, own_integrators
from liestep.tools.certify import identities as symplecticity
from liestep.tools.certify import number
from liestep.tools.certify.identities import difference, identities, same_maps
from liestep.tools.certify.number import libmp, numbers, short
from liestep.tools.certify.orders import CASES, certificates_of, certify, complete, declared_variants, variants_of
from liestep.tools.certify.steps import COLUMNS, OTHERWISE, RoundedError, flow_of, step_of

LONG = numbers(150)
EXAMPLE = Path(__file__).parents[2]/"docs"/"examples"/"my_midpoint.py"
SCHEMES_OF_EXPONENTIALS = (commutator_free.CF4, commutator_free.CF43, commutator_free.CF32A, commutator_free.CF32B,
                           commutator_free.CG3)
# SHA-256 of the float64 bytes of all coefficients as they were when they were literals
BITS = {
    "euler": "17550ce418055ff4",
    "midpoint": "01b6a33cadf2a048",
    "heun": "123fcac3a4a31a4d",
    "kutta3": "984b6b68d2dc0bb6",
    "rk4": "1407500739beac25",
    "dormand_prince54": "107977184cf9de72",
    "dop853": "b898649bcaacc894",
    "dormand_prince5": "51b7ab38dd937a0c",
    "dop853_dense": "6aa4b68615d100ac",
    "cf4": "edd124883dc65e08",
    "cf43": "ecb22d614c41efef",
    "cf32a": "6ea29ed8b244de5b",
    "cf32b": "a6fb21fa6cda831c",
    "cg3": "a8dbfe847a7c1581",
    "rkmk4_2comm": "01a769295845b7f1",
    "dexpinv1": "b75ba3b875def5d2",
    "dexpinv2": "3e4b977a2b13cbbb",
    "dexpinv3": "3e4b977a2b13cbbb",
    "dexpinv4": "c994667e819b2389",
    "dexpinv5": "c994667e819b2389",
    "dexpinv6": "d4a71b3fdb0098f5",
    "dexpinv7": "d4a71b3fdb0098f5",
    "dexpinv8": "7a99c1e9dfb51677",
    "dexpinv9": "7a99c1e9dfb51677",
    "dexpinv10": "f2f68bf1bcd94186",
    "dexpinv11": "f2f68bf1bcd94186",
    "dexpinv12": "c589b51bbb31aaec",
    "dexpinv13": "c589b51bbb31aaec",
    "dexpinv14": "92b1da710e5aa3cb",
    "dexpinv15": "92b1da710e5aa3cb",
    "dexpinv16": "a4032e4b420ca17c",
    "dexpinv17": "a4032e4b420ca17c",
    "dexpinv18": "893763bc7a7fd528",
    "dexpinv19": "893763bc7a7fd528",
    "dexpinv20": "756dfdda4d10b82c",
    "weights_one": "6c3c396ed6b5c36d",
    "weights_y4": "cbf05ff746c8ffc0",
    "weights_s4": "3233577f6accdbbf",
    "weights_y6": "88772d588098269e",
    "weights_y6j": "f1914ec4c3e78a8f",
    "weights_kl6": "b00072888cc663b0",
    "weights_kl8": "7ece7cb0e843e208",
}


def digest(*arrays) -> str:
    """First 16 hexadecimal digits for the float64 bytes of arrays."""
    content = b"".join(np.ascontiguousarray(values, dtype=np.float64).tobytes() for values in arrays)
    return hashlib.sha256(content).hexdigest()[:16]


def all_coefficients() -> dict[str, str]:
    found = {}
    for name, tableau in TABLEAUX.items():
        extra = [tableau.error_weights(), tableau.dense_rows()] if hasattr(tableau, "dense_rows") else []
        found[name] = digest(*tableau.arrays(), *extra)
    found["dop853_dense"] = digest(*DOP853.arrays(), *DOP853.parts()[2:])
    found |= {scheme.name: digest(*scheme.arrays()) for scheme in SCHEMES_OF_EXPONENTIALS}
    found["rkmk4_2comm"] = digest(*method("rkmk4_2comm").build({}, None, 1.0))
    found |= {f"dexpinv{k}": digest(*dexpinv_component({"dexpinv": k})) for k in range(1, 21)}
    return found | {f"weights_{name}": digest(composition_weights(name)) for name in SCHEMES}


def test_coefficients_keep_their_bits():
    assert all_coefficients() == BITS


def test_coefficients_take_the_number_type_of_the_run():
    third = Fraction(1, 3)
    with number_type(LONG.of, LONG.DIGITS):
        values = coefficients(((third, 1), (0, third)))
    assert values.dtype == object
    assert values.shape == (2, 2)
    assert abs(3*values[0, 0] - 1) < LONG.of(Fraction(1, 10**150))
    assert coefficients((third,)).dtype == np.float64  # the choice ends with the context


def test_limits_of_iterations_follow_the_number_type_of_the_run():
    assert (above_round_off(3), above_round_off(4)) == (1e-13, 1e-12)
    with number_type(LONG.of, 150):
        assert above_round_off(3) == 1e-147
    assert above_round_off(3) == 1e-13


@pytest.mark.parametrize("name", [name for name in SCHEMES if name != "one"])
def test_weights_fulfil_their_order_conditions(name):
    scheme = SCHEMES[name]
    with number_type(LONG.of, LONG.DIGITS):
        weights = composition_weights(name)
    half = list(weights[:len(weights)//2])
    assert len(residuals(half, scheme.order)) == len(conditions(scheme.order)) == {4: 1, 6: 3, 8: 7}[scheme.order]
    assert max(map(abs, residuals(half, scheme.order))) < LONG.of(Fraction(1, 10**140))
    assert [float(x) for x in half] == list(scheme.weights[:len(half)])
    # the middle one is rounded so that all add up to 1, and may differ by two units in the last place
    assert float(weights[len(half)]) == pytest.approx(scheme.weights[len(half)], rel=2.0**-51, abs=0)
    rounded = [Fraction(x) for x in scheme.weights[:len(half)]]
    assert max(map(abs, residuals([LONG.of(x) for x in rounded], scheme.order))) > LONG.of(Fraction(1, 10**18))


def test_numbers_are_exact_or_fall_back_to_float64():
    third = LONG.of(Fraction(1, 3))
    assert isinstance(0.5*third, LONG)
    assert abs(6*(0.5*third) - 1) < LONG.of(Fraction(1, 10**150))
    for rounded in (0.1*third, third*1e-12, third + 1.0/6.0, (1.0/3.0)/third):
        assert type(rounded) is float
    assert 1e-12 < third < 0.34
    assert third
    assert not third - third
    assert short(-0.0625)
    assert not short(1e-12)


# papers/lgt2022/tests measure the orders of those OTHERWISE
CALLS = [call for call in integrator_calls() if call.split()[0] in own_integrators()]
CERTIFIED = [(name, place) for name in CALLS if method(name).formulation not in OTHERWISE
             for place in range(len(declared_variants(name)))]


@cache
def variants(name: str):
    """Options and cases; to find these, equations are traced."""
    return list(variants_of(name))


def test_every_integrator_is_certified():
    others = {name for name in CALLS if method(name).formulation in OTHERWISE}
    assert others == {"generalized_alpha", "bliedf order=1", "bliedf order=2", "bliedf", "lie_ab order=2", "lie_ab"}
    assert {name for name, *_ in CERTIFIED} == set(CALLS) - others


@pytest.mark.parametrize(("name", "place"), CERTIFIED, ids=[
    f"{name}-{declared_variants(name)[place].options}-" for name, place in CERTIFIED])
def test_order_is_what_the_method_declares(name, place):
    options, cases = variants(name)[place]
    found = certify(name, options, cases)
    assert complete(found), "\n".join(map(str, found))
    assert len({one.case for one in found}) >= (1 if options and "dexpinv" not in options else 3)
    quantities = {one.quantity for one in found}
    assert "state" in quantities
    partial_step = name == "sphere_regularised" and bool(options)  # certified for the default splitting
    assert ("dense output" in quantities) == (method(name).adaptive and not partial_step)


def test_flow_knows_its_own_error():
    flow = flow_of(CASES[0], "", Fraction(1, 100), 150)
    shorter = flow_of(CASES[0], "", Fraction(1, 10**4), 150)
    fall = flow.error.exponent10() - shorter.error.exponent10()
    assert fall/2 == pytest.approx(2*COLUMNS - 1, abs=0.2)  # of the last but one column


def test_series_keep_all_digits_at_every_angle():
    """Against closed forms in twice as many digits and more."""
    wide = numbers(400)
    for k in (1, 3, 20, 90, 250):
        z2 = Fraction(1, 2**k)
        s, c, d, c1, d1 = (*number.coefficients(LONG, LONG.of(z2)),
                           *number.dexp_coefficients(LONG, LONG.of(z2))[2:])
        z = wide.of(z2).sqrt()
        sine, cosine = (wide.raw(f(z.value, wide.BITS, "n")) for f in (libmp.mpf_sin, libmp.mpf_cos))
        exact = [sine/z, (1 - cosine)/z**2, (1 - sine/z)/z**2]
        exact += [(exact[0] - 2*exact[1])/z**2, (exact[1] - 3*exact[2])/z**2]
        for value, other in zip((s, c, d, c1, d1), exact, strict=True):
            assert abs(wide.raw(value.value) - other) < abs(other)*wide.of(Fraction(1, 10**152))


def test_a_rounded_coefficient_is_an_error(monkeypatch):
    monkeypatch.setattr("liestep.integrators.tableaux.coefficients", lambda x: np.array(x, dtype=np.float64))
    with pytest.raises(RoundedError, match="coefficients of rk4 are float64"):
        step_of(CASES[0], "rk4")


def test_a_rounded_literal_is_an_error():
    step = step_of(CASES[0], "rk4")
    h = LONG.of(Fraction(1, 100))
    rough = step._replace(problem=step.problem._replace(lagrangian=step.problem.lagrangian._replace(
        system=type("Rough", (), {"gradient": lambda self, q, out: out.__setitem__(slice(None), q*(1.0/6.0))})())))
    step(h)
    with pytest.raises(RoundedError, match="holds the float64"):
        rough(h)


def test_identities_hold_and_fail_where_declared():
    found = list(identities())
    assert [str(one) for one in found if not one.passed] == []
    assert sum(one.expected for one in found) > 15
    assert len(same_maps()) == sum(len(method(name).certified.same) for name in own_integrators())
    assert len({(one.text, one.case) for one in found}) == len(found)


def test_a_solver_that_stops_early_is_not_the_same_map(monkeypatch):
    monkeypatch.setattr("liestep.tools.certify.steps.SPARE_DIGITS", 40)
    case, one, other = next(same for same in same_maps() if same[2][1] == {"solver": "fixed_point"})
    assert difference(case, one, other) > -50


def test_symplecticity_is_what_the_method_declares():
    found = list(symplecticity.defects())
    assert [str(one) for one in found if not one.passed] == []
    declared = {one.integrator for one in found if one.declared}
    assert declared == {"dlm", "campello", *(name for name in CALLS if name.startswith(
        (
        "slgi", "vi_sphere", "dmv", "rodrigues", "lgvi", "exact_split", "sphere_split", "spherical_midpoint",
         "symplectic_euler", "verlet", "lobatto")))}
    assert len({one.integrator for one in found} - declared) >= 10


def test_the_form_with_a_wrong_sign_is_kept_by_nothing(monkeypatch):
    def turned(y, u, v):
        a, b = (np.cross(y[0], d[0]).sum(axis=0)/2 for d in (u, v))
        return right(y, u, v) + 2*np.sum(y[1]*np.cross(a, b))

    right = symplecticity.directions.body_form
    monkeypatch.setattr(symplecticity.directions, "body_form", turned)
    defect = symplecticity.defect_of(CASES[3], "slgi")
    assert not defect.passed
    assert defect.sizes[0] > -2


WRONG = 1 + LONG.of(Fraction(1, 10**9))
MUTANTS = [("rkmk", "a", (1, 0)), ("rkmk", "b", (1,)), ("rkmk tableau=dormand_prince5", "a", (4, 2)),
           ("cf4", "weights", (2, 2)), ("cg3", "weights", (2, 1)), ("rkmk4_2comm", "e", (4,)),
           ("rkmk4_2comm", "a", (4, 1)), ("rk4", "b", (2,)), ("rk4", "a", (2, 1)),
           ("vi_sphere weights=kl8", "weights", (3,)),
           ("vi_sphere weights=y4", "weights", (0,)), ("ode45", "a", (5, 3)), ("ode45", "e", (2,)),
           ("ode45", "dense", (3, 1))]


@pytest.mark.parametrize(("name", "table", "place"), MUTANTS)
def test_a_coefficient_wrong_in_the_ninth_digit_is_not_certified(name, table, place):
    """The right one is: test_order_is_what_the_method_declares."""
    case = CASES[0]
    step = step_of(case, name)
    values = getattr(step.integrator, table).copy()
    assert values[place] != 0
    values[place] = values[place]*WRONG
    wrong = step._replace(integrator=step.integrator._replace(**{table: values}))
    assert not all(one.passed for one in certificates_of(wrong, name, {}, case))


def test_a_theta_wrong_in_the_ninth_digit_is_not_certified():
    case = CASES[3]
    step = step_of(case, "slgi")
    wrong = step._replace(integrator=step.integrator._replace(theta=step.integrator.theta*WRONG))
    assert not certificates_of(wrong, "slgi", {}, case)[0].passed


@pytest.mark.parametrize(("function", "names"), [
    (number.coefficients, "s c d"), (number.dexpinv_coefficients, "g g'"), (number.dexp_coefficients, "c d c' d'")])
def test_series_and_closed_forms_of_rotations_agree(function, names):
    kind = numbers(50)
    for z2 in (Fraction(0), Fraction(1, 10**40), Fraction(1, 2), Fraction(9, 10)):
        series = [kind.of(sum(so3.term(name, k)*z2**k for k in range(40))) for name in names.split()]
        assert max(abs(a - b) for a, b in zip(series, function(kind, kind.of(z2)), strict=True)) < kind.of(
            Fraction(1, 10**48))


@pytest.mark.parametrize(("kernel", "function", "cancelled"), [
    (so3.coefficients, number.coefficients, 64), (so3.dexpinv_coefficients, number.dexpinv_coefficients, 2000)])
def test_shipped_coefficients_of_rotations_are_right_to_double_precision(kernel, function, cancelled):
    """The series to 2 ulp; the closed forms lose some, the slope of dexpinv, which is multiplied by z^2, most."""
    kind = numbers(50)
    for z2 in 10.0**np.linspace(-16.0, 0.9, 70):
        for shipped, exact in zip(getattr(kernel, "py_func", kernel)(z2), function(kind, kind.of(z2)), strict=True):
            assert abs(shipped/float(exact) - 1.0) <= (4 if z2 < 0.25 else cancelled)*2.0**-53


def test_command_prints_certificates_and_fails_for_one_that_is_missing(capsys, monkeypatch):
    assert main(["certify", "rkmk tableau=euler"]) == 0
    out = capsys.readouterr().out
    assert "rkmk tableau=euler: certified" in out
    assert "declared 1, found 1.00000000" in out
    assert out.endswith("all certified\n")
    monkeypatch.setattr("liestep.tools.certify.orders.ALLOWED", 1e-12)
    with pytest.raises(SystemExit) as stop:
        main(["certify", "rkmk tableau=euler"])
    assert stop.value.code == 1
    assert "rkmk tableau=euler: NOT CERTIFIED" in capsys.readouterr().out


@pytest.mark.parametrize(("before", "after", "told"), [
    ("", "", "all certified"),
    ("t + self.share*h", "t", "chain of two pendula, driven   declared 2, found 0.999999997  NOT CERTIFIED"),
    ("t + self.share*h", "self.share*h", "chain of two pendula, driven   declared 2"),
    ("conserves=ORBIT", "conserves=(*ORBIT, Keeps.SYMPLECTIC)", "symplectic  NOT CERTIFIED"),
    ("order=2", "order=2, symmetric=True", "mine is symmetric")])
def test_a_wrong_declaration_of_an_own_method_is_found(tmp_path, before, after, told):
    """A time of a stage that is wrong, and a map that is not symplectic or symmetric, though it says so."""
    text = EXAMPLE.read_text("utf-8").replace('"my_midpoint"', '"mine"').replace("import ORBIT", "import ORBIT, Keeps")
    assert before in text
    path = tmp_path/"own.py"
    path.write_text(text.replace(before, after) if before else text, "utf-8")
    found = subprocess.run([sys.executable, "-m", "liestep", "--plugin", path, "certify", "mine"], check=False,
                           capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (1 if before else 0, "")
    assert [line for line in found.stdout.splitlines() if told in line and ("NOT" in line) == bool(before)]


def test_command_names_an_unknown_integrator_and_a_missing_package(capsys, monkeypatch):
    assert main(["certify", "rk44"]) == 2
    assert "unknown integrator 'rk44'" in capsys.readouterr().err
    for module in [name for name in sys.modules if name.startswith("liestep.tools.certify.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "mpmath", None)
    assert main(["certify", "rkmk tableau=euler"]) == 2
    assert 'this needs mpmath, which is not installed: pip install "liestep[certify]"' in capsys.readouterr().err
