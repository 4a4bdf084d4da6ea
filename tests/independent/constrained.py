# SPDX-License-Identifier: Apache-2.0
"""Bodies of solids.py whose nodes constraints hold: distances, links, surfaces, rigid faces, drawn at random."""

import itertools
import math
from random import Random

import numpy as np
import solids
from drawing import linear, vector
from motion import Drawn, msh


def distance(a, b):
    def rows(x, v):
        gradient, r, w = np.zeros_like(x), x[a] - x[b], v[a] - v[b]
        gradient[a], gradient[b] = r, -r
        return [(gradient, w @ w)]

    return rows


def link(a, anchor):
    def rows(x, v):
        gradient = np.zeros_like(x)
        gradient[a] = x[a] - anchor
        return [(gradient, v[a] @ v[a])]

    return rows


def surface(a, slope, bend):
    """bend(x, v): the second derivative along v twice."""
    def rows(x, v):
        gradient = np.zeros_like(x)
        gradient[a] = slope(x[a])
        return [(gradient, bend(x[a], v[a]))]

    return rows


def draw_constraints(random, mesh, system):
    """Adds to the system; returns the text, and whether all act between nodes."""
    X, dim = system.reference, mesh.dim
    free = [a for a in range(len(X)) if not system.held[a].any()]
    text, internal = "", True

    def take(count):
        taken = random.sample(free, min(count, len(free)))
        free[:] = [a for a in free if a not in taken]
        return taken

    def here(a):
        return 'where = "' + " && ".join(f"abs({c} - ({float(x)!r})) < 1e-9" for c, x in zip("XYZ", X[a])) + '"\n'

    for kind in random.sample(["chain", "chain", "link", "wave", "ellipsoid", "rigid"], random.randint(1, 2)):
        nodes = take({"chain": random.randint(2, 5), "rigid": 0}.get(kind, 1))
        if kind == "rigid":
            nodes = mesh.nodes(random.choice(["right", "top"]))
            if not set(nodes) <= set(free):
                continue
            free[:] = [a for a in free if a not in nodes]
            group = "right" if nodes == mesh.nodes("right") else "top"
            text += f'[[constraint]]\ntype = "rigid-body"\ngroup = "{group}"\n'
            system.constraints += [distance(a, b) for a, b in itertools.combinations(nodes, 2)]
        elif kind == "chain" and len(nodes) > 1:
            pairs = list(itertools.pairwise(nodes))
            text += f'[[constraint]]\ntype = "distance"\npairs = {[[a + 1, b + 1] for a, b in pairs]}\n'
            system.constraints += [distance(a, b) for a, b in pairs]
        elif kind == "link" and nodes:
            anchor, internal = np.array([random.uniform(-0.6, -0.2) for _ in range(dim)]), False
            text += f'[[constraint]]\ntype = "link"\n{here(nodes[0])}anchor = {vector(anchor)}\n'
            system.constraints.append(link(nodes[0], anchor))
        elif kind == "wave" and nodes:  # X - height sin(number Y) is what it was
            (a,), internal = nodes, False
            height, number = random.uniform(0.05, 0.2), random.uniform(1, 4)
            level = float(X[a, 0] - height * math.sin(number * X[a, 1]))
            text += (f'[[constraint]]\ntype = "surface"\n{here(a)}'
                     f'expression = "X - {height!r}*sin({number!r}*Y) - ({level!r})"\n')
            system.constraints.append(surface(
                a, lambda x, k=number, h=height: np.array([1.0, -h * k * math.cos(k * x[1]), 0.0][:dim]),
                lambda x, v, k=number, h=height: h * k * k * math.sin(k * x[1]) * v[1]**2))
        elif kind == "ellipsoid" and nodes:
            (a,), internal = nodes, False
            centre, weights = (np.array([random.uniform(*range_) for _ in range(dim)])
                               for range_ in ((-0.6, -0.2), (0.5, 2.0)))
            level = float((weights * (X[a] - centre)**2).sum())
            terms = [f"{float(w)!r}*({axis} - ({float(c)!r}))^2" for w, axis, c in zip(weights, "XYZ", centre)]
            text += f'[[constraint]]\ntype = "surface"\n{here(a)}expression = "{" + ".join(terms)} - {level!r}"\n'
            system.constraints.append(surface(a, lambda x, w=weights, c=centre: 2 * w * (x - c),
                                              lambda x, v, w=weights: (2 * w * v * v).sum()))
    return text, internal


def draw(seed):
    random = Random(seed)
    mesh, cells, system, text = solids.draw_body(random)
    text += solids.draw_loads(random, mesh, cells, system)
    # These methods refuse steps that are long for viscous cells.
    text += solids.draw_dampers(random, mesh, cells, system, viscosity=0.05)
    text += solids.draw_support(random, mesh.nodes("left"), system)
    constraints, internal = draw_constraints(random, mesh, system)
    if not constraints:
        return None
    if internal and not system.held.any():  # a rigid motion, which they allow
        dim, spin = mesh.dim, random.uniform(-0.3, 0.3)
        gradient, v0 = np.zeros((dim, dim)), [random.uniform(-0.2, 0.2) for _ in range(dim)]
        gradient[0, 1], gradient[1, 0] = -spin, spin
        system.velocities = v0 + mesh.points @ gradient.T
        text += f"[initial]\nvelocity = {linear(v0, gradient)}\n"
    return Drawn(text + constraints, {"body.msh": msh(solids.in_space(mesh.points), *mesh.elements())}, system,
                 random.uniform(0.4, 1.0), random.choice(["rattle", "shake"]))
