#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What [[contact]] costs where hardly anything touches: a corner of a tilted plate taps another, and the same two without contact.

usage: few_contacts.py TEMPI [--turns N] [--size METRES] [--thickness METRES] [--end SECONDS] [--surface-safety NUMBER]...

Told are medians of whole commands in turns, over that of the same bodies without contact.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

GEOMETRY = """SetFactory("OpenCASCADE");
Box(1) = {{0, 0, 0, 1, 1, {thickness}}};
Box(2) = {{0.013, 0.021, 0, 0.97, 0.96, {thickness}}};
Rotate{{{{1, 1, 0}}, {{0, 0, 0}}, 0.1}}{{Volume{{2}};}}
Translate{{0, 0, {thickness} + 0.0715}}{{Volume{{2}};}}
Mesh.MeshSizeMin = {size};
Mesh.MeshSizeMax = {size};
Physical Volume("low") = {{1}};
Physical Volume("high") = {{2}};
"""
BODY = """[mesh]
file = "plates.geo"
[[material]]
young = 1e6
poisson = 0.3
density = 1000
[[fix]]
where = "Z < 1e-9"
[initial]
velocity = ["0", "0", "Z > {thickness} + 5e-4 ? -0.2 : 0"]
[run]
end_time = {end}
[output]
history = 10
frames = 0
"""
CONTACT = "[[contact]]\ndistance = {}\n"


def run(tempi, case, name, settings):
    """Time of the whole command [s] and its summary."""
    out = case.parent / name
    words = [tempi, "run", case, "--out", out, "--overwrite", "--quiet", "--threads", "1"]
    began = time.perf_counter()
    subprocess.run([*words, *(word for s in settings for word in ("--set", s))], check=True)
    return time.perf_counter() - began, json.loads((out / "summary.json").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tempi")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--size", type=float, default=0.0102)
    parser.add_argument("--thickness", type=float, default=0.06)
    parser.add_argument("--end", type=float, default=0.1)
    parser.add_argument("--surface-safety", type=float, action="append", default=[])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "plates.geo").write_text(GEOMETRY.format(size=args.size, thickness=args.thickness))
        free, touching = Path(folder) / "free.toml", Path(folder) / "touching.toml"
        free.write_text(BODY.format(end=args.end, thickness=args.thickness))
        touching.write_text(free.read_text() + CONTACT.format(0.1 * args.size))
        cases = {"without contact": (free, []), "default": (touching, [])}
        cases |= {f"surface_safety = {s:g}": (touching, [f"contact.0.surface_safety={s}"]) for s in args.surface_safety}
        done = {name: [] for name in cases}
        for _ in range(args.turns):
            for k, (name, (case, settings)) in enumerate(cases.items()):
                done[name].append(run(args.tempi, case, str(k), settings))
                print(f"{name}: {done[name][-1][0]:.1f} s", flush=True)

    def medians(name):
        return (statistics.median(t for t, _ in done[name]), statistics.median(summary["wall_time"] for _, summary in done[name]))

    whole, updates = medians("without contact")
    print("| | whole command [s] | over that without contact | without start [s] | over that | updates of elements | strikes of layers |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, runs in done.items():
        summary, (took, of_updates) = runs[0][1], medians(name)
        strikes = summary.get("measures", {}).get("contact_strikes", 0)
        print(f"| {name} | {took:.1f} | {took / whole:.2f} | {of_updates:.1f} | {of_updates / updates:.2f} | {summary['updates']['total']:.3g} | {strikes:.3g} |")
    print(json.dumps({k: summary.get(k) for k in ("elements", "nodes", "energy", "measures")}))


if __name__ == "__main__":
    main()
