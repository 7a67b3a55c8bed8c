"""Forms and options: what belongs to whom, what is hashed, what is refused; every form against its protocol."""
import inspect
from dataclasses import replace
from itertools import product as combinations
from pathlib import Path

import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401
from scipy.spatial.transform import Rotation

from liestep import simulate
from liestep.errors import InputError
from liestep.mechanics.contracts.formulations import PROTOCOLS
from liestep.mechanics.contracts.sheet import exists
from liestep.mechanics.formulations import formulate, formulate_standard
from liestep.simulation.catalogue import add_plugin, integrator_ids, method, sheet, system_ids
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.plugins.trial import plain
from liestep.simulation.references.reference import compute_reference, specify_reference
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import applicable, specify, start_of
from liestep.tools.inspect.check_system import check_system

PLUGINS = Path(__file__).parents[1]/"plugins"
FORMS = [(name, formulation) for name in system_ids() for formulation in sheet(name).forms]


def bob(**request):
    """A specification of the bob on a link."""
    load_plugin(PLUGINS/"jointed_bob.py")
    return specify("jointed_bob", request.pop("integrator", "rk4"), **{"steps": 10} | request)


def choices(name, formulation):
    """All combinations of the choices of a form that its system takes, each with the defaults of other options, at the
    first preset that has any."""
    form, seen = sheet(name).forms[formulation], []
    words = {key: option.choices for key, option in form.options.items() if option.choices}
    for preset in (None, *sheet(name).presets):
        start = start_of(name, preset=preset)
        for values in combinations(*words.values()):
            options = dict(zip(words, values, strict=True))
            options = {key: value for key, value in options.items()
                       if exists("option", key, form.options[key].needs, {}, options)}
            try:
                form.complete(start.parameters, options)
            except InputError:
                continue
            if options not in seen:
                seen.append(options)
                yield start, options
        if seen:
            return


def arguments(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


@pytest.mark.parametrize(("name", "formulation"), FORMS)
def test_components_keep_their_protocol(name, formulation):
    """Method names and number of arguments, and fields that are no methods."""
    protocol, seen = PROTOCOLS[formulation], 0
    methods = {key: value for key, value in inspect.getmembers(protocol, inspect.isfunction) if key[0] != "_"}
    fields = {key for base in protocol.__mro__ for key in vars(base).get("__annotations__", {})}
    for start, options in choices(name, formulation):
        problem = formulate(sheet(name), start.parameters, start.initial, formulation, options).problem
        for key, declared in methods.items():
            found = inspect.getattr_static(type(problem), key, None)
            assert inspect.isfunction(found), f"{type(problem).__name__} has no method {key}"
            assert len(arguments(found)) == len(arguments(declared)), f"{type(problem).__name__}.{key}"
        assert all(hasattr(problem, key) for key in fields)
        seen += 1
    assert seen
    assert fields


@pytest.mark.parametrize("name", system_ids())
def test_every_form_has_the_kinetic_energy_of_its_start(name):
    """Runs that lose energy compare it with the kinetic energy of their fields, and forms have different fields."""
    facts, found = sheet(name), {}
    for formulation in facts.forms:
        for start, options in choices(name, formulation):
            made = formulate(facts, start.parameters, start.initial, formulation, options)
            fields = {"time": np.zeros(1), **made.to_fields(made.start[None])}
            energy = facts.kinetic_energy(start.parameters, fields)
            assert energy.shape == (1,)
            known = found.setdefault(str(start.parameters), energy)
            np.testing.assert_allclose(energy, known, rtol=1e-12, atol=1e-12, err_msg=f"{formulation} {options}")


def test_every_formulation_says_what_it_is():
    for protocol in PROTOCOLS.values():
        assert inspect.getdoc(protocol)
        assert all(inspect.getdoc(value) for _, value in inspect.getmembers(protocol, inspect.isfunction)
                   if value.__name__[0] != "_")


@pytest.mark.parametrize("name", integrator_ids())
def test_a_specification_holds_only_options_that_exist_there(name):
    """Those of the form and the method's own, nothing of other forms; no name belongs to both."""
    declared, size = method(name), {"tolerance": 1e-3} if method(name).adaptive else {"steps": 10}
    for problem in system_ids():
        if applicable(problem, name, start_of(problem).parameters):
            form = sheet(problem).forms[declared.on(sheet(problem)).formulation]
            assert not set(form.options) & set(declared.options)
            held = specify(problem, name, **size).options
            assert set(held) <= {*form.options, *declared.options}
            assert {key for key, option in form.options.items()
                    if option.needs is None} <= set(held)


@pytest.mark.parametrize(("problem", "integrator", "absent"), [
    ("heavy_top", "rkmk", ("alpha", "beta", "mass")), ("heavy_top", "rk4", ("mass", "projection")),
    ("bonded_particles", "cf4", ("alpha", "mass")), ("sphere_nbody", "vi_sphere", ("tolerance", "iterations"))])
def test_options_without_meaning_are_not_hashed(problem, integrator, absent):
    assert not set(absent) & set(specify(problem, integrator, steps=10).options)


@pytest.mark.parametrize(("problem", "integrator", "options", "said"), [
    ("heavy_top", "rkmk", {"alpha": 0.0}, "option alpha does not exist for lie_action of Heavy top: lie_action of"
     " dipole_array, elastic_rod"),
    ("sphere_nbody", "rkmk", {"projection": "state"}, "lie_action of Point masses on the sphere: it is one of"
     " vector_field"),
    ("sphere_nbody", "rk4", {"theta": 0.5}, "it is one of slgi"),
    ("heavy_top", "slgi_kk", {"itertions": 3}, "unknown option 'itertions'; did you mean iterations?"),
    ("heavy_top", "rk4", {"form": "omega"}, "option form is 'omega'; allowed are attitude, orthonormal, quaternion,"
     " coadjoint"),
    ("spherical_pendulum_chain", "rk4", {"mass": "diagonal"}, "the bodies of this system are coupled"),
    ("elastic_rod", "rk4", {"mass": "banded", "form": "velocity"}, "the inverse of this mass matrix is not")])
def test_an_option_that_the_form_does_not_have_is_refused(problem, integrator, options, said):
    with pytest.raises(InputError) as caught:
        specify(problem, integrator, steps=10, options=options)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{integrator}: ")


def test_a_full_mass_matrix_of_uncoupled_bodies_gives_the_same_motion():
    for name, other in (("rk4", {"mass": "dense"}), ("rkmk", {"mass": "banded"}), ("vi_sphere", {"mass": "dense"})):
        plain, full = (simulate("sphere_nbody", name, steps=50, t_end=1.0, options=options) for options in ({}, other))
        gap = np.abs(plain["q"] - full["q"]).max()
        assert gap <= 1e-12
        assert full.attrs["specification"] != plain.attrs["specification"]


def test_momenta_are_summed_over_the_bodies_in_their_order():
    """To the last bit, as plain Python sums them on every machine."""
    n, chance = 6, np.random.default_rng(1)
    q = chance.standard_normal((n, 3))
    q /= np.linalg.norm(q, axis=1)[:, None]
    omega = np.cross(q, chance.standard_normal((n, 3)))
    spec = specify("spherical_pendulum_chain", "rattle", preset="unit_6", step=0.1, t_end=1.0,
                   parameters={"mass": chance.uniform(0.5, 2.0, n), "length": chance.uniform(0.5, 2.0, n)},
                   initial={"q": q, "omega": omega})
    _, velocity, momenta, _ = build(spec)[0].start.reshape(4, n, 3)
    matrix = np.asarray(spec.sheet.mass(spec.parameters))
    assert momenta.tolist() == [[sum(m*v[k] for m, v in zip(row, velocity, strict=True)) for k in range(3)]
                                for row in matrix]


def test_a_start_off_a_joint_is_refused():
    """The check sees the parameters: the same start fits a link of 1 m, not one of 2 m."""
    start = {"position": [0.6, 0.0, -0.8], "velocity": [0.0, 1.0, 0.0]}
    assert bob(initial=start).initial["position"].tolist() == start["position"]
    with pytest.raises(InputError, match="initial position is 1 m off the joint: the link is 2 m long"):
        bob(initial=start, parameters={"length": 2.0})
    with pytest.raises(InputError, match="velocity is along the link"):
        bob(initial=start | {"velocity": [0.6, 0.0, -0.8]})


def test_a_system_declares_options_of_its_own():
    assert bob().options == {"stabilisation_rate": 0.0}
    assert bob(options={"stabilisation_rate": -1}).options == {"stabilisation_rate": -1.0}
    with pytest.raises(InputError, match=r"vector_field of .*jointed_bob.* has it"):
        specify("sphere_nbody", "rk4", steps=2, options={"stabilisation_rate": 1.0})
    free, held = (simulate("jointed_bob", "rk4", steps=100, t_end=10.0, options={"stabilisation_rate": rate})
                  for rate in (0.0, 2.0))
    off = [abs(float(np.linalg.norm(data["position"][-1])) - 1.0) for data in (free, held)]
    assert 0.0 < off[1] < 0.2*off[0]


def test_another_engine_stands_in_where_there_is_no_taylor_series():
    bob()
    reference = compute_reference(specify_reference("jointed_bob", samples=5))
    assert reference.attributes["engines"] == "scipy DOP853, rtol 3e-14, vector field; rk4, step halved to convergence"
    assert reference.attributes["disagreement_position_max"] < 1e-11
    with pytest.raises(InputError, match="no Taylor series can be made, and the system declares no fallback engine"):
        compute_reference(specify_reference("jointed_bob", samples=5, parameters={"wall": 1.0}))


def test_an_engine_of_vector_fields_needs_one_as_standard_form():
    load_plugin(PLUGINS/"chain_of_bobs.py")
    facts = replace(sheet("chain_of_bobs"), standard_form="sphere_lagrangian", engines=("composition", "dop853"))
    add_plugin("test", "", {"by_steps": facts}, {})
    with pytest.raises(InputError, match="engine dop853 integrates the vector field, but the standard form of by_steps"
                       " is sphere_lagrangian; allowed are composition, exact"):
        specify_reference("by_steps")
    assert specify_reference("by_steps", engines=("composition", "taylor")).engines == ("composition", "taylor")


def test_a_system_refuses_a_method_at_its_parameters():
    assert bob(integrator="ode45", steps=None, tolerance=1e-3).tolerance == 1e-3
    with pytest.raises(InputError, match="ode45 cannot run on jointed_bob: a wall needs fixed steps; integrators that"
                       " can: explicit_euler, gauss, rk2_heun"):
        bob(integrator="ode45", steps=None, tolerance=1e-3, parameters={"wall": 1.0})


def test_a_method_refuses_a_problem_and_names_those_that_can():
    load_plugin(PLUGINS/"chain_of_bobs.py")
    assert specify("sphere_nbody", "kick_drift_kick", steps=10).options == {"mass": "diagonal"}
    with pytest.raises(InputError, match="kick_drift_kick cannot run on spherical_pendulum_chain: it needs uncoupled"
                       " bodies; integrators that can: cf4") as caught:
        specify("spherical_pendulum_chain", "kick_drift_kick", steps=10)
    able = str(caught.value).split("can: ")[1].split(", ")
    assert "vi_sphere" in able
    assert "kick_drift_kick" not in able


def test_the_number_of_bodies_comes_from_a_parameter():
    """Also atan2 in compiled code, on symbols and counted."""
    load_plugin(PLUGINS/"chain_of_bobs.py")
    for bobs in (1, 3):
        data = simulate("chain_of_bobs", "kick_drift_kick", steps=100, parameters={"bobs": bobs})
        assert data["q"].shape[1:] == (bobs, 3)
        assert data.attrs["energy_error_max"] <= 1e-4
    rows = check_system("chain_of_bobs")
    assert [row.check for row in rows if row.ok is not True] == []
    start = start_of("chain_of_bobs")
    run = specify("chain_of_bobs", "rk4", steps=10)
    counters = {"force_evaluations": 1, "rhs_evaluations": 0, "linear_solves": 0, "exponentials": 0}
    assert sheet("chain_of_bobs").cost(start.parameters, start.initial)(run.options, counters) > 120
    reference = compute_reference(specify_reference("chain_of_bobs", samples=3))
    assert reference.attributes["disagreement_q_max"] < 1e-12


@pytest.mark.parametrize("name", system_ids())
def test_the_standard_form_is_one_of_the_forms_and_holds_all_initial_fields(name):
    facts, start = sheet(name), start_of(name)
    assert facts.standard_form in facts.forms
    found = formulate_standard(facts, start.parameters, start.initial)
    fields = found.to_fields(found.start)
    for part in (part for part in found.fields if part.name in start.initial):
        # an attitude that is held as a quaternion comes back to rounding, everything else to the bit
        allowed = 4e-16 if part.norm == "attitude" and found.start.shape[-1] == 4 else 0.0
        assert np.abs(fields[part.name] - start.initial[part.name]).max() <= allowed, part.name


@pytest.mark.parametrize("name", [name for name in system_ids() if sheet(name).symmetries is not None])
def test_turning_space_turns_the_motion(name):
    """Parameters that `symmetries` names and all vectors and attitudes of the start are turned."""
    facts, start = sheet(name), start_of(name)
    rotation = Rotation.from_rotvec([0.3, -1.1, 0.7]).as_matrix()
    parts = {part.name: part for part in formulate_standard(facts, start.parameters, start.initial).fields}

    def turned(part, value):
        return np.einsum("ij,...jk->...ik", rotation, value) if part.dims[-1] == "axis" else value @ rotation.T

    parameters = {key: value @ rotation.T if key in facts.symmetries else value
                  for key, value in start.parameters.items()}
    initial = {key: turned(parts[key], value) for key, value in start.initial.items()}
    request = {"steps": 10, "t_end": 1e-3*next(iter(facts.presets.values())).t_end}
    plain = simulate(name, "rk4", **request)
    other = simulate(name, "rk4", parameters=parameters, initial=initial, **request)
    for key in start.initial:
        expected = turned(parts[key], plain[key].values)
        assert np.abs(other[key].values - expected).max() <= 1e-11*max(1.0, np.abs(expected).max())
        assert np.abs(plain[key].values[-1] - plain[key].values[0]).max() > 0.0 or key in ("angular_momentum", "omega")


def test_the_printed_equations_are_an_option_off_the_spheres():
    """Steps of RK4 on the equations of the sheet, written here, are those of extension: printed; the default, the
    gradient of one potential, is another method with a smaller error. On the spheres both are one equation."""
    start, steps, t_end = start_of("sphere_nbody", preset="four_bodies"), 24, 2.0
    gamma, h = start.parameters["gamma"], t_end/steps

    def rhs(y):
        q, omega = y
        c = q @ q.T
        np.fill_diagonal(c, 0.0)
        pulls = (1.0 - c*c)**-1.5
        np.fill_diagonal(pulls, 0.0)
        return np.array([np.cross(omega, q), gamma*np.cross(q, pulls @ q)])

    y = np.array([start.initial["q"], start.initial["omega"]])
    for _ in range(steps):
        a = rhs(y)
        b = rhs(y + 0.5*h*a)
        c = rhs(y + 0.5*h*b)
        y = y + h/6.0*(a + 2.0*b + 2.0*c + rhs(y + h*c))
    given = {"preset": "four_bodies", "steps": steps, "t_end": t_end, "samples": 2}
    printed = simulate("sphere_nbody", "rk4", **given, options={"extension": "printed"})
    default = simulate("sphere_nbody", "rk4", **given)
    assert np.abs(printed.q.values[-1] - y[0]).max() <= 1e-13
    assert np.abs(default.q.values[-1] - y[0]).max() >= 1e-5
    rates = []
    for options in ({}, {"extension": "printed"}):
        found = formulate(sheet("sphere_nbody"), start.parameters, start.initial, "vector_field", options)
        out = np.zeros_like(found.start)
        assert plain(found.problem).rhs(0.0, found.start, out)
        rates.append(out)
    assert np.abs(rates[0] - rates[1]).max() <= 1e-14
