"""The everyday problems of the field as plain functions, most of them after GeometricProblems.jl (Kraus 2024), HLW
being Hairer, Lubich and Wanner 2006: each with its source and what it keeps."""
from types import SimpleNamespace

import numpy as np

import liestep

K2, SUN = 2.95912208286, 1.00000597682  # gravity in au, days and masses of the sun: DETEST C5, HLW I.2.4
PLANETS = [0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449, 0.00000277777777778]
PLACES = [[3.42947415189, 3.35386959711, 1.35494901715], [6.64145542550, 5.97156957878, 2.18231499728],
          [11.2630437207, 14.6952576794, 6.27960525067], [-30.1552268759, 1.65699966404, 1.43785752721],
          [-21.1238353380, 28.4465098142, 15.3882659679]]
RATES = [[-0.557160570446, 0.505696783289, 0.230578543901], [-0.415570776342, 0.365682722812, 0.169143213293],
         [-0.325325669158, 0.189706021964, 0.0877265322780], [-0.0240476254170, -0.287659532608, -0.117219543175],
         [-0.176860753121, -0.216393453025, -0.0148647893090]]
EIGHT = [0.97000436, -0.24308753, -0.97000436, 0.24308753, 0.0, 0.0]
EIGHT_RATES = [0.466203685, 0.43236573, 0.466203685, 0.43236573, -0.93240737, -0.86473146]
STRENGTHS = [2.0, 1.0]  # of point vortices in the plane
MOMENTS = [2.0, 1.0, 2/3]
STONE = {"m": 1.0, "g": 9.81, "J": np.array([0.3, 1.6, 1.7]), "b": np.array([3.0, 0.8, 0.5]), "turn": 0.2}


def oscillator(q, momentum, p):
    return 0.5*momentum[0]**2 + 0.5*p.k*q[0]**2


def pendulum(q, momentum):
    return 0.5*momentum[0]**2 - np.cos(q[0])


def duffing(q, momentum):
    return 0.5*momentum[0]**2 + 0.5*q[0]**2 + 0.25*q[0]**4


def henon_heiles(q, momentum):
    return 0.5*(momentum @ momentum) + 0.5*(q @ q) + q[0]**2*q[1] - q[1]**3/3


def kepler(q, momentum):
    return 0.5*(momentum @ momentum) - 1/np.linalg.norm(q)


def turning(q, momentum):
    return q[0]*momentum[1] - q[1]*momentum[0]


def double_pendulum(q, v):
    return v[0]**2 + 0.5*v[1]**2 + v[0]*v[1]*np.cos(q[0] - q[1]) + 2*np.cos(q[0]) + np.cos(q[1])


def toda(q, momentum):
    return 0.5*(momentum @ momentum) + sum(np.exp(q[i] - q[(i + 1) % 3]) for i in range(3))


def toda_third(q, momentum):
    a = [np.exp(q[i] - q[(i + 1) % 3]) for i in range(3)]
    return momentum[0]*momentum[1]*momentum[2] - sum(momentum[(i + 2) % 3]*a[i] for i in range(3))


def attraction(masses, width, gravity=1.0):
    """H of masses that attract each other."""
    n = len(masses)

    def hamiltonian(q, momentum):
        x, m = np.reshape(q, (n, width)), np.reshape(momentum, (n, width))
        kinetic = sum((m[i] @ m[i])/(2*masses[i]) for i in range(n))
        return kinetic - sum(gravity*masses[i]*masses[j]/np.linalg.norm(x[i] - x[j])
                             for i in range(n) for j in range(i))

    return hamiltonian


def fermi_pasta_ulam(q, momentum):
    """HLW I.5.1: three stiff springs, w = 50, between soft ones; slow coordinates first."""
    slow, fast = q[:3], q[3:]
    ends = [slow[0] - fast[0], *(slow[i + 1] - fast[i + 1] - slow[i] - fast[i] for i in range(2)), slow[2] + fast[2]]
    return 0.5*(momentum @ momentum) + 1250*(fast @ fast) + 0.25*sum(end**4 for end in ends)


def lotka_volterra_2d(y):
    return [y[0]*(y[1] - 2), y[1]*(1 - y[0])]


def volterra_2d(y):
    return y[0] - np.log(y[0]) + y[1] - 2*np.log(y[1])


def lotka_volterra_3d(y):
    """A = -1, B = -1, C = -1 in y_1' = y_1 (C y_2 + y_3), ...: the product is kept, and the sum along with it."""
    return [y[0]*(y[2] - y[1]), y[1]*(y[0] - y[2]), y[2]*(y[1] - y[0])]


def lotka_volterra_4d(y):
    """y_i' = y_i sum_j A_ij (y_j - 1) with a skew matrix A."""
    a, b, c = y[0] - 1, y[1] - 1, y[2] - 1
    d = y[3] - 1
    return [y[0]*(b + c + d), y[1]*(-a + c + d), y[2]*(-a - b + d), y[3]*(-a - b - c)]


def volterra(y):
    return sum(x - np.log(x) for x in y)


def lorenz(y):
    return [10*(y[1] - y[0]), y[0]*(28 - y[2]) - y[1], y[0]*y[1] - 8/3*y[2]]


def massless(y):
    """B dx/dt = (dphi/dy, -dphi/dx): drift in the field B = 1 + x^2 + y^2."""
    field = 1 + y[0]**2 + y[1]**2
    return [np.cos(y[1])/field, np.sin(y[0])/field]


def potential(y):
    return np.cos(y[0]) + np.sin(y[1])


def vortices(y):
    """y is x_1, x_2, y_1, y_2."""
    a, b, total = y[0] - y[1], y[2] - y[3], 0.5/np.pi
    square = a*a + b*b
    one, two = STRENGTHS
    return [-total*two*b/square, total*one*b/square, total*two*a/square, -total*one*a/square]


def vortex_energy(y):
    return -STRENGTHS[0]*STRENGTHS[1]/(4*np.pi)*np.log((y[0] - y[1])**2 + (y[2] - y[3])**2)


def rigid_body(y):
    return np.cross(y, y/np.array(MOMENTS))


def rotation_energy(y):
    return 0.5*(y @ (y/np.array(MOMENTS)))


def abc(y):
    a, b, c = 1.0, np.sqrt(2.0), np.sqrt(3.0)
    return [c*np.sin(y[2]) + b*np.cos(y[1]), a*np.sin(y[0]) + c*np.cos(y[2]), b*np.sin(y[1]) + a*np.cos(y[0])]


def uniform():
    return [0, 0, 1.0]


def field_of_distance(x):
    return [0, 0, np.sqrt(x[0]**2 + x[1]**2)]


def repulsion(x):
    """He, Sun, Liu and Qin 2015, J. Comput. Phys. 281, 135, section 4.1: phi = 0.01/r about the axis."""
    return 0.01/np.sqrt(x[0]**2 + x[1]**2)


def made(name, q, momentum, hamiltonian, **further):
    SHEETS[f"classic_{name}"] = liestep.system(f"{name}_functions", hamiltonian=hamiltonian,
                                               start={"q": q, "momentum": momentum}, **further).sheet


def morse(q, momentum):
    """Morse 1929, Phys. Rev. 34, 57: period 2 pi/sqrt(2 (1 - H))."""
    return 0.5*momentum[0]**2 + (1 - np.exp(-q[0]))**2


def calogero(q, momentum):
    """Calogero 1971, J. Math. Phys. 12, 419: two particles on a line, (q_2 - q_1)^2 = 4 + t^2 from rest."""
    return 0.5*(momentum @ momentum) + 1/(q[1] - q[0])**2


def sleigh(y, p):
    """Chaplygin 1911, reduced: speed of the blade, rate, angle and place of the blade (docs/nonholonomic.md)."""
    v, w, angle = y[0], y[1], y[2]
    return [p.a*w**2, -p.m*p.a*v*w/(p.J + p.m*p.a**2), w, v*np.cos(angle), v*np.sin(angle)]


def sleigh_energy(y, p):
    return 0.5*p.m*y[0]**2 + 0.5*(p.J + p.m*p.a**2)*y[1]**2


def snakeboard(y, p):
    """Bloch, Krishnaprasad, Marsden and Murray 1996, Arch. Ration. Mech. Anal. 136, 21, section 8: wheels at angles f
    and -f, a free rotor. Forward speed v, rate of f, momentum of the rotor over J0; f, heading, rotor, place. The
    heading turns at tan(f) v/r, and (m + k tan(f)^2) v^2 is kept, k = (I - J0)/r^2."""
    v, steering, spin, f, heading = y[0], y[1], y[2], y[3], y[4]
    t, k = np.tan(f), (p.I - p.J0)/p.r**2
    turn = t*v/p.r
    return [-k*t*(1 + t*t)*steering*v/(p.m + k*t*t), 0, 0, steering, turn, spin - turn, v*np.cos(heading),
            v*np.sin(heading)]


def snakeboard_energy(y, p):
    t = np.tan(y[3])
    return 0.5*(p.m + (p.I - p.J0)*t*t/p.r**2)*y[0]**2 + p.J1*y[1]**2 + 0.5*p.J0*y[2]**2


def contact(up, p):
    """The lowest point of an ellipsoid with half-axes b, from its centre."""
    return -p.b**2*up/np.sqrt(up @ (p.b**2*up))


def moment(up, p):
    """M = moment @ rate about the point of contact; principal axes turned by p.turn about the third half-axis."""
    c, s, r = np.cos(p.turn), np.sin(p.turn), contact(up, p)
    a, b, d = p.J[0]*c*c + p.J[1]*s*s, p.J[0]*s*s + p.J[1]*c*c, (p.J[0] - p.J[1])*c*s
    return np.array([[a, d, 0], [d, b, 0], [0, 0, p.J[2]]]) + p.m*((r @ r)*np.eye(3) - np.outer(r, r))


def rattleback(y, p):
    """Borisov and Mamaev 2003, Phys. Usp. 46, 393: M about the point of contact and the vertical, in the body."""
    M, up = y[:3], y[3:]
    rate, r, size = np.linalg.solve(moment(up, p), M), contact(up, p), np.sqrt(up @ (p.b**2*up))
    turned = np.cross(up, rate)
    moved = -(p.b**2*turned + r*(up @ (p.b**2*turned))/size)/size
    change = np.cross(M, rate) + p.m*np.cross(moved, np.cross(rate, r)) + p.m*p.g*np.cross(r, up)
    return [*change, *turned]


def rattleback_energy(y, p):
    return 0.5*(y[:3] @ np.linalg.solve(moment(y[3:], p), y[:3])) - p.m*p.g*(contact(y[3:], p) @ y[3:])


def of_rates(name, rhs, y, **further):
    SHEETS[f"classic_{name}"] = liestep.system(f"{name}_functions", rhs=rhs, start={"y": y}, **further).sheet


def of_field(name, x, v, **further):
    SHEETS[f"classic_{name}"] = liestep.system(f"{name}_functions", mass=1.0, start={"x": x, "v": v}, **further).sheet


def heliocentric():
    """Sun and outer planets about their centre of mass."""
    masses = np.array([SUN, *PLANETS])
    q, v = np.array([[0.0]*3, *PLACES]), np.array([[0.0]*3, *RATES])  # rates are in au per 100 days, as K2 is
    q, v = q - masses @ q/masses.sum(), v - masses @ v/masses.sum()
    made("planets", q.ravel(), (masses[:, None]*v).ravel(), attraction(list(masses), 3, K2), t_end=20.0)


SHEETS = {}
made("oscillator", [0.5], [0.0], oscillator, parameters={"k": 0.5})
made("pendulum", [np.pi/2], [0.0], pendulum)
made("duffing", [1.0], [0.0], duffing)
made("henon_heiles", [0.0, 0.1], [0.35, 0.1], henon_heiles, t_end=100.0)
made("kepler", [0.4, 0.0], [0.0, 2.0], kepler, invariants={"turning": turning})
made("toda", [0.3, -0.1, -0.2], [0.5, 0.1, -0.6], toda, invariants={"third": toda_third})
made("three_body", EIGHT, EIGHT_RATES, attraction([1.0]*3, 2))
made("fermi_pasta_ulam", [1.0, 0.0, 0.0, 0.02, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0, 0.0, 0.0], fermi_pasta_ulam)
heliocentric()
SHEETS["classic_double_pendulum"] = liestep.system("double_pendulum_functions", lagrangian=double_pendulum,
                                                   start={"q": [1.0, 0.5], "v": [0.0, 0.3]}).sheet
of_rates("lotka_volterra_2d", lotka_volterra_2d, [2.0, 1.0], energy=volterra_2d)
of_rates("lotka_volterra_3d", lotka_volterra_3d, [1.0, 0.5, 2.0], energy=lambda y: y[0] + y[1] + y[2],
         invariants={"product": lambda y: y[0]*y[1]*y[2]})
of_rates("lotka_volterra_4d", lotka_volterra_4d, [2.0, 1.0, 0.5, 1.0], energy=volterra)
of_rates("lorenz", lorenz, [1.0, 1.0, 1.0])
of_rates("massless", massless, [1.0, 0.5], energy=potential)
of_rates("vortices", vortices, [1.0, -1.0, 0.0, 0.0], energy=vortex_energy)
of_rates("rigid_body", rigid_body, [np.cos(1.1), 0.0, np.sin(1.1)], energy=rotation_energy,
         invariants={"length": lambda y: y @ y})
of_rates("abc", abc, [0.5, 0.0, 0.0])
of_field("gyration", [1.0, 0.0, 0.0], [0.0, 1.0, 0.1], magnetic=uniform)
of_field("charged", [0.0, -1.0, 0.0], [0.10, 0.01, 0.0], magnetic=field_of_distance, potential=repulsion)
made("morse", [-0.6238107163648714], [0.0], morse)
made("calogero", [-1.0, 1.0], [0.0, 0.0], calogero)
of_rates("sleigh", sleigh, [0.0, 3.0, 0.0, 0.0, 0.0], energy=sleigh_energy,
         parameters={"a": 0.4, "m": 2.0, "J": 0.4})
of_rates("snakeboard", snakeboard, [1.0, 0.5, 2.0, 0.2, 0.0, 0.0, 0.0, 0.0], energy=snakeboard_energy,
         parameters={"m": 2.0, "r": 0.5, "I": 0.6, "J0": 0.2, "J1": 0.05})
of_rates("rattleback", rattleback,
         [*moment(np.array([0, 0, 1.0]), SimpleNamespace(**STONE)) @ [0.01, -0.02, -1.0], 0, 0, 1],
         energy=rattleback_energy, invariants={"length": lambda y: y[3:] @ y[3:]}, parameters=STONE)
