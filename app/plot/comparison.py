# SPDX-License-Identifier: Apache-2.0
"""The picture that compares several runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from panels import energy_less_work, has_work, legend_above, new_figure, share_time_axis, unit_of
from pictures import moving_components, phase_panel
from read import Run
from style import COLOURS, WIDTH, Array
from words import largest_magnitude, method_name, plain, scaled_unit


def run_labels(runs: list[Run]) -> list[str]:
    """Methods; if several runs have the same, with what else differs in [integrator]; at last with the folders."""
    labels = []
    for run in runs:
        method, own = run.summary.get("method"), run.case.get("integrator", {})
        rivals = [r.case.get("integrator", {}) for r in runs if r.summary.get("method") == method]
        differs = [key for key in sorted(own) if key != "method" and any(r.get(key) != own[key] for r in rivals)]
        labels.append(", ".join([method_name(str(method)), *(setting_text(key, own[key]) for key in differs)]))
    return [f"{la} ({plain(str(run.folder))})" if labels.count(la) > 1 else la for la, run in zip(labels, runs)]


def setting_text(key: str, value: Any) -> str:
    if key == "step":
        factor, name = scaled_unit(value, "s", at_most=0)
        return f"step {value * factor:g} {name}"
    return f"{key.replace('_', ' ')} {value:g}" if isinstance(value, (int, float)) else plain(f"{key} {value}")


def energy_change(run: Run) -> Array:
    """Change of energy less external work since the start, relative to the run's reference energy."""
    energy = energy_less_work(run)
    return (energy - energy[0]) / (run.summary["energy"]["reference"] or 1.0)


def running_mean(times: Array, values: Array) -> Array:
    """(1/T) times the integral of `values` from the start to each T, by trapezoids (2004 paper, eq. 6)."""
    pieces = np.diff(times) * (values[1:] + values[:-1]) / 2
    means = values.copy()
    means[1:] = np.cumsum(pieces) / (times[1:] - times[0])
    return means


def set_change_scale(ax: Axes, changes: list[Array]) -> None:
    """A logarithmic scale with a linear piece around zero if the changes differ much in size."""
    peaks = [peak for peak in map(largest_magnitude, changes) if peak > 0]
    if not peaks or max(peaks) < 30 * min(peaks):
        return
    most = math.ceil(math.log10(max(peaks)))
    least = max(math.floor(math.log10(min(peaks))), most - 8)
    ax.set_yscale("symlog", linthresh=10.0**least, linscale=0.6)
    powers = 10.0 ** np.arange(least, most + 1, math.ceil((most - least) / 4))
    ax.set_yticks(np.concatenate((-powers, np.zeros(1), powers)))
    ax.minorticks_off()
    values = np.concatenate(changes)
    values = values[np.isfinite(values)]
    ax.set_ylim(1.5 * values.min() - 0.3 * 10.0**least, 1.5 * values.max() + 0.3 * 10.0**least)


def comparison(runs: list[Run]) -> Figure:
    colours = list(COLOURS.values())
    dashes = ("-", "--", ":", "-.")
    labels = run_labels(runs)
    styles = [{"color": colours[i % 5], "ls": dashes[i // 5 % 4], "lw": 0.9} for i in range(len(runs))]
    table = moving_components(runs[0])
    shared = [name for name in table if table[name] and all(name in moving_components(run) for run in runs)]

    columns = max(1, min(len(runs), 90 // (max(map(len, labels)) + 8)))  # of the legend
    figure = new_figure(WIDTH, 5.2 + 0.18 * math.ceil(len(runs) / columns))
    grid = figure.add_gridspec(2, 2 if shared else 1)
    energy, heat = figure.add_subplot(grid[0, :]), figure.add_subplot(grid[1, 0])
    changes = [energy_change(run) for run in runs]
    smaller = np.argsort(np.argsort([-largest_magnitude(change) for change in changes], kind="stable"))  # in front
    for times, change, style, label, order in zip(share_time_axis(energy, runs), changes, styles, labels, smaller):
        energy.plot(times, change, **style, label=label, zorder=2 + order / len(runs))
    set_change_scale(energy, changes)
    told = "\nenergy \N{MINUS SIGN} external work" if any(map(has_work, runs)) else " energy"
    energy.set_ylabel(f"relative change of{told}", linespacing=1.4)
    legend_above(energy, columns)

    means = [running_mean(run.history["time"], run.history["kinetic_energy"]) for run in runs]
    names = {unit_of(run, "energy") for run in runs}
    factor, name = scaled_unit(largest_magnitude(*means), names.pop()) if len(names) == 1 else (1.0, "")
    for times, mean, style in zip(share_time_axis(heat, runs), means, styles):
        heat.plot(times, mean * factor, **style)
    heat.set_ylabel("mean kinetic energy\nsince the start" + (f" ({name})" if name else ""), linespacing=1.4)
    if shared:
        phase_panel(figure.add_subplot(grid[1, 1]), runs, styles, shared[0], table[shared[0]][0])
    titles = {str(run.summary.get("title")) for run in runs}
    figure.suptitle(plain(titles.pop()) if len(titles) == 1 else f"{len(runs)} runs", fontsize=10)
    return figure
