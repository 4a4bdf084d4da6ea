#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Kepler's problem and holds it against the exact ellipse: semi-axis 1, eccentricity 0.6, period 2 pi."""

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
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
