#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Kepler's problem and holds it against the exact ellipse: semi-axis 1, eccentricity 0.6, period 2 pi.

By force-stepping with eccentricity 0.85 against Gonzalez (2011), section 3.6.1.1."""

from __future__ import annotations

import math
import sys
import tempfile
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


def reduced(report: Report) -> None:
    """Section 3.6.1.1: by the distance alone, the angle put together from its parabolas."""
    result = run(HERE / "stepping.toml", "reduced", {"integrator.grid": 0.0067, "integrator.reduced": "true"})
    measures, history = result.summary["measures"], result.history
    b = math.sqrt(1 - 0.85**2)
    x, y = 0.15 + history["planet.displacement_x"], history["planet.displacement_y"]
    momentum = (x * history["planet.velocity_y"] - y * history["planet.velocity_x"]) / b
    name = "force-stepping, reduced, grid 0.0067: "
    report.figure(name + "mean step", measures["mean_step"], 0.97 * 0.0125, 1.03 * 0.0125, "0.0125")
    report.figure(name + "error of the stepped energy", abs(measures["level_error"]), 0, 1e-11, "none")
    report.figure(name + "range of the angular momentum", float(np.ptp(momentum)), 0, 1e-11, "none")


def eccentric(report: Report) -> None:
    """Section 3.6.1.2: eccentricity 0.99, eight orbits; where the planet is at its farthest, at (-1.99, 0)."""
    e, step = 0.99, 0.000175
    text = (HERE / "stepping.toml").read_text(encoding="utf-8").replace("[0.15, 0]", "[0.01, 0]").replace(
        "3.5118845842842464", repr(math.sqrt((1 + e) / (1 - e)))).replace("201.06192982974676", repr(16 * math.pi))
    errors, turned = {}, {}
    for method, keys in (("force-stepping", "grid = 0.000247"), ("newmark", f"step = {step}"), ("energy-momentum", f"step = {step}")):
        folder = Path(tempfile.mkdtemp(prefix="tempi-"))
        case = folder / "eccentric.toml"
        case.write_text(text.replace('method = "force-stepping"\ngrid = 0.022', f'method = "{method}"\n{keys}'), encoding="utf-8")
        result = run(case, method, {"output.history": 1600, "run.energy_tolerance": 0}, folder)
        x, y = 0.01 + result.history["planet.displacement_x"], result.history["planet.displacement_y"]
        r = np.hypot(x, y)
        errors[method] = float(np.hypot(x + 1.99, y)[100::200][:2].max())  # half-way through the first two orbits
        far = [200 * k + int(np.argmax(r[200 * k: 200 * k + 200])) for k in range(8)]
        turned[method] = float(np.abs(np.arctan2(y, -x))[far].max())
        if method != "force-stepping":
            continue
        measures = result.summary["measures"]
        report.figure("eccentricity 0.99, grid 0.000247: mean step", measures["mean_step"], 0.9 * step, 1.1 * step, f"{step}")
        report.figure("eccentricity 0.99, grid 0.000247: error of the stepped energy", abs(measures["level_error"]), 0, 1e-11, "none")
        report.figure("eccentricity 0.99, grid 0.000247: error of the distance at its farthest", float(np.abs(r[far] / 1.99 - 1).max()),
                      0, 0.05, "stable", 0.5)
    report.figure("eccentricity 0.99: error of newmark over that of force-stepping, two orbits", errors["newmark"] / errors["force-stepping"], 10,
                  paper="an order", scatter=math.inf)
    report.figure("eccentricity 0.99: turn of energy-momentum's orbits over that of force-stepping's",
                  turned["energy-momentum"] / turned["force-stepping"], 1, paper="larger", scatter=math.inf)


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
    reduced(report)
    eccentric(report)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
