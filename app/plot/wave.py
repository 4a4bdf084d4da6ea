# SPDX-License-Identifier: Apache-2.0
"""Waves in rows of bodies: forces as sensors within them have it, arrivals, speeds, widths, fits.

Gonzalez (2011), chapter 5: the force on body k is F_k = dJ_k/dt along the row, of its momentum J_k; a sensor in its middle
sees the mean of those at both its contacts, F_k / 2 + the sum of F_j over all bodies j behind it, (5.10). That is so where
nothing but the row itself pushes them: no walls, no loads along it. Between rows of the history momenta are differenced:
of methods whose forces are impulses, rows should be long against the time between these.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from panels import new_figure, set_time_axis
from read import Run
from style import COLOURS, UPDATES_MAP, WIDTH, Array
from words import largest_magnitude, plain, scaled_unit

FEWEST = 4  # bodies of a row


def peak(t: Array, y: Array) -> tuple[float, float]:
    """Time and height of the largest value, by the parabola through it and its neighbours."""
    i = int(np.argmax(y))
    if i in (0, len(y) - 1):
        return float(t[i]), float(y[i])
    a, b, c = y[i - 1:i + 2]
    d = 0.5 * (a - c) / (a - 2 * b + c) if a - 2 * b + c != 0 else 0.0
    return float(t[i] + d * (t[1] - t[0])), float(b - 0.25 * (a - c) * d)


def full_width(t: Array, y: Array) -> float:
    """At half of the largest value; not a number where the record ends before it is over."""
    half = peak(t, y)[1] / 2
    above = np.flatnonzero(y >= half)
    first, last = above[0], above[-1]
    if first == 0 or last == len(y) - 1:
        return float("nan")
    begin = np.interp(half, [y[first - 1], y[first]], [t[first - 1], t[first]])
    end = np.interp(half, [y[last + 1], y[last]], [t[last + 1], t[last]])
    return float(end - begin)


@dataclass(frozen=True)
class Wave:
    """Of sensors in all bodies of a row but the first, which strikes: along the way of the wave."""

    names: list[str]
    number: Array  # of each in the row, from 2
    distance: Array  # from the first body's centre [m]
    force: Array  # averaged, a row each [N]
    arrival: Array  # of the largest force [s]
    largest: Array  # [N]
    speed: Array  # from this one to the next [m/s]; the last has none
    width: Array  # at half height [bodies]

    @property
    def formed(self) -> Array:
        """Those by which the wave has found its form and that feel no end: of them fits are made."""
        return (self.number > 2) & (self.number < self.number[-1])

    def decay(self) -> tuple[float, float] | None:
        """A and b of largest = A exp(-b number); None of less than two forces."""
        if self.formed.sum() < 2:
            return None
        slope, height = np.polyfit(self.number[self.formed], np.log(self.largest[self.formed]), 1)
        return float(np.exp(height)), float(-slope)

    def speed_of_force(self) -> tuple[float, float] | None:
        """A and b of speed = A F^b where neither end is felt; None where forces are too much alike to tell."""
        chosen = (self.number[:-1] > 5) & (self.number[:-1] < self.number[-1] - 2)
        force = np.sqrt(self.largest[:-1] * self.largest[1:])[chosen]
        if len(force) < 3 or force.max() < 1.02 * force.min():
            return None
        power, height = np.polyfit(np.log(force), np.log(self.speed[:-1][chosen]), 1)
        return float(np.exp(height)), float(power)


def wave_of(run: Run) -> Wave | None:
    """Of the probes with body = true, if they stand in a row and something goes along it."""
    bodies: list[dict[str, Any]] = run.summary.get("bodies", [])
    if len(bodies) < FEWEST or len(run.history["time"]) < 8:
        return None
    centre = np.array([body["centre"] for body in bodies], dtype=float)
    away = centre - centre[0]
    ends = away[int(np.argmax(np.linalg.norm(away, axis=1)))]
    if not np.linalg.norm(ends) > 0:
        return None
    axis = ends / np.linalg.norm(ends)
    momentum = np.array([sum(axis[c] * run.history[f"{body['name']}.linear_momentum_{'xyz'[c]}"] for c in range(len(axis)))
                         for body in bodies])
    if momentum[:, 0].sum() < 0:
        axis, momentum = -axis, -momentum
    order = np.argsort(centre @ axis)
    place = (centre @ axis)[order]
    beside = np.linalg.norm(centre - centre[0] - np.outer(away @ axis, axis), axis=1).max()
    spacing = np.diff(place)
    if beside > 0.01 * spacing.min():
        return None
    t = run.history["time"]
    forces = np.gradient(momentum[order], t, axis=1)
    behind = np.cumsum(forces[::-1], axis=0)[::-1]  # on this body and all behind it
    averaged = (behind - 0.5 * forces)[1:]
    found = np.array([peak(t, y) for y in averaged])
    arrival, largest = found.T
    inside = (largest > 0.01 * largest.max()) & (arrival > t[1]) & (arrival < t[-2])
    seen = len(inside) if inside.all() else int(np.argmin(inside))  # until the run ends
    if seen < FEWEST - 1 or (np.diff(arrival[:seen]) <= 0).any():
        return None
    speed = np.append(spacing[1:seen] / np.diff(arrival[:seen]), np.nan)
    near = np.append(speed[:-1], speed[-2])
    width = np.array([full_width(t, y) for y in averaged[:seen]]) * near / spacing[:seen]
    names = [bodies[i]["name"] for i in order[1:seen + 1]]
    return Wave(names, np.arange(2, seen + 2), place[1:seen + 1] - place[0], averaged[:seen], arrival[:seen], largest[:seen], speed, width)


def wave_table(run: Run) -> str | None:
    """CSV: a line each sensor, with what is left in its body; fits above."""
    wave = wave_of(run)
    if wave is None:
        return None
    out = io.StringIO()
    if decay := wave.decay():
        out.write(f"# largest force = {decay[0]:.6g} N exp({-decay[1]:.6g} number)\n")
    if fit := wave.speed_of_force():
        out.write(f"# speed = {fit[0]:.6g} m/s (force/N)^{fit[1]:.6g}\n")
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["name", "number", "distance", "arrival", "force", "speed", "width", "kinetic_energy", "vibrational_energy"])
    for k, name in enumerate(wave.names):
        kinetic, vibrational = (run.history[f"{name}.{kind}_energy"] for kind in ("kinetic", "vibrational"))
        row = [wave.distance[k], wave.arrival[k], wave.largest[k], wave.speed[k], wave.width[k], kinetic.max(), vibrational[-1]]
        table.writerow([name, wave.number[k], *(f"{value:.9g}" for value in row)])
    return out.getvalue()


def wave_picture(run: Run) -> Figure | None:
    """Force over time for all sensors, its decay, speed over force."""
    wave = wave_of(run)
    if wave is None:
        return None
    figure = new_figure(WIDTH, 2.7)
    forces, heights, speeds = figure.subplots(1, 3, width_ratios=(2, 1, 1))
    factor, unit = scaled_unit(largest_magnitude(wave.force), "N")
    times = set_time_axis(forces, run)
    for k, y in enumerate(wave.force):
        forces.plot(times, factor * y, lw=0.7, color=UPDATES_MAP(0.85 * k / len(wave.force)))
    forces.set(ylabel=f"averaged force ({unit})", title=plain(f"{wave.names[0]} to {wave.names[-1]}"))
    heights.plot(wave.number, factor * wave.largest, "o", ms=3, color=COLOURS["blue"])
    if decay := wave.decay():
        chosen = wave.number[wave.formed]
        heights.plot(chosen, factor * decay[0] * np.exp(-decay[1] * chosen), color=COLOURS["black"], lw=0.8)
        heights.set_title(f"$e^{{{-decay[1]:.3g}\\,k}}$")
    heights.set(xlabel="number in the row", ylabel=f"largest force ({unit})", ylim=(0, None))
    middle = np.sqrt(wave.largest[:-1] * wave.largest[1:])
    speeds.plot(factor * middle[:-1], wave.speed[:-2], "o", ms=3, color=COLOURS["vermilion"])  # the last has no other behind it
    if fit := wave.speed_of_force():
        reach = np.array([middle[:-1].min(), middle.max()])
        speeds.plot(factor * reach, fit[0] * reach ** fit[1], color=COLOURS["black"], lw=0.8)
        speeds.set_title(f"$F^{{{fit[1]:.3g}}}$")
    speeds.set(xlabel=f"force ({unit})", ylabel="speed (m/s)")
    return figure
