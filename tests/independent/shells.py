# SPDX-License-Identifier: Apache-2.0
"""Sheets of shell triangles that stretch and bend, drawn at random: energies of docs/shells.md."""

import math
from random import Random

import numpy as np
from complex_step import arc_tangent, cross, dot, sum_of
from drawing import vector
from motion import Drawn, System, msh
from solids import draw_method, draw_start, draw_support


class Sheet:
    """nx by ny pairs of triangles, flat or not, somewhere in space; edges "left" and "right"."""

    def __init__(self, random, nx, ny):
        heights = {"flat": lambda x, y: 0.0, "arch": lambda x, y: 0.2 * math.sin(math.pi * x),
                   "fold": lambda x, y: 0.3 * abs(x - 0.5), "saddle": lambda x, y: 0.4 * (x - 0.5) * (y - 0.5),
                   "rough": lambda x, y: random.uniform(-0.08, 0.08)}
        height = heights[random.choice(list(heights))]
        lengths, points = (random.uniform(0.6, 1.5), random.uniform(0.6, 1.5)), []
        for i in range(nx + 1):
            for j in range(ny + 1):
                x = i / nx + (random.uniform(-0.15, 0.15) / nx if 0 < i < nx else 0.0)
                y = j / ny + (random.uniform(-0.15, 0.15) / ny if 0 < j < ny else 0.0)
                points.append((lengths[0] * x, lengths[1] * y, height(x, y)))
        triangles = []
        for i in range(nx):
            for j in range(ny):
                a, b = i * (ny + 1) + j, (i + 1) * (ny + 1) + j
                corners = (a, b, b + 1, a + 1)
                for cut in ((0, 1, 2), (0, 2, 3)) if random.random() < 0.5 else ((0, 1, 3), (1, 2, 3)):
                    k = random.randrange(3)  # any corner may be the first
                    triangles.append([corners[c] for c in cut[k:] + cut[:k]])
        if random.random() < 0.3:
            triangles = [t[::-1] for t in triangles]
        turn = np.linalg.qr([[random.gauss(0, 1) for _ in range(3)] for _ in range(3)])[0]
        self.points = np.array(points) @ (turn if random.random() < 0.5 else np.eye(3)).T
        self.triangles = np.array(triangles)
        self.left = [[j, j + 1] for j in range(ny)]
        self.right = [[nx * (ny + 1) + j, nx * (ny + 1) + j + 1] for j in range(ny)]

    def text(self):
        elements = [(2, 1, t) for t in self.triangles.tolist()]
        elements += [(1, tag, edge) for tag, edges in ((2, self.left), (3, self.right)) for edge in edges]
        return msh(self.points.tolist(), elements, {1: (2, "sheet"), 2: (1, "left"), 3: (1, "right")})

    def normals(self, x):
        """Of all triangles, as long as twice their areas."""
        a, b, c = (x[..., self.triangles[:, i], :] for i in range(3))
        return cross(b - a, c - a)

    def hinges(self):
        """(nodes of an edge, third nodes of its triangles), the places of the triangles; edges of one triangle as
        (edge, third node), the place."""
        third = {}
        for k, t in enumerate(self.triangles.tolist()):
            for i in range(3):
                third[t[i], t[(i + 1) % 3]] = t[(i + 2) % 3], k
        inner = [((a, b, c, third[b, a][0]), (k, third[b, a][1]))
                 for (a, b), (c, k) in third.items() if a < b and (b, a) in third]
        outer = {frozenset((a, b)): ((a, b, c), k) for (a, b), (c, k) in third.items() if (b, a) not in third}
        return inner, outer


class Shell:
    """Energies of stretching, of hinges and of clamped edges."""

    def __init__(self, sheet, law, E, nu, thickness):
        X, self.law, self.thickness = sheet.points, law, thickness
        self.lam, self.mu = E * nu / (1 + nu) / (1 - 2 * nu), E / 2 / (1 + nu)
        self.areas = np.linalg.norm(sheet.normals(X), axis=1) / 2
        sides = X[sheet.triangles[:, 1:]] - X[sheet.triangles[:, :1]]
        first = sides[:, 0] / np.linalg.norm(sides[:, 0], axis=1)[:, None]
        second = np.cross(sheet.normals(X) / (2 * self.areas)[:, None], first)
        self.to_plane = np.linalg.inv(np.stack([sides @ first[:, :, None], sides @ second[:, :, None]], -2)[..., 0]
                                      .swapaxes(1, 2))
        self.bending = E * thickness**3 / 12 / (1 - nu**2) / 6  # D/6
        inner, self.outer = sheet.hinges()
        self.stencils = np.array([nodes for nodes, _ in inner]).reshape(-1, 4)
        around = np.array([self.areas[list(k)].sum() for _, k in inner])
        self.stiffness = 3 * self.bending * self.squared_edges(X, self.stencils) / around
        self.rest = self.angle(X[self.stencils].astype(complex)).real
        self.sheet = sheet

    @staticmethod
    def squared_edges(X, stencils):
        return ((X[stencils[:, 1]] - X[stencils[:, 0]])**2).sum(1)

    @staticmethod
    def angle(x):
        edge = x[..., 1, :] - x[..., 0, :]
        left, right = cross(edge, x[..., 2, :] - x[..., 0, :]), cross(x[..., 3, :] - x[..., 0, :], edge)
        return arc_tangent(dot(cross(left, right), edge) / np.sqrt(dot(edge, edge)), dot(left, right))

    def turn(self, x):
        """From rest, by the shorter way around."""
        turn = self.angle(x) - self.rest
        return turn - 2 * np.pi * np.round(turn.real / (2 * np.pi))

    def stretching(self, x):
        sides = np.stack([x[..., 1, :] - x[..., 0, :], x[..., 2, :] - x[..., 0, :]], -1)
        F = sides @ self.to_plane
        C = F.swapaxes(-1, -2) @ F
        lam, mu, volume = self.lam, self.mu, self.areas * self.thickness
        trace = C[..., 0, 0] + C[..., 1, 1]
        if self.law == "saint-venant-kirchhoff":
            E = (C - np.eye(2)) / 2
            return volume * (lam * mu / (lam + 2 * mu) * ((trace - 2) / 2)**2 + mu * (E * E).sum((-1, -2)))
        det = C[..., 0, 0] * C[..., 1, 1] - C[..., 0, 1] * C[..., 1, 0]
        c = np.ones_like(det)  # the square of the thickness that leaves no stress across
        for _ in range(60):
            c = c - (lam / 2 * np.log(det * c) + mu * (c - 1)) / (lam / 2 / c + mu)
        log_J = np.log(det * c) / 2
        return volume * (lam / 2 * log_J**2 - mu * log_J + mu / 2 * (trace + c - 3))

    def clamps(self, edges):
        """The potential of clamped edges whose nodes move together, so that edges keep their directions."""
        found = [self.outer[frozenset(edge)] for edge in edges]
        stencils = np.array([nodes for nodes, _ in found])
        X, at_rest = self.sheet.points, np.array([self.sheet.normals(self.sheet.points)[k] for _, k in found])
        stiffness = 3 * self.bending * self.squared_edges(X, stencils) / self.areas[[k for _, k in found]]

        def energies(x):
            edge = x[..., 1, :] - x[..., 0, :]
            normal = cross(edge, x[..., 2, :] - x[..., 0, :])
            turned = arc_tangent(dot(cross(at_rest, normal), edge) / np.sqrt(dot(edge, edge)), dot(at_rest, normal))
            return stiffness * turned**2

        return sum_of(energies, stencils)

    def potentials(self):
        found = [sum_of(self.stretching, self.sheet.triangles)]
        if len(self.stencils):
            found.append(sum_of(lambda x: self.stiffness * self.turn(x)**2, self.stencils))
        return found


def draw_loads(random, sheet, areas, system):
    text, triangles = "", sheet.triangles

    def numbers(size):
        return np.array([random.uniform(-size, size) for _ in range(3)])

    def at_corners(of_triangles):
        force = np.zeros_like(sheet.points)
        np.add.at(force, triangles, of_triangles[:, None, :] / 3)
        return force

    if random.random() < 0.5:
        g = numbers(0.5)
        text += f'[[load]]\ntype = "gravity"\nvalue = {vector(g)}\n'
        system.loads.append(lambda t, x, v: system.mass[:, None] * g)
    if random.random() < 0.4:
        p, rate, dead = random.uniform(-0.2, 0.2), random.uniform(1, 5), random.random() < 0.4
        text += f'[[load]]\ntype = "pressure"\ngroup = "sheet"\nvalue = "{p!r}*cos({rate!r}*t)"\n'
        text += "dead = true\n" if dead else ""
        system.loads.append(lambda t, x, v: at_corners(-p * math.cos(rate * t) / 2
                                                        * sheet.normals(sheet.points if dead else x)))
    if random.random() < 0.4:
        traction = at_corners(areas[:, None] * numbers(0.2))
        value = traction.sum(0) / areas.sum()
        text += f'[[load]]\ntype = "traction"\ngroup = "sheet"\nvalue = {vector(value)}\n'
        system.loads.append(lambda t, x, v: traction)
    if random.random() < 0.3:
        force, on = numbers(0.05), sorted({node for edge in sheet.right for node in edge})
        text += f'[[load]]\ntype = "force"\ngroup = "right"\nvalue = {vector(force)}\n'
        pulled = np.zeros_like(sheet.points)
        pulled[on] = force
        system.loads.append(lambda t, x, v: pulled)
    drag = np.zeros(len(sheet.points))
    if random.random() < 0.2:
        c = random.uniform(0.01, 0.2)
        drag += c
        text += f'[[damping]]\ntype = "drag"\ncoefficient = {c!r}\n'
    if random.random() < 0.2:
        alpha = random.uniform(0.1, 0.5)
        drag += alpha * system.mass
        text += f'[[damping]]\ntype = "rayleigh"\nalpha = {alpha!r}\n'
    if drag.any():
        system.dampers.append(lambda t, x, v: -drag[:, None] * v)
    return text


def draw_sheet(random):
    """A sheet, its system, the text of both."""
    sheet = Sheet(random, random.randint(1, 4), random.randint(1, 4))
    E, nu, density = 10**random.uniform(0.5, 2), random.uniform(0, 0.4), random.uniform(1, 10)
    thickness, law = random.uniform(0.03, 0.15), random.choice(["saint-venant-kirchhoff", "neo-hookean"])
    shell = Shell(sheet, law, E, nu, thickness)
    mass = np.zeros(len(sheet.points))
    np.add.at(mass, sheet.triangles, density * thickness * shell.areas[:, None] / 3)
    X = sheet.points
    system = System(X, mass, X.copy(), np.zeros_like(X), shell.potentials())
    text = (f'[mesh]\nfile = "sheet.msh"\n[[material]]\nmodel = "shell"\nyoung = {E!r}\npoisson = {nu!r}\n'
            f'density = {density!r}\nthickness = {thickness!r}\nstretching = "{law}"\n')
    text += draw_loads(random, sheet, shell.areas, system)
    clamped = random.choice(["", "clamped = true\n"])
    fixed = draw_support(random, sorted({node for edge in sheet.left for node in edge}), system, clamped=clamped)
    if "clamped" in fixed:
        system.potentials.append(shell.clamps(sheet.left))
    return sheet, system, text + fixed


def draw(seed):
    random = Random(seed)
    sheet, system, text = draw_sheet(random)
    text += draw_start(random, system, strained=0.15, speed=0.4)
    method = draw_method(random, "[[damping]]" in text)
    if method["method"] == "energy-momentum":
        method["method"] = "avi"
    return Drawn(text, {"sheet.msh": sheet.text()}, system, random.uniform(0.3, 1.0), coarse=0.4, fine=0.1,
                 tolerance=1e-8, **method)
