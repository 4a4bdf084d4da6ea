# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of a finished run into its folder, or one that compares several, and prints their paths.

usage: plot.py DIR [--frame N]
       plot.py DIR DIR ...

overview.png   the deformed mesh coloured by updates per element, beside the energies over time; of particles: discs
               coloured by speed, their bonds and paths, or their world lines if all keep to one line
von_mises.png  the deformed mesh coloured by von Mises stress at evenly spaced frames (2-D and 3-D)
residual.png   the accumulated energy residual of each element, if the run recorded it
momentum.png   how linear and angular momentum change over time
phase.png      the velocity of particles' probes over their position
probes.png, reactions.png   the histories of probes and supports, if there are any
comparison.png of several runs, in the first one's folder: the change of energy, the running mean of the kinetic
               energy and, if all have a probe of the same name, its phase portrait

Reads the files this program's own writer makes, nothing more general. Needs NumPy and matplotlib.
Exit codes: 0 done, 2 no finished run in a DIR or a package is missing, 4 a picture could not be written.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import xml.etree.ElementTree as ElementTree
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11: what is looked up in the case's text is done without
    tomllib = None  # type: ignore[assignment]

try:
    import matplotlib
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection, PolyCollection
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
MOST_PATHS = 50  # particles whose paths are drawn
NEGLIGIBLE = 1e-9  # part of the largest motion below which a component counts as at rest

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


class WriteError(Exception):
    """A picture could not be written."""


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

    @property
    def has_particles(self) -> bool:
        return "particles_fingerprint" in self.summary

    @property
    def has_mesh(self) -> bool:
        """Whether there is a body to be drawn."""
        return bool(self.frames) and not self.has_particles and self.mesh.is_drawable

    @cached_property
    def case(self) -> dict[str, Any]:
        return tomllib.loads(self.summary.get("case", "")) if tomllib else {}


@contextmanager
def damage_named(*folders: Path) -> Iterator[None]:
    """Turns what goes wrong on reading and drawing the files of runs into an error that names their folders."""
    try:
        yield
    except (OSError, ValueError, KeyError, IndexError, zlib.error, ElementTree.ParseError) as error:
        where = " or ".join(map(str, folders))
        raise RunError(f"{where} holds damaged files ({type(error).__name__}: {error}). Run again.") from error


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


def height_over_width(low: Array, high: Array) -> float:
    return float((high[1] - low[1]) / (high[0] - low[0]))


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
        return height_over_width(*self.bounds)

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


@dataclass(frozen=True)
class Cloud:
    """Particles in picture coordinates, those behind first."""

    dim: int
    discs: Array  # (particles, 2)
    masses: Array
    speeds: Array
    bonds: Array  # (bonds, 2, 2)
    paths: Array  # (particles, frames, 2); of many particles none
    haze: Array  # how pale each disc is for being far behind
    view: Array

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """With room for the discs; what is nearly a line is given some width."""
        places = np.concatenate((self.discs, self.paths.reshape(-1, 2)))
        low, high = places.min(axis=0), places.max(axis=0)
        size = (high - low).max()
        half = np.maximum(high - low, 0.2 * size) / 2 + 0.03 * size
        return (low + high) / 2 - half, (low + high) / 2 + half

    @property
    def ratio(self) -> float:
        return height_over_width(*self.bounds)


def axes_in_use(run: Run) -> Array:
    """The axes along which the particles of a run move or differ in place: 0, 1, 2 for x, y, z."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for _, path in run.frames:
        points = VtuFile(path).array("Points", "Points")
        low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
    return np.flatnonzero(high - low > NEGLIGIBLE * (high - low).max())


def places_in_time(run: Run) -> Array:
    """(frames, particles, 3)"""
    return np.array([VtuFile(path).array("Points", "Points") for _, path in run.frames])


def draw_particles(run: Run, vtu: VtuFile, dim: int) -> Cloud:
    points = vtu.array("Points", "Points")
    paths = places_in_time(run).swapaxes(0, 1) if len(points) <= MOST_PATHS else np.empty((0, 0, 3))
    view = choose_view(dim, np.concatenate((points, paths.reshape(-1, 3))))
    ends = vtu.array("Cells", "offsets")[np.isin(vtu.array("Cells", "types"), LINES)]
    pairs = vtu.array("Cells", "connectivity")[ends[:, None] - [2, 1]]
    depth = points @ view[2]
    order = np.argsort(depth, kind="stable")
    haze = 0.35 * (depth.max() - depth) / (np.ptp(depth) or 1.0) if dim == 3 else np.zeros(len(points))
    return Cloud(
        dim,
        discs=(points @ view[:2].T)[order],
        masses=vtu.array("PointData", "mass")[order],
        speeds=np.linalg.norm(vtu.array("PointData", "velocity"), axis=1)[order],
        bonds=points[pairs] @ view[:2].T,
        paths=paths @ view[:2].T,
        haze=haze[order],
        view=view,
    )


# --- numbers and words ---------------------------------------------------------------------------------------------


def scaled_unit(largest: float, name: str, at_most: int = 12) -> tuple[float, str]:
    """The factor and the name of the unit with the SI prefix in which `largest` reads best."""
    if not (math.isfinite(largest) and largest > 0):
        return 1.0, name
    exponent = 3 * math.floor(math.log10(largest * (1 + 1e-9)) / 3)
    exponent = max(-24, min(exponent, at_most))
    prefix = "yzafpnµm kMGT"[exponent // 3 + 8].strip()
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
    if run.has_particles:
        parts.append(f"{grouped(summary['nodes'])} particle" + "s" * (summary["nodes"] != 1))
    elif "elements" in summary:
        parts.append(f"{grouped(summary['elements'])} elements")
    total = summary.get("updates", {}).get("total")
    if total is not None:
        parts.append(f"{grouped(total)} updates")
    speedup = summary.get("counted_speedup")
    if isinstance(speedup, (int, float)) and speedup > 1.05:
        parts.append(f"{speedup:.3g} times fewer than Newmark\N{RIGHT SINGLE QUOTATION MARK}s")
    if summary.get("status", "completed") != "completed":
        parts.append(str(summary["status"]))
    title = plain(str(summary.get("title") or run.folder.resolve().name))
    return f"{title}\n" + ", ".join(parts)


# --- pictures ------------------------------------------------------------------------------------------------------


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
    factor, name = scaled_unit(largest_magnitude(cloud.speeds), "m/s")
    norm = Normalize(0, largest_magnitude(cloud.speeds) * factor or 1.0)
    ax.add_collection(LineCollection(cloud.paths, colors="0.6", linewidths=0.6, zorder=1))
    ax.add_collection(LineCollection(cloud.bonds, colors="0.4", linewidths=min(0.1 * across, 0.8), zorder=2))
    rgb = UPDATES_MAP(norm(cloud.speeds * factor))[:, :3]
    rgb += (1 - rgb) * cloud.haze[:, None]
    edges = np.repeat(0.8 * cloud.haze[:, None], 3, axis=1) if across > 3 else "none"
    ax.scatter(*cloud.discs.T, areas, c=rgb, edgecolors=edges, linewidths=0.4, zorder=3)
    add_axes_and_bar(ax, cloud.dim, cloud, norm, UPDATES_MAP, f"speed ({name})")


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


def add_axes_and_bar(
    ax: Axes, dim: int, drawing: Drawing | Cloud, norm: Normalize, cmap: ListedColormap, label: str
) -> Any:
    """What a drawing needs around it; returns the colour bar, below the drawing if that is slender, else beside it."""
    low, high = drawing.bounds
    frame_axes(ax, dim, low, high)
    if dim == 3:
        add_tripod(ax, drawing.view)
        add_scale_bar(ax, low, high)
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
    return (vtu.array("Points", "Points") - vtu.array("PointData", "displacement"))[chosen[0]].mean(axis=0)


def phase_panel(ax: Axes, runs: list[Run], styles: list[dict[str, Any]], probe: str, component: str) -> None:
    """Velocity over position, or over displacement if a run does not tell where its probe starts."""
    starts = [probe_start(run, probe) for run in runs]
    is_known = all(start is not None for start in starts)
    axis = "xyz".index(component)
    places = [run.history[f"{probe}.displacement_{component}"] for run in runs]
    places = [place + start[axis] if is_known else place for place, start in zip(places, starts)]
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


# --- several runs --------------------------------------------------------------------------------------------------


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
    ax.set_yticks(np.concatenate((-powers, [0.0], powers)))
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


# --- the command ---------------------------------------------------------------------------------------------------


def pictures(run: Run, frame: int) -> Iterator[tuple[str, Figure | None]]:
    yield "overview.png", overview(run, frame)
    if run.has_mesh:
        yield "von_mises.png", von_mises(run)
        yield "residual.png", residual(run, frame)
    yield "momentum.png", momentum(run)
    if run.has_particles:
        yield "phase.png", phase(run)
    yield "probes.png", vector_histories(run, reactions=False)
    yield "reactions.png", vector_histories(run, reactions=True)


def save(figure: Figure, path: Path) -> None:
    try:
        figure.savefig(path, dpi=RESOLUTION)
    except OSError as error:
        raise WriteError(f"cannot write {path} ({error.strerror}).") from error
    print(path)


def draw_pictures(folder: Path, frame: int) -> None:
    with damage_named(folder):
        run = read_run(folder)
        if run.frames and not -len(run.frames) <= frame < len(run.frames):
            raise RunError(f"frame {frame} does not exist (the run has frames 0 to {len(run.frames) - 1}).")
        for name, figure in pictures(run, frame):
            if figure is not None:
                save(figure, folder / name)


def compare_runs(folders: list[Path]) -> None:
    runs = []
    for folder in folders:
        with damage_named(folder):
            runs.append(read_run(folder))
    with damage_named(*folders):
        figure = comparison(runs)
    save(figure, folders[0] / "comparison.png")


def main() -> int:
    parser = argparse.ArgumentParser(prog="plot", description="Draw the pictures of a finished run into its folder.")
    told = "what a run has written; of several, comparison.png in the first compares them"
    parser.add_argument("folders", metavar="DIR", type=Path, nargs="+", help=told)
    parser.add_argument("--frame", metavar="N", type=int, help="the frame to draw (default: the last), of a single run")
    arguments = parser.parse_args()
    matplotlib.rcParams.update(STYLE)
    try:
        if len(arguments.folders) == 1:
            draw_pictures(arguments.folders[0], -1 if arguments.frame is None else arguments.frame)
        elif arguments.frame is None:
            compare_runs(arguments.folders)
        else:
            raise RunError("--frame is for a single run (several are compared over all time). Leave it out.")
    except (RunError, WriteError) as error:
        print(f"plot: {error}", file=sys.stderr)
        return 2 if isinstance(error, RunError) else 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
