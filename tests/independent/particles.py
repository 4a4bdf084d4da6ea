# SPDX-License-Identifier: Apache-2.0
"""Particles inline or from files in any units, in free space or a periodic box, with every potential, drawn at random.

A case is drawn in its file's units and told in SI; `System` is in SI."""

import itertools
import json
import math
from dataclasses import dataclass
from random import Random

import numpy as np
from drawing import vector
from motion import Drawn, System

DALTON, BOHR = 1.66053906660e-27, 5.29177210903e-11
# Of LAMMPS' unit styles: length [m], mass [kg], velocity [m/s].
UNITS = {"si": (1.0, 1.0, 1.0), "lj": (1.0, 1.0, 1.0), "real": (1e-10, DALTON, 1e5), "metal": (1e-10, DALTON, 1e2),
         "cgs": (1e-2, 1e-3, 1e-2), "electron": (BOHR, DALTON, BOHR / 1.03275e-15), "micro": (1e-6, 1e-15, 1.0),
         "nano": (1e-9, 1e-21, 1.0)}


@dataclass
class Units:
    length: float
    mass: float
    speed: float

    @property
    def energy(self):
        return self.mass * self.speed**2

    @property
    def time(self):
        return self.length / self.speed


class Cloud:
    """Particles in numbers of the file's units: places, velocities, masses, kinds; lengths of the box, 0 where free."""

    def __init__(self, random, dim, boxed):
        self.dim, self.box = dim, np.zeros(dim)
        for axis in range(dim):
            if boxed:
                self.box[axis] = random.uniform(3.5, 5.0)
        wanted, points = random.randint(2, 11), []
        for _ in range(2000):
            p = np.array([random.uniform(0, side or 2.6) for side in self.box])
            if all(np.linalg.norm(self.nearest(p - q)) > 0.95 for q in points):
                points.append(p)
            if len(points) == wanted:
                break
        self.places, self.count = np.array(points), len(points)
        self.velocities = np.array([[random.gauss(0, 0.3) for _ in range(dim)] for _ in points])
        self.kinds = sorted(random.choice("ABC") for _ in points)
        of_kind = {kind: random.uniform(0.5, 3) for kind in "ABC"}
        self.mass = np.array([of_kind[kind] for kind in self.kinds])

    def nearest(self, r):
        """Of differences of places, those to the nearest image."""
        for axis, side in enumerate(self.box):
            if side:
                r[..., axis] -= side * np.round(r[..., axis] / side)
        return r

    def members(self, kind):
        return [i for i, k in enumerate(self.kinds) if k == kind]

    # ---- files ----

    def csv(self, random):
        names = ["mass", *"xyz"[:self.dim], *("v" + c for c in "xyz"[:self.dim]), "group"]
        order = random.sample(range(len(names)), len(names))
        rows = [[*map(repr, [float(m), *map(float, x), *map(float, v)]), kind]
                for m, x, v, kind in zip(self.mass, self.places, self.velocities, self.kinds)]
        lines = [",".join(row[k] for k in order) for row in [names, *rows]]
        return "\n".join(["# drawn", *lines, ""])

    def xyz(self):
        sides = self.box.tolist()
        lattice = f'Lattice="{sides[0]} 0 0 0 {sides[1]} 0 0 0 {sides[2]}" ' if all(sides) else ""
        lines = [str(self.count), f"{lattice}Properties=species:S:1:pos:R:3:mass:R:1:velo:R:3"]
        lines += [" ".join([kind, *map(repr, [*map(float, x), float(m), *map(float, v)])])
                  for kind, x, m, v in zip(self.kinds, self.places, self.mass, self.velocities)]
        return "\n".join([*lines, ""])

    def lammps(self, random, units):
        """Atoms in any order, and their velocities in another; kinds by their labels."""
        style, before, after = random.choice([("atomic", "", ""), ("charge", "", " 0.5"), ("full", "1 ", " 0.5"),
                                              ("molecular", "1 ", "")])
        kinds = sorted(set(self.kinds))
        lines = [f"LAMMPS data file, units = {units}", "", f"{self.count} atoms", f"{len(kinds)} atom types", ""]
        lines += [f"0.0 {side!r} {c}lo {c}hi" for c, side in zip("xyz", self.box.tolist())] + ["", "Masses", ""]
        lines += [f"{n} {float(self.mass[self.members(kind)[0]])!r} # {kind}" for n, kind in enumerate(kinds, 1)]
        lines += ["", f"Atoms # {style}", ""]
        for i in random.sample(range(self.count), self.count):
            kind = kinds.index(self.kinds[i]) + 1
            lines.append(f"{i + 1} {before}{kind}{after} " + " ".join(map(repr, self.places[i].tolist())))
        lines += ["", "Velocities", ""]
        for i in random.sample(range(self.count), self.count):
            lines.append(f"{i + 1} " + " ".join(map(repr, self.velocities[i].tolist())))
        return "\n".join([*lines, ""])


# ---- laws of the distance r: keys (in SI, by the units u), V and V' in the file's units ----


def lennard_jones(random, u, cutoff):
    epsilon, sigma = random.uniform(0.3, 1), random.uniform(0.8, 0.95)

    def V(r):
        return 4 * epsilon * ((sigma / r)**12 - (sigma / r)**6)

    def slope(r):
        return 4 * epsilon * (6 * (sigma / r)**6 - 12 * (sigma / r)**12) / r

    text = f"epsilon = {epsilon * u.energy!r}\nsigma = {sigma * u.length!r}\n"
    if not cutoff:
        return text, V, slope
    return (text + f"cutoff = {cutoff * u.length!r}\n", lambda r: np.where(r < cutoff, V(r) - V(cutoff), 0.0),
            lambda r: np.where(r < cutoff, slope(r), 0.0))


def morse(random, u, _):
    depth, width, length = random.uniform(0.5, 2), random.uniform(1, 2), random.uniform(0.9, 1.4)
    return (f"depth = {depth * u.energy!r}\ninverse_width = {width / u.length!r}\nlength = {length * u.length!r}\n",
            lambda r: depth * (1 - np.exp(-(r - length) * width))**2,
            lambda r: 2 * depth * width * (1 - np.exp(-(r - length) * width)) * np.exp(-(r - length) * width))


def spring(random, u, _):
    k, length = random.uniform(0.5, 20), random.uniform(0.5, 1.4)
    return (f"stiffness = {k * u.energy / u.length**2!r}\nlength = {length * u.length!r}\n",
            lambda r: 0.5 * k * (r - length)**2, lambda r: k * (r - length))


def tanh_spring(random, u, _):
    strength, width, length = random.uniform(0.5, 3), random.uniform(0.1, 0.4), random.uniform(0.5, 1.4)
    return (f"strength = {strength * u.energy / u.length!r}\nwidth = {width * u.length!r}\nlength = {length * u.length!r}\n",
            lambda r: 2 * strength * width * np.log(np.cosh((r - length) / (2 * width))),
            lambda r: strength * np.tanh((r - length) / (2 * width)))


def hertz(random, u, _):
    k, length = random.uniform(2, 20), random.uniform(1, 1.4)
    return (f"stiffness = {k * u.energy / u.length**2.5!r}\nlength = {length * u.length!r}\n",
            lambda r: 0.4 * k * np.maximum(length - r, 0)**2.5, lambda r: -k * np.maximum(length - r, 0)**1.5)


def expression(random, u, _):
    a, c = random.uniform(0.2, 1), random.uniform(0.5, 2)
    return (f'expression = "{a * u.energy!r}*exp(-{c / u.length!r}*r)"\n', lambda r: a * np.exp(-c * r),
            lambda r: -a * c * np.exp(-c * r))


LAWS = {"lennard-jones": lennard_jones, "morse": morse, "spring": spring, "tanh-spring": tanh_spring, "hertz": hertz,
        "expression": expression}


def draw_single(random, cloud, nodes, u, kind):
    """A field on single particles: keys, potential of the file's units."""
    on = np.zeros((cloud.count, 1))
    on[nodes] = 1.0
    if kind == "well":
        stiffness = np.array([random.uniform(0.3, 2) for _ in range(cloud.dim)])
        centre, told = cloud.places.copy(), ""
        if random.random() < 0.5:
            centre = np.array([random.uniform(0, 2) for _ in range(cloud.dim)])
            told = f"centre = {vector(centre * u.length)}\n"
        return (f"stiffness = {vector(stiffness * u.energy / u.length**2)}\n{told}",
                lambda x: (0.5 * (on * stiffness * (x - centre)**2).sum(), on * stiffness * (x - centre)))
    g = np.array([random.gauss(0, 0.3) for _ in range(cloud.dim)])
    weight = on * cloud.mass[:, None]
    return (f"acceleration = {vector(g * u.speed**2 / u.length)}\n",
            lambda x: (-(weight * x * g).sum(), -weight * np.broadcast_to(g, x.shape)))


def embedded_atoms(cloud, nodes, depth, cutoff, exponent):
    def potential(x):
        r = cloud.nearest(x[nodes][:, None] - x[nodes][None])
        distance = np.linalg.norm(r, axis=-1)
        np.fill_diagonal(distance, np.inf)
        part = np.maximum(1 - distance / cutoff, 0.0)
        density = (part**exponent).sum(1)
        root = np.sqrt(density)
        with np.errstate(divide="ignore"):
            by_density = np.where(density > 0, -0.5 * depth / root, 0.0)
        slope = -exponent / cutoff * part**(exponent - 1) / distance
        total = np.zeros_like(x)
        total_pull = ((by_density[:, None] + by_density[None]) * slope)[..., None]
        total[nodes] = (total_pull * r).sum(1)
        return -depth * root.sum(), total

    return potential


def of_pairs(cloud, pairs, V, slope):
    first, second = np.array(pairs).T

    def potential(x):
        r = cloud.nearest(x[first] - x[second])
        distance = np.linalg.norm(r, axis=1)
        pull = (slope(distance) / distance)[:, None] * r
        total = np.zeros_like(x)
        np.add.at(total, first, pull)
        np.add.at(total, second, -pull)
        return V(distance).sum(), total

    return potential


def choose_nodes(random, cloud, grouped, u):
    """Nodes, and how a case file says so."""
    kind = random.choice(["all", "where", "particles"] + ["group"] * grouped)
    if kind == "group":
        name = random.choice(cloud.kinds)
        return cloud.members(name), f'group = "{name}"\n'
    if kind == "particles":
        some = sorted(random.sample(range(cloud.count), random.randint(1, cloud.count)))
        return some, f"particles = {some}\n"
    if kind == "where":
        level = random.uniform(0.8, 2.3)
        return [i for i in range(cloud.count) if cloud.places[i, 0] < level], f'where = "X < {level * u.length!r}"\n'
    return list(range(cloud.count)), ""


def choose_pairs(random, cloud, grouped, u, files, must_list):
    """The same of pairs; springs and the like need a list, or `within`."""
    every = list(itertools.combinations(range(cloud.count), 2))
    kind = random.choice(["list", "file", "within"] if must_list else ["list", "within", "nodes", "nodes"]
                         + ["between"] * grouped)
    names = sorted(set(cloud.kinds))
    if kind == "between" and len(names) > 1:
        a, b = random.sample(names, 2)
        return ([p for p in every if {cloud.kinds[i] for i in p} == {a, b}], f'between = ["{a}", "{b}"]\n')
    if kind == "within":
        reach = random.uniform(1.2, 1.7)
        near = [(i, j) for i, j in every if np.linalg.norm(cloud.nearest(cloud.places[i] - cloud.places[j])) <= reach]
        return near, f"within = {reach * u.length!r}\n"
    if kind in ("list", "file"):
        some = random.sample(every, random.randint(1, min(6, len(every))))
        if kind == "list":
            return some, f"pairs = {[list(p) for p in some]}\n"
        name = f"pairs{len(files)}.csv"
        files[name] = "".join(f"{i},{j}\n" for i, j in some)
        return some, f'pairs = "{name}"\n'
    nodes, text = choose_nodes(random, cloud, grouped, u)
    return list(itertools.combinations(nodes, 2)), text


def draw_potential(random, cloud, grouped, u, files):
    """Text, potential of the file's units, whether its force is smooth, at any distance that particles may come to;
    None: it would act on nobody."""
    kind = random.choice([*LAWS, "lennard-jones", "gravity", "embedded-atom", "well", "uniform-field"])
    head = f'[[potential]]\ntype = "{kind}"\n'
    if kind in ("well", "uniform-field", "embedded-atom"):
        nodes, text = choose_nodes(random, cloud, grouped, u)
        if len(nodes) < 2:
            return None
        if kind != "embedded-atom":
            keys, potential = draw_single(random, cloud, nodes, u, kind)
            return head + text + keys, potential, True
        depth, cutoff = random.uniform(0.3, 1), random.uniform(1.5, 1.7)
        exponent = random.choice([3, 4, 5.5])
        return (f"{head}{text}depth = {depth * u.energy!r}\ncutoff = {cutoff * u.length!r}\nexponent = {exponent}\n",
                embedded_atoms(cloud, nodes, depth, cutoff, exponent), False)
    pairs, text = choose_pairs(random, cloud, grouped, u, files, kind in ("morse", "spring", "tanh-spring"))
    if not pairs:
        return None
    split = ""
    if kind in ("lennard-jones", "gravity", "expression") and random.random() < 0.25:
        split = f"split = [{random.uniform(1.1, 1.5) * u.length!r}]\nblend = {0.1 * u.length!r}\n"
    if kind == "gravity":
        G = random.uniform(0.05, 0.3)
        masses = np.array([cloud.mass[i] * cloud.mass[j] for i, j in pairs])
        return (f"{head}{text}{split}G = {G * u.energy * u.length / u.mass**2!r}\n",
                of_pairs(cloud, pairs, lambda r: -G * masses / r, lambda r: G * masses / r**2), False)
    cutoff = random.uniform(1.6, 1.74) if cloud.box.any() or random.random() < 0.3 else None
    keys, V, slope = LAWS[kind](random, u, cutoff)
    smooth = kind not in ("hertz", "spring", "tanh-spring") and "cutoff" not in keys
    return head + text + split + keys, of_pairs(cloud, pairs, V, slope), smooth


def draw_cloud(random):
    """A cloud, its units, the text of [particles], files, whether kinds are groups."""
    dim = random.choice([2, 3])
    form = random.choice(["inline", "csv"] + ["xyz", "lammps"] * (dim == 3))
    cloud = Cloud(random, dim, boxed=form == "lammps" or random.random() < 0.25)
    name = "si" if form == "inline" else random.choice(list(UNITS))
    units, files = Units(*UNITS[name]), {}
    box = f"box = {vector(cloud.box * units.length)}\n" if cloud.box.any() else ""
    told = f'units = "{name}"\n' if name != "si" else ""
    if form == "inline":
        places, velocities = cloud.places.tolist(), cloud.velocities.tolist()
        text = f"mass = {vector(cloud.mass)}\nposition = {places}\nvelocity = {velocities}\n{box}"
    elif form == "csv":
        files["cloud.csv"], text = cloud.csv(random), f'file = "cloud.csv"\n{told}{box}'
    elif form == "xyz":
        files["cloud.extxyz"], text = cloud.xyz(), f'file = "cloud.extxyz"\n{told}'
    else:
        files["data.cloud"] = cloud.lammps(random, name)
        text = f'file = "data.cloud"\n{random.choice(["", told])}'
    return cloud, units, "[particles]\n" + text, files, form != "inline"


METHODS = ["avi"] * 6 + ["newmark", "rk4", "trapezoidal", "symplectic-euler-b", "midpoint", "gauss", "lobatto", "rattle",
                         "multi-domain"]
IMPLICIT = ("midpoint", "gauss", "lobatto")
ORDERS = {"symplectic-euler-b": 1, "rk4": 4, "gauss": 4, "lobatto": 4}


def draw(seed):
    random = Random(seed)
    cloud, units, text, files, grouped = draw_cloud(random)
    drawn = [draw_potential(random, cloud, grouped, units, files) for _ in range(random.randint(1, 4))]
    drawn = [potential for potential in drawn if potential is not None]
    if not drawn:
        return None

    def in_si(potential):
        def of_si(x):
            V, slope = potential(x / units.length)
            return V * units.energy, slope * units.energy / units.length

        return of_si

    X = cloud.places * units.length
    system = System(X, cloud.mass * units.mass, X.copy(), cloud.velocities * units.speed,
                    [in_si(potential) for _, potential, _ in drawn])
    text += "".join(told for told, _, _ in drawn)
    if random.random() < 0.25:
        held = random.randrange(cloud.count)
        system.held[held] = True
        text += f"[[fix]]\nparticles = [{held}]\n"
    if random.random() < 0.25:
        drag = random.uniform(0.05, 0.4) * units.mass / units.time
        system.dampers.append(lambda t, x, v: -drag * v)
        text += f'[[damping]]\ntype = "drag"\ncoefficient = {drag!r}\n'
    if random.random() < 0.25:
        pushed = sorted(random.sample(range(cloud.count), random.randint(1, cloud.count)))
        force, rate = np.zeros_like(X), 2.0 / units.time
        force[pushed] = [random.gauss(0, 0.3) * units.energy / units.length for _ in range(cloud.dim)]
        system.loads.append(lambda t, x, v: force * math.cos(rate * t))
        values = json.dumps([f"{float(f)!r}*cos({rate!r}*t)" for f in force[pushed[0]]])
        text += f'[[load]]\ntype = "force"\nparticles = {pushed}\nvalue = {values}\n'
    smooth = all(is_smooth for _, _, is_smooth in drawn) and not cloud.box.any()
    method = random.choice(METHODS)
    if method in IMPLICIT and "gravity" in text:
        method = "newmark"  # pairs that nearly meet ask implicit equations for smaller steps
    step = 0.04 * units.time  # where nothing need be stiff at the start
    stiff = {"well", "spring", "tanh-spring", "morse"} & {told.split('"')[1] for told, _, _ in drawn}
    steps = {} if stiff else {"steps": lambda safety: f"step = {safety * step!r}\n"}
    return Drawn(text, files, system, random.choice([0.3, 0.6, 1.0]) * units.time, method, order=ORDERS.get(method, 2),
                 coarse=0.05, fine=0.0125, unit=units.length, nearer=None if smooth else 0.0, **steps)
