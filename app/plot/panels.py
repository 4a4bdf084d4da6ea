# SPDX-License-Identifier: Apache-2.0
"""What pictures are made of: figures, axes, one panel each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import ListedColormap, Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy

from geometry import Cloud, Drawing, choose_view, draw_faces, draw_strip, places_in_time
from read import Run
from vtu import VtuFile
from style import COLOURS, SLENDER, UNITS, UPDATES_MAP, Array
from words import largest_magnitude, scaled_unit


def new_figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), constrained_layout={"w_pad": 0.05, "h_pad": 0.05, "wspace": 0.05})
    FigureCanvasAgg(figure)
    return figure


def fit_rows(figure: Figure, rows: list[tuple[Axes, float, float]]) -> None:
    """Gives each row of a grid the height it needs and the figure what its rows, titles and labels need together.

    A row is its first axes, the height of the drawing in it relative to the width, and the largest height in inches.
    """
    for _ in range(3):
        figure.draw_without_rendering()
        wide, tall = figure.get_size_inches()
        slots = [ax.get_position(original=True) for ax, _, _ in rows]
        wanted = [min(slot.width * wide * ratio, largest) for slot, (_, ratio, largest) in zip(slots, rows)]
        figure.set_size_inches(wide, tall + sum(wanted) - tall * sum(slot.height for slot in slots))
        rows[0][0].get_gridspec().set_height_ratios(wanted)


def paint(ax: Axes, drawing: Drawing, values: Array, norm: Normalize, cmap: ListedColormap, width: float) -> None:
    """Fills the polygons with the colours of their cells' values; element edges where there is room for them.

    `width` is that of the drawing on paper, in inches: small elements get fine edges, the smallest none.
    """
    rgba = cmap(norm(values[drawing.owner]))
    rgba[~np.isfinite(values[drawing.owner])] = (0.8, 0.8, 0.8, 1.0)
    rgba[:, :3] *= drawing.shade[:, None]
    low, high = drawing.bounds
    height = drawing.heights * 72 * width / (high[0] - low[0])  # points
    edges = np.where((height > 1.2)[:, None], (0.0, 0.0, 0.0, 0.7), rgba)
    widths = np.where(height > 1.2, np.clip(0.05 * height, 0.05, 0.4), 0.2)
    ax.add_collection(
        PolyCollection(drawing.polygons, facecolors=rgba, edgecolors=edges, linewidths=widths, joinstyle="round")
    )
    if drawing.dots.size:
        ax.plot(*drawing.dots.T, "o", color="0.3", markersize=4, markeredgewidth=0)


def frame_axes(ax: Axes, dim: int, low: Array, high: Array) -> None:
    """Limits and ticks; in 3-D no axes but a tripod and a scale bar."""
    margin = 0.03 * (high - low)
    ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
    if dim == 1:
        ax.set_ylim(0, 1)
        ax.set_yticks([])
        ax.set_xlabel("$x$ (m)")
        return
    ax.set_ylim(low[1] - margin[1], high[1] + margin[1])
    ax.set_aspect("equal")
    if dim == 2:
        ax.set_xlabel("$x$ (m)")
        ax.set_ylabel("$y$ (m)")
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        count = 5 if (high - low)[1] > 0.4 * (high - low)[0] else 2
        ax.yaxis.set_major_locator(MaxNLocator(count, steps=[1, 2, 2.5, 5, 10]))
    else:
        ax.set_axis_off()


def add_tripod(ax: Axes, view: Array) -> None:
    """The coordinate directions, below the left end of the drawing."""
    length = 17.0  # points
    tips = length * view[:2].T  # picture directions of x, y, z
    origin = np.array([2.0, -6.0]) - np.array([min(0.0, tips[:, 0].min()), max(0.0, tips[:, 1].max())])
    start = offset_copy(ax.transAxes, ax.figure, *origin, units="points")
    for k in np.argsort(view[2]):
        if np.hypot(*tips[k]) < 0.25 * length:
            continue
        end = offset_copy(ax.transAxes, ax.figure, *(origin + tips[k]), units="points")
        arrow = {"arrowstyle": "-|>,head_length=0.3,head_width=0.12", "lw": 0.7, "color": "black"}
        arrow |= {"shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (0, 0), (0, 0), xycoords=end, textcoords=start, arrowprops=arrow)
        place = offset_copy(ax.transAxes, ax.figure, *(origin + 1.35 * tips[k]), units="points")
        ax.text(0, 0, f"${'xyz'[k]}$", transform=place, ha="center", va="center", fontsize=8)


def add_scale_bar(ax: Axes, low: Array, high: Array) -> None:
    """A bar of a round length, below the right end of the drawing."""
    target = 0.25 * (high[0] - low[0])
    power = 10.0 ** math.floor(math.log10(target))
    length = max(m for m in (1, 2, 5) if m * power <= target * (1 + 1e-12)) * power
    factor, name = scaled_unit(length, "m", at_most=3)
    line = offset_copy(ax.get_xaxis_transform(), ax.figure, 0, -14, units="points")
    ax.plot([high[0] - length, high[0]], [0, 0], transform=line, color="black", lw=1.4, clip_on=False)
    text = offset_copy(ax.get_xaxis_transform(), ax.figure, 0, -17, units="points")
    ax.text(high[0] - length / 2, 0, f"{length * factor:.3g} {name}", transform=text, ha="center", va="top", fontsize=8)


def add_colour_bar(axes: Any, norm: Normalize, cmap: ListedColormap, label: str, **place: Any) -> Any:
    figure = np.ravel(axes)[0].figure
    bar = figure.colorbar(ScalarMappable(norm, cmap), ax=axes, label=label, pad=0.02, **place)
    bar.outline.set_linewidth(0.6)
    return bar


def limits_of(values: Array) -> Normalize:
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 0.5, high + 0.5
    return Normalize(low, high)


def draw_frame(run: Run, vtu: VtuFile, view: Array | None = None) -> Drawing:
    points = vtu.places
    if run.mesh.dim == 1:
        return draw_strip(run.mesh, points)
    return draw_faces(run.mesh, points, choose_view(run.mesh.dim, points, run.up) if view is None else view)


def mesh_panel(
    ax: Axes, run: Run, drawing: Drawing, values: Array, norm: Normalize, cmap: ListedColormap, label: str, width: float
) -> None:
    """The mesh with its axes and colour bar."""
    paint(ax, drawing, values, norm, cmap, width)
    bar = add_axes_and_bar(ax, run.mesh.dim, drawing, norm, cmap, label)
    finite = np.unique(values[np.isfinite(values)])
    if finite.size < 2:
        bar.set_ticks(finite)


def particle_panel(ax: Axes, cloud: Cloud, width: float) -> None:
    """Discs as large as their number allows on a drawing `width` inches wide, their areas as the masses."""
    room = 72 * width * math.sqrt(cloud.ratio / len(cloud.discs))  # points between particles spread evenly
    across = min(max((0.4 if cloud.dim == 2 else 0.7) * room, 1.0), 12.0)
    areas = across**2 * np.clip(cloud.masses / cloud.masses.max(), 0.1, 1.0)
    ax.add_collection(LineCollection(cloud.paths, colors="0.6", linewidths=0.6, zorder=1))
    ax.add_collection(LineCollection(cloud.bonds, colors="0.4", linewidths=min(0.1 * across, 0.8), zorder=2))
    if cloud.speeds is None:
        rgb = np.tile(to_rgb(COLOURS["blue"]), (len(cloud.discs), 1))
        add_axes(ax, cloud.dim, cloud)
    else:
        factor, name = scaled_unit(largest_magnitude(cloud.speeds), "m/s")
        norm = Normalize(0, largest_magnitude(cloud.speeds) * factor or 1.0)
        rgb = UPDATES_MAP(norm(cloud.speeds * factor))[:, :3]
        add_axes_and_bar(ax, cloud.dim, cloud, norm, UPDATES_MAP, f"speed ({name})")
    rgb += (1 - rgb) * cloud.haze[:, None]
    edges = np.repeat(0.8 * cloud.haze[:, None], 3, axis=1) if across > 3 else "none"
    ax.scatter(*cloud.discs.T, areas, c=rgb, edgecolors=edges, linewidths=0.4, zorder=3)


def world_line_panel(ax: Axes, run: Run, frame: int, axis: int) -> None:
    """Places of particles on one line over time; a line at the chosen frame unless it is the last."""
    factor, name = scaled_unit(run.frames[-1][0], "s", at_most=0)
    times = np.array([time for time, _ in run.frames]) * factor
    places = places_in_time(run)[:, :, axis]
    marker = None if len(times) > 1 else "."
    ax.plot(times, places, color=COLOURS["blue"], lw=min(1.0, max(0.2, 30 / places.shape[1])), marker=marker)
    if frame not in (-1, len(times) - 1):
        ax.axvline(times[frame], color="0.4", lw=0.6, ls=":")
    if len(times) > 1:
        ax.set_xlim(times[0], times[-1])
    ax.set_xlabel(f"time ({name})")
    ax.set_ylabel(f"${'xyz'[axis]}$ (m)")
    ax.set_title("world lines")


def add_axes(ax: Axes, dim: int, drawing: Drawing | Cloud) -> None:
    low, high = drawing.bounds
    frame_axes(ax, dim, low, high)
    if dim == 3:
        add_tripod(ax, drawing.view)
        add_scale_bar(ax, low, high)


def add_axes_and_bar(
    ax: Axes, dim: int, drawing: Drawing | Cloud, norm: Normalize, cmap: ListedColormap, label: str
) -> Any:
    """What a drawing needs around it; returns the colour bar, below the drawing if that is slender, else beside it."""
    add_axes(ax, dim, drawing)
    place = {"location": "bottom", "aspect": 40, "shrink": 0.6} if is_slender(dim, drawing) else {"aspect": 25}
    return add_colour_bar(ax, norm, cmap, label, **place)


def is_slender(dim: int, drawing: Drawing | Cloud) -> bool:
    return dim == 1 or drawing.ratio * SLENDER < 1


def row_limits(dim: int, drawing: Drawing | Cloud) -> tuple[float, float]:
    """What fit_rows needs to know of a drawing."""
    return drawing.ratio, 0.4 if dim == 1 else 4.2


def set_time_axis(ax: Axes, run: Run) -> Array:
    """Labels the abscissa; returns the history's times in its unit."""
    return share_time_axis(ax, [run])[0]


def share_time_axis(ax: Axes, runs: list[Run]) -> list[Array]:
    """The same for several runs."""
    times = [run.history["time"] for run in runs]
    factor, name = scaled_unit(largest_magnitude(*times), "s", at_most=0)
    ax.set_xlabel(f"time ({name})")
    start, end = min(t[0] for t in times) * factor, max(t[-1] for t in times) * factor
    if start < end:
        ax.set_xlim(start, end)
    return [t * factor for t in times]


def unit_of(run: Run, quantity: str) -> str:
    """The SI unit of a quantity, "" if unknown. A bar has unit cross section, a 2-D body unit thickness."""
    dim = run.mesh.dim if run.has_mesh else 3
    return UNITS.get(quantity, ("", "", ""))[dim - 1]


def external_work(run: Run) -> Array:
    """Of loads and supports, and of dampers."""
    none = np.zeros_like(run.history["time"])
    return run.history.get("external_work", none) + run.history.get("damping_work", none)


def energy_less_work(run: Run) -> Array:
    """Constant in the exact motion."""
    return run.history["total_energy"] - external_work(run)


def has_work(run: Run) -> bool:
    work = external_work(run)
    return largest_magnitude(work) > 1e-12 * largest_magnitude(run.history["total_energy"], work)


def energy_panel(ax: Axes, run: Run) -> None:
    history = run.history
    label = "total \N{MINUS SIGN} external work" if has_work(run) else "total"
    curves = [
        ("kinetic", history["kinetic_energy"], COLOURS["blue"], "-"),
        ("potential", history["potential_energy"], COLOURS["vermilion"], "--"),
        (label, energy_less_work(run), COLOURS["black"], "-"),
    ]
    factor, name = scaled_unit(largest_magnitude(*(c[1] for c in curves)), unit_of(run, "energy"))
    times = set_time_axis(ax, run)
    for label, values, colour, style in curves:
        ax.plot(times, values * factor, style, color=colour, label=label)
    ax.set_ylabel(f"energy ({name})")
    ax.margins(y=0.06)
    legend_above(ax)


def legend_above(ax: Axes, columns: int = 0) -> None:
    count = columns or len(ax.get_legend_handles_labels()[1])
    compact = {"columnspacing": 1.0, "handlelength": 1.6, "handletextpad": 0.5, "borderaxespad": 0.2}
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=count, **compact)
