#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A fine feature in a large body: a notched plate, AVI against Newmark, each at its largest stable step, whole commands.

usage: notched_plate.py TEMPI [--order 1|2] [--grading slow|fast] [--coupling auto|plain|mollified] [--end-time T]
                        [--turns N] [--threads N] [--json FILE] [--geometry FILE]

A plate of 1 x 0.5 x 0.05 m with a notch 0.5 m long and 2 mm wide, meshed by Gmsh with sizes that grow with the distance
r from the tip: slow, 0.0006 + 0.06 r and at most 0.03 m; fast, 0.0003 + 0.3 r and at most 0.011 m. Held at its lower
edge, gravity and a traction on the upper one. Newmark takes safety 0.95 of the assembled limit, AVI its default choice
of steps at safety 0.95. `command` is everything after the first update: updates, history, frames; meshing and set-up left
out. --geometry writes the geometry, and that is all.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

GRADINGS = {"slow": ("0.0006 + 0.06*{r}", 0.03), "fast": ("0.0003 + 0.3*{r}", 0.011)}
RADIUS = "Sqrt((x-0.5)^2+(y-0.25)^2)"


def geometry(grading):
    size, most = GRADINGS[grading]
    return f"""SetFactory("OpenCASCADE");
Box(1) = {{0, 0, 0, 1, 0.5, 0.05}};
Box(2) = {{0, 0.249, -0.01, 0.5, 0.002, 0.07}};
BooleanDifference(3) = {{ Volume{{1}}; Delete; }}{{ Volume{{2}}; Delete; }};
Physical Volume("plate") = {{3}};
Field[1] = MathEval;
Field[1].F = "Min({most}, {size.format(r=RADIUS)})";
Background Field = 1;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Mesh.Algorithm3D = 10;
"""


CASE = """[mesh]
file = "plate.geo"
order = {order}
[[material]]
young = 210e9
poisson = 0.3
density = 7800
[[fix]]
where = "Y < 1e-9"
[[load]]
type = "gravity"
value = [0, -9.81, 0]
[[load]]
type = "traction"
where = "Y > 0.5 - 1e-9"
value = ["0", "1e6*min(1, t/1e-5)", "0"]
[[probe]]
name = "corner"
point = [0, 0.5, 0]
[integrator]
{integrator}
[run]
end_time = {end_time}
"""
INTEGRATORS = {
    "avi": 'method = "avi"\nsafety = 0.95\n',
    "newmark": 'method = "newmark"\nnewmark_limit = "assembled"\nsafety = 0.95\n',
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tempi")
    parser.add_argument("--order", type=int, default=1)
    parser.add_argument("--grading", default="fast", choices=GRADINGS)
    parser.add_argument("--coupling", default="auto", choices=("auto", "plain", "mollified"))
    parser.add_argument("--end-time", type=float, default=2e-5)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json")
    parser.add_argument("--geometry")
    options = parser.parse_args()
    if options.geometry:
        Path(options.geometry).write_text(geometry(options.grading))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "plate.geo").write_text(geometry(options.grading))
        found = {name: [] for name in INTEGRATORS}
        for _ in range(options.turns):
            for name, integrator in INTEGRATORS.items():
                path = folder / f"{name}.toml"
                coupling = f'coupling = "{options.coupling}"\n' if name == "avi" else ""
                path.write_text(CASE.format(integrator=integrator + coupling, end_time=options.end_time, order=options.order))
                out = folder / f"{name}.out"
                subprocess.run([options.tempi, "run", path, "--out", out, "--overwrite", "--quiet", "--threads",
                                str(options.threads)], check=True)
                summary = json.loads((out / "summary.json").read_text())
                found[name].append({"command": summary["total_time"] - summary["start_time"], "updates": summary["wall_time"], "summary": summary})
    last = {name: runs[-1]["summary"] for name, runs in found.items()}
    print(f"{options.grading} grading, order {options.order}: {last['avi']['elements']} elements, {last['avi']['nodes']} nodes")
    for name, runs in found.items():
        s = last[name]
        print(f"  {name:<8} steps {s['step']['min']:.3g} to {s['step']['max']:.3g} s, {s['updates']['total']} updates, band "
              f"{s['energy']['band']:.1e}; updates {statistics.median(r['updates'] for r in runs):.2f} s, command "
              f"{statistics.median(r['command'] for r in runs):.2f} s")
    rows = {}
    for what in ("updates", "command"):
        ratios = [n[what] / a[what] for a, n in zip(found["avi"], found["newmark"])]
        rows[what] = statistics.median(ratios)
        print(f"  newmark over avi, {what}: {rows[what]:.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    if options.json:
        Path(options.json).write_text(json.dumps({"elements": last["avi"]["elements"], **rows}))


if __name__ == "__main__":
    main()
