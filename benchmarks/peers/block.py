# SPDX-License-Identifier: Apache-2.0
"""A jittered block of tetrahedra, its file, and plain nodal forces and motion to hold the codes against."""

from __future__ import annotations

from pathlib import Path

import numpy as np

LAMBDA, MU, DENSITY = 93e9, 10e9, 7800.0
EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))  # the order of Abaqus, CalculiX and Tempi


def block(cells: int, nodes: int, jitter: float = 0.15) -> tuple[np.ndarray, np.ndarray]:
    """Points and cells (4 or 10 nodes, straight) of a unit cube: six tetrahedra to each small one."""
    n = max(2, round((cells / 6) ** (1 / 3)))
    m = n + 1
    grid = np.stack(np.meshgrid(*[np.arange(m)] * 3, indexing="ij"), -1).reshape(-1, 3)
    move = np.random.default_rng(1).uniform(-jitter, jitter, grid.shape)
    points = (grid + np.where((grid > 0) & (grid < n), move, 0.0)) / n
    corner = grid[(grid < n).all(axis=1)] @ [m * m, m, 1]
    stride = np.array([m * m, m, 1])
    around = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)]
    paths = np.array([np.concatenate([[0], np.cumsum(stride[list(axes)])]) for axes in around])
    paths[3:, [1, 2]] = paths[3:, [2, 1]]  # these wind the other way
    tets = (corner[:, None, None] + paths).reshape(-1, 4)
    if nodes == 10:
        ends = np.sort(tets[:, EDGES].reshape(-1, 2), axis=1)
        edges, which = np.unique(ends, axis=0, return_inverse=True)
        tets = np.hstack([tets, len(points) + which.reshape(-1, 6)])
        points = np.vstack([points, points[edges].mean(axis=1)])
    return points, tets


def write_inp(path: Path, points: np.ndarray, cells: np.ndarray, rest: str = "") -> None:
    """Numbers within 20 characters: CalculiX reads no more, and would cut an exponent off in silence."""
    with path.open("w") as file:
        file.write("*NODE, NSET=ALL\n")
        file.writelines(f"{a}, {x:.14g}, {y:.14g}, {z:.14g}\n" for a, (x, y, z) in enumerate(points.tolist(), 1))
        file.write(f"*ELEMENT, TYPE=C3D{cells.shape[1]}, ELSET=BODY\n")
        file.writelines(", ".join(map(str, [c, *nodes])) + "\n" for c, nodes in enumerate((cells + 1).tolist(), 1))
        file.write(rest)


def gradients(nodes: int) -> tuple[np.ndarray, float]:
    """dN_a/dxi_j at each point (point, a, j), and the weight of each: 1 point for 4 nodes, 4 points for 10."""
    near, far = (5 - 5**0.5) / 20, (5 + 3 * 5**0.5) / 20
    corners = np.array([[-1.0, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])  # of the barycentric coordinates
    if nodes == 4:
        return corners[None], 1 / 6
    at_points = np.full((4, 4), near) + (far - near) * np.eye(4)
    rows = []
    for b in at_points:
        ends = [(4 * b[a] - 1) * corners[a] for a in range(4)]
        rows.append(ends + [4 * (b[i] * corners[j] + b[j] * corners[i]) for i, j in EDGES])
    return np.array(rows), 1 / 24


def forces(points: np.ndarray, cells: np.ndarray, u: np.ndarray) -> np.ndarray:
    """dW/du of W = lambda/2 (ln J)^2 - mu ln J + mu/2 (tr F^T F - 3), at every node."""
    dn, weight = gradients(cells.shape[1])
    result = np.zeros_like(points)
    for at in dn:
        dx = np.einsum("cai,aj->cij", points[cells], at)
        grad = np.einsum("aj,cji->cai", at, np.linalg.inv(dx))
        F = np.eye(3) + np.einsum("cai,caj->cij", u[cells], grad)
        G = np.linalg.inv(F).transpose(0, 2, 1)
        P = MU * F + (LAMBDA * np.log(np.linalg.det(F)) - MU)[:, None, None] * G
        f = np.einsum("c,cij,caj->cai", weight * np.linalg.det(dx), P, grad)
        np.add.at(result, cells, f)
    return result


def motion(points: np.ndarray, cells: np.ndarray, velocity: np.ndarray, step: float, end: float) -> np.ndarray:
    """Displacements at `end` by explicit Newmark from the undeformed state; masses lumped by HRZ as in Tempi."""
    corners = points[cells[:, :4]]
    share = [1 / 4] * 4 if cells.shape[1] == 4 else [1 / 36] * 4 + [4 / 27] * 6
    mass = np.zeros(len(points))
    np.add.at(mass, cells, np.outer(DENSITY / 6 * np.linalg.det(corners[:, 1:] - corners[:, :1]), share))
    u, v, steps = np.zeros_like(points), velocity.copy(), int(end / step)
    for _ in range(steps):
        u += step * v
        v -= step * forces(points, cells, u) / mass[:, None]
    return u + (end - steps * step) * v
