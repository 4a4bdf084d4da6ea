# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of a finished run into its folder and prints their paths.

usage: plot.py DIR [--frame N]

overview.png   the deformed mesh coloured by updates per element, beside the energies over time
von_mises.png  the deformed mesh coloured by von Mises stress at evenly spaced frames (2-D and 3-D)
residual.png   the accumulated energy residual of each element, if the run recorded it
momentum.png   how linear and angular momentum change over time
probes.png, reactions.png   the histories of probes and supports, if there are any

Reads the files this program's own writer makes, nothing more general. Needs NumPy and matplotlib.
Exit codes: 0 done, 2 no finished run in DIR or a package is missing, 4 a picture could not be written.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import xml.etree.ElementTree as ElementTree
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

try:
    import matplotlib
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import ListedColormap, Normalize
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
    from matplotlib.transforms import offset_copy
except ImportError as missing:
    package = {"numpy": "numpy", "PIL": "pil"}.get((missing.name or "").partition(".")[0], "matplotlib")
    print(f"plot: {package} is missing. Install it: apt-get install python3-{package}", file=sys.stderr)
    sys.exit(2)

Array = Any  # a NumPy array

RESOLUTION = 300  # dots per inch
WIDTH = 7.2  # inches, two columns of a journal
SLENDER = 2.4  # width / height of a drawing from which it takes the full width
CURVE_SEGMENTS = 4  # straight pieces of a curved element edge

# Okabe and Ito's colours: distinct also to the colour-blind. The paler ones are left out.
COLOURS = {"blue": "#0072B2", "vermilion": "#D55E00", "green": "#009E73", "purple": "#CC79A7", "black": "#000000"}
COMPONENT_COLOURS = {"x": COLOURS["blue"], "y": COLOURS["vermilion"], "z": COLOURS["green"]}

STYLE = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "legend.fontsize": 9,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "xtick.top": True,
    "ytick.right": True,
    "lines.linewidth": 1.1,
    "legend.frameon": False,
    "axes.formatter.use_mathtext": True,
    "axes.formatter.limits": (-3, 4),
    "agg.path.chunksize": 10000,
}

LINES, TRIANGLES, TETRAHEDRA = (3, 21), (5, 22), (10, 24)  # VTK's cell numbers, linear and quadratic

# Outward faces of a tetrahedron: vertices, then the nodes in the middle of edges 01 12 20 of the face.
TETRAHEDRON_FACES = np.array([[0, 2, 1, 6, 5, 4], [0, 1, 3, 4, 8, 7], [1, 2, 3, 5, 9, 8], [0, 3, 2, 7, 9, 6]])


def colour_map(name: str, start: float) -> ListedColormap:
    """The part of a perceptually uniform map that is light enough for black element edges to show."""
    return ListedColormap(matplotlib.colormaps[name](np.linspace(start, 1, 256)), name=name)


UPDATES_MAP = colour_map("viridis", 0.12)
STRESS_MAP = colour_map("plasma", 0.08)
SIGNED_MAP = colour_map("RdBu_r", 0.0)


# SI units in 1-D (per cross section), 2-D (per thickness) and 3-D.
UNITS = {
    "energy": ("J/m²", "J/m", "J"),
    "linear_momentum": ("kg/(m s)", "kg/s", "kg m/s"),
    "angular_momentum": ("kg/s", "kg m/s", "kg m²/s"),
    "reaction": ("N/m²", "N/m", "N"),
    "displacement": ("m", "m", "m"),
    "position": ("m", "m", "m"),
    "velocity": ("m/s", "m/s", "m/s"),
    "acceleration": ("m/s²", "m/s²", "m/s²"),
}


class RunError(Exception):
    """The folder holds no run that could be drawn."""


# --- reading -------------------------------------------------------------------------------------------------------


class VtuFile:
    """A written frame. Arrays are decompressed when asked for."""

    def __init__(self, path: Path) -> None:
        self.content = path.read_bytes()
        start = self.content.index(b"<AppendedData")
        self.origin = self.content.index(b"_", start) + 1
        root = ElementTree.fromstring(self.content[:start] + b"</VTKFile>")
        self.tags = {
            (section.tag, tag.attrib["Name"]): tag.attrib
            for section in root.find("UnstructuredGrid/Piece") or []
            for tag in section
        }

    def has(self, section: str, name: str) -> bool:
        return (section, name) in self.tags

    def array(self, section: str, name: str) -> Array:
        """The values, one row per point or cell if there are several components."""
        tag = self.tags[section, name]
        kind = {"Float64": "<f8", "Int64": "<i8", "UInt8": "u1"}[tag["type"]]
        place = self.origin + int(tag["offset"])
        blocks = int(np.frombuffer(self.content, "<u8", 1, place)[0])
        sizes = np.frombuffer(self.content, "<u8", blocks, place + 24)
        ends = place + 24 + 8 * blocks + np.concatenate(([0], np.cumsum(sizes))).astype(int)
        data = b"".join(zlib.decompress(self.content[a:b]) for a, b in zip(ends[:-1], ends[1:]))
        values = np.frombuffer(data, kind)
        components = int(tag["NumberOfComponents"])
        return values.reshape(-1, components) if components > 1 else values


@dataclass(frozen=True)
class Run:
    folder: Path
    summary: dict[str, Any]
    history: dict[str, Array]
    frames: list[tuple[float, Path]]

    @cached_property
    def mesh(self) -> Mesh:
        return Mesh(VtuFile(self.frames[0][1]))


def read_history(path: Path) -> dict[str, Array]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    if len(rows) < 2:
        raise RunError(f"{path} has no rows (the run has computed nothing). Run the case again.")
    names = [name.strip() for name in rows[0]]
    complete = [row for row in rows[1:] if len(row) == len(names)]
    values = np.array([[float(value or "nan") for value in row] for row in complete]).reshape(-1, len(names))
    return dict(zip(names, values.T))


def read_run(folder: Path) -> Run:
    """Throws RunError when the folder holds no run that came to an end."""
    if not folder.is_dir():
        raise RunError(f"{folder} is not a folder. Name the folder a run has written.")
    for name in ("summary.json", "history.csv"):
        if not (folder / name).exists():
            raise RunError(f"{folder} holds no {name} (not a run, or one that has not ended). Wait or run the case.")
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    frames: list[tuple[float, Path]] = []
    if (folder / "frames.pvd").exists():
        for entry in ElementTree.parse(folder / "frames.pvd").getroot().iter("DataSet"):
            frames.append((float(entry.attrib["timestep"]), folder / entry.attrib["file"]))
    return Run(folder, summary, read_history(folder / "history.csv"), frames)


# --- geometry ------------------------------------------------------------------------------------------------------


class Mesh:
    """What of the cells is drawn: lines, or triangles that are cells themselves (2-D) or boundary faces (3-D).

    `lines` has the two end nodes of each line. `faces` has 6 nodes per triangle: vertices, then the middles of edges
    01 12 20, which are -1 if the edge is straight. `owner` is the cell each of them belongs to.
    """

    def __init__(self, vtu: VtuFile) -> None:
        types = vtu.array("Cells", "types")
        self.nodes = vtu.array("Cells", "connectivity")
        self.starts = np.concatenate(([0], vtu.array("Cells", "offsets")[:-1]))
        self.dim = 3 if np.isin(types, TETRAHEDRA).any() else 2 if np.isin(types, TRIANGLES).any() else 1
        self.lines, self.faces = np.empty((0, 2), int), np.empty((0, 6), int)
        if self.dim == 1:
            self.owner = np.flatnonzero(np.isin(types, LINES))
            self.lines = self._cell_nodes(self.owner, 2)
        elif self.dim == 2:
            self.faces, self.owner = self._triangles(types)
        else:
            self.faces, self.owner = self._boundary_faces(types)
        self.is_curved = bool((self.faces[:, 3:] >= 0).any())

    @property
    def is_drawable(self) -> bool:
        return self.owner.size > 0

    def _cell_nodes(self, cells: Array, count: int) -> Array:
        return self.nodes[self.starts[cells][:, None] + np.arange(count)]

    def _triangles(self, types: Array) -> tuple[Array, Array]:
        linear, quadratic = (np.flatnonzero(types == t) for t in TRIANGLES)
        straight = np.full((linear.size, 6), -1)
        straight[:, :3] = self._cell_nodes(linear, 3)
        return np.concatenate((straight, self._cell_nodes(quadratic, 6))), np.concatenate((linear, quadratic))

    def _boundary_faces(self, types: Array) -> tuple[Array, Array]:
        """The faces that one tetrahedron has alone."""
        linear, quadratic = (np.flatnonzero(types == t) for t in TETRAHEDRA)
        straight = np.full((4 * linear.size, 6), -1)
        straight[:, :3] = self._cell_nodes(linear, 4)[:, TETRAHEDRON_FACES[:, :3]].reshape(-1, 3)
        curved = self._cell_nodes(quadratic, 10)[:, TETRAHEDRON_FACES].reshape(-1, 6)
        faces = np.concatenate((straight, curved))
        owner = np.repeat(np.concatenate((linear, quadratic)), 4)
        key = np.sort(faces[:, :3], axis=1)
        order = np.lexsort(key.T)
        differs = np.ones(len(order) + 1, bool)
        differs[1:-1] = (key[order[1:]] != key[order[:-1]]).any(axis=1)
        alone = np.sort(order[differs[1:] & differs[:-1]])
        return faces[alone], owner[alone]

    def polygons(self, points: Array) -> Array:
        """Outlines of the faces, (faces, vertices, 3). Curved edges are divided into straight pieces."""
        corners = points[self.faces[:, :3]]
        if not self.is_curved:
            return corners
        following = np.roll(corners, -1, axis=1)
        mids = self.faces[:, 3:, None]
        middles = np.where(mids >= 0, points[mids[..., 0]], (corners + following) / 2)
        s = np.arange(CURVE_SEGMENTS)[:, None] / CURVE_SEGMENTS
        shape = ((1 - s) * (1 - 2 * s), 4 * s * (1 - s), s * (2 * s - 1))
        edges = sum(n * p[:, :, None] for n, p in zip(shape, (corners, middles, following)))
        return edges.reshape(len(self.faces), -1, 3)


def unit(vector: Array) -> Array:
    return vector / np.linalg.norm(vector)


def long_axis(points: Array) -> Array | None:
    """The direction of a slender body, a coordinate axis if it is close to one; None if it is not slender."""
    _, spread, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    if spread[0] < 3 * spread[1]:
        extent = np.ptp(points, axis=0)
        first, second = np.argsort(extent)[::-1][:2]
        return np.eye(3)[first] if extent[first] > 1.6 * extent[second] else None
    axis = axes[0] * np.sign(axes[0][np.argmax(np.abs(axes[0]))])
    nearest = int(np.argmax(np.abs(axis)))
    return np.eye(3)[nearest] if axis[nearest] > 0.97 else axis


def choose_view(dim: int, points: Array) -> Array:
    """Rows: the directions that point right, up and to the viewer in the picture (orthographic).

    Compact bodies stand with z upright; the long axis of a slender one lies horizontally. What is flat in the
    upright direction is seen from higher above.
    """
    if dim < 3:
        return np.eye(3)
    sample = points[:: max(1, len(points) // 20000)]
    axis = long_axis(sample)
    along = np.eye(3)[0] if axis is None else axis
    upright = np.eye(3)[2] if abs(along[2]) < 0.8 else np.eye(3)[1]
    upright = unit(upright - (upright @ along) * along)
    aside = np.cross(upright, along)  # away from the viewer
    is_flat = np.ptp(sample @ upright) < 0.3 * np.ptp(sample @ aside)
    azimuth, elevation = math.radians(30 if axis is None else 20), math.radians(50 if is_flat else 25)
    level = math.sin(azimuth) * along - math.cos(azimuth) * aside
    viewer = math.cos(elevation) * level + math.sin(elevation) * upright
    if axis is None:
        right = unit(np.cross(upright, viewer))
    else:
        right = unit(along - (along @ viewer) * viewer)
    return np.array([right, np.cross(viewer, right), viewer])


@dataclass(frozen=True)
class Drawing:
    """Polygons in picture coordinates, those behind first."""

    polygons: Array  # (faces, vertices, 2)
    owner: Array
    shade: Array  # brightness of each face
    view: Array

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        flat = self.polygons.reshape(-1, 2)
        return flat.min(axis=0), flat.max(axis=0)

    @property
    def ratio(self) -> float:
        """Height over width."""
        low, high = self.bounds
        return float((high[1] - low[1]) / (high[0] - low[0]))

    @cached_property
    def heights(self) -> Array:
        """Of each polygon over its longest side, about."""
        x, y = self.polygons[..., 0], self.polygons[..., 1]
        twice_area = np.abs((x * np.roll(y, -1, axis=1) - y * np.roll(x, -1, axis=1)).sum(axis=1))
        return twice_area / np.maximum(np.ptp(self.polygons, axis=1).max(axis=1), 1e-300)


def draw_faces(mesh: Mesh, points: Array, view: Array) -> Drawing:
    """Turns faces into the picture plane; in 3-D leaves out those that face away and shades the rest."""
    turned = mesh.polygons(points) @ view.T
    if mesh.dim == 2:
        return Drawing(turned[..., :2], mesh.owner, np.ones(len(turned)), view)
    corners = turned[:, :: turned.shape[1] // 3]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    light = unit(np.array([-0.45, 0.65, 0.75]))
    shade = 0.7 + 0.3 * np.clip(normal @ light, 0, 1)
    visible = np.flatnonzero(normal[:, 2] > 0)
    order = visible[np.argsort(turned[visible, :, 2].mean(axis=1), kind="stable")]
    return Drawing(turned[order, :, :2], mesh.owner[order], shade[order], view)


def draw_strip(mesh: Mesh, points: Array) -> Drawing:
    """A bar as a strip of unit height."""
    left, right = points[mesh.lines[:, 0], 0], points[mesh.lines[:, 1], 0]
    x = np.stack((left, right, right, left), axis=1)
    y = np.broadcast_to([0.0, 0.0, 1.0, 1.0], x.shape)
    return Drawing(np.stack((x, y), axis=2), mesh.owner, np.ones(len(x)), np.eye(3))


# --- numbers and words ---------------------------------------------------------------------------------------------


def scaled_unit(largest: float, name: str, at_most: int = 12) -> tuple[float, str]:
    """The factor and the name of the unit with the SI prefix in which `largest` reads best."""
    if not (math.isfinite(largest) and largest > 0):
        return 1.0, name
    exponent = 3 * math.floor(math.log10(largest * (1 + 1e-9)) / 3)
    exponent = max(-12, min(exponent, at_most))
    prefix = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}[exponent]
    return 10.0**-exponent, prefix + name


def largest_magnitude(*arrays: Array) -> float:
    finite = [np.abs(a[np.isfinite(a)]) for a in arrays]
    return max((float(a.max()) for a in finite if a.size), default=0.0)


def method_name(method: str) -> str:
    words = {"avi": "AVI", "shake": "SHAKE", "rattle": "RATTLE", "rk4": "RK4"}
    words |= {name.lower(): name for name in ("Newmark", "Gauss", "Lobatto")}
    return "-".join(words.get(word, word) for word in method.split("-"))


def grouped(number: float) -> str:
    return f"{int(number):,}".replace(",", "\N{NO-BREAK SPACE}")


def time_text(time: float, end: float) -> str:
    factor, name = scaled_unit(end, "s", at_most=0)
    return f"$t$ = {time * factor:.3g} {name}"


def power_text(number: float) -> str:
    """Two digits and a power of ten."""
    digits, exponent = f"{number:.1e}".split("e")
    return rf"${digits}\times 10^{{{int(exponent)}}}$"


def plain(text: str) -> str:
    """A user's words, of which nothing is taken for a formula."""
    return text.replace("$", r"\$")


def headline(run: Run) -> str:
    """Title of the case; below it the method and what it did."""
    summary = run.summary
    parts = [method_name(str(summary.get("method", "?")))]
    if "elements" in summary:
        parts.append(f"{grouped(summary['elements'])} elements")
    total = summary.get("updates", {}).get("total")
    if total is not None:
        parts.append(f"{grouped(total)} updates")
    speedup = summary.get("counted_speedup")
    if isinstance(speedup, (int, float)) and speedup > 1.005:
        parts.append(f"{speedup:.3g} times fewer than Newmark\N{RIGHT SINGLE QUOTATION MARK}s")
    if summary.get("status", "completed") != "completed":
        parts.append(str(summary["status"]))
    title = plain(str(summary.get("title") or run.folder.resolve().name))
    return f"{title}\n" + ", ".join(parts)


# --- pictures ------------------------------------------------------------------------------------------------------


def new_figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), constrained_layout={"w_pad": 0.05, "h_pad": 0.05, "wspace": 0.03})
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
    points = vtu.array("Points", "Points")
    if run.mesh.dim == 1:
        return draw_strip(run.mesh, points)
    return draw_faces(run.mesh, points, choose_view(run.mesh.dim, points) if view is None else view)


def mesh_panel(
    ax: Axes, run: Run, drawing: Drawing, values: Array, norm: Normalize, cmap: ListedColormap, label: str, width: float
) -> None:
    """The mesh with its colour bar: below the drawing if that is slender, else on its right."""
    paint(ax, drawing, values, norm, cmap, width)
    low, high = drawing.bounds
    frame_axes(ax, run.mesh.dim, low, high)
    if run.mesh.dim == 3:
        add_tripod(ax, drawing.view)
        add_scale_bar(ax, low, high)
    place = {"location": "bottom", "aspect": 40, "shrink": 0.6} if is_slender(run, drawing) else {"aspect": 25}
    bar = add_colour_bar(ax, norm, cmap, label, **place)
    finite = np.unique(values[np.isfinite(values)])
    if finite.size < 2:
        bar.set_ticks(finite)


def is_slender(run: Run, drawing: Drawing) -> bool:
    return run.mesh.dim == 1 or drawing.ratio * SLENDER < 1


def mesh_row(ax: Axes, run: Run, drawing: Drawing) -> tuple[Axes, float, float]:
    """What fit_rows needs to know of a mesh."""
    return ax, drawing.ratio, 0.4 if run.mesh.dim == 1 else 4.2


def set_time_axis(ax: Axes, run: Run) -> Array:
    """Labels the abscissa; returns the history's times in its unit."""
    times = run.history["time"]
    factor, name = scaled_unit(largest_magnitude(times), "s", at_most=0)
    ax.set_xlabel(f"time ({name})")
    if times.size > 1:
        ax.set_xlim(times[0] * factor, times[-1] * factor)
    return times * factor


def unit_of(run: Run, quantity: str) -> str:
    """The SI unit of a quantity, "" if unknown. A bar has unit cross section, a 2-D body unit thickness."""
    dim = run.mesh.dim if run.frames and run.mesh.is_drawable else 3
    return UNITS.get(quantity, ("", "", ""))[dim - 1]


def energy_panel(ax: Axes, run: Run) -> None:
    history = run.history
    work = history.get("external_work", np.zeros_like(history["time"]))
    total = history["total_energy"] - work
    has_work = largest_magnitude(work) > 1e-12 * largest_magnitude(history["total_energy"], work)
    curves = [
        ("kinetic", history["kinetic_energy"], COLOURS["blue"], "-"),
        ("potential", history["potential_energy"], COLOURS["vermilion"], "--"),
        ("total \N{MINUS SIGN} external work" if has_work else "total", total, COLOURS["black"], "-"),
    ]
    factor, name = scaled_unit(largest_magnitude(*(c[1] for c in curves)), unit_of(run, "energy"))
    times = set_time_axis(ax, run)
    for label, values, colour, style in curves:
        ax.plot(times, values * factor, style, color=colour, label=label)
    ax.set_ylabel(f"energy ({name})")
    ax.margins(y=0.06)
    legend_above(ax)


def legend_above(ax: Axes) -> None:
    count = len(ax.get_legend_handles_labels()[1])
    compact = {"columnspacing": 1.0, "handlelength": 1.6, "handletextpad": 0.5, "borderaxespad": 0.2}
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=count, **compact)


def energies_alone(run: Run) -> Figure:
    figure = new_figure(WIDTH * 0.6, 3.2)
    energy_panel(figure.add_subplot(), run)
    figure.suptitle(headline(run), fontsize=10)
    return figure


def overview(run: Run, frame: int) -> Figure:
    if not run.frames or not run.mesh.is_drawable:
        return energies_alone(run)
    time, path = run.frames[frame]
    vtu = VtuFile(path)
    if not vtu.has("CellData", "updates"):
        return energies_alone(run)
    drawing = draw_frame(run, vtu)
    updates = vtu.array("CellData", "updates").astype(float)
    with np.errstate(divide="ignore"):
        values = np.log10(updates)
    slender = is_slender(run, drawing)
    wide = WIDTH - 0.4 if slender else min(3.1, 3.6 / drawing.ratio)
    figure = new_figure(WIDTH, 5.0)
    if slender:
        grid = figure.add_gridspec(2, 1)
    else:
        grid = figure.add_gridspec(1, 2, width_ratios=[wide + 0.4, WIDTH - wide - 0.8])
    ax, energies = figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
    label = "log$_{10}$ (updates per element)"
    mesh_panel(ax, run, drawing, values, limits_of(values), UPDATES_MAP, label, wide)
    ax.set_title(time_text(time, run.frames[-1][0]))
    energy_panel(energies, run)
    figure.suptitle(headline(run), fontsize=10)
    if slender:
        fit_rows(figure, [mesh_row(ax, run, drawing), (energies, 1.0, 1.9)])
    else:
        fit_rows(figure, [(ax, max(drawing.ratio, 0.75), 3.6)])
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
    places = [vtu.array("Points", "Points") for vtu in files]
    view = choose_view(run.mesh.dim, np.concatenate([points - points.mean(axis=0) for points in places]))
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
    ratio = (high[1] - low[1]) / (high[0] - low[0])
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
    ratio = (limits[0][1] - limits[0][0])[1] / (limits[0][1] - limits[0][0])[0]
    fit_rows(figure, [(row[0], ratio, 4.2) for row in axes])
    return figure


def residual(run: Run, frame: int) -> Figure | None:
    if not run.frames or not run.mesh.is_drawable:
        return None
    time, path = run.frames[frame]
    vtu = VtuFile(path)
    if not vtu.has("CellData", "energy_residual"):
        return None
    values = vtu.array("CellData", "energy_residual")
    largest = largest_magnitude(values)
    if largest == 0:
        return None
    drawing = draw_frame(run, vtu)
    wide = WIDTH - 0.4 if is_slender(run, drawing) else min(3.6, 4.2 / drawing.ratio)
    figure = new_figure(WIDTH if is_slender(run, drawing) else wide + 1.4, 5.0)
    is_signed = np.nanmin(values) < -0.01 * largest
    norm = Normalize(-1 if is_signed else 0, 1)
    cmap = SIGNED_MAP if is_signed else UPDATES_MAP
    factor, name = scaled_unit(largest, unit_of(run, "energy"))
    ax = figure.add_subplot()
    mesh_panel(ax, run, drawing, values / largest, norm, cmap, "energy residual / max", wide)
    title = f"accumulated energy residual, {time_text(time, run.frames[-1][0])}"
    ax.set_title(f"{title}\nmax {largest * factor:.3g} {name}")
    fit_rows(figure, [mesh_row(ax, run, drawing)])
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
        if dot and line and component in COMPONENT_COLOURS and (quantity == "reaction") == reactions:
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
    factor, label = scaled_unit(largest, unit_name) if unit_name else (1.0, "")
    times = set_time_axis(ax, run)
    for component, values in curves:
        ax.plot(times, values * factor, color=COMPONENT_COLOURS[component], label=f"${component}$")
    ax.set_ylabel(f"{quantity} ({label})" if label else quantity)
    ax.set_title(plain(name), pad=20)
    legend_above(ax)


def pictures(run: Run, frame: int) -> Iterator[tuple[str, Figure | None]]:
    yield "overview.png", overview(run, frame)
    if run.frames and run.mesh.is_drawable:
        yield "von_mises.png", von_mises(run)
        yield "residual.png", residual(run, frame)
    yield "momentum.png", momentum(run)
    yield "probes.png", vector_histories(run, reactions=False)
    yield "reactions.png", vector_histories(run, reactions=True)


def draw_pictures(folder: Path, frame: int) -> int:
    try:
        run = read_run(folder)
        if run.frames and not -len(run.frames) <= frame < len(run.frames):
            raise RunError(f"frame {frame} does not exist (the run has frames 0 to {len(run.frames) - 1}).")
        for name, figure in pictures(run, frame):
            if figure is None:
                continue
            try:
                figure.savefig(folder / name, dpi=RESOLUTION)
            except OSError as error:
                print(f"plot: cannot write {folder / name} ({error.strerror}).", file=sys.stderr)
                return 4
            print(folder / name)
    except RunError as error:
        print(f"plot: {error}", file=sys.stderr)
        return 2
    except (OSError, ValueError, KeyError, IndexError, zlib.error, ElementTree.ParseError) as error:
        print(f"plot: {folder} holds damaged files ({type(error).__name__}: {error}). Run again.", file=sys.stderr)
        return 2
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="plot", description="Draw the pictures of a finished run into its folder.")
    parser.add_argument("folder", metavar="DIR", type=Path, help="what a run has written")
    parser.add_argument("--frame", metavar="N", type=int, default=-1, help="the frame to draw (default: the last)")
    arguments = parser.parse_args()
    matplotlib.rcParams.update(STYLE)
    return draw_pictures(arguments.folder, arguments.frame)


if __name__ == "__main__":
    sys.exit(main())
