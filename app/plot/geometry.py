# SPDX-License-Identifier: Apache-2.0
"""Meshes and particles as they are drawn: faces towards the viewer, edges, discs, paths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mesh import LINES, Mesh
from read import Run
from style import Array
from vtu import VtuFile

MOST_PATHS = 50  # particles whose paths are drawn
NEGLIGIBLE = 1e-9  # part of the largest motion below which a component counts as at rest


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


def choose_view(dim: int, points: Array, up: Array | None = None) -> Array:
    """Rows: the directions that point right, up and to the viewer in the picture (orthographic).

    Compact bodies stand with `up` upright, or z where there is no gravity; the long axis of a slender one lies
    horizontally, unless gravity acts along it. What is flat in the upright direction is seen from higher above.
    """
    if dim < 3:
        return np.eye(3)
    sample = points[:: max(1, len(points) // 20000)]
    axis = long_axis(sample)
    if up is not None and axis is not None and abs(axis @ up) >= 0.8:
        axis = None  # it hangs or stands
    upright = np.eye(3)[2] if up is None else up
    along = np.eye(3)[int(np.argmin(np.round(np.abs(upright), 6)))] if axis is None else axis
    if abs(along @ upright) >= 0.8:
        upright = np.eye(3)[1]
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
    dots: Array  # particles beside the mesh, (particles, 2)

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        flat = np.concatenate((self.polygons.reshape(-1, 2), self.dots))
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
    turned, dots = mesh.polygons(points) @ view.T, (points[mesh.particles] @ view.T)[:, :2]
    if mesh.dim == 2:
        return Drawing(turned[..., :2], mesh.owner, np.ones(len(turned)), view, dots)
    corners = turned[:, :: turned.shape[1] // 3]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    light = unit(np.array([-0.45, 0.65, 0.75]))
    normal[mesh.both_sides & (normal[:, 2] < 0)] *= -1
    shade = 0.7 + 0.3 * np.clip(normal @ light, 0, 1)
    visible = np.flatnonzero(normal[:, 2] > 0)
    order = visible[np.argsort(turned[visible, :, 2].mean(axis=1), kind="stable")]
    return Drawing(turned[order, :, :2], mesh.owner[order], shade[order], view, dots)


def draw_strip(mesh: Mesh, points: Array) -> Drawing:
    """A bar as a strip of unit height."""
    left, right = points[mesh.lines[:, 0], 0], points[mesh.lines[:, 1], 0]
    x = np.stack((left, right, right, left), axis=1)
    y = np.broadcast_to([0.0, 0.0, 1.0, 1.0], x.shape)
    beside = points[mesh.particles, 0]
    dots = np.stack((beside, np.full_like(beside, 0.5)), axis=1)
    return Drawing(np.stack((x, y), axis=2), mesh.owner, np.ones(len(x)), np.eye(3), dots)


@dataclass(frozen=True)
class Cloud:
    """Particles in picture coordinates, those behind first."""

    dim: int
    discs: Array  # (particles, 2)
    masses: Array  # all alike where the frames do not have them
    speeds: Array | None
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
        points = VtuFile(path).places
        low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
    return np.flatnonzero(high - low > NEGLIGIBLE * (high - low).max())


def places_in_time(run: Run) -> Array:
    """(frames, particles, 3)"""
    return np.array([VtuFile(path).places for _, path in run.frames])


def draw_particles(run: Run, vtu: VtuFile, dim: int) -> Cloud:
    points = vtu.places
    paths = places_in_time(run).swapaxes(0, 1) if len(points) <= MOST_PATHS else np.empty((0, 0, 3))
    view = choose_view(dim, np.concatenate((points, paths.reshape(-1, 3))), run.up)
    ends = vtu.array("Cells", "offsets")[np.isin(vtu.array("Cells", "types"), LINES)]
    pairs = vtu.array("Cells", "connectivity")[ends[:, None] - [2, 1]]
    depth = points @ view[2]
    order = np.argsort(depth, kind="stable")
    masses = vtu.array("PointData", "mass") if vtu.has("PointData", "mass") else np.ones(len(points))
    speeds = None
    if vtu.has("PointData", "velocity"):
        speeds = np.linalg.norm(vtu.array("PointData", "velocity"), axis=1)[order]
    haze = 0.35 * (depth.max() - depth) / (np.ptp(depth) or 1.0) if dim == 3 else np.zeros(len(points))
    return Cloud(
        dim,
        discs=(points @ view[:2].T)[order],
        masses=masses[order],
        speeds=speeds,
        bonds=points[pairs] @ view[:2].T,
        paths=paths @ view[:2].T,
        haze=haze[order],
        view=view,
    )
