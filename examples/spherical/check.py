#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the spherical pendulum and the chain of links and holds them against exact integrals. --draw: path.png."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, mean_period, options, run  # noqa: E402

START = {"bob": (0.8, 0, -0.6), "first": (0.8, 0, -0.6), "second": (0.8, 0.6, -1.4), "third": (0.2, 0.6, -2.2)}
ENERGY, VERTICAL = 0.7**2 / 2 - 0.6, 0.8 * 0.7  # of the pendulum: H, and its angular momentum about the vertical


def place(result: Run, probe: str) -> np.ndarray:
    return np.array([start + result.history[f"{probe}.displacement_{axis}"] for start, axis in zip(START[probe], "xyz")])


def velocity(result: Run, probe: str) -> np.ndarray:
    return np.array([result.history[f"{probe}.velocity_{axis}"] for axis in "xyz"])


def heights() -> np.ndarray:
    """Where the pendulum turns: the lower two roots of z'^2 = 2 (H - z)(1 - z^2) - L^2."""
    return np.sort(np.roots([2, -2 * ENERGY, -2, 2 * ENERGY - VERTICAL**2]).real)[:2]


def period_of_height() -> float:
    """2 times the integral of dz / z' from the lower turning to the upper, by z = mean - half cos s and the midpoints of s."""
    low, high = heights()
    third = ENERGY - low - high  # the sum of the roots is H
    s = (np.arange(200) + 0.5) * math.pi / 200
    z = (low + high) / 2 - (high - low) / 2 * np.cos(s)
    return 2 * math.pi / 200 * float((1 / np.sqrt(2 * (third - z))).sum())


def pendulum(method: str, h: float, steps: int, rows: int) -> Run:
    return run(HERE / "spherical.toml", f"{method}-{h}-{steps}", {
        "integrator.method": method, "integrator.step": h, "run.end_time": steps * h, "output.history": rows, "output.frames": 0})


def momentum_error(result: Run) -> float:
    vertical = result.history["angular_momentum_z"]
    return float(np.abs(vertical / vertical[0] - 1).max())


def energy_error(result: Run) -> np.ndarray:
    return np.abs(result.history["total_energy"] - result.history["total_energy"][0])


def links(h: float, end: float) -> Run:
    return run(HERE / "chain.toml", f"chain-{h}", {"integrator.step": h, "run.end_time": end, "output.history": round(end / 0.1),
                                                   "output.frames": 0})


def main() -> int:
    given = options(__doc__, ("draw",))
    draw = given.draw
    report = Report("spherical: pendulum and chain of links", HERE, given)
    long = pendulum("rattle", 0.05, 100_000, 20_000)
    bob = place(long, "bob")
    report.figure("pendulum, 1e5 steps: error of the vertical angular momentum", momentum_error(long), 0, 1e-11)
    report.figure("pendulum, 1e5 steps: distance from the anchor - 1", float(np.abs(np.linalg.norm(bob, axis=0) - 1).max()), 0, 1e-12)
    error = energy_error(long)
    report.figure("pendulum, 1e5 steps: largest error of energy, last / first tenth", error[-2000:].max() / error[:2000].max(), 0, 1.05)
    report.figure("pendulum, 1e5 steps: drift of energy", abs(long.summary["energy"]["drift"]), 0, 1e-5)
    steps, off, turning = (0.05, 0.025), [], []
    for h in steps:
        fine = pendulum("rattle", h, round(200 / h), round(200 / h))
        off.append(abs(mean_period(fine.history["time"], place(fine, "bob")[2]) / period_of_height() - 1))
        turning.append(float(np.abs(place(fine, "bob")[2].min() - heights()[0])))
    report.figure(f"pendulum: period of the height against its integral, step {steps[1]}", off[1], 0, 1e-3)
    report.figure("pendulum: its order in the step", math.log2(off[0] / off[1]), 1.8, 2.2)
    report.figure(f"pendulum: error of the lowest height, step {steps[1]}", turning[1], 0, 1e-3)
    rattle, shake = (pendulum(m, 0.05, 1000, 1000) for m in ("rattle", "shake"))
    report.figure("pendulum: positions of shake - rattle, 1000 steps", float(np.abs(place(rattle, "bob") - place(shake, "bob")).max()),
                  0, 1e-10)
    for method, result, limits in (("rattle", rattle, (0, 1e-12)), ("shake, must fail", shake, (1e-6,))):
        along = np.abs((place(result, "bob") * velocity(result, "bob")).sum(axis=0)).max()
        report.figure(f"pendulum: velocity along the rod ({method})", float(along), *limits)
    chain = links(0.02, 400)
    joints = [np.zeros((3, 1))] + [place(chain, name) for name in ("first", "second", "third")]
    rods = np.array([np.linalg.norm(b - a, axis=0) for a, b in zip(joints, joints[1:])])
    report.figure("chain: error of the vertical angular momentum", momentum_error(chain), 0, 1e-11)
    report.figure("chain: lengths of the rods - 1", float(np.abs(rods - 1).max()), 0, 1e-12)
    report.figure("chain: drift of energy", abs(chain.summary["energy"]["drift"]), 0, 1e-3, scatter=math.inf)
    coarse, fine = (float(energy_error(links(h, 10)).max()) for h in (0.02, 0.01))  # later the motion is chaotic
    report.figure("chain: error of energy, order in the step", math.log2(coarse / fine), 1.8, 2.2)
    if draw:
        picture()
    return report.close()


def picture() -> None:
    figure = blank_picture(2.9)
    above, side = figure.subplots(1, 2, width_ratios=(1, 1.6))
    short = pendulum("rattle", 0.05, 1200, 1200)
    x, y, z = place(short, "bob")
    above.plot(x, y, color="#0072B2", lw=0.6)
    angle = np.linspace(0, 2 * np.pi, 200)
    for height in heights():
        radius = math.sqrt(1 - height**2)
        above.plot(radius * np.cos(angle), radius * np.sin(angle), color="0.4", lw=0.6, ls="--")
    above.set(xlabel="$x$", ylabel="$y$", aspect="equal", title="from above")
    long = pendulum("rattle", 0.05, 100_000, 20_000)
    time, change = long.history["time"], (long.history["total_energy"] - ENERGY) * 1e4
    side.plot(time[:240], change[:240], color="#0072B2", lw=0.7, label="at the start")
    side.plot(time[-240:] - time[-240], change[-240:], "--", color="#D55E00", lw=0.7, label="after 1e5 steps")
    side.set(xlabel="time", ylabel="change of energy, $10^{-4}$", ylim=(-2.5, 0.1))
    side.legend(loc="lower right", ncols=2)
    figure.savefig(HERE / "path.png", dpi=200)


if __name__ == "__main__":
    sys.exit(main())
