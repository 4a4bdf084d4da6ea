# SPDX-License-Identifier: Apache-2.0
"""What of a mesh is drawn: lines, cells of the plane, the skin of a solid."""

from __future__ import annotations

import numpy as np

from style import Array
from vtu import VtuFile

CURVE_SEGMENTS = 4  # straight pieces of a curved element edge

POINT = 1
LINES, TRIANGLES, TETRAHEDRA = (3, 21), (5, 22), (10, 24)  # VTK's cell numbers, linear and quadratic

# Outward faces of a tetrahedron: vertices, then the nodes in the middle of edges 01 12 20 of the face.
TETRAHEDRON_FACES = np.array([[0, 2, 1, 6, 5, 4], [0, 1, 3, 4, 8, 7], [1, 2, 3, 5, 9, 8], [0, 3, 2, 7, 9, 6]])


class Mesh:
    """What of the cells is drawn: lines, or triangles that are cells of a plane, or in 3-D boundary faces and shells.

    `lines` has the two end nodes of each line. `faces` has 6 nodes per triangle: vertices, then the middles of edges
    01 12 20, which are -1 if the edge is straight. `owner` is the cell each of them belongs to, `both_sides`
    whether it is seen from both sides, as shells are. `particles` are nodes.
    """

    def __init__(self, vtu: VtuFile) -> None:
        types = vtu.array("Cells", "types")
        self.nodes = vtu.array("Cells", "connectivity")
        self.starts = np.concatenate(([0], vtu.array("Cells", "offsets")[:-1]))
        self.dim = vtu.dim or (3 if np.isin(types, TETRAHEDRA).any() else 2 if np.isin(types, TRIANGLES).any() else 1)
        self.particles = self._cell_nodes(np.flatnonzero(types == POINT), 1)[:, 0]  # beside the mesh
        self.lines, self.faces = np.empty((0, 2), int), np.empty((0, 6), int)
        self.both_sides = np.empty(0, bool)
        if self.dim == 1:
            self.owner = np.flatnonzero(np.isin(types, LINES))
            self.lines = self._cell_nodes(self.owner, 2)
        elif self.dim == 2:
            self.faces, self.owner = self._triangles(types)
        else:
            solid, its_owner = self._boundary_faces(types)
            shells, cells = self._triangles(types)
            self.faces, self.owner = np.concatenate((solid, shells)), np.concatenate((its_owner, cells))
            self.both_sides = np.arange(len(self.faces)) >= len(solid)
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
