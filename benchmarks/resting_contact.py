#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a strike of a layer costs in resting contact: two slabs of rubber, the upper one set down on the lower.

usage: resting_contact.py TEMPI [--turns N] [--threads N] [--size METRES] [--end SECONDS] [--friction NUMBER]

Told are the time of the run without the updates of elements, over its strikes, and over all its time. An update counts as
much as in a run of the same body without contact.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

GEOMETRY = """SetFactory("OpenCASCADE");
Box(1) = {{0, 0, 0, 1, 1, 0.15}};
Box(2) = {{0.013, 0.021, 0.1511, 0.97, 0.96, 0.15}};
Mesh.MeshSizeMin = {0};
Mesh.MeshSizeMax = {0};
Physical Volume("low") = {{1}};
Physical Volume("high") = {{2}};
"""
BODY = """[mesh]
file = "slabs.geo"
[[material]]
young = 1e6
poisson = 0.3
density = 1000
[[load]]
type = "gravity"
value = [0, 0, -9.81]
[[fix]]
where = "Z < 1e-9"
[[damping]]
type = "kelvin-voigt"
shear_viscosity = 300
[initial]
velocity = ["0", "0", "Z > 0.1505 ? -0.05 : 0"]
[run]
end_time = {}
[output]
history = 1
frames = 0
"""
CONTACT = '[[contact]]\ndistance = 1e-3\nbetween = ["high", "low"]\nfriction = {}\n'


def run(tempi, case, threads):
    out = case.with_suffix(".out")
    subprocess.run([tempi, "run", case, "--out", out, "--overwrite", "--quiet", "--threads", str(threads)], check=True)
    return json.loads((out / "summary.json").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tempi")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--size", type=float, default=0.022)
    parser.add_argument("--end", type=float, default=0.05)
    parser.add_argument("--friction", type=float, default=0.0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "slabs.geo").write_text(GEOMETRY.format(args.size))
        touching, free = Path(folder) / "touching.toml", Path(folder) / "free.toml"
        touching.write_text(BODY.format(args.end) + CONTACT.format(args.friction))
        free.write_text(BODY.format(args.end))
        found = []
        for _ in range(args.turns):
            update = run(args.tempi, free, args.threads)["time_per_update"]
            summary = run(args.tempi, touching, args.threads)
            strikes, wall = summary["measures"]["contact_strikes"], summary["wall_time"]
            found.append((1e9 * (wall - update * summary["updates"]["total"]) / strikes, 1e9 * wall / strikes))
            print(f"  {summary['elements']} elements, {strikes:.3g} strikes, {wall:.1f} s", flush=True)
        for values, name in zip(zip(*found), ("without updates", "with them")):
            print(f"a strike, {name}: {statistics.median(values):.0f} ns ({min(values):.0f} to {max(values):.0f})")


if __name__ == "__main__":
    main()
