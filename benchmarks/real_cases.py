#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Times whole commands as users run them: bodies loaded, supported, damped, watched, over the same body free.

usage: real_cases.py TEMPI [--quick] [--turns N] [--only "NAME;NAME"] [--json FILE] [--page docs/benchmarks.md] [--picture FILE.png]

Bodies: blocks of tetrahedra graded towards a corner, of 105 k 4-node, 500 k 4-node and 105 k 10-node elements. Every case of
a body runs at the same steps, on one thread; cases take turns, and medians of their ratios to the free run of the same turn
are told. --page replaces what stands between the page's markers by the table.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

KUHN = [(0, 1, 3, 7), (0, 1, 7, 5), (0, 5, 7, 4), (0, 3, 2, 7), (0, 2, 6, 7), (0, 4, 7, 6)]


def block(path, cells, order):
    """A graded block of Kuhn tetrahedra as a MSH 2.2 file; `left` and `surface` by where."""
    n = max(2, round((cells / 6) ** (1 / 3)))
    x = np.linspace(0, 1, n + 1)
    x = (x + 2.2 * x**2) / 3.2  # spacing grows some fivefold
    rng = np.random.default_rng(1)
    grid = np.stack(np.meshgrid(x, x, x, indexing="ij"), axis=-1)
    spacing = np.minimum(np.diff(x, prepend=-1), np.diff(x, append=2))
    inside = np.zeros_like(grid)
    inside[1:-1, 1:-1, 1:-1] = 1
    local = np.minimum(np.minimum(spacing[:, None, None], spacing[None, :, None]), spacing[None, None, :])
    grid = grid + 0.15 * inside * local[..., None] * rng.uniform(-1, 1, grid.shape)
    number = np.arange((n + 1) ** 3).reshape(n + 1, n + 1, n + 1)
    corners = [number[i : n + i, j : n + j, k : n + k].ravel() for k in (0, 1) for j in (0, 1) for i in (0, 1)]
    tets = np.concatenate([np.stack([corners[c] for c in tet], axis=1) for tet in KUHN])
    points = grid.reshape(-1, 3)
    a, b, c, d = (points[tets[:, i]] for i in range(4))
    flipped = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) < 0
    tets[flipped] = tets[flipped][:, [0, 2, 1, 3]]
    kind = 4
    if order == 2:
        kind = 11
        edges = np.sort(np.concatenate([tets[:, e] for e in ([0, 1], [1, 2], [0, 2], [0, 3], [2, 3], [1, 3])]), axis=1)
        unique, place = np.unique(edges, axis=0, return_inverse=True)
        middle = place.reshape(6, -1).T + len(points)
        points = np.concatenate([points, 0.5 * (points[unique[:, 0]] + points[unique[:, 1]])])
        tets = np.concatenate([tets, middle], axis=1)
    with open(path, "w", encoding="ascii") as out:
        out.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n")
        out.write(f"$Nodes\n{len(points)}\n")
        np.savetxt(out, np.column_stack([np.arange(1, len(points) + 1), points]), fmt="%d %.17g %.17g %.17g")
        out.write(f"$EndNodes\n$Elements\n{len(tets)}\n")
        head = np.column_stack([np.arange(1, len(tets) + 1)] + [np.full(len(tets), v) for v in (kind, 2, 1, 1)])
        np.savetxt(out, np.column_stack([head, tets + 1]), fmt="%d")
        out.write("$EndElements\n")
    return len(tets)


HELD = '[[fix]]\nwhere = "X < 1e-9"\n'
MOVED = '[[fix]]\nwhere = "X < 1e-9"\ndisplacement = ["1e-6*sin(1000*t)", "1e-6*Y*sin(1000*t)", "0"]\n'
SURFACE = 'where = "X < 1e-9 || Y < 1e-9 || Z < 1e-9 || X > 1-1e-9 || Y > 1-1e-9 || Z > 1-1e-9"\n'
GRAVITY = '[[load]]\ntype = "gravity"\nvalue = {}\n'
CONSTANT = GRAVITY.format("[0, 0, -9.81]")
GRAVITY_OF_T = GRAVITY.format('["0", "0", "-9.81*sin(100*t)"]')
PRESSURE = '[[load]]\ntype = "pressure"\nvalue = 1e5\n' + SURFACE
RAYLEIGH = '[[damping]]\ntype = "rayleigh"\nalpha = 10.0\nbeta = 1e-8\n'
PROBE = '[[probe]]\nname = "corner"\npoint = [1, 1, 1]\n'

# name: (sections, keys of [integrator]); free first.
CASES = {
    "free": ("", ""),
    "gravity": (CONSTANT, ""),
    "gravity of t": (GRAVITY_OF_T, ""),
    "gravity of X and t": (GRAVITY.format('["0", "0", "-9.81*(1+X)*sin(100*t)"]'), ""),
    "held, gravity": (HELD + CONSTANT, ""),
    "moved, gravity": (MOVED + CONSTANT, ""),
    "pressure": (PRESSURE, ""),
    "dead traction": ('[[load]]\ntype = "traction"\nvalue = [0, 0, 1e5]\n' + SURFACE, ""),
    "dead traction of t": ('[[load]]\ntype = "traction"\nvalue = ["0", "0", "1e5*sin(100*t)"]\n' + SURFACE, ""),
    "residual": ("", "residual = true\n"),
    "residual, gravity": (CONSTANT, "residual = true\n"),
    "residual, gravity of t": (GRAVITY_OF_T, "residual = true\n"),
    "residual, pressure": (PRESSURE, "residual = true\n"),
    "drag": ('[[damping]]\ntype = "drag"\ncoefficient = 1e-3\n', ""),
    "rayleigh": (RAYLEIGH, ""),
    "residual, rayleigh": (RAYLEIGH, "residual = true\n"),
    "held, gravity, pressure, probe": (HELD + CONSTANT + PRESSURE + PROBE, ""),
}
# One step for all, a twentieth of a typical stable one so that all are stable: each over newmark.
METHODS = ["newmark", "trapezoidal", "symplectic-euler-a", "symplectic-euler-b", "rk4", "rattle"]
# Ten distances within the face X = 0, whose nodes come first; what is near it begins at rest, as constraints want it.
CONSTRAINTS = f'[[constraint]]\ntype = "distance"\npairs = {[[7 * i + 1, 7 * i + 4] for i in range(10)]}\n'
VELOCITY = ["0.5*sin(5*Y)", "0.5*sin(4*Z)", "0.5*sin(3*X)"]


def write_case(folder, name, mesh, end_time, output):
    integrator = 'lattice = "powers-of-two"\nneighbour_ratio = 1.5\nsafety = 0.5\ntrial = 0.0\n'
    velocity = VELOCITY
    if name in METHODS:
        velocity = [f"{v}*(X > 0.1)" for v in VELOCITY]
        sections, keys = CONSTRAINTS if name == "rattle" else "", f'method = "{name}"\n'
        integrator = "safety = 0.5\n"
    else:
        sections, keys = CASES[name]
    path = folder / (name.replace(" ", "_").replace(",", "") + ".toml")
    path.write_text(
        f'[mesh]\nfile = "{mesh}"\n[[material]]\nlambda = 93e9\nmu = 10e9\ndensity = 7800\n'
        + f"[initial]\nvelocity = {json.dumps(velocity)}\n"
        + sections
        + f"[integrator]\n{integrator}{keys}"
        + f"[run]\nend_time = {end_time}\n{output}"
    )
    return path


def run(tempi, path, threads=1):
    start = time.perf_counter()
    out = path.with_suffix(".out")
    subprocess.run([tempi, "run", path, "--out", out, "--overwrite", "--quiet", "--threads", str(threads)], check=True)
    summary = json.loads((out / "summary.json").read_text())
    return {"update": summary["time_per_update"], "command": time.perf_counter() - start, "summary": summary}


# What is asked of each: at most (for two threads and particles: at least), and the aim.
ASKED = {
    "gravity": (1.10, 1.03), "gravity of t": (1.15, 1.05), "gravity of X and t": (1.6, 1.3), "held, gravity": (1.2, 1.08),
    "moved, gravity": (1.2, 1.08), "pressure": (1.35, 1.15), "dead traction": (1.35, 1.15), "dead traction of t": (1.35, 1.15),
    "residual": (1.6, 1.3), "drag": (1.25, 1.1), "rayleigh": (3.0, 2.0), "trapezoidal": (1.5, 1.15),
    "symplectic-euler-a": (1.5, 1.15), "symplectic-euler-b": (1.5, 1.15), "rk4": (6.0, 4.6), "rattle": (1.5, 1.15),
    "everything, whole command": (1.8, 1.25), "one history row over one pass": (2.0, 1.2),
}
SILENT = "[output]\nframes = 0\nhistory = 1\n"


def measure(tempi, folder, cells, order, names, turns, seconds):
    """Ratios of time per update to the first of `names`, which runs again after every second of the others: to the
    mean of its runs before and after. {name: (median, least, most)}, [ns] of the first."""
    mesh = f"block_{cells}_{order}.msh"
    count = block(folder / mesh, cells, order) if not (folder / mesh).exists() else None
    first = run(tempi, write_case(folder, names[0], mesh, 1e-5, SILENT))["summary"]
    end_time = 1e-5 * seconds / first["wall_time"]
    cases = {n: write_case(folder, n, mesh, end_time, SILENT) for n in names}

    def update(name):
        return run(tempi, cases[name])["update"]

    ratios, bases = {n: [] for n in names[1:]}, []
    for _ in range(turns):
        before = update(names[0])
        for i in range(1, len(names), 2):
            pair = {n: update(n) for n in names[i : i + 2]}
            after = update(names[0])
            for name, found in pair.items():
                ratios[name].append(2 * found / (before + after))
            bases.append(before)
            before = after
    ns = 1e9 * statistics.median(bases)
    title = f"{count or first['elements']} tetrahedra of order {order}, {names[0]}: {ns:.1f} ns an update"
    print(title)
    rows = {names[0]: (1.0, 1.0, 1.0)}
    for name, found in ratios.items():
        rows[name] = (statistics.median(found), min(found), max(found))
        print("  {:<32} {:6.3f}   ({:.3f} to {:.3f})".format(name, *rows[name]), flush=True)
    return {"title": title, "rows": rows, "end_time": end_time, "mesh": mesh}


def whole_command(tempi, folder, body, turns):
    """Gravity, support, pressure and a probe with every default of outputs, start included, over the bare update loop, of
    1000 updates of each element and more; two threads; a row."""
    least = run(tempi, write_case(folder, "free", body["mesh"], body["end_time"], SILENT))["summary"]["updates"]["min"]
    end_time = body["end_time"] * max(1.0, 1010 / least)
    path = write_case(folder, "held, gravity, pressure, probe", body["mesh"], end_time, "")
    free = write_case(folder, "free", body["mesh"], end_time, SILENT)
    rows = write_case(folder, "newmark", body["mesh"], body["end_time"], "[output]\nframes = 0\nhistory = 100\n")
    found = {"whole": [], "threads": [], "row": []}
    for _ in range(turns):
        bare, loaded, two = run(tempi, free)["summary"], run(tempi, path)["summary"], run(tempi, path, 2)["summary"]
        found["whole"].append(loaded["total_time"] / bare["wall_time"])
        found["threads"].append(loaded["wall_time"] / two["wall_time"])
        sampled = run(tempi, rows)["summary"]
        found["row"].append(sampled["history_time"] / 101 / (sampled["time_per_update"] * sampled["elements"]))
    titles = {"whole": "everything, whole command", "threads": "two threads over one, everything",
              "row": "one history row over one pass"}  # of newmark, where no guard looks at rows
    rows = {titles[k]: (statistics.median(v), min(v), max(v)) for k, v in found.items()}
    for name, values in rows.items():
        print("  {:<32} {:6.3f}   ({:.3f} to {:.3f})".format(name, *values), flush=True)
    return rows


ARGON = """[particles]
mass = [1, 1, 1, 1, 1, 1, 1]
position = [[0, 0], [1.1, 0], [0.55, 0.95], [-0.55, 0.95], [-1.1, 0], [-0.55, -0.95], [0.55, -0.95]]
velocity = [[0, 0], [0.1, 0.2], [-0.1, 0], [0, -0.1], [0.1, -0.1], [-0.1, 0.1], [0, -0.1]]
[[potential]]
type = "lennard-jones"
epsilon = 1.0
sigma = 1.0
[integrator]
method = "newmark"
step = 1e-3
[run]
end_time = {}
[output]
frames = 0
history = 1
"""


def argon(tempi, folder, turns):
    path = folder / "argon.toml"
    path.write_text(ARGON.format(2000))
    rates = []
    for _ in range(turns):
        start = time.perf_counter()
        run(tempi, path)
        rates.append(2e6 / (time.perf_counter() - start) / 1e6)
    print(f"  7 Lennard-Jones atoms, velocity Verlet: {statistics.median(rates):.2f} M steps/s")
    return statistics.median(rates), min(rates), max(rates)


def row(name, values):
    shown = "{:.2f} ({:.2f} to {:.2f})".format(*values)
    if name not in ASKED:
        return f"| {name} | {shown} |  |  |  |"
    limit, aim = ASKED[name]
    verdict = "aim" if values[0] <= aim else "ok" if values[0] <= limit else "**missed**"
    return f"| {name} | {shown} | {limit} | {aim} | {verdict} |"


def page(bodies, path, whole):
    """Writes the table of a page; unless `whole`, only the rows that were measured."""
    text = path.read_text(encoding="utf-8")
    begin, end = "<!-- real cases: begin -->\n", "<!-- real cases: end -->"
    head, rest = text.split(begin)
    table, tail = rest.split(end)
    lines = [f"{machine()}; medians of turns side by side, least and most in brackets", ""]
    for body in bodies:
        rows = {n: row(n, v) for n, v in list(body["rows"].items())[1:]}
        if whole:
            lines += [body["title"], "", "| what | over it | at most | aim |  |", "|---|---|---|---|---|", *rows.values(), ""]
            continue
        title, old = body["title"].split(":")[0], table.split("\n\n")
        place = next(i for i, part in enumerate(old) if part.startswith(title)) + 1
        kept = [rows.get(line.split(" | ")[0][2:], line) for line in old[place].split("\n")]
        table = "\n\n".join([*old[:place], "\n".join(kept), *old[place + 1 :]])
    if whole:
        table = "\n".join(lines)
    path.write_text(head + begin + table + end + tail, encoding="utf-8")


def machine():
    for line in Path("/proc/cpuinfo").read_text(encoding="ascii").splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "a machine"


def picture(bodies, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [n for n in CASES if n != "free" and any(n in b["rows"] for b in bodies)]
    figure, ax = plt.subplots(figsize=(8, 0.34 * len(names) + 1.2), layout="constrained")
    asynchronous = [b for b in bodies if "free" in b["rows"]]
    for k, body in enumerate(asynchronous):
        places = [i + 0.8 * (k + 0.5) / len(asynchronous) - 0.4 for i, n in enumerate(names) if n in body["rows"]]
        values = [body["rows"][n][0] for n in names if n in body["rows"]]
        ax.barh(places, values, height=0.75 / len(asynchronous), label=body["title"].split(",")[0])
    for i, name in enumerate(names):
        if name in ASKED:
            ax.plot([ASKED[name][0]] * 2, [i - 0.45, i + 0.45], color="black", lw=1)
    ax.axvline(1.0, color="grey", lw=0.5)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlabel("time of an update over a free, unwatched one (black: at most)")
    ax.legend(fontsize=8)
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tempi")
    parser.add_argument("--quick", action="store_true", help="one small body, one turn: to see that it works")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--bodies", default="105000/1;500000/1;105000/2")
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    parser.add_argument("--page", help="write the table there; with --only, these rows of it")
    parser.add_argument("--picture")
    options = parser.parse_args()
    wanted = options.only.split(";") if options.only else list(CASES)
    names = ["free"] + [n for n in CASES if n != "free" and n in wanted]
    sizes = [(3000, 1)] if options.quick else [tuple(map(int, b.split("/"))) for b in options.bodies.split(";")]
    turns, seconds = (1, 0.1) if options.quick else (options.turns, 1.5)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        bodies = []
        for cells, order in sizes:
            bodies.append(measure(options.tempi, folder, cells, order, names, turns, seconds))
            if not options.only:
                bodies[-1]["rows"].update(whole_command(options.tempi, folder, bodies[-1], turns))
        if not options.only:
            smallest = min(cells for cells, _ in sizes)
            for cells, order in sizes:
                if cells == smallest:
                    bodies.append(measure(options.tempi, folder, cells, order, METHODS, turns, seconds))
            bodies[-1]["rows"]["7 Lennard-Jones atoms [M steps/s; at least 1, aim 2]"] = argon(options.tempi, folder, turns)
    if options.json:
        Path(options.json).write_text(json.dumps(bodies), encoding="utf-8")
    if options.page:
        page(bodies, Path(options.page), not options.only)
    if options.picture:
        picture(bodies, options.picture)


if __name__ == "__main__":
    sys.exit(main())
