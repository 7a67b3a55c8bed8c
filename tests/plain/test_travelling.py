"""Systems that travel: pickled ones register themselves in the process that unpickles them."""
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import liestep
from liestep.errors import InputError


def spring(stiffness):
    """Systems of one name with different equations."""
    def L(q, v, p):
        return 0.5*v @ v - 0.5*stiffness*p.k*q @ q

    return liestep.system("spring", lagrangian=L, parameters={"k": 1.0}, start={"q": [1.0], "v": [0.0]}, t_end=1.0)


def last(job):
    system, k = job
    return float(system.simulate("rk4", step=0.01, parameters={"k": k})["q"].values[-1, 0])


def test_a_pool_of_fresh_processes_runs_systems_of_one_name():
    """cos(sqrt(k) t)"""
    jobs = [(system, k) for system in (spring(1.0), spring(4.0)) for k in (1.0, 2.0)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(last, jobs))
    assert np.abs(np.array(found) - np.cos(np.sqrt([1.0, 2.0, 4.0, 8.0]))).max() < 1e-8


def test_a_fresh_process_knows_a_system_and_its_robot_from_a_file_of_pickles(tmp_path):
    (tmp_path/"system.pickle").write_bytes(pickle.dumps(spring(3.0)))
    done = subprocess.run([sys.executable, "-c", "import pickle, sys\nsystem = pickle.load(open(sys.argv[1], 'rb'))\n"
                           "print(float(system.simulate('rk4', step=0.01)['q'].values[-1, 0]), system.check()[0].ok)",
                           str(tmp_path/"system.pickle")], capture_output=True, text=True, check=True)
    value, ok = done.stdout.split()
    assert abs(float(value) - np.cos(np.sqrt(3.0))) < 1e-8
    assert ok == "True"


def test_a_name_still_means_the_latest_definition():
    first, latest = spring(1.0), spring(9.0)
    again = pickle.loads(pickle.dumps(first))
    assert again == first != latest
    assert liestep.simulate("spring", "rk4", step=0.01)["q"].values[-1, 0] == last((latest, 1.0)) != last((again, 1.0))


def test_a_pickle_of_another_version_is_refused_with_both_names():
    about = pickle.dumps(spring(1.0)).replace(liestep.__version__.encode(), b"9.9.9")
    with pytest.raises(InputError, match=rf"pickled by liestep 9\.9\.9, and this is liestep {liestep.__version__}: "):
        pickle.loads(about)


def test_a_black_box_stays():
    held = liestep.system("held", rhs=lambda y: -y, blackbox=True, start={"y": [1.0]})
    with pytest.raises(InputError, match="is called in plain Python, and no other process knows it"):
        pickle.dumps(held)


def test_a_system_is_no_text_but_stands_where_an_id_does():
    system = spring(1.0)
    assert not {"capitalize", "zfill"} & {*dir(system)}
    assert isinstance(system, liestep.System)
    assert system == system.id == str(system)
    assert liestep.list_integrators(system).keys() == {*system.integrators()}
    data = [liestep.simulate(one, "rk4", step=0.01)["q"].values for one in (system, system.id)]
    assert np.array_equal(*data)
    assert (liestep.__doc__ or "").count("\n    ") >= 5
