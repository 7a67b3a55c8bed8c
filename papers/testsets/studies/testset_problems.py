"""Problems of public test sets as plain functions: DETEST (Enright and Pryce 1987), the IVP test set (Mazzia and
Magherini), the orbit of Arenstorf (Hairer, Noersett, Wanner, II.0), the figure eight (Chenciner, Montgomery 2000).
"""
import numpy as np

import liestep

OUTER = [[3.42947415189, 3.35386959711, 1.35494901715], [6.64145542550, 5.97156957878, 2.18231499728],
         [11.2630437207, 14.6952576794, 6.27960525067], [-30.1552268759, 1.65699966404, 1.43785752721],
         [-21.1238353380, 28.4465098142, 15.3882659679]]
RATES = [[-0.557160570446, 0.505696783289, 0.230578543901], [-0.415570776342, 0.365682722812, 0.169143213293],
         [-0.325325669158, 0.189706021964, 0.0877265322780], [-0.0240476254170, -0.287659532608, -0.117219543175],
         [-0.176860753121, -0.216393453025, -0.0148647893090]]
K2, SUN = 2.95912208286, 1.00000597682
PLANETS = [0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449, 0.00000277777777778]


def kepler(y):
    r3 = (y[0]*y[0] + y[1]*y[1])**1.5
    return [y[2], y[3], -y[0]/r3, -y[1]/r3]


def torus(t, y):
    across = np.sqrt(y[0]*y[0] + y[1]*y[1])
    return [-y[1] - y[0]*y[2]/across, y[0] - y[1]*y[2]/across, y[0]/across]


def outer_planets(y):
    x, rates = np.reshape(y[:15], (5, 3)), []
    for j in range(5):
        total = -(SUN + PLANETS[j])*x[j]/np.linalg.norm(x[j])**3
        for k in range(5):
            if k != j:
                total = total + PLANETS[k]*((x[k] - x[j])/np.linalg.norm(x[k] - x[j])**3 - x[k]/np.linalg.norm(x[k])**3)
        rates.append(K2*total)
    return [*y[15:], *(component for rate in rates for component in rate)]


def attracted(masses):
    """Masses in a plane that attract each other as 1/r^2: y is x, y, dx/dt, dy/dt of all."""
    n = len(masses)

    def rhs(y):
        x, z = y[:n], y[n:2*n]
        first, second = [0.0]*n, [0.0]*n
        for i in range(n):
            for j in range(n):
                if j != i:
                    cube = ((x[j] - x[i])**2 + (z[j] - z[i])**2)**1.5
                    first[i] = first[i] + masses[j]*(x[j] - x[i])/cube
                    second[i] = second[i] + masses[j]*(z[j] - z[i])/cube
        return [*y[2*n:], *first, *second]

    return rhs


def arenstorf(y):
    mu = 0.012277471
    one = ((y[0] + mu)**2 + y[1]**2)**1.5
    two = ((y[0] - (1 - mu))**2 + y[1]**2)**1.5
    return [y[2], y[3], y[0] + 2*y[3] - (1 - mu)*(y[0] + mu)/one - mu*(y[0] - (1 - mu))/two,
            y[1] - 2*y[2] - (1 - mu)*y[1]/one - mu*y[1]/two]


def repelled(q):
    return -sum(np.log(np.linalg.norm(q[i] - q[j])) for i in range(len(q)) for j in range(i))


def car_axis(t, y):
    """Two masses on springs, one end at a wheel that rises and falls: places, then rates; the reactions of both rods by
    the second derivative of their conditions."""
    m, (a, b, c, d), u = 0.01**2*10/2, y[:4], y[4:]
    high, rise = 0.1*np.sin(10*t), np.cos(10*t)
    far = np.sqrt(1 - high*high)
    back = -high*rise/far
    up, away = -100*high, -(rise*rise - 100*high*high + back*back)/far
    left, right = np.sqrt(a*a + b*b), np.sqrt((c - far)**2 + (d - high)**2)
    p, q = (0.5 - left)/left, (0.5 - right)/right
    f = [p*a, p*b - m, q*(c - far), q*(d - high) - m]
    x, z = a - c, b - d
    one = -m*(2*(back*u[0] + rise*u[1]) + away*a + up*b) - (far*f[0] + high*f[1])
    two = -m*((u[0] - u[2])**2 + (u[1] - u[3])**2) - (x*(f[0] - f[2]) + z*(f[1] - f[3]))
    first, cross, second = far*far + high*high, far*x + high*z, 2*(x*x + z*z)
    whole = first*second - cross*cross
    k, h = (second*one - cross*two)/whole, (first*two - cross*one)/whole
    return [*u, (f[0] + k*far + h*x)/m, (f[1] + k*high + h*z)/m, (f[2] - h*x)/m, (f[3] - h*z)/m]


def points():
    """The start of the twenty points: four rings about e3, each of equal height."""
    rings = ((3, 13, 3/8), (7, 29, 1/8), (6, 7, -2/15), (4, 17, -3/10))
    found = []
    for number, (count, turn, height) in enumerate(rings):
        for k in range(count):
            a, b = 2*np.pi*(k + (number != 3))/count + np.pi/turn, np.pi*height
            found.append([np.cos(a)*np.cos(b), np.sin(a)*np.cos(b), np.sin(b)])
    return found


EIGHT = [0.97000436, -0.97000436, 0.0, -0.24308753, 0.24308753, 0.0,
         0.466203685, 0.466203685, -0.93240737, 0.43236573, 0.43236573, -0.86473146]
PLEIADES = [3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4, 0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0]
BESSEL = [0.79788456080286536*0.84147098480789651, 0.79788456080286536*0.11956681346419146]  # J of order 1/2 at 1
DETEST = {  # problem -> equations and start
    "a3": (lambda t, y: [y[0]*np.cos(t)], [1]), "a4": (lambda t, y: [y[0]/4*(1 - y[0]/20)], [1]),
    "a5": (lambda t, y: [(y[0] - t)/(y[0] + t)], [4]),
    "b1": (lambda t, y: [2*(y[0] - y[0]*y[1]), y[0]*y[1] - y[1]], [1, 3]),
    "b3": (lambda t, y: [-y[0], y[0] - y[1]*y[1], y[1]*y[1]], [1, 0, 0]), "b4": (torus, [3, 0, 0]),
    "e1": (lambda t, y: [y[1], -y[1]/(t + 1) - (1 - 0.25/(t + 1)**2)*y[0]], BESSEL),
    "e2": (lambda t, y: [y[1], (1 - y[0]*y[0])*y[1] - y[0]], [2, 0]),
    "e3": (lambda t, y: [y[1], y[0]**3/6 - y[0] + 2*np.sin(2.78535*t)], [0, 0]),
    "e4": (lambda t, y: [y[1], 0.032 - 0.4*y[1]*y[1]], [30, 0])}
SHEETS = {name: liestep.system(f"{name}_functions", **given).sheet for name, given in {
    "detest_kepler": {"rhs": kepler, "start": {"y": [0.9, 0, 0, (1.1/0.9)**0.5]}},
    "detest_planets": {"rhs": outer_planets, "start": {"y": [*np.ravel(OUTER), *np.ravel(RATES)]}},
    "ivp_pleiades": {"rhs": attracted(range(1, 8)), "start": {"y": PLEIADES}},
    "ivp_car_axis": {"rhs": car_axis, "start": {"y": [0, 0.5, 1, 0.5, -0.5, 0, -0.5, 0]}},
    "figure_eight": {"rhs": attracted([1, 1, 1]), "start": {"y": EIGHT}},
    "arenstorf": {"rhs": arenstorf, "start": {"y": [0.994, 0, 0, -2.00158510637908252240537862224]}},
    "ivp_fekete": {"potential": repelled, "mass": [1]*20, "force": lambda v: -0.5*v,
                   "start": {"q": points(), "v": [[0, 0, 0]]*20}},
    **{f"detest_{key}": {"rhs": rhs, "start": {"y": start}} for key, (rhs, start) in DETEST.items()}}.items()}
