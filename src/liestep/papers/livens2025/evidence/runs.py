"""Evidence from runs on what livens2025 says about momenta, joints, rankings and the parasite."""
import numpy as np

from liestep.claims.errata import Evidence
from liestep.simulation.runs.simulation import simulate

APART = 1e-9


def spring_coefficients() -> Evidence:
    """x_1(10) of the mass-spring system with k/4 and k/2."""
    numbers = {preset: float(simulate("mass_spring", "rk4", preset=preset, steps=10000)["q"].values[-1, 0])
               for preset in ("printed", "public_package")}
    return Evidence(abs(numbers["printed"] - numbers["public_package"]) >= 0.1,
                    "x_1(10) = {printed:.4f} m with k/4, {public_package:.4f} m with k/2; both start with 1 J", numbers)


def radial_derivative() -> Evidence:
    """Error and drifts of the spring pendulum with dT/dr correct and with r^2 for r."""
    exact = simulate("spring_pendulum", "rk4", preset="printed", steps=20000)["position"].values[-1]
    numbers = {}
    for preset in ("printed", "misprint"):
        for step, name in ((0.01, "coarse"), (0.00125, "fine")):
            data = simulate("spring_pendulum", "eml", preset=preset, step=step, options={"gradient": "gonzalez"})
            numbers[f"{preset}_{name}"] = float(np.abs(data["position"].values[-1] - exact).max())
        numbers[f"{preset}_energy"] = data.attrs["generalized_energy_error_max"]
    falls = numbers["printed_coarse"]/numbers["printed_fine"] >= 50.0
    stalls = numbers["misprint_coarse"]/numbers["misprint_fine"] <= 5.0
    return Evidence(falls and stalls and numbers["misprint_energy"] <= 1e-12,
                    "error at h = 0.01 and 0.00125: {printed_coarse:.2g} and {printed_fine:.2g} m with r,"
                    " {misprint_coarse:.2g} and {misprint_fine:.2g} m with r^2, whose generalized energy moves by"
                    " {misprint_energy:.1g} J", numbers)


def gonzalez_momentum() -> Evidence:
    """p_phi of the spring pendulum with two discrete derivatives."""
    numbers = {name: simulate("spring_pendulum", "eml", preset="printed", step=0.01,
                              options={"gradient": name}).attrs["momentum_error_max_z"]
               for name in ("gonzalez", "equivariant")}
    return Evidence(numbers["gonzalez"] >= APART >= 1e3*numbers["equivariant"],
                    "p_phi drifts by {gonzalez:.3g} kg m2/s with Gonzalez' derivative at h = 0.01, by {equivariant:.1g}"
                    " with phi out of its direction", numbers)


def joint_momentum() -> Evidence:
    """Angular momentum of the closed loop from one step to the next, and its prediction from the joint forces."""
    h = 0.1
    data = simulate("rigid_loop", "eml", preset="livens2025", step=h, t_end=4.0, samples=41)
    momentum, time = data["momentum_map"].values, data["time"].values
    late = np.flatnonzero(time > 1.05)[:-1]
    found = np.array([momentum[k + 1] - momentum[k] for k in late])
    predicted = np.array([_joint_impulse(data, k, h) for k in late])
    numbers = {"largest": float(np.abs(found).max()), "gap": float(np.abs(found - predicted).max())}
    return Evidence(numbers["largest"] >= 1e-5 and numbers["gap"] <= 1e-5*numbers["largest"],
                    "largest increment for 1 s < t < 4 s {largest:.3g} kg m2/s at h = 0.1; h sum mu x g(q_m) gives it"
                    " up to {gap:.1g}", numbers)


def _joint_impulse(data, k: int, h: float) -> np.ndarray:
    """h sum over the joints of mu x g(q_m) for the step after sample k (3,)."""
    from liestep.geometry.quaternion import matrices
    from liestep.simulation.catalogue import sheet
    from liestep.simulation.runs.specification import start_of

    bodies = sheet("rigid_loop").build(start_of("rigid_loop", preset="livens2025").parameters)
    q = 0.5*(data["quaternion"].values[k] + data["quaternion"].values[k + 1])
    x = 0.5*(data["position"].values[k] + data["position"].values[k + 1])
    turned, mu = matrices(q), data["multiplier"].values[k + 1, 4:].reshape(4, 3)
    total = np.zeros(3)
    for j in range(4):
        a, b = bodies.first[j], bodies.second[j]
        gap = x[a] + turned[a] @ bodies.arm[j] - x[b] - turned[b] @ bodies.other[j]
        total += h*np.cross(mu[j], gap)
    return total


def midpoint_maps() -> Evidence:
    """MPL against the three midpoint rules of the Hamiltonian form on the steady top, h = 0.005, t = 0.1."""
    def last(method, **options):
        return simulate("heavy_top", method, preset="livens2025", step=0.005, t_end=0.1, samples=2,
                        options=options)["quaternion"].values[-1]

    livens = last("mpl")
    numbers = {variant: float(np.abs(last("mph", variant=variant) - livens).max()) for variant in "axb"}
    return Evidence(numbers["b"] <= 1e-11 and min(numbers["a"], numbers["x"]) >= 1e-3,
                    "MPL differs from MPH by {b:.1g} with |q_m|^-4 in both equations (a midpoint rule), by {a:.2g}"
                    " without it (another one), by {x:.2g} with it in one equation (none)", numbers)


def ranking() -> Evidence:
    """Errors of the attitude of the free body at t = 2, h = 0.001."""
    exact = simulate("free_rigid_body", "rkmk", preset="livens2025", step=1e-4, samples=2)["attitude"].values[-1]
    numbers = {name: float(np.linalg.norm(simulate("free_rigid_body", name, preset="livens2025", step=1e-3,
                                                   samples=2)["attitude"].values[-1] - exact))
               for name in ("eml", "emh")}
    return Evidence(numbers["emh"] < 0.5*numbers["eml"],
                    "free body, h = 0.001: error {eml:.3g} of EML, {emh:.3g} of EMH", numbers)


def parasite() -> Evidence:
    """q.v and the range of (80) of the free body at t = 2 and 10, h = 0.01."""
    runs = {end: simulate("free_rigid_body", "eml", preset="livens2025", step=0.01, t_end=end) for end in (2.0, 10.0)}
    numbers = {"early": runs[2.0].attrs["velocity_constraint_error_max"],
               "late": runs[10.0].attrs["velocity_constraint_error_max"],
               "range": float(np.ptp(runs[10.0]["total_energy"].values)),
               "kept": runs[10.0].attrs["generalized_energy_error_max"]}
    return Evidence(numbers["late"] >= 10.0*numbers["early"] and numbers["range"] >= 250.0,
                    "|q.v| grows from {early:.3g} (t < 2 s) to {late:.3g} 1/s (t < 10 s), (80) moves by {range:.3g} of"
                    " 2500 J while (74) moves by {kept:.1g} J", numbers)


def augmented_mass() -> Evidence:
    """Where Livens' scheme with the augmented mass matrix stops on the free body."""
    numbers = {f"t{k}": simulate("free_rigid_body", "eml", preset="livens2025", step=step, on_failure="return",
                                 options={"mass_matrix": "augmented"}).attrs["time_reached"]
               for k, step in enumerate((0.02, 0.01, 0.005))}
    return Evidence(max(numbers.values()) < 1.0,
                    "it stops at {t0:.3g}, {t1:.3g}, {t2:.3g} s of 2 s with h = 0.02, 0.01, 0.005", numbers)
