#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Four cubes of viscous rubber, each turned against the one below, sink onto each other and come to rest.

--full: and with restitution instead of viscosity. --draw: the picture of the README."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from crossings import crossings_of  # noqa: E402
from measure import Report, Run, blank_picture, options, run  # noqa: E402

WEIGHT = 4 * 1000 * 0.1**3 * 9.81
ALL_INTERFACES = (4 + 3 + 2 + 1) / 4 * WEIGHT  # what each carries


def unaccounted(result: Run) -> float:
    """Energy, over what was dissipated."""
    h = result.history
    return float(np.abs(h["total_energy"] - h["external_work"] - h["damping_work"]).max() / -h["damping_work"][-1])


def draw(result: Run) -> None:
    h = result.history
    figure = blank_picture(2.4)
    left, right = figure.subplots(1, 2)
    left.plot(h["time"], h["contact_1.force_z"] / WEIGHT, color="#0072B2", lw=0.8)
    right.semilogy(h["time"][1:], h["kinetic_energy"][1:], color="#D55E00", lw=0.8)
    left.set(xlabel="time (s)", ylabel="force on the floor over the weight")
    right.set(xlabel="time (s)", ylabel="kinetic energy (J)")
    figure.savefig(HERE / "stack.png", dpi=200)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("a stack of cubes", HERE, given)
    result = run(HERE / "stack.toml", f"stack-{given.full}", {})
    h, s = result.history, result.summary
    late = h["time"] > 0.2
    report.figure("force on the floor over the weight, mean of the second half", float(h["contact_1.force_z"][late].mean()) / WEIGHT, 0.99, 1.01)
    report.figure("forces of all four layers over what they carry", float(h["contact_1.force"][late].mean()) / ALL_INTERFACES, 0.98, 1.02)
    median = float(np.sqrt(2 * np.median(h["kinetic_energy"][late]) / 4.0))
    report.figure("root mean square of velocities, late: the median [mm/s]", 1e3 * median, 0, 1.0, "0", 1.0)
    fastest = float(np.sqrt(2 * h["kinetic_energy"][late].max() / 4.0))
    report.figure("the same at most [mm/s]", 1e3 * fastest, 0, 12.0, "0", 1.0)
    report.figure("how far the highest slips [mm]", 1e3 * float(np.abs(h["highest.displacement_x"]).max()), 0, 0.05, "0", 1.0)
    report.figure("how far it sinks [mm]", -1e3 * float(h["highest.displacement_z"][-1]), 0.5, 1.5)
    report.figure("energy unaccounted for, of what was dissipated", unaccounted(result), 0, 0.02, "", 1)
    report.figure("edges that pass through faces, in all frames", crossings_of(result), 0, 0)
    report.figure("strikes of layers", s["measures"]["contact_strikes"], scatter=0.05)
    if given.full:
        elastic = run(HERE / "stack.toml", "elastic", {"damping.0.shear_viscosity": 1e-9, "contact.0.energy_restitution": 0.5})
        report.figure("with energy_restitution of 0.5, hardly viscous: energy unaccounted for", unaccounted(elastic), 0, 0.05, "", 1)
        report.figure("kinetic energy in the end, over the largest", float(elastic.history["kinetic_energy"][-1] / elastic.history["kinetic_energy"].max()), 0, 0.3, "", 1)
    if given.draw:
        draw(result)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
