"""Evidence on rodrigues2021 from runs of the package."""
from liestep.claims.errata import Evidence
from liestep.simulation.runs.simulation import simulate

STEP = 0.01  # of figure 5


def diameter() -> Evidence:
    """D_t = 3 and 30 at the step of figure 5, over 1 s."""
    numbers = {}
    for name, preset in (("printed", "as_printed"), ("other", "rescaled")):
        data = simulate("bonded_ring", "rodrigues", preset=preset, step=STEP, t_end=1.0, samples=2,
                        on_failure="return")
        numbers[name] = float(data.attrs["time_reached"])
    numbers["limit"] = 3.0*0.03925981575906861/200.0**0.5  # D sqrt(m/K^a), D = 3 sin(pi/80)
    return Evidence(numbers["printed"] < 0.9 and numbers["other"] >= 0.999 and numbers["limit"] < STEP,
                    "at h = 0.01 the ring with D_t = 3 flies apart after {printed:.2f} s, before it reaches the wall,"
                    " because h is above D sqrt(m/K^a) = {limit:.4f}; with D_t = 30 it completes", numbers)


def asymmetric_map() -> Evidence:
    """Maps (25) and (27) forward and back over 100 steps of the pendulum."""
    numbers = {}
    for name, integrator in (("newmark", "rodrigues"), ("euler", "rodrigues kick=whole")):
        forth = simulate("heavy_top", integrator, preset="rodrigues2021", step=STEP, t_end=1.0, samples=2)
        turned = {"attitude": forth["attitude"].values[-1], "angular_momentum": -forth["angular_momentum"].values[-1]}
        back = simulate("heavy_top", integrator, preset="rodrigues2021", step=STEP, t_end=1.0, samples=2,
                        initial=turned)
        numbers[name] = float(abs(back["attitude"].values[-1] - forth["attitude"].values[0]).max())
    return Evidence(numbers["newmark"] <= 1e-12 and numbers["euler"] >= 1e-3,
                    "with the velocities turned round after 1 s, map (25) returns to {newmark:.1g}, map (27) to"
                    " {euler:.1g}", numbers)
