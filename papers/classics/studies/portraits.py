"""Two problems for pictures: the pendulum, and the galaxy of Henon and Heiles 1964, Astron. J. 69, 73."""
import numpy as np

import liestep


def pendulum(q, momentum):
    return 0.5*momentum[0]**2 - np.cos(q[0])


def galaxy(q, momentum):
    return 0.5*(momentum @ momentum) + 0.5*(q @ q) + q[0]**2*q[1] - q[1]**3/3


def made(name, hamiltonian, q, momentum):
    return liestep.system(f"{name}_of_portraits", hamiltonian=hamiltonian, start={"q": q, "momentum": momentum}).sheet


SHEETS = {"portrait_pendulum": made("pendulum", pendulum, [2.5], [0.0]),
          "portrait_galaxy": made("galaxy", galaxy, [0.0, 0.1], [0.39665266081716044, 0.0])}
