# SPDX-License-Identifier: Apache-2.0
"""The pictures of one run."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from geometry import NEGLIGIBLE, Drawing, axes_in_use, choose_view, draw_particles, height_over_width
from panels import (
    add_colour_bar, add_scale_bar, add_tripod, draw_frame, energy_panel, fit_rows, frame_axes, is_slender,
    legend_above, limits_of, mesh_panel, new_figure, paint, particle_panel, row_limits, set_time_axis,
    unit_of, world_line_panel,
)
from mesh import Mesh
from read import Run, read_history
from vtu import VtuFile
from style import COLOURS, COMPONENT_COLOURS, SIGNED_MAP, STRESS_MAP, UPDATES_MAP, WIDTH, Array
from words import headline, largest_magnitude, plain, power_text, scaled_unit, time_text


def energies_alone(run: Run) -> Figure:
    figure = new_figure(WIDTH * 0.6, 3.2)
    energy_panel(figure.add_subplot(), run)
    figure.suptitle(headline(run), fontsize=10)
    return figure


def overview(run: Run, frame: int) -> Figure:
    if not run.frames:
        return energies_alone(run)
    if run.has_particles:
        return particle_overview(run, frame)
    time, path = run.frames[frame]
    vtu = VtuFile(path)
    if not run.has_mesh or not vtu.has("CellData", "updates"):
        return energies_alone(run)
    drawing = draw_frame(run, vtu)
    updates = vtu.array("CellData", "updates").astype(float)
    with np.errstate(divide="ignore"):
        values = np.log10(updates)

    def show(ax: Axes, width: float) -> None:
        label = "log$_{10}$ (updates per element)"
        mesh_panel(ax, run, drawing, values, limits_of(values), UPDATES_MAP, label, width)
        ax.set_title(time_text(time, run.frames[-1][0]))

    return beside_energies(run, show, *row_limits(run.mesh.dim, drawing), is_slender(run.mesh.dim, drawing))


def particle_overview(run: Run, frame: int) -> Figure:
    axes = axes_in_use(run)
    if axes.size < 2:
        axis = int(axes[0]) if axes.size else 0
        return beside_energies(run, lambda ax, _: world_line_panel(ax, run, frame, axis), 0.75, 4.2, slender=False)
    time, path = run.frames[frame]
    cloud = draw_particles(run, VtuFile(path), 3 if 2 in axes else 2)

    def show(ax: Axes, width: float) -> None:
        particle_panel(ax, cloud, width)
        ax.set_title(time_text(time, run.frames[-1][0]))

    return beside_energies(run, show, *row_limits(cloud.dim, cloud), is_slender(cloud.dim, cloud))


def beside_energies(
    run: Run, show: Callable[[Axes, float], None], ratio: float, tallest: float, slender: bool
) -> Figure:
    """A drawing, which `show` makes so many inches wide, beside the energies, or above them if it is slender."""
    wide = WIDTH - 0.4 if slender else min(3.1, 3.6 / ratio)
    figure = new_figure(WIDTH, 5.0)
    if slender:
        grid = figure.add_gridspec(2, 1)
    else:
        grid = figure.add_gridspec(1, 2, width_ratios=[wide + 0.4, WIDTH - wide - 0.8])
    ax, energies = figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
    show(ax, wide)
    energy_panel(energies, run)
    figure.suptitle(headline(run), fontsize=10)
    if slender:
        fit_rows(figure, [(ax, ratio, tallest), (energies, 1.0, 1.9)])
    else:
        fit_rows(figure, [(ax, max(ratio, 0.75), 3.6)])
    return figure


@dataclass(frozen=True)
class Snapshot:
    """One of several pictures of the mesh in the same view."""

    time: float
    drawing: Drawing
    stress: Array


def snapshots(run: Run, count: int) -> list[Snapshot]:
    """Evenly spaced frames, the last among them and the first not; none if there is no stress."""
    last = len(run.frames) - 1
    count = min(count, last)
    chosen = [run.frames[round(i * last / count)] for i in range(1, count + 1)]
    files = [VtuFile(path) for _, path in chosen]
    if not all(vtu.has("CellData", "von_mises") for vtu in files):
        return []
    places = [vtu.places for vtu in files]
    view = choose_view(run.mesh.dim, np.concatenate([points - points.mean(axis=0) for points in places]), run.up)
    return [
        Snapshot(time, draw_frame(run, vtu, view), vtu.array("CellData", "von_mises"))
        for (time, _), vtu in zip(chosen, files)
    ]


def common_limits(run: Run, drawings: list[Drawing]) -> list[tuple[Array, Array]]:
    """Limits of one size for all drawings: the same place in 2-D, around each body in 3-D, where there are no axes."""
    if run.mesh.dim == 2:
        low = np.min([d.bounds[0] for d in drawings], axis=0)
        high = np.max([d.bounds[1] for d in drawings], axis=0)
        return [(low, high)] * len(drawings)
    half = np.max([d.bounds[1] - d.bounds[0] for d in drawings], axis=0) / 2
    centres = [(d.bounds[0] + d.bounds[1]) / 2 for d in drawings]
    return [(centre - half, centre + half) for centre in centres]


def stress_limits(stresses: Array) -> tuple[Normalize, str]:
    """From zero to the largest value, or nearly so if a few elements would darken all the others."""
    peak = largest_magnitude(stresses)
    most = float(np.nanpercentile(stresses, 99.8))
    return (Normalize(0, most), "max") if peak > 1.2 * most > 0 else (Normalize(0, peak or 1.0), "neither")


def von_mises(run: Run) -> Figure | None:
    """Small multiples in one view, one scale and one range of colours."""
    shots = snapshots(run, 6) if run.mesh.dim > 1 and len(run.frames) > 1 else []
    if not shots:
        return None
    low, high = common_limits(run, [shot.drawing for shot in shots])[0]
    ratio = height_over_width(low, high)
    columns = min(len(shots), 3 if ratio > 0.6 else 2 if ratio > 0.2 else 1)
    return small_multiples(run, snapshots(run, 4) if columns == 1 else shots, columns)


def small_multiples(run: Run, shots: list[Snapshot], columns: int) -> Figure:
    rows = math.ceil(len(shots) / columns)
    figure = new_figure(WIDTH, 6.0)
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat[len(shots) :]:
        ax.set_axis_off()
    factor, name = scaled_unit(largest_magnitude(*(shot.stress for shot in shots)), "Pa")
    norm, extend = stress_limits(factor * np.concatenate([shot.stress for shot in shots]))
    limits = common_limits(run, [shot.drawing for shot in shots])
    for ax, shot, (low, high) in zip(axes.flat, shots, limits):
        width = (WIDTH - 1.0) / columns * np.ptp(shot.drawing.polygons[..., 0]) / (high[0] - low[0])
        paint(ax, shot.drawing, shot.stress * factor, norm, STRESS_MAP, width)
        frame_axes(ax, run.mesh.dim, low, high)
        ax.label_outer()
        ax.set_title(time_text(shot.time, run.frames[-1][0]), pad=3)
    if run.mesh.dim == 3:
        add_tripod(axes[-1, 0], shots[0].drawing.view)
        add_scale_bar(axes[-1, 0], *limits[(rows - 1) * columns])
    add_colour_bar(axes, norm, STRESS_MAP, f"von Mises stress ({name})", extend=extend, aspect=30)
    fit_rows(figure, [(row[0], height_over_width(*limits[0]), 4.2) for row in axes])
    return figure


def residual(run: Run, frame: int) -> Figure | None:
    time, path = run.frames[frame]
    vtu = VtuFile(path)
    if not vtu.has("CellData", "energy_residual"):
        return None
    values = vtu.array("CellData", "energy_residual")
    largest = largest_magnitude(values)
    if largest == 0:
        return None
    drawing = draw_frame(run, vtu)
    slender = is_slender(run.mesh.dim, drawing)
    wide = WIDTH - 0.4 if slender else min(3.6, 4.2 / drawing.ratio)
    figure = new_figure(WIDTH if slender else wide + 1.4, 5.0)
    is_signed = np.nanmin(values) < -0.01 * largest
    norm = Normalize(-1 if is_signed else 0, 1)
    cmap = SIGNED_MAP if is_signed else UPDATES_MAP
    factor, name = scaled_unit(largest, unit_of(run, "energy"))
    ax = figure.add_subplot()
    mesh_panel(ax, run, drawing, values / largest, norm, cmap, "energy residual / max", wide)
    title = f"accumulated energy residual, {time_text(time, run.frames[-1][0])}"
    ax.set_title(f"{title}\nmax {largest * factor:.3g} {name}")
    fit_rows(figure, [(ax, *row_limits(run.mesh.dim, drawing))])
    return figure


def component_curves(run: Run, prefix: str) -> Iterator[tuple[str, Array]]:
    for component in "xyz":
        if f"{prefix}_{component}" in run.history:
            yield component, run.history[f"{prefix}_{component}"]


def momentum(run: Run) -> Figure | None:
    """The change of both momenta since the start; for a free body that is their error."""
    found = [q for q in ("linear_momentum", "angular_momentum") if any(component_curves(run, q))]
    if not found:
        return None
    figure = new_figure(WIDTH if len(found) > 1 else WIDTH / 2, 2.7)
    for ax, quantity in zip(figure.subplots(1, len(found), squeeze=False).flat, found):
        times = set_time_axis(ax, run)
        for component, values in component_curves(run, quantity):
            ax.plot(times, values - values[0], color=COMPONENT_COLOURS[component], label=f"${component}$")
        ax.set_ylabel(f"change ({unit_of(run, quantity)})")
        error = run.summary.get(quantity, {}).get("error")
        told = f", relative error {power_text(error)}" if isinstance(error, (int, float)) else ""
        ax.set_title(quantity.replace("_", " ") + told, pad=20)
        legend_above(ax)
    return figure


def vector_histories(run: Run, reactions: bool) -> Figure | None:
    """One row for each probe or support, one column for each of its quantities."""
    table: dict[str, list[str]] = {}
    for column in run.history:
        name, dot, rest = column.rpartition(".")
        quantity, line, component = rest.rpartition("_")
        if dot and line and component in COMPONENT_COLOURS and quantity != "force" and (quantity == "reaction") == reactions:
            quantities = table.setdefault(name, [])
            if quantity not in quantities:
                quantities.append(quantity)
    if not table:
        return None
    columns = max(len(quantities) for quantities in table.values())
    figure = new_figure(WIDTH if columns > 1 else WIDTH / 2 + 0.6, 2.3 * len(table) + 0.1)
    axes = figure.subplots(len(table), columns, squeeze=False)
    for row, (name, quantities) in zip(axes, table.items()):
        for ax in row[len(quantities) :]:
            ax.set_axis_off()
        for ax, quantity in zip(row, quantities):
            history_panel(ax, run, name, quantity)
    return figure


def history_panel(ax: Axes, run: Run, name: str, quantity: str) -> None:
    curves = list(component_curves(run, f"{name}.{quantity}"))
    largest = largest_magnitude(*(values for _, values in curves))
    unit_name = unit_of(run, quantity)
    has_prefix = unit_name.startswith("kg")  # takes no other
    factor, label = scaled_unit(largest, unit_name) if unit_name and not has_prefix else (1.0, unit_name)
    times = set_time_axis(ax, run)
    for component, values in curves:
        ax.plot(times, values * factor, color=COMPONENT_COLOURS[component], label=f"${component}$")
    words = quantity.replace("_", " ")
    ax.set_ylabel(f"{words} ({label})" if label else words)
    ax.set_title(plain(name), pad=20)
    legend_above(ax)


def panels_of(count: int, most_columns: int, height: float) -> tuple[Figure, list[Axes]]:
    """A panel each for so many things, in rows of this height; what is left of the last row is empty."""
    columns = min(most_columns, count)
    rows = math.ceil(count / columns)
    figure = new_figure(WIDTH if columns > 1 else WIDTH / 2 + 0.6, height * rows + 0.1)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for ax in axes[count:]:
        ax.set_axis_off()
    return figure, axes


def body_energies(run: Run) -> Figure | None:
    """Of every probe that is followed as a body; with energy-stepping also what it keeps while nothing touches it."""
    names = [column.rpartition(".")[0] for column in run.history if column.endswith(".vibrational_energy")]
    if not names:
        return None
    figure, axes = panels_of(len(names), 3, 2.4)
    for ax, name in zip(axes, names):
        curves = {kind: run.history[f"{name}.{kind}_energy"] for kind in ("kinetic", "vibrational", "potential")}
        if f"{name}.level_energy" in run.history:
            curves["kinetic and levels"] = curves["kinetic"] + run.history[f"{name}.level_energy"]
        factor, unit = scaled_unit(largest_magnitude(*curves.values()), unit_of(run, "energy"))
        times = set_time_axis(ax, run)
        for kind, values in curves.items():
            ax.plot(times, values * factor, label=kind, color="black" if "levels" in kind else None)
        ax.set_ylabel(f"energy ({unit})")
        ax.set_title(plain(name), pad=34)
        ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2, fontsize="small")
    return figure


def step_histograms(run: Run) -> Figure | None:
    """Of methods that find their steps: how the steps are spread over lengths, of each subdomain."""
    told = [h for h in run.summary.get("step_histograms", []) if h["counts"]]
    if not told:
        return None
    figure = new_figure(WIDTH * 0.6, 3.0)
    ax = figure.add_subplot()
    factor, unit = scaled_unit(max(h["edges"][-1] for h in told), "s")
    for place, h in enumerate(told):
        edges, counts = np.array(h["edges"]) * factor, np.array(h["counts"])
        if edges[0] == 0:  # shorter than any that is told apart
            edges, counts = edges[1:], counts[1:]
        if not len(counts):
            continue
        share = counts / sum(h["counts"]) / np.log10(edges[1:] / edges[:-1])
        ax.stairs(share, edges, color=UPDATES_MAP(0.8 * place / len(told)), lw=1.0, label=plain(h["of"]))
    ax.set_xscale("log")
    ax.set_xlabel(f"time between events ({unit})")
    ax.set_ylabel("share of events per decade")
    ax.legend(frameon=False, fontsize="small")
    return figure


def path_integrals(run: Run) -> Figure | None:
    """Of every front or defect its J, L or M, of the smallest region darkest."""
    defects = [match for column in run.history if (match := re.fullmatch(r"(.*)\.([JLM])_1", column))]
    if not defects:
        return None
    figure, axes = panels_of(len(defects), 2, 2.5)
    for ax, defect in zip(axes, defects):
        name, kind = defect.groups()
        curves = {column.rpartition("_")[2]: values for column, values in run.history.items() if column.startswith(f"{name}.{kind}_")}
        factor, unit = scaled_unit(largest_magnitude(*curves.values()), "J")
        times = set_time_axis(ax, run)
        for place, (region, values) in enumerate(curves.items()):
            ax.plot(times, values * factor, color=UPDATES_MAP(0.8 * place / len(curves)), lw=0.8, label=f"${kind}_{{{region}}}$")
        per = "/m$^2$" if kind == "J" else "/m" if run.frames and run.mesh.dim == 2 else ""
        ax.set_ylabel(f"{kind} ({unit}{per})")
        ax.set_title(plain(name), pad=34 if len(curves) > 4 else 20)
        ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=4, fontsize="small")
    return figure


def adaption(run: Run) -> Figure | None:
    """Of `tempi adapt`: the mesh in a plane as given and adapted, and what is left of forces and energy, step by step."""
    table, given = run.folder / "adaption.csv", run.folder / "given.vtu"
    if not (table.exists() and given.exists()):
        return None
    steps, vtu = read_history(table), VtuFile(given)
    mesh = Mesh(vtu)
    figure, axes = panels_of(3 if mesh.dim == 2 else 1, 3, 2.5)
    if mesh.dim == 2:
        points = vtu.array("Points", "Points")[:, :2]
        moved = points + vtu.array("PointData", "moved")[:, :2]
        for ax, places, title in zip(axes, (points, moved), ("as given", "adapted")):
            ax.triplot(*places.T, mesh.faces[:, :3], lw=0.2, color=COLOURS["black"])
            ax.set_aspect("equal")
            ax.set_xlabel("X (m)")
            ax.set_title(title)
        axes[0].set_ylabel("Y (m)")
    total = steps["potential_energy"] + steps["barrier_energy"]
    for values, label, colour in (
        (steps["largest_force_of_all"], "largest force", COLOURS["blue"]),
        (total - total[-1], "energy, less the last", COLOURS["black"]),
    ):
        axes[-1].semilogy(steps["iteration"], np.where(values > 0, values / values[0], np.nan), color=colour, lw=0.8, label=label)
    axes[-1].set_xlabel("iteration")
    axes[-1].set_title("over the first")
    axes[-1].legend(frameon=False, fontsize="small")
    return figure


def contact_histories(run: Run) -> Figure | None:
    """Of every section of layered contact: its force, the smallest distance, and how many layers are touched."""
    names = [column.rpartition(".")[0] for column in run.history if column.startswith("contact_") and column.endswith(".layers")]
    if not names:
        return None
    figure = new_figure(WIDTH, 2.2 * len(names) + 0.1)
    for name, (force, distance, layers) in zip(names, figure.subplots(len(names), 3, squeeze=False)):
        for ax, kind, label, colour in (
            (force, "force", "contact force", COLOURS["black"]),
            (distance, "distance", "smallest distance", COLOURS["blue"]),
        ):
            values = run.history[f"{name}.{kind}"]
            factor, unit = scaled_unit(largest_magnitude(values), unit_of(run, "reaction") if kind == "force" else "m")
            ax.plot(set_time_axis(ax, run), values * factor, color=colour, lw=0.8)
            ax.set_ylabel(f"{label} ({unit})")
        layers.plot(set_time_axis(layers, run), run.history[f"{name}.layers"], color=COLOURS["vermilion"], lw=0.8, drawstyle="steps-mid")
        layers.set_ylabel("layers touched")
    return figure


def moving_components(run: Run) -> dict[str, list[str]]:
    """Of every probe the components that move."""
    reach: dict[str, dict[str, float]] = {}
    for column, values in run.history.items():
        name, dot, rest = column.rpartition(".")
        quantity, _, component = rest.rpartition("_")
        if dot and quantity == "displacement" and component in COMPONENT_COLOURS:
            reach.setdefault(name, {})[component] = largest_magnitude(values)
    return {
        name: [component for component, most in of.items() if most > NEGLIGIBLE * max(of.values())]
        for name, of in reach.items()
    }


def probe_start(run: Run, name: str) -> Array | None:
    """Where a probe of numbered particles starts; None of others, whose nodes the results do not tell."""
    chosen = [probe.get("particles") for probe in run.case.get("probe", []) if probe.get("name") == name]
    if not run.has_particles or not run.frames or not chosen or not chosen[0]:
        return None
    vtu = VtuFile(run.frames[0][1])
    if not vtu.has("PointData", "displacement"):
        return None
    return (vtu.places - vtu.array("PointData", "displacement"))[chosen[0]].mean(axis=0)


def phase_panel(ax: Axes, runs: list[Run], styles: list[dict[str, Any]], probe: str, component: str) -> None:
    """Velocity over position, or over displacement if a run does not tell where its probe starts."""
    starts = [probe_start(run, probe) for run in runs]
    is_known = all(start is not None for start in starts)
    axis = "xyz".index(component)
    places = [run.history[f"{probe}.displacement_{component}"] for run in runs]
    if is_known:
        places = [place + start[axis] for place, start in zip(places, starts) if start is not None]
    velocities = [run.history[f"{probe}.velocity_{component}"] for run in runs]
    metres, length = scaled_unit(largest_magnitude(*places), "m")
    speed, unit_name = scaled_unit(largest_magnitude(*velocities), "m/s")
    for place, velocity, style in zip(places, velocities, styles):
        ax.plot(place * metres, velocity * speed, **{"lw": 0.8, **style})
    ax.plot(places[0][0] * metres, velocities[0][0] * speed, "o", color=COLOURS["black"], ms=2.5)
    ax.set_xlabel(f"{'position' if is_known else 'displacement'} ${component}$ ({length})")
    ax.set_ylabel(f"velocity ${component}$ ({unit_name})")
    ax.set_title(plain(probe))


def phase(run: Run) -> Figure | None:
    """One row for each probe, one column for each component that moves; a dot at the start."""
    table = {name: components for name, components in moving_components(run).items() if components}
    if not table:
        return None
    columns = max(len(components) for components in table.values())
    figure = new_figure(WIDTH * (0.45, 0.8, 1.0)[columns - 1], 2.5 * len(table))
    for row, (name, components) in zip(figure.subplots(len(table), columns, squeeze=False), table.items()):
        for ax in row[len(components) :]:
            ax.set_axis_off()
        for ax, component in zip(row, components):
            phase_panel(ax, [run], [{"color": COMPONENT_COLOURS[component]}], name, component)
    return figure
