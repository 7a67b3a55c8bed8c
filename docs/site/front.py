"""The picture beside the film of the first page, docs/energy.webp: `python -m docs.site.front`."""
import io
from dataclasses import replace

import numpy as np

import liestep
from docs.site.source import TOP
from liestep.figures.labels import EndLabel, end_labels
from liestep.figures.marks import mark_of, shade
from liestep.figures.panels import logarithmic
from liestep.figures.style import RC, subplots
from liestep.workflow.report.pictures import encoded

STEP, T_END = 0.05, 10_000.0  # s
METHODS = ("rk4", "rkmk", "vi_sphere")


def main() -> None:
    import matplotlib

    with matplotlib.rc_context(RC):
        figure, axes = subplots(90.0, 58.0)
        labels = []
        for name in METHODS:
            data = liestep.simulate("spherical_pendulum_chain", name, preset="paper_scaled", step=STEP, t_end=T_END)
            energy, time = data["energy"].values, data["time"].values
            largest = np.maximum.accumulate(np.abs(energy - energy[0]))[10:]
            axes.plot(time[10:], largest, color=shade(name))
            labels.append(EndLabel(time[-1], largest[-1], "", (replace(mark_of(name), colour=shade(name)),)))
            print(f"{mark_of(name).label}: {data.attrs['energy_error_max']:.2g} J, length"
                  f" {data.attrs['unit_length_error_max']:.1g}")
        logarithmic(axes, xlabel="time (s)", ylabel="largest energy error so far (J)",
                    title="double pendulum, step 0.05 s")
        end_labels(axes, labels, 40.0)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=200)
    (TOP/"docs"/"energy.webp").write_bytes(encoded(buffer.getvalue(), 700, 70)[0])


if __name__ == "__main__":
    main()
