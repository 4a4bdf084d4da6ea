#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Bodies drawn at random meet with friction and restitution: what of their energy the books do not account for.

usage: drawn_contacts.py TEMPI [--cases N] [--first N] [--set KEY=VALUE]... [--page FILE]

Pairs of blocks, a ball or a cylinder on a block, in a plane too; 3- to 10-node elements, two materials, viscous or not, on a
floor or held; coupling and lattice as they come. --page writes the table between the marks of FILE.
"""

import argparse
import csv
import json
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

CASE = """[mesh]
file = "{name}.geo"
[[material]]
model = "{model}"
young = {young:g}
poisson = {poisson:g}
density = 1000
[[load]]
type = "gravity"
value = {gravity}
{damping}{below}
[[contact]]
distance = {distance}
friction = {friction}
energy_restitution = {restitution}
[initial]
velocity = {velocity}
[integrator]
method = "avi"
coupling = "{coupling}"
lattice = "{lattice}"
[run]
end_time = 0.1
[output]
frames = 0
history = 100
"""
MARKS = "<!-- drawn contacts: begin -->", "<!-- drawn contacts: end -->"


def shapes(draw, dim, size, order):
    """Of Gmsh, and how high the upper one begins [m]."""
    aside, turn = draw.uniform(-0.02, 0.02), draw.uniform(0, 1)
    if dim == 2:
        upper = draw.choice((f"Disk(2) = {{{aside}, 0.115, 0, 0.05}};", "Rectangle(2) = {-0.05, 0.0641, 0, 0.1, 0.06};"))
        return f"Rectangle(1) = {{-0.1, 0.002, 0, 0.2, 0.06}};\n{upper}\n" + ends("Surface", size, order), 0.0625
    height, upper = draw.choice((
        (0.08, f"Box(2) = {{{aside - 0.06}, {aside - 0.05}, 0.085, 0.12, 0.1, 0.1}};\nRotate{{{{0, 0, 1}}, {{0, 0, 0}}, {turn}}}{{Volume{{2}};}}"),
        (0.06, f"Sphere(2) = {{{aside}, 0, 0.13, 0.06}};"),
        (0.06, f"Cylinder(2) = {{-0.08, {aside}, 0.11, 0.16, 0, 0, 0.04}};")))  # fmt: skip
    return f"Box(1) = {{-0.1, -0.1, 0.002, 0.2, 0.2, {height}}};\n{upper}\n" + ends("Volume", size, order), height + 0.0035


def ends(what, size, order):
    return (f"Mesh.MeshSizeMin = {size};\nMesh.MeshSizeMax = {size};\nMesh.ElementOrder = {order};\nMesh.SecondOrderLinear = 1;\n"
            f'Physical {what}("low") = {{1}};\nPhysical {what}("high") = {{2}};\n')  # fmt: skip


def drawn(seed):
    """A case: its file of Gmsh, its text, and its dimension with whether it is viscous."""
    draw = random.Random(seed)
    dim = draw.choice((2, 3, 3, 3))
    order = draw.choice((1, 2))
    size = draw.choice((0.03, 0.04, 0.05)) * (0.5 if dim == 2 else 1) * (1.6 if order == 2 else 1)
    geometry, begins = shapes(draw, dim, size, order)
    speed = draw.uniform(0.05, 1.0)
    way = [draw.uniform(-0.7, 0.7) * speed for _ in range(dim - 1)] + [-speed]
    up = "XYZ"[dim - 1]
    viscous, held = draw.random() < 0.4, draw.random() < 0.3
    coupling = draw.choice(("plain", "plain", "mollified"))
    zero = [0.0] * (dim - 1)
    floor = f'[[wall]]\ntype = "plane"\npoint = {zero + [0.0]}\nnormal = {zero + [1.0]}'
    text = CASE.format(
        name=seed,
        model=draw.choice(("neo-hookean", "neo-hookean", "saint-venant-kirchhoff")),
        young=10 ** draw.uniform(5.3, 6.5),
        poisson=draw.uniform(0.1, 0.4),
        gravity=zero + [-draw.uniform(0, 9.81)],
        damping=f'[[damping]]\ntype = "kelvin-voigt"\nshear_viscosity = {10 ** draw.uniform(1, 3):g}\n' if viscous else "",
        below=f'[[fix]]\nwhere = "{up} < 0.002 + 1e-6"' if held else floor,
        distance=draw.choice((5e-4, 1e-3)),
        friction=draw.choice((0.0, 0.1, 0.3, 0.6, 0.9)),
        restitution=draw.choice((1.0, 1.0, 0.3, 0.5, 0.8)),
        velocity=json.dumps([f"{up} > {begins} ? {v:g} : 0" for v in way]),
        coupling=coupling,
        lattice="powers-of-two" if coupling == "mollified" else draw.choice(("powers-of-two", "powers-of-two", "any")),
    )
    return geometry, text, (dim, viscous)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tempi", type=Path)
    parser.add_argument("--cases", type=int, default=120)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], help="as of tempi run")
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    changes = [word for change in args.set for word in ("--set", change)]
    found, failed, touching = {}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.first, args.first + args.cases):
            geometry, text, kind = drawn(seed)
            (Path(folder) / f"{seed}.geo").write_text('SetFactory("OpenCASCADE");\n' + geometry)
            (Path(folder) / f"{seed}.toml").write_text(text)
            done = subprocess.run([args.tempi.resolve(), "run", f"{seed}.toml", "--quiet", *changes], cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                failed += 1
                print(seed, done.stderr, flush=True)
                continue
            out = Path(folder) / f"{seed}.out"
            touching += json.loads((out / "summary.json").read_text())["measures"]["contact_strikes"] > 0
            with (out / "history.csv").open() as file:
                rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
            off = max(abs(r["total_energy"] - rows[0]["total_energy"] - r["external_work"] - r.get("damping_work", 0)) for r in rows)
            off /= max(r["kinetic_energy"] for r in rows)
            found.setdefault(kind, []).append(off)
            print(seed, *kind, f"{off:.1e}", flush=True)
    lines = [f"{args.cases} cases drawn, {failed} failed, {touching} touch.", "", "| bodies | cases | median | worst |", "| --- | --- | --- | --- |"]
    for (dim, viscous), values in sorted(found.items(), reverse=True):
        lines.append(f"| {dim}-D, {'viscous' if viscous else 'not viscous'} | {len(values)} | {statistics.median(values):.1e} | {max(values):.1e} |")
    print("\n".join(lines))
    if args.page:
        before, rest = args.page.read_text().split(MARKS[0])
        args.page.write_text(before + MARKS[0] + "\n" + "\n".join(lines) + "\n" + MARKS[1] + rest.split(MARKS[1])[1])


if __name__ == "__main__":
    main()
