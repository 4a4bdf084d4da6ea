# SPDX-License-Identifier: Apache-2.0
"""Whether the surface of a frame passes through itself: edges through triangles, exactly, whatever way it came about."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.spatial import cKDTree

from measure import Run, VtuFile  # it knows where our own reader is
from mesh import Mesh

Array = np.ndarray


def volume_sign(a: Array, b: Array, c: Array, d: Array) -> Array:
    """The sign of det(b - a, c - a, d - a) of rows: by doubles where these can tell, otherwise by rational numbers."""
    u, v, w = b - a, c - a, d - a
    value = np.einsum("ij,ij->i", u, np.cross(v, w))
    size = np.einsum("ij,ij->i", np.abs(u), np.abs(v[:, [1, 2, 0]] * w[:, [2, 0, 1]]) + np.abs(v[:, [2, 0, 1]] * w[:, [1, 2, 0]]))
    reach = np.max(np.abs(np.stack((a, b, c, d))), axis=(0, 2))
    longest = np.max(np.abs(np.stack((u, v, w))), axis=(0, 2))
    sign = np.sign(value)
    # Differences are off by a rounding of their size; generously.
    for i in np.flatnonzero(np.abs(value) <= 1e-14 * size + 1e-15 * reach * longest**2):
        x, y, z, o = ([Fraction(float(t)) for t in p[i]] for p in (b, c, d, a))
        m = [[p[k] - o[k] for k in range(3)] for p in (x, y, z)]
        exact = (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
                 + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]))
        sign[i] = (exact > 0) - (exact < 0)
    return sign


def passes_through(points: Array, edges: Array, faces: Array) -> Array:
    """Of each edge and face in the same row, whether the edge has a point of the face, in one plane with it left out."""
    p, q = points[edges[:, 0]], points[edges[:, 1]]
    a, b, c = (points[faces[:, k]] for k in range(3))
    crossing = volume_sign(a, b, c, p) * volume_sign(a, b, c, q) < 0
    rows = np.flatnonzero(crossing)
    p, q, a, b, c = (x[rows] for x in (p, q, a, b, c))
    sides = np.stack([volume_sign(p, q, x, y) for x, y in ((a, b), (b, c), (c, a))])
    crossing[rows] = (sides >= 0).all(axis=0) | (sides <= 0).all(axis=0)
    return crossing


def flat_faces(vtu: VtuFile) -> Array:
    """The triangles of the surface, (n, 3): of faces with nodes in the middle of their sides four, as contact has them."""
    faces = Mesh(vtu).faces
    curved = faces[:, 3] >= 0
    quarters = faces[curved][:, [[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]]].reshape(-1, 3)
    return np.concatenate((faces[~curved, :3], quarters))


def crossings(vtu: VtuFile) -> int:
    """How many pairs of an edge and a face of the surface, without a common node, cross in this frame."""
    faces = flat_faces(vtu)
    points = vtu.places
    sides = np.sort(np.concatenate((faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]])), axis=1)
    edges = np.unique(sides, axis=0)
    middle_of_edge = points[edges].mean(axis=1)
    middle_of_face = points[faces].mean(axis=1)
    reach_of_edge = np.linalg.norm(points[edges[:, 0]] - middle_of_edge, axis=1)
    reach_of_face = np.linalg.norm(points[faces] - middle_of_face[:, None], axis=2).max(axis=1)
    low, high = points[edges].min(axis=1), points[edges].max(axis=1)
    floor, ceiling = points[faces].min(axis=1), points[faces].max(axis=1)
    size, found = np.floor(np.log2(reach_of_face)), 0  # a tree for faces of about one size
    for faces_of_size in (np.flatnonzero(size == one) for one in np.unique(size)):
        tree, farthest = cKDTree(middle_of_face[faces_of_size]), reach_of_face[faces_of_size].max()
        for some in np.array_split(np.arange(len(edges)), 1 + len(edges) // 4096):  # whose neighbours have room in memory
            near = tree.query_ball_point(middle_of_edge[some], reach_of_edge[some] + farthest)
            count = np.fromiter((len(n) for n in near), int, len(near))
            i, j = np.repeat(some, count), faces_of_size[np.fromiter((k for n in near for k in n), int, count.sum())]
            touch = ((low[i] <= ceiling[j]) & (floor[j] <= high[i])).all(axis=1)
            i, j = i[touch], j[touch]
            apart = (edges[i][:, :, None] != faces[j][:, None, :]).all(axis=(1, 2))
            found += int(passes_through(points, edges[i[apart]], faces[j[apart]]).sum())
    return found


def crossings_of(result: Run) -> int:
    """Of all frames together."""
    return sum(crossings(VtuFile(path)) for _, path in result.frames)
