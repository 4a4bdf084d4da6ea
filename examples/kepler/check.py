#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Kepler's problem and holds it against the exact ellipse: semi-axis 1, eccentricity 0.6, period 2 pi.

By force-stepping with eccentricity 0.85 against Gonzalez (2011), section 3.6.1.1."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, options, run  # noqa: E402

CASE = HERE / "kepler.toml"
ECCENTRICITY = 0.6


def place(result: Run) -> np.ndarray:
    """Of the planet relative to the sun, whose own orbit about the centre of mass is 999 times smaller."""
    return np.array([0.3996 + result.history["planet.displacement_x"], result.history["planet.displacement_y"]]) / 0.999


def exact(time: np.ndarray) -> np.ndarray:
    """From Kepler's equation M = E - e sin E, by Newton's method."""
    anomaly = time.copy()
    for _ in range(50):
        anomaly -= (anomaly - ECCENTRICITY * np.sin(anomaly) - time) / (1 - ECCENTRICITY * np.cos(anomaly))
    return np.array([np.cos(anomaly) - ECCENTRICITY, math.sqrt(1 - ECCENTRICITY**2) * np.sin(anomaly)])


def orbit(method: str, h: float, periods: float, **more: object) -> Run:
    return run(CASE, f"{method}-{h}", {"integrator.method": method, "integrator.step": h, "output.frames": 0,
                                       "run.end_time": periods * 2 * math.pi, "output.history": 500, **more})


def error(result: Run) -> float:
    return float(np.abs(place(result) - exact(result.history["time"])).max())


def force_stepping(report: Report) -> None:
    """Faces are the lines x, y, x - y = n h: their number along an ellipse of semi-axes 1 and b is known."""
    b = math.sqrt(1 - 0.85**2)
    for grid, paper in ((0.022, "0.0125"), (0.011, ""), (0.0055, "")):
        result = run(HERE / "stepping.toml", f"force-{grid}", {"integrator.grid": grid})
        measures, history = result.summary["measures"], result.history
        name = f"force-stepping, grid {grid}: "
        limits = (0.95 * 0.0125, 1.05 * 0.0125) if paper else (0.0, math.inf)
        report.figure(name + "mean step", measures["mean_step"], *limits, paper)
        lines = 32 * (4 + 4 * b + 4 * math.sqrt(1 + b * b)) / grid
        report.figure(name + "steps over lines crossed by the ellipse", measures["events"] / lines, 0.95, 1.05)
        report.figure(name + "error of the stepped energy", abs(measures["level_error"]), 0, 1e-11, "none")
        x, y = 0.15 + history["planet.displacement_x"], history["planet.displacement_y"]
        momentum = (x * history["planet.velocity_y"] - y * history["planet.velocity_x"]) / b
        report.figure(name + "range of the angular momentum", float(np.ptp(momentum)), 0, 0.1, "no drift", scatter=0.2)
        trend = abs(float(np.polyfit(history["time"], momentum, 1)[0])) * history["time"][-1]
        report.figure(name + "its trend over its range", trend / float(np.ptp(momentum)), 0, 0.5 if paper else math.inf,
                      "none" if paper else "", scatter=math.inf)


def main() -> int:
    given = options(__doc__)
    report = Report("kepler: eccentricity 0.6", HERE, given)
    for method, steps, order, more in (("newmark", (0.002, 0.001), 2, {}), ("midpoint", (0.002, 0.001), 2, {}),
                                       ("lobatto", (0.04, 0.02), 4, {}), ("gauss", (0.16, 0.08), 6, {"integrator.order": 6})):
        coarse, fine = (error(orbit(method, h, 1, **more)) for h in steps)
        report.figure(f"{method}: error over one period, step {steps[1]}", fine, 0, 2e-3)
        report.figure(f"{method}: its order", math.log2(coarse / fine), order - 0.25, order + 0.4)
    for method in ("newmark", "gauss"):
        long = orbit(method, 0.02 if method == "newmark" else 0.1, 500)
        report.figure(f"{method}: error of the angular momentum over 500 periods", long.summary["angular_momentum"]["error"], 0, 1e-11)
        report.figure(f"{method}: drift of energy over 500 periods", abs(long.summary["energy"]["drift"]), 0, 2e-4)
    falls = orbit("rk4", 0.1, 500, **{"run.energy_tolerance": 0})
    report.figure("rk4: drift of energy over 500 periods (must fail)", abs(falls.summary["energy"]["drift"]), 0.01)
    force_stepping(report)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
