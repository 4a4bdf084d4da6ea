# SPDX-License-Identifier: Apache-2.0
"""A folder with a case file and its mesh, and the `tempi` command run in it."""

import csv
import itertools
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from random import Random

COMMAND = os.environ.get("TEMPI_COMMAND", "tempi")

REPEATED = ("material", "fix", "load", "probe")
SECTIONS = ("constants", "mesh", "material", "fix", "load", "initial", "probe", "integrator", "run", "output")
# A soft square of 1 m by 1 m: waves run at 54.8 m/s.
PLAIN = {
    "mesh": 'file = "square.msh"',
    "material": "lambda = 1e6\nmu = 1e6\ndensity = 1000",
    "initial": 'velocity = ["0.1*Y", "0"]',
    "integrator": "safety = 0.5",
    "run": "end_time = 0.02",
    "output": "frames = 2\nhistory = 10",
}


def case_text(title="A case", **sections):
    """The text of a case file: the sections of PLAIN, replaced or left out ("") as asked; lists repeat a section."""
    text = f'title = "{title}"\n'
    for name in SECTIONS:
        body = sections.pop(name, PLAIN.get(name, ""))
        heading = f"[[{name}]]" if name in REPEATED else f"[{name}]"
        for part in [body] if isinstance(body, str) else body:
            if part:
                text += f"\n{heading}\n{part}\n"
    assert not sections, sections
    return text


# ---- meshes, as Gmsh 2.2 files ----

LINE, TRIANGLE, QUADRANGLE, TETRAHEDRON, POINT = 1, 2, 3, 4, 15  # Gmsh's numbers
SQUARE_NAMES = {1: (2, "body"), 2: (1, "left"), 3: (1, "right")}


def msh(points, elements, names):
    """points: (x, y, z); elements: (Gmsh type, group, points counted from 0); names: tag -> (dimension, name)."""
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(names))]
    lines += [f'{dim} {tag} "{name}"' for tag, (dim, name) in names.items()]
    lines += ["$EndPhysicalNames", "$Nodes", str(len(points))]
    lines += [f"{i} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(points, 1)]
    lines += ["$EndNodes", "$Elements", str(len(elements))]
    for i, (kind, group, nodes) in enumerate(elements, 1):
        lines.append(f"{i} {kind} 2 {group} {group} " + " ".join(str(node + 1) for node in nodes))
    return "\n".join([*lines, "$EndElements", ""])


def square_elements(n):
    """Points and elements of the unit square, n by n squares of two triangles: groups body 1, left 2, right 3."""
    points = [(i / n, j / n, 0.0) for j in range(n + 1) for i in range(n + 1)]
    elements = []

    def at(i, j):
        return j * (n + 1) + i

    for j in range(n):
        elements += [(LINE, 2, (at(0, j + 1), at(0, j))), (LINE, 3, (at(n, j), at(n, j + 1)))]
    for i, j in itertools.product(range(n), repeat=2):
        corners = at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)
        elements += [(TRIANGLE, 1, corners[:3]), (TRIANGLE, 1, (corners[0], corners[2], corners[3]))]
    return points, elements


def square(n=2):
    return msh(*square_elements(n), SQUARE_NAMES)


def bar(n=8):
    """The line from 0 to 1: groups body 1, left 2 and right 3 (its end points)."""
    points = [(i / n, 0.0, 0.0) for i in range(n + 1)]
    elements = [(POINT, 2, (0,)), (POINT, 3, (n,))] + [(LINE, 1, (i, i + 1)) for i in range(n)]
    return msh(points, elements, {1: (1, "body"), 2: (0, "left"), 3: (0, "right")})


def cube(n=2, power=1.0, jitter=0.0):
    """The unit cube, n^3 cubes of six tetrahedra: groups body 1, bottom 2, skin 3 (the whole surface). Plane i of each
    axis is at (i/n)^power; points inside are moved by up to `jitter` of the spacing below them, always the same way."""
    random = Random(7)

    def moved(i):
        return (i - jitter * random.random() * (0 < i < n)) / n

    points = [(moved(i)**power, moved(j)**power, moved(k)**power)
              for k in range(n + 1) for j in range(n + 1) for i in range(n + 1)]
    cells, faces = [], {}

    def at(p):
        return (p[2] * (n + 1) + p[1]) * (n + 1) + p[0]

    for corner in itertools.product(range(n), repeat=3):
        for axes in itertools.permutations(range(3)):
            path = [list(corner)]
            for axis in axes:
                path.append(list(path[-1]))
                path[-1][axis] += 1
            nodes = [at(p) for p in path]
            if axes in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):  # odd: the other way round
                nodes[2], nodes[3] = nodes[3], nodes[2]
            cells.append((TETRAHEDRON, 1, tuple(nodes)))
            for left_out in range(4):
                face = tuple(nodes[:left_out] + nodes[left_out + 1:])
                faces.setdefault(tuple(sorted(face)), []).append(face)
    skin = [sides[0] for sides in faces.values() if len(sides) == 1]
    bottom = [(TRIANGLE, 2, f) for f in skin if all(points[a][2] == 0 for a in f)]
    elements = bottom + [(TRIANGLE, 3, f) for f in skin] + cells
    return msh(points, elements, {1: (3, "body"), 2: (2, "bottom"), 3: (2, "skin")})


# ---- the command ----


def tempi(*arguments, cwd, timeout=60, **options):
    return subprocess.run([COMMAND, *map(str, arguments)], cwd=cwd, timeout=timeout, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, encoding="utf-8", **options)


class CaseFolder(unittest.TestCase):
    """Gives every test an empty folder."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def tempi(self, *arguments, **options):
        return tempi(*arguments, cwd=self.folder, **options)

    def run_case(self, *arguments, meshes=None, code=0, **sections):
        """Writes case.toml and its meshes, runs it, and returns the folder of the results."""
        for name, text in ({"square.msh": square()} if meshes is None else meshes).items():
            self.write(name, text)
        self.write("case.toml", case_text(**sections))
        done = self.tempi("run", "case.toml", *arguments)
        self.assertEqual(code, done.returncode, done.stderr)
        return self.folder / "case.out"


def summary(results):
    return json.loads((results / "summary.json").read_text(encoding="utf-8"))


def history(results):
    """The columns of history.csv by name."""
    with open(results / "history.csv", encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    return {name: [float(row[i]) for row in rows] for i, name in enumerate(names)}
