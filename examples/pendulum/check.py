#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the pendulum and holds it against the paper (2004, sections 3.4 and 3.5, Figs 4 and 5). --draw: phase.png."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, options, run  # noqa: E402

CASE = HERE / "pendulum.toml"


def angle(result: Run) -> tuple[np.ndarray, np.ndarray]:
    return result.history["angle.displacement_x"], result.history["angle.velocity_x"]


def energy(result: Run) -> np.ndarray:
    q, p = angle(result)
    return p**2 / 2 - np.cos(q)


def modified_energy(result: Run, h: float) -> np.ndarray:
    """What velocity Verlet keeps to fourth order: H + h^2 (p V'' p / 12 - V'^2 / 24), by the Baker-Campbell-Hausdorff
    series of half a kick, a drift, half a kick."""
    q, p = angle(result)
    return energy(result) + h**2 * (p**2 * np.cos(q) / 12 - np.sin(q) ** 2 / 24)


def swing(method: str, h: float, steps: int, rows: int, speed: float = 1.5) -> Run:
    return run(CASE, f"{method}-{h}-{speed}", {
        "integrator.method": method, "integrator.step": h, "run.end_time": steps * h, "output.history": rows,
        "particles.velocity": f"[[0], [{speed}]]"})


def slope(values: list[float], steps: list[float]) -> float:
    return float(np.polyfit(np.log(steps), np.log(values), 1)[0])


def period(amplitude: float) -> float:
    """4 K(sin(amplitude/2)), by the arithmetic-geometric mean."""
    a, b = 1.0, math.cos(amplitude / 2)
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return 2 * math.pi / a


def measured_period(result: Run) -> float:
    """Between upward passages of the angle through zero, each by the cubic that fits angles and velocities."""
    time, (q, p) = result.history["time"], angle(result)
    passages = []
    for i in np.nonzero((q[:-1] < 0) & (q[1:] >= 0))[0]:
        width = time[i + 1] - time[i]
        c = [q[i], p[i] * width, 3 * (q[i + 1] - q[i]) - (2 * p[i] + p[i + 1]) * width,
             2 * (q[i] - q[i + 1]) + (p[i] + p[i + 1]) * width]
        roots = np.roots(c[::-1])
        passages.append(time[i] + width * next(r.real for r in roots if abs(r.imag) < 1e-9 and -1e-9 <= r.real <= 1 + 1e-9))
    return (passages[-1] - passages[0]) / (len(passages) - 1)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("pendulum: 2004 Figs 4 and 5, 1e5 steps", HERE, given)
    for h in (0.2, 0.5):
        error = np.abs(energy(verlet := swing("newmark", h, 100_000, 20_000)) - energy(verlet)[0])
        tenth = len(error) // 10
        report.figure(f"Newmark, step {h}: largest error of energy, last / first tenth", error[-tenth:].max() / error[:tenth].max(),
                      0, 1.05, "bounded")
        falling = energy(swing("rk4", h, 100_000, 2_000))
        report.figure(f"RK4, step {h}: largest gain of energy between rows", float(np.diff(falling).max()), -1, 1e-9,
                      "dissipates")
        report.figure(f"RK4, step {h}: energy lost above the rest", float(1 - (falling[-1] + 1) / (falling[0] + 1)), 1e-4, 1)
    steps = [0.4, 0.3, 0.2, 0.15]
    runs = [swing("newmark", h, round(600 / h), round(600 / h)) for h in steps]
    plain = [float(np.ptp(energy(r))) for r in runs]
    modified = [float(np.ptp(modified_energy(r, h))) for r, h in zip(runs, steps)]
    report.figure("fluctuation of the energy: order in the step", slope(plain, steps), 1.8, 2.2)
    report.figure("fluctuation of the modified energy: order in the step", slope(modified, steps), 3.8, 4.2,
                  "third-order truncation")
    amplitude = 2 * math.asin(0.75)  # from H: 1.5^2 / 2 = 1 - cos(amplitude)
    off = [abs(measured_period(swing("newmark", h, round(200 / h), round(200 / h))) / period(amplitude) - 1) for h in (0.1, 0.05)]
    report.figure("period against the elliptic integral, step 0.05", off[1], 0, 3e-4)
    report.figure("its order in the step", math.log2(off[0] / off[1]), 1.9, 2.1)
    if given.draw:
        draw()
    return report.close()


def draw() -> None:
    figure = blank_picture(2.9)
    h = 0.3
    for ax, (method, title) in zip(figure.subplots(1, 2, sharey=True), (("newmark", "Newmark"), ("rk4", "Runge-Kutta 4"))):
        for speed in (0.6, 1.2, 1.7, 1.95, 2.3):
            steps = 3000 if speed < 2 else 60  # turning over it moves away, and differences of the formula coarsen
            q, p = angle(swing(method, h, steps, steps, speed))
            ax.plot((q + np.pi) % (2 * np.pi) - np.pi, p, ".", ms=1.2, mew=0, color="#0072B2" if method == "newmark" else "#D55E00")
        x, y = np.meshgrid(np.linspace(-np.pi, np.pi, 200), np.linspace(-2.6, 2.6, 200))
        truncated = y**2 / 2 - np.cos(x) + h**2 * (y**2 * np.cos(x) / 12 - np.sin(x) ** 2 / 24)
        levels = sorted(v**2 / 2 - 1 + h**2 * v**2 / 12 for v in (0.6, 1.2, 1.7, 1.95, 2.3))
        ax.contour(x, y, truncated, levels=levels, colors="0.3", linestyles="-", linewidths=0.5, zorder=0)
        ax.set(title=f"{title}, step {h}, 3000 steps", xlabel="angle")
    figure.axes[0].set_ylabel("momentum")
    figure.savefig(HERE / "phase.png", dpi=200)


if __name__ == "__main__":
    sys.exit(main())
