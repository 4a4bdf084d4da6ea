# SPDX-License-Identifier: Apache-2.0
"""Bodies of triangles and tetrahedra of both orders: meshes, elements, laws, loads and dampers, drawn at random."""

import itertools
import math
from random import Random

import numpy as np
from drawing import linear, vector_field
from motion import Drawn, Motion, System, msh

EDGES = {1: [(0, 1)], 2: [(0, 1), (1, 2), (2, 0)], 3: [(0, 1), (1, 2), (2, 0), (0, 3), (2, 3), (1, 3)]}
GMSH = {(1, 1): 1, (2, 1): 2, (3, 1): 4, (1, 2): 8, (2, 2): 9, (3, 2): 11}  # by dimension and order
LAWS = ("neo-hookean", "saint-venant-kirchhoff", "linear-elastic")


class Mesh:
    """A block of `counts` cuboids along its axes, each of dim! simplices; vertices moved by up to `jitter` of a
    cuboid. Facets: "left" and "right" along x, "top" along y."""

    def __init__(self, random, counts, lengths, order, jitter=0.12):
        self.dim, self.order = dim, _ = len(counts), order
        at = {p: i for i, p in enumerate(itertools.product(*(range(n + 1) for n in counts)))}
        spacing = np.array(lengths) / counts
        moved = [[random.uniform(-jitter, jitter) for _ in range(dim)] for _ in at]
        self.points = (np.array(list(at)) + np.array(moved)) * spacing
        self.cells = []
        for corner in itertools.product(*(range(n) for n in counts)):
            for axes in itertools.permutations(range(dim)):
                path = [corner]
                for axis in axes:
                    path.append(tuple(c + (i == axis) for i, c in enumerate(path[-1])))
                nodes = [at[p] for p in path]
                if round(np.linalg.det(np.eye(dim)[list(axes)])) < 0:
                    nodes[-2:] = nodes[:-3:-1]
                self.cells.append(nodes)
        grid, facets = list(at), self.outer_facets_of(self.cells)

        def on(axis, place):
            return [f for f in facets if all(grid[a][axis] == place for a in f)]

        self.facets = {"left": on(0, 0), "right": on(0, counts[0]), "top": on(1, counts[1])}
        if order == 2:
            self._add_middles()
        self.cells = np.array(self.cells)

    def outer_facets_of(self, cells):
        """By vertices, in the order of their cell's: each is one cell's only."""
        found = {}
        for cell in cells:
            for facet in itertools.combinations(map(int, cell[:self.dim + 1]), self.dim):
                found.setdefault(tuple(sorted(facet)), []).append(facet)
        return [list(facets[0]) for facets in found.values() if len(facets) == 1]

    def _add_middles(self):
        middle, points = {}, list(self.points)

        def raised(nodes):
            for i, j in EDGES[len(nodes) - 1]:
                edge = frozenset((nodes[i], nodes[j]))
                if edge not in middle:
                    middle[edge] = len(points)
                    points.append((points[nodes[i]] + points[nodes[j]]) / 2)
                nodes = [*nodes, middle[edge]]
            return nodes

        self.cells = [raised(cell) for cell in self.cells]
        self.facets = {name: [raised(facet) for facet in facets] for name, facets in self.facets.items()}
        self.points = np.array(points)

    def nodes(self, group):
        return sorted({node for facet in self.facets[group] for node in facet})

    def elements(self, first_tag=1, first_node=0, body="body"):
        """For msh(): elements and names of the groups."""
        groups = [(body, self.dim, self.cells.tolist())]
        groups += [(name, self.dim - 1, facets) for name, facets in self.facets.items()]
        return ([(GMSH[dim, self.order], tag, [first_node + node for node in nodes])
                 for tag, (_, dim, all_nodes) in enumerate(groups, first_tag) for nodes in all_nodes],
                {tag: (dim, name) for tag, (name, dim, _) in enumerate(groups, first_tag)})


def in_space(points):
    return [tuple(map(float, p)) + (0.0,) * (3 - len(p)) for p in points]


# ---- elements ----


def shape(dim, order, at):
    """Shape functions and their derivatives in the reference simplex."""
    L, slopes = np.array([1 - sum(at), *at]), np.vstack([-np.ones(dim), np.eye(dim)])
    if order == 1:
        return L, slopes
    values = [x * (2 * x - 1) for x in L] + [4 * L[i] * L[j] for i, j in EDGES[dim]]
    derivatives = [(4 * x - 1) * d for x, d in zip(L, slopes)]
    derivatives += [4 * (L[i] * slopes[j] + L[j] * slopes[i]) for i, j in EDGES[dim]]
    return np.array(values), np.array(derivatives)


def quadrature(dim, order):
    """Points and weights that Tempi's cells have: one, or three in a triangle and four in a tetrahedron."""
    if order == 1:
        return [([1 / (dim + 1)] * dim, 1 / math.factorial(dim))]
    near = 1 / 6 if dim == 2 else 0.25 - 0.05 * math.sqrt(5)
    far = 1 - dim * near
    return [([far if i == k else near for i in range(dim)], 1 / math.factorial(dim) / (dim + 1))
            for k in range(dim + 1)]


def exact_quadrature(dim):
    """Of polynomials of degree 6 on facets."""
    x, w = np.polynomial.legendre.leggauss(4)
    line = list(zip((x + 1) / 2, w / 2))
    if dim == 1:
        return [([a], v) for a, v in line]
    return [([a, b * (1 - a)], v * w * (1 - a)) for a, v in line for b, w in line]


class Cells:
    """Internal forces of all cells of a mesh, each of a law with constants of its own, viscous or not."""

    def __init__(self, points, cells, order, laws, lame, density):
        self.count, self.dim = points.shape
        dim, self.cells, self.laws = self.dim, cells, laws
        self.lame = lame  # lambda and mu of each cell, (cells, 2)
        self.viscosity = np.zeros_like(lame)  # the same of its viscous stress
        corners = points[cells[:, :dim + 1]]
        J = np.stack([corners[:, i + 1] - corners[:, 0] for i in range(dim)], -1)
        volume = np.linalg.det(J)
        assert (volume > 0).all()
        self.points = [(weight * volume, np.einsum("ak,ekj->eaj", shape(dim, order, at)[1], np.linalg.inv(J)))
                       for at, weight in quadrature(dim, order)]
        # Row sums, and for order 2 the scaled diagonal of the consistent mass (Hinton, Rock, Zienkiewicz).
        shares = {(2, 2): [6] * 3 + [32] * 3, (3, 2): [6] * 4 + [32] * 6}.get((dim, order), [1] * (dim + 1))
        self.cell_mass = np.outer(density * volume / math.factorial(dim), np.array(shares) / sum(shares))
        self.mass = self.gather(self.cell_mass)

    def gather(self, by_cell):
        """Sums at nodes of (cells, nodes, ...)."""
        total = np.zeros((self.count, *by_cell.shape[2:]))
        np.add.at(total, self.cells, by_cell)
        return total

    def stress(self, F):
        """Energy densities and first Piola-Kirchhoff stresses of all cells."""
        lam, mu = self.lame.T
        dim = F.shape[-1]  # 3 for plane strain in space
        eye, J = np.eye(dim), np.linalg.det(F)
        if not (J > 0).all():
            raise ArithmeticError("a cell is inverted")
        inverse, log_J = np.linalg.inv(F).swapaxes(1, 2), np.log(J)

        def hooke(e):
            trace = np.trace(e, axis1=1, axis2=2)
            return (lam / 2 * trace**2 + mu * (e * e).sum((1, 2)),
                    (lam * trace)[:, None, None] * eye + 2 * mu[:, None, None] * e)

        W_green, S = hooke((F.swapaxes(1, 2) @ F - eye) / 2)
        W_small, sigma = hooke((F + F.swapaxes(1, 2)) / 2 - eye)
        energies = (lam / 2 * log_J**2 - mu * log_J + mu / 2 * ((F * F).sum((1, 2)) - dim), W_green, W_small)
        stresses = ((lam * log_J)[:, None, None] * inverse + mu[:, None, None] * (F - inverse), F @ S, sigma)
        which = [self.laws == law for law in LAWS]
        return np.select(which, energies), np.select([w[:, None, None] for w in which], stresses)

    def potential(self, x):
        energy, gradient = 0.0, np.zeros_like(x)
        for weight, slopes in self.points:
            W, P = self.stress(np.einsum("eac,eaj->ecj", x[self.cells], slopes))
            energy += (weight * W).sum()
            gradient += self.gather(weight[:, None, None] * np.einsum("ecj,eaj->eac", P, slopes))
        return energy, gradient

    def fields(self, x):
        """Of all cells: energy, and the means of Cauchy's stress, 3 x 3, over the reference volume, and von Mises'
        stress of that."""
        energy, stress, total = 0.0, 0.0, 0.0
        for weight, slopes in self.points:
            F = np.tile(np.eye(3), (len(self.cells), 1, 1))
            F[:, :self.dim, :self.dim] = np.einsum("eac,eaj->ecj", x[self.cells], slopes)
            W, P = self.stress(F)
            of_law = (self.laws == "linear-elastic")[:, None, None]  # which has one stress
            cauchy = np.where(of_law, P, P @ F.swapaxes(1, 2) / np.linalg.det(F)[:, None, None])
            energy, stress, total = energy + weight * W, stress + weight[:, None, None] * cauchy, total + weight
        stress = stress / total[:, None, None]
        deviator = stress - np.trace(stress, axis1=1, axis2=2)[:, None, None] * np.eye(3) / 3
        return energy, stress, np.sqrt(1.5 * (deviator**2).sum((1, 2)))

    def viscous(self, t, x, v):
        """Of the viscous Kirchhoff stress lambda tr d 1 + 2 mu d of the rate of deformation d (decision 0011)."""
        force = np.zeros_like(x)
        if not self.viscosity.any():
            return force
        lam, mu = self.viscosity.T[:, :, None, None]
        for weight, slopes in self.points:
            inverse = np.linalg.inv(np.einsum("eac,eaj->ecj", x[self.cells], slopes))
            d = np.einsum("eac,eaj->ecj", v[self.cells], slopes) @ inverse
            d = (d + d.swapaxes(1, 2)) / 2
            tau = lam * np.trace(d, axis1=1, axis2=2)[:, None, None] * np.eye(self.dim) + 2 * mu * d
            force -= self.gather(weight[:, None, None] * np.einsum("ecj,eaj->eac", tau @ inverse.swapaxes(1, 2), slopes))
        return force


class Facets:
    """Integrals over facets of a mesh, with outward normals."""

    def __init__(self, mesh, cells, group):
        self.reference, self.facets, self.dim, self.order = mesh.points, np.array(mesh.facets[group]), mesh.dim, mesh.order
        inside = {}
        for cell in cells[:, :self.dim + 1].tolist():
            for left_out in cell:
                inside[frozenset(cell) - {left_out}] = left_out
        self.side = np.ones((len(self.facets), 1))
        normals = next(self.normals(self.reference))[2]
        for k, facet in enumerate(self.facets[:, :self.dim].tolist()):
            inwards = mesh.points[inside[frozenset(facet)]] - mesh.points[facet[0]]
            self.side[k] = -np.sign(normals[k] @ inwards)

    def normals(self, x):
        """Of each point of the quadrature its weight, shape functions and the normals times areas there."""
        for at, weight in exact_quadrature(self.dim - 1):
            values, slopes = shape(self.dim - 1, self.order, at)
            tangents = np.einsum("ak,fac->fkc", slopes, x[self.facets])
            normal = (np.stack([tangents[:, 0, 1], -tangents[:, 0, 0]], -1) if self.dim == 2
                      else np.cross(tangents[:, 0], tangents[:, 1]))
            yield weight, values, self.side * normal

    def integral(self, x, value):
        """At nodes, of value(values of the shape functions, normals): force per reference simplex."""
        force = np.zeros_like(x)
        for weight, shapes, normals in self.normals(x):
            np.add.at(force, self.facets, weight * shapes[None, :, None] * value(shapes, normals)[:, None, :])
        return force

    def traction(self, f, t):
        def value(shapes, normals):
            places = np.einsum("a,fac->fc", shapes, self.reference[self.facets])
            return np.linalg.norm(normals, axis=1)[:, None] * f(places, t)

        return self.integral(self.reference, value)

    def pressure(self, p, x):
        return self.integral(x, lambda shapes, normals: -p * normals)


# ---- what is drawn ----


def draw_materials(random, cells, points, stiffness):
    """Text, Cells' arguments: one material, or two on either side of a plane."""
    centres = points[cells[:, :points.shape[1] + 1]].mean(1)
    laws = np.empty(len(cells), object)
    lame, density, text = np.zeros((len(cells), 2)), np.zeros(len(cells)), ""
    cut = float(np.median(centres[:, 0])) + 1e-3
    near = centres[:, 0] < cut
    halves = [("", np.ones(len(cells), bool))]
    if random.random() < 0.4 and near.any() and not near.all():
        halves = [(f'where = "X < {cut!r}"\n', near), (f'where = "X >= {cut!r}"\n', ~near)]
    for where, here in halves:
        law, E, nu = random.choice(LAWS), 10**random.uniform(*stiffness), random.uniform(0, 0.4)
        rho = random.uniform(0.5, 2)
        lam, mu = E * nu / (1 + nu) / (1 - 2 * nu), E / 2 / (1 + nu)
        constants = random.choice([f"young = {E!r}\npoisson = {nu!r}\n", f"lambda = {lam!r}\nmu = {mu!r}\n"])
        text += f'[[material]]\n{where}model = "{law}"\n{constants}density = {rho!r}\n'
        laws[here], lame[here], density[here] = law, (lam, mu), rho
    return text, laws, lame, density


def draw_loads(random, mesh, cells, system):
    """Adds forces to the system; returns their text."""
    X, dim, text = mesh.points, mesh.dim, ""
    centre = X[cells.cells[:, :dim + 1]].mean(1)[:, 1]
    if random.random() < 0.5:
        f, value = vector_field(random, 0.4, dim)
        level = float(centre.mean())
        part = random.random() < 0.3
        mass = cells.gather(np.where((centre < level) | (not part), 1.0, 0.0)[:, None] * cells.cell_mass)
        text += '[[load]]\ntype = "gravity"\n' + (f'where = "Y < {level!r}"\n' if part else "") + f"value = {value}\n"
        system.loads.append(lambda t, x, v: mass[:, None] * f(X, t))
    if random.random() < 0.5:
        group = random.choice(["right", "top"])
        of_traction, value = vector_field(random, 0.2, dim)
        facets = Facets(mesh, cells.cells, group)
        text += f'[[load]]\ntype = "traction"\ngroup = "{group}"\nvalue = {value}\n'
        system.loads.append(lambda t, x, v: facets.traction(of_traction, t))
    if random.random() < 0.5:
        group, dead = random.choice(["right", "top"]), random.random() < 0.4
        p, rate = random.uniform(-0.2, 0.2), random.uniform(1, 5)
        pressed = Facets(mesh, cells.cells, group)
        text += f'[[load]]\ntype = "pressure"\ngroup = "{group}"\nvalue = "{p!r}*cos({rate!r}*t)"\n'
        text += "dead = true\n" if dead else ""
        system.loads.append(lambda t, x, v: pressed.pressure(p * math.cos(rate * t), X if dead else x))
    if random.random() < 0.3:
        group = random.choice(["right", "top"])
        of_nodes, value = vector_field(random, 0.1, dim)
        on = np.zeros((len(X), 1))
        on[mesh.nodes(group)] = 1.0
        text += f'[[load]]\ntype = "force"\ngroup = "{group}"\nvalue = {value}\n'
        system.loads.append(lambda t, x, v: on * of_nodes(X, t))
    return text


def draw_dampers(random, mesh, cells, system, viscosity=1.0):
    """`viscosity`: a factor on that of cells."""
    drag, text = np.zeros(len(mesh.points)), ""
    if random.random() < 0.2:
        c = random.uniform(0.01, 0.2)
        right = random.random() < 0.5
        drag[mesh.nodes("right") if right else slice(None)] += c
        text += '[[damping]]\ntype = "drag"\n' + ('group = "right"\n' if right else "") + f"coefficient = {c!r}\n"
    if random.random() < 0.25:
        alpha, beta = random.uniform(0, 0.5), random.uniform(0, 0.03) * viscosity
        drag += alpha * cells.mass
        cells.viscosity += beta * cells.lame
        text += f'[[damping]]\ntype = "rayleigh"\nalpha = {alpha!r}\nbeta = {beta!r}\n'
    if random.random() < 0.2:
        bulk, shear = random.uniform(0, 0.1) * viscosity, random.uniform(0, 0.1) * viscosity
        cells.viscosity += np.array([bulk - 2 / 3 * shear, shear])
        text += f'[[damping]]\ntype = "kelvin-voigt"\nbulk_viscosity = {bulk!r}\nshear_viscosity = {shear!r}\n'
    if text:
        system.dampers += [lambda t, x, v: -drag[:, None] * v, cells.viscous]
    return text


def draw_support(random, nodes, system, chance=0.6, clamped=""):
    """Of the nodes on the left: at rest or moving, all components or one."""
    dim = system.reference.shape[1]
    if random.random() > chance:
        return ""
    components = list(range(dim)) if random.random() < 0.7 else [random.randrange(dim)]
    system.held[np.ix_(nodes, components)] = True
    text = '[[fix]]\ngroup = "left"\n' + (clamped if len(components) == dim else "")
    if len(components) < dim:
        text += f'components = ["{"xyz"[components[0]]}"]\n'
    if random.random() < 0.5:
        amplitude, rate = np.array([random.uniform(-0.05, 0.05) for _ in range(dim)]), random.uniform(1, 4)
        system.support = Motion(amplitude, rate)
        text += ("displacement = ["
                 + ", ".join(f'"{float(amplitude[c])!r}*sin({rate!r}*t)"' for c in components) + "]\n")
    return text


def draw_start(random, system, strained=0.08, speed=0.3):
    """Velocities linear in X, and sometimes a strain."""
    X, dim = system.reference, system.reference.shape[1]

    def numbers(size, *shape):
        return np.array([random.uniform(-size, size) for _ in range(math.prod(shape))]).reshape(shape)

    v0, gradient = numbers(speed, dim), numbers(speed, dim, dim)
    system.velocities = v0 + X @ gradient.T
    text = f"[initial]\nvelocity = {linear(v0, gradient)}\n"
    if random.random() < 0.3 and not system.held.any():
        F = np.eye(dim) + numbers(strained, dim, dim)
        system.places = X @ F.T
        text += f"position = {linear(np.zeros(dim), F)}\n"
    return text


METHODS = ["avi"] * 8 + ["newmark", "trapezoidal", "rk4", "midpoint", "gauss", "multi-domain", "symplectic-euler-a",
                         "symplectic-euler-b", "energy-momentum"]
LATTICES = ["powers-of-two", "powers-of-three", "twos-and-threes", "any", "exact"]
ORDERS = {"rk4": 4, "gauss": 4, "symplectic-euler-a": 1, "symplectic-euler-b": 1}


def draw_method(random, damped):
    """Of Drawn: the method, its keys, its order. Dampers on the exact queue fall by less (README, honest limits)."""
    method = random.choice(METHODS)
    keys = ""
    if method == "avi":
        keys = f'lattice = "{random.choice(LATTICES[:-1] if damped else LATTICES)}"\n'
        keys += random.choice(["", "", "residual = true\n"])
        if "powers" in keys:
            keys += random.choice(["", 'coupling = "mollified"\n', 'coupling = "plain"\n'])
    return {"method": method, "keys": keys, "order": ORDERS.get(method, 2)}


def draw_body(random, stiffness=(-0.3, 1.0)):
    """A mesh, its cells, its system, the text of both."""
    dim, order = random.choice([2, 3]), random.choice([1, 1, 2])
    most = {(2, 1): 5, (2, 2): 3, (3, 1): 3, (3, 2): 2}[dim, order]
    mesh = Mesh(random, [random.randint(1, most) for _ in range(dim)],
                [random.uniform(0.6, 1.5) for _ in range(dim)], order)
    material, laws, lame, density = draw_materials(random, mesh.cells, mesh.points, stiffness)
    cells = Cells(mesh.points, mesh.cells, order, laws, lame, density)
    X = mesh.points
    system = System(X, cells.mass, X.copy(), np.zeros_like(X), [cells.potential])
    return mesh, cells, system, f'[mesh]\nfile = "body.msh"\n{material}'


def draw(seed):
    random = Random(seed)
    mesh, cells, system, text = draw_body(random)
    text += draw_loads(random, mesh, cells, system)
    dampers = draw_dampers(random, mesh, cells, system)
    text += dampers + draw_support(random, mesh.nodes("left"), system) + draw_start(random, system)
    return Drawn(text, {"body.msh": msh(in_space(mesh.points), *mesh.elements())}, system, random.uniform(0.4, 1.2),
                 **draw_method(random, bool(dampers)))


