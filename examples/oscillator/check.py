#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps solved from the energy: the paper's oscillator (2004, section 6.1, Fig. 17), and an ellipse where it goes well.

--draw: circle.png.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, options, run  # noqa: E402

STEP, LEAST, LARGEST = 0.05, 0.1, 40  # the case's; bounds in multiples of the step
ENERGY = 0.5                          # of the first step, from (q, p) = (1, 0)


@dataclass
class Steps:
    """Of the right-endpoint rule with m = kappa = 1: h, the momentum p within, and q at the end."""

    h: np.ndarray
    p: np.ndarray
    q: np.ndarray

    def energy(self) -> np.ndarray:
        return (self.p**2 + self.q**2) / 2


def steps_of(result: Run) -> Steps:
    """Recovers steps from rows alone: the mass moves on straight lines, and lines meet where steps do."""
    time, place = result.history["time"], 1 + result.history["mass.displacement_x"]
    straight = np.abs(np.diff(np.diff(place) / np.diff(time))) < 1e-9  # rows i, i + 1 and i + 2
    edges = np.flatnonzero(np.diff(np.concatenate(([False], straight, [False])).astype(int)))
    first, last = edges[::2], edges[1::2] + 1
    p = (place[last] - place[first]) / (time[last] - time[first])
    t = -np.diff(place[first] - p * time[first]) / np.diff(p)
    q = place[first][:-1] + p[:-1] * (t - time[first][:-1])
    return Steps(np.diff(t, prepend=0.0), p[:-1], q)


def solvable(steps: Steps) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each step but the first, from the one before: whether its line of momentum meets the circle, whether a root
    of p^2 + (q + h p)^2 = 2 E is positive, which is all the paper asks for, and whether one is a step within bounds."""
    p, q = steps.p[:-1] - steps.h[:-1] * steps.q[:-1], steps.q[:-1]
    rest = 2 * ENERGY - p**2
    roots = (np.sqrt(np.maximum(rest, 0)) * np.array([[1], [-1]]) - q) / p
    within = (roots >= LEAST * STEP) & (roots <= LARGEST * STEP)
    return rest >= 0, (rest >= 0) & (roots > 0).any(axis=0), (rest >= 0) & within.any(axis=0)


def orbit(method: str, step: float, periods: int = 10) -> Run:
    more = {"integrator.action": "midpoint", "integrator.step_bounds": "[0.25, 20]"} if method.startswith("symplectic") else {}
    return run(HERE.parent / "kepler" / "kepler.toml", method, {
        "integrator.method": method, "integrator.step": step, "run.end_time": periods * 2 * math.pi, "output.history": 500,
        "output.frames": 0, **more})


def main() -> int:
    given = options(__doc__, ("draw",))
    draw = given.draw
    report = Report("oscillator: 2004 Fig. 17", HERE, given)
    result = run(HERE / "oscillator.toml", "oscillator", {})
    measures, steps = result.summary["measures"], steps_of(result)
    on_circle, positive, predicted = solvable(steps)
    kept = np.abs(steps.energy()[1:] / ENERGY - 1) <= 1e-12
    unseen = measures["steps"] - len(steps.h)
    report.figure("oscillator: steps made, but too near the end to be seen in rows", unseen, 0, 3)
    report.figure("oscillator: steps kept or lost against the prediction", int((kept != predicted).sum()), 0, 0)
    report.figure("oscillator: steps without solution counted - predicted", measures["steps_without_solution"] - (~predicted).sum(),
                  0, unseen)
    report.figure("oscillator: steps with a solution, part of all", float(kept.mean()), 0.05, 0.95, "not always")
    report.figure("oscillator: lost off the circle, abs(p - h q) > 1", int((~on_circle).sum()), 1, paper="lost there")
    report.figure("oscillator: lost without a positive root", int((on_circle & ~positive).sum()), 1, paper="asks for h > 0")
    report.figure("oscillator: lost with positive roots, but outside the bounds", int((positive & ~predicted).sum()), 1)
    report.figure("oscillator: error of the discrete energy while solved", float(np.abs(steps.energy()[1:][kept] / ENERGY - 1).max()),
                  0, 1e-12, "kept")
    report.figure("oscillator: the same where it is not (must fail)", float(np.abs(steps.energy()[1:][~kept] / ENERGY - 1).max()), 1e-3)

    solved = orbit("symplectic-energy-momentum", 2 * math.pi / 120)
    measures = solved.summary["measures"]
    report.figure("ellipse, midpoint: steps without solution", measures["steps_without_solution"], 0, 0)
    report.figure("ellipse, midpoint: error of the discrete energy",
                  measures["largest_residual_while_solved"] / abs(measures["discrete_energy"]), 0, 1e-12, "kept")
    report.figure("ellipse, midpoint: largest step / smallest", measures["largest_step"] / measures["smallest_step"], 2)
    report.figure("ellipse, midpoint: error of the angular momentum", solved.summary["angular_momentum"]["error"], 0, 1e-11)
    fixed = orbit("midpoint", 20 * math.pi / measures["steps"])
    report.figure("ellipse, midpoint: band of T + V / that of as many equal steps",
                  solved.summary["energy"]["band"] / fixed.summary["energy"]["band"], 0, 0.5)
    if draw:
        picture(steps, predicted)
    return report.close()


def picture(steps: Steps, predicted: np.ndarray) -> None:
    figure = blank_picture(3.3)
    plane, time = figure.subplots(1, 2)
    angle = np.linspace(0, 2 * np.pi, 200)
    plane.plot(np.cos(angle), np.sin(angle), color="black", lw=0.6)
    solved = np.concatenate(([True], predicted))
    for which, colour, label in ((solved, "#0072B2", "solved"), (~solved, "#D55E00", "no step solves it")):
        plane.plot(steps.q[which], steps.p[which], ".", ms=3, mew=0, color=colour, label=label)
        time.semilogy(np.cumsum(steps.h)[which], steps.h[which], ".", ms=3, mew=0, color=colour)
    plane.set(xlabel="$q / \\sqrt{2H/\\kappa}$", ylabel="$p / \\sqrt{2mH}$", aspect="equal")
    plane.legend(loc="center")
    time.set(xlabel="time", ylabel="step")
    figure.savefig(HERE / "circle.png", dpi=200)


if __name__ == "__main__":
    sys.exit(main())
