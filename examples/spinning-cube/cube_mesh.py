# SPDX-License-Identifier: Apache-2.0
"""A cube of n x n x n cells, each cut into 24 tetrahedra by its centre and the centres of its faces."""

from __future__ import annotations

import itertools
from pathlib import Path


def write_cube(file: Path, n: int, size: float = 1.0) -> tuple[int, int]:
    """Gmsh 2.2; returns the numbers of nodes and cells. Places are counted in half cells."""
    numbers: dict[tuple[int, ...], int] = {}
    cells = []

    def node(place: tuple[int, ...]) -> int:
        return numbers.setdefault(place, len(numbers) + 1)

    for corner in itertools.product(range(n), repeat=3):
        middle = tuple(2 * c + 1 for c in corner)
        for axis, side in itertools.product(range(3), (-1, 1)):
            face = tuple(m + side * (i == axis) for i, m in enumerate(middle))
            first, second = [i for i in range(3) if i != axis]
            around = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
            for (a, b), (c, d) in zip(around, around[1:] + around[:1]):
                p = tuple(f + a * (i == first) + b * (i == second) for i, f in enumerate(face))
                q = tuple(f + c * (i == first) + d * (i == second) for i, f in enumerate(face))
                cells.append([node(middle), node(face), node(p), node(q)])
    places = {number: [0.5 * size / n * c for c in place] for place, number in numbers.items()}

    def volume(cell: list[int]) -> float:
        o, *rest = (places[a] for a in cell)
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = ([x - y for x, y in zip(p, o)] for p in rest)
        return ax * (by * cz - bz * cy) - ay * (bx * cz - bz * cx) + az * (bx * cy - by * cx)

    cells = [cell if volume(cell) > 0 else [cell[0], cell[1], cell[3], cell[2]] for cell in cells]
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "1", '3 1 "body"', "$EndPhysicalNames", "$Nodes",
             str(len(places))]
    lines += [f"{a} {x!r} {y!r} {z!r}" for a, (x, y, z) in sorted(places.items())]
    lines += ["$EndNodes", "$Elements", str(len(cells))]
    lines += [f"{i} 4 2 1 1 {' '.join(map(str, cell))}" for i, cell in enumerate(cells, 1)]
    file.write_text("\n".join([*lines, "$EndElements", ""]), encoding="utf-8")
    return len(places), len(cells)
