# SPDX-License-Identifier: Apache-2.0
"""Two bodies that meet, or a sheet and a wall, by layers of contact (docs/contact.md), drawn at random."""

import itertools
from random import Random

import numpy as np
import shells
import solids
from complex_step import STEP, cross, dot, gradient
from drawing import linear, vector
from motion import Drawn, System, msh
from solids import EDGES, Cells, Mesh, draw_dampers, draw_loads, draw_materials, draw_support, in_space

PARALLEL = 1e-3  # of the product of squared lengths: up to there edges are taken away


class Layers:
    """V_l = r_l (eta_l - d)^p / p, all of them."""

    def __init__(self, distance, inner, stiffness, exponent):
        self.distance, self.inner, self.stiffness, self.exponent = distance, inner, stiffness, exponent

    def energy(self, d):
        """Of distances, complex ones too."""
        total, p = 0.0 * d, self.exponent
        for layer in range(60):
            deep = self.inner + (self.distance - self.inner) * 2**(-layer / 2) - d
            if not (deep.real > 0).any():
                return total
            total = total + self.stiffness * 2**((p / 2 + 1) * layer) * np.where(deep.real > 0, deep, 0.0)**p / p
        return total


def closest_on_segments(p, ends):
    """Weights of the points of segments (k, 2, dim) that are closest to points (k, dim)."""
    along = ends[:, 1] - ends[:, 0]
    s = np.clip(dot(p - ends[:, 0], along) / dot(along, along), 0.0, 1.0)
    return np.stack([1.0 - s, s], -1)


def closest_on_triangles(p, corners):
    """The same of triangles (k, 3, 3): within them, or on the nearest of their sides."""
    a, b, c = corners.swapaxes(0, 1)
    normal = cross(b - a, c - a)
    weights = np.stack([dot(cross(c - b, p - b), normal), dot(cross(a - c, p - c), normal),
                        dot(cross(b - a, p - a), normal)], -1) / dot(normal, normal)[:, None]
    best, distance = weights, np.where((weights >= 0.0).all(1), 0.0, np.inf)
    for side in ((0, 1), (1, 2), (2, 0)):
        on_side = np.zeros_like(weights)
        on_side[:, side] = closest_on_segments(p, corners[:, side])
        away = np.linalg.norm(p - (on_side[..., None] * corners).sum(1), axis=1)
        nearer = away < distance
        best, distance = np.where(nearer[:, None], on_side, best), np.where(nearer, away, distance)
    return best


def step(x):
    """S(x) = x^2 (3 - 2 x) from 0 to 1, constant beyond."""
    return np.where(x.real <= 0.0, 0.0, np.where(x.real >= 1.0, 1.0, x * x * (3.0 - 2.0 * x)))


class Surface:
    """Facets that may touch each other and walls; those of each side only the other's where `sides` tell."""

    def __init__(self, X, facets, layers, sides=None):
        self.dim, self.layers, self.facets = X.shape[1], layers, np.array(facets)
        self.vertices = np.unique(self.facets)

        def may_touch(one, other):
            return sides is None or sides[one] != sides[other]

        self.pushed = np.array([(a, *f) for f in facets for a in self.vertices.tolist()
                                if a not in f and may_touch(a, f[0])])
        edges = sorted({tuple(sorted(e)) for f in facets for e in itertools.combinations(f, 2)})
        self.edges = np.array([(*e, *f) for e, f in itertools.combinations(edges, 2)
                               if not set(e) & set(f) and may_touch(e[0], f[0])] if self.dim == 3 else [], int)
        self.edges = self.edges.reshape(-1, 4)
        lengths = [((X[self.edges[:, i + 1]] - X[self.edges[:, i]])**2).sum(1) for i in (0, 2)]
        self.parallel = PARALLEL * lengths[0] * lengths[1]
        self.walls = []  # x -> energy, gradient

    def near(self, x, stencils, split):
        """Which pairs have boxes closer than the layers reach."""
        if not len(stencils):
            return np.zeros(0, bool)
        boxes = [(x[part].min(1), x[part].max(1)) for part in (stencils[:, :split], stencils[:, split:])]
        gap = np.maximum(boxes[0][0] - boxes[1][1], boxes[1][0] - boxes[0][1]).max(1)
        return gap < self.layers.distance

    def along_lines(self, x, stencils, weights, fixed=0.0, radius=0.0):
        """Energy and gradient by the distance |sum of weights times places - fixed| - radius. To first order it
        changes as if closest points stood still."""
        between = (weights[..., None] * x[stencils]).sum(1) - fixed
        length = np.linalg.norm(between, axis=1)
        d = length - radius
        total = np.zeros_like(x)
        V = self.layers.energy(d + 1j * STEP)
        np.add.at(total, stencils, (V.imag / STEP / length)[:, None, None] * weights[..., None] * between[:, None, :])
        return V.real.sum(), total

    def vertices_and_facets(self, x):
        pairs = self.pushed[self.near(x, self.pushed, 1)]
        closest = closest_on_triangles if self.dim == 3 else closest_on_segments
        weights = closest(x[pairs[:, 0]], x[pairs[:, 1:]])
        return self.along_lines(x, pairs, np.concatenate([np.ones((len(pairs), 1)), -weights], 1))

    def edges_and_edges(self, x):
        here = self.near(x, self.edges, 2)
        pairs, parallel, total = self.edges[here], self.parallel[here], np.zeros_like(x)

        def energies(y):
            e, f, r = y[..., 1, :] - y[..., 0, :], y[..., 3, :] - y[..., 2, :], y[..., 0, :] - y[..., 2, :]
            ee, ff, ef, er, fr = dot(e, e), dot(f, f), dot(e, f), dot(e, r), dot(f, r)
            with np.errstate(all="ignore"):
                s, t = (ef * fr - er * ff) / (ee * ff - ef**2), (ee * fr - ef * er) / (ee * ff - ef**2)
                area = cross(e, f)
                factor = step(dot(area, area) / parallel)
                for place in (s, 1 - s, t, 1 - t):
                    factor = factor * step(4 * place)
                apart = r + s[..., None] * e - t[..., None] * f
                V = self.layers.energy(np.sqrt(dot(apart, apart)))
            return np.where(factor.real > 0.0, factor * V, 0.0)

        V, slopes = gradient(energies, x[pairs])
        np.add.at(total, pairs, slopes)
        return V.sum(), total

    def potential(self, x):
        parts = [self.vertices_and_facets(x)] + ([self.edges_and_edges(x)] if self.dim == 3 else [])
        parts += [wall(x) for wall in self.walls]
        return sum(V for V, _ in parts), sum(g for _, g in parts)


def draw_wall(random, surface, X):
    """Adds it to the surface; returns its text."""
    dim, reach = X.shape[1], surface.layers.distance
    low, high = X.min(0), X.max(0)
    all_vertices = surface.vertices[:, None]
    kind = random.choice(["plane", "ball", "hollow"] + (["tube"] if dim == 3 else []))
    axis = np.array([random.gauss(0, 1) for _ in range(dim)])
    axis /= np.linalg.norm(axis)
    clear = reach * random.uniform(1.05, 1.5)
    if kind == "plane":
        level = float((X @ axis).min()) - clear
        text = f'type = "plane"\npoint = {vector(axis * level)}\nnormal = {vector(3 * axis)}\n'

        def wall(x):  # the closest point, a unit above it, is fixed
            height = x[surface.vertices] @ axis - level
            feet = x[surface.vertices] - height[:, None] * axis
            return surface.along_lines(x, all_vertices, np.ones(all_vertices.shape), fixed=feet)
    elif kind == "ball":
        radius, centre = random.uniform(0.2, 0.6), (low + high) / 2
        side = random.choice([-1, 1])
        centre[-1] = (high if side > 0 else low)[-1] + side * (radius + clear)
        text = f'type = "sphere"\ncentre = {vector(centre)}\nradius = {radius!r}\n'

        def wall(x):
            closest = closest_on_triangles if dim == 3 else closest_on_segments
            weights = closest(np.broadcast_to(centre, (len(surface.facets), dim)), x[surface.facets])
            return surface.along_lines(x, surface.facets, weights, fixed=centre, radius=radius)
    else:
        centre = (low + high) / 2
        across = np.eye(dim) - (np.outer(axis, axis) if kind == "tube" else 0.0)
        radius = float(np.linalg.norm((X - centre) @ across, axis=1).max()) + clear
        place = f"centre = {vector(centre)}\n" if kind == "hollow" else f"point = {vector(centre)}\naxis = {vector(axis)}\n"
        text = f'type = "{"sphere" if kind == "hollow" else "cylinder"}"\n{place}radius = {radius!r}\ninside = true\n'

        def wall(x):  # the closest point of the wall is on the other side of the vertex
            away = (x[surface.vertices] - centre) @ across
            distance = np.linalg.norm(away, axis=1)[:, None]
            on_wall = x[surface.vertices] + away / distance * (radius - distance)
            return surface.along_lines(x, all_vertices, np.ones(all_vertices.shape), fixed=on_wall)
    surface.walls.append(wall)
    return "[[wall]]\n" + text


# ---- what is drawn ----


def pieces(mesh):
    """Flat facets of the outer surface: those of quadratic cells are cut at their middles."""
    if mesh.order == 1:
        return mesh.outer_facets_of(mesh.cells)
    middle = {frozenset((cell[i], cell[j])): int(cell[mesh.dim + 1 + k])
              for cell in mesh.cells for k, (i, j) in enumerate(EDGES[mesh.dim])}
    found = []
    for facet in mesh.outer_facets_of(mesh.cells):
        if mesh.dim == 2:
            between = middle[frozenset(facet)]
            found += [[facet[0], between], [between, facet[1]]]
        else:
            a, b, c = facet
            ab, bc, ca = (middle[frozenset(side)] for side in ((a, b), (b, c), (c, a)))
            found += [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    return found


def draw_pair(random, distance):
    """Two blocks, the second somewhere before the first along x, that fly towards each other."""
    dim, order = random.choice([2, 3]), random.choice([1, 1, 1, 2])
    most = {(2, 1): 3, (2, 2): 2, (3, 1): 2, (3, 2): 1}[dim, order]
    first, second = (Mesh(random, [random.randint(1, most) for _ in range(dim)],
                          [random.uniform(*lengths) for _ in range(dim)], order, jitter)
                     for lengths, jitter in (((0.6, 1.5), 0.12), ((0.4, 1.0), 0.0)))
    turn = np.linalg.qr([[random.gauss(0, 1) for _ in range(dim)] for _ in range(dim)])[0]
    turn[:, 0] *= np.linalg.det(turn)
    there = second.points @ turn.T
    there += [random.uniform(-0.3, 0.3) for _ in range(dim)] - there.min(0)
    there[:, 0] += first.points[:, 0].max() - there[:, 0].min() + distance * random.uniform(1.3, 2.0)
    count = len(first.points)
    X, cells = np.vstack([first.points, there]), np.vstack([first.cells, second.cells + count])
    elements, names = first.elements(body="first")
    more, more_names = second.elements(first_tag=11, first_node=count, body="second")
    more = [element for element in more if element[1] == 11]
    pair = first  # from here on with the nodes and cells of both
    pair.points, pair.cells = X, cells
    text, laws, lame, density = draw_materials(random, cells, X, (0.2, 1.0))
    of_cells = Cells(X, cells, order, laws, lame, density)
    system = System(X, of_cells.mass, X.copy(), np.zeros_like(X), [of_cells.potential])
    text = '[mesh]\nfile = "pair.msh"\n' + text + draw_loads(random, pair, of_cells, system)
    text += draw_dampers(random, pair, of_cells, system)
    text += draw_support(random, pair.nodes("left"), system, chance=0.4)
    v0, rates = (np.array([random.uniform(-0.2, 0.2) for _ in range(n)]) for n in (dim, dim * dim))
    rates = rates.reshape(dim, dim)
    rates[0, 0] = -random.uniform(0.2, 0.5)
    v0[0] -= rates[0, 0] * X[:count, 0].max()
    system.velocities = v0 + X @ rates.T
    text += f"[initial]\nvelocity = {linear(v0, rates)}\n"
    files = {"pair.msh": msh(in_space(X), elements + more, {**names, 11: more_names[11]})}
    return system, text, files, pieces(pair), np.arange(len(X)) < count


def draw(seed):
    random = Random(seed)
    distance = random.uniform(0.02, 0.08)
    is_sheet = random.random() < 0.25
    sides = None
    if is_sheet:
        sheet, system, text = shells.draw_sheet(random)
        text += solids.draw_start(random, system, strained=0.0, speed=0.4)
        files, facets = {"sheet.msh": sheet.text()}, sheet.triangles.tolist()
    else:
        system, text, files, facets, is_first = draw_pair(random, distance)
        if random.random() < 0.6:
            sides = is_first
    exponent, inner = random.choice([3.0, 3.0, 3.0, 2.0, 2.5, 4.0]), distance * random.choice([0.1, 0.1, 0.3])
    stiffness = (system.kinetic(system.velocities) + 1e-3) / (distance - inner)**exponent * 10**random.uniform(-1.5, 0.3)
    contact = (f"[[contact]]\ndistance = {distance!r}\ninner_distance = {inner!r}\nstiffness = {float(stiffness)!r}\n"
               f"exponent = {exponent!r}\n" + ('between = ["first", "second"]\n' if sides is not None else ""))
    surface = Surface(system.reference, facets, Layers(distance, inner, float(stiffness), exponent), sides)
    walls = "".join(draw_wall(random, surface, system.reference)
                    for _ in range(random.choice([1, 2] if is_sheet else [0, 1, 2])))
    if surface.potential(system.reference)[0] > 0.0:
        return None  # they touch at the start, which is refused
    system.potentials.append(surface.potential)

    def more(safety):
        return f"{contact}surface_safety = {safety!r}\nalpha = {0.1 * safety!r}\n{walls}"

    return Drawn(text, files, system, random.uniform(0.4, 0.8), keys=random.choice(
        ["", 'lattice = "powers-of-two"\n', 'coupling = "mollified"\n', 'lattice = "powers-of-three"\n']), fine=0.0125,
        more=more, tolerance=1e-8, smallest=2e-5, nearer=20.0)
