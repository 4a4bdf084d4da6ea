#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the benchmarks' results: a table of what must be reached, and a picture.

usage: table.py BENCH.json [--markdown] [--picture FILE.png] [--page docs/benchmarks.md]

--page replaces what stands between the page's markers by the tables in Markdown.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
from pathlib import Path


class Results:
    def __init__(self, path: Path) -> None:
        data = json.loads(path.read_text())
        self.machine, self.all, self.quick = data["machine"], data["results"], data["quick"]

    def rows(self, row: str, case: str = "") -> list[dict]:
        return [r for r in self.all if r["row"] == row and r["case"].startswith(case)]


def size(cells: float) -> str:
    return f"{cells / 1e6:.2g} M" if cells >= 0.95e6 else f"{cells / 1e3:.0f} k"


def limits(results: Results) -> list[tuple[str, float, str, float, float, bool]]:
    """(what, value, format, at least, aim, whether more is better), in the order of the issue."""
    rows = []
    tet4 = sorted(results.rows("size", "tet4"), key=lambda r: r["cells"])
    for r in tet4:
        if "scalar newmark" in r:
            rows.append((f"SIMD over scalar Newmark, tet4, {size(r['cells'])}", r["scalar newmark"]["ratio"], "{:.2f} x", 2.0, 2.0, True))
            rows.append((f"Newmark update [ns], tet4, {size(r['cells'])}", r["newmark"]["ns_per_update"], "{:.1f}", 40.0, 25.0, False))
    for r, two, any_ in zip(tet4, (1.1, 1.15, 1.2, 1.2), (1.3, 1.4, 1.5, 1.5)):
        rows.append((f"AVI / Newmark update, tet4, powers of two, {size(r['cells'])}", r["powers-of-two"]["ratio"], "{:.2f}", two, 1.0, False))
        rows.append((f"AVI / Newmark update, tet4, any, {size(r['cells'])}", r["any"]["ratio"], "{:.2f}", any_, 1.1, False))
    for r in results.rows("size", "tet10") + results.rows("size", "tri6"):
        for rule in ("powers-of-two", "any"):
            rows.append((f"AVI / Newmark update, {r['case'].split(',')[0]}, {rule}, {size(r['cells'])}", r[rule]["ratio"], "{:.2f}", 1.2, 1.05, False))
    for r in results.rows("size") + results.rows("two materials"):
        if r["case"].startswith("tet4") or r["case"].startswith("t"):
            rows.append((f"net / lambda = {r['lambda']:.1f}, any, {r['case']}, {size(r['cells'])}", r["any"]["net"] / r["lambda"], "{:.2f}", 0.65, 0.90, True))
    for r in results.rows("slivers"):
        rows.append((f"net / lambda = {r['lambda']:.1f}, any, {r['case']}, {size(r['cells'])}", r["any"]["net"] / r["lambda"], "{:.2f}", 0.55, 0.8, True))
    for r in results.rows("largest stable"):
        sliver = "sliver" in r["case"]
        rows.append((f"each at its largest stable step, {r['case']}, lambda {r['lambda']:.1f}, {size(r['cells'])}", r["net"], "{:.1f} x", 6 if sliver else 2.2, 10 if sliver else 3.2, True))
    for r in results.rows("queue"):
        rows.append((f"against the printed algorithm at courant 0.1, {size(r['cells'])}", r["against_printed"], "{:.0f} x", 150, 400, True))
        rows.append((f"lattice against the queue, same ticks, {size(r['cells'])}", r["engine"], "{:.1f} x", 10, 25, True))
    for r in results.rows("threads"):
        for method in ("newmark", "powers-of-two", "any"):
            rows.append((f"two threads / one, {method}, {size(r['cells'])}", r[method], "{:.2f} x", 1.7, 1.9, True))
    if len(tet4) > 1:
        for method in ("newmark", "powers-of-two", "any"):
            rows.append((f"ns per update, {size(tet4[-1]['cells'])} / {size(tet4[0]['cells'])}, {method}", tet4[-1][method]["ns_per_update"] / tet4[0][method]["ns_per_update"], "{:.2f} x", 1.6, 1.2, False))
    for r in results.rows("memory"):
        rows.append((f"bytes per tet4 in all, while it runs, {size(r['cells'])}", r["bytes_per_cell"], "{:.0f}", 400, 250, False))
        rows.append((f"bytes per tet4 in all, at the most, {size(r['cells'])}", r["peak_bytes_per_cell"], "{:.0f}", 400, 250, False))
    return rows


def verdict(value: float, least: float, aim: float, more: bool) -> str:
    better = (lambda a, b: a >= b) if more else (lambda a, b: a <= b)
    return "aim" if better(value, aim) else "ok" if better(value, least) else "MISSED"


def print_table(header: list[str], rows: list[list[str]], markdown: bool) -> None:
    if markdown:
        print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
        for row in rows:
            print("| " + " | ".join(row) + " |")
        return
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows]:
        print("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))))


def print_all(results: Results, markdown: bool) -> None:
    m = results.machine
    print(f"{m['processor']}, {m['cores']} cores, {m['instructions']} kernels, g++ {m['compiler']}; medians of turns side by side\n")
    rows = [[what, form.format(value), ("{:g}" if not more else ">= {:g}").format(least) if more else f"<= {least:g}",
             (">= " if more else "<= ") + f"{aim:g}", verdict(value, least, aim, more)]
            for what, value, form, least, aim, more in limits(results)]
    print_table(["what", "measured", "at least", "aim", ""], rows, markdown)
    print()
    rows = []
    for r in results.rows("elements"):
        rows.append([r["case"], f"{r['newmark']['ns_per_update']:.1f}", f"{r['scalar newmark']['ratio']:.1f} x",
                     f"{r['powers-of-two']['ratio']:.2f}", f"{r['any']['ratio']:.2f}", f"{r['lambda']:.2f}",
                     f"{r['powers-of-two']['net']:.2f} x", f"{r['any']['net']:.2f} x"])
    print_table(["element, 50 k", "Newmark [ns]", "scalar", "powers of two", "any", "lambda", "net, two", "net, any"], rows, markdown)


def draw(results: Results, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (cost, net) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    tet4 = sorted(results.rows("size", "tet4"), key=lambda r: r["cells"])
    cells = [r["cells"] for r in tet4]
    for method, marker in (("newmark", "o"), ("powers-of-two", "s"), ("any", "^")):
        cost.plot(cells, [r[method]["ns_per_update"] for r in tet4], marker=marker, label=method)
    cost.set(xscale="log", xlabel="4-node tetrahedra", ylabel="ns per update", title="cost of an update, one core", ylim=(0, None))
    cost.grid(alpha=0.3)
    cost.legend()
    points = results.rows("size") + results.rows("slivers") + results.rows("two materials")
    top = 1.1 * max(r["lambda"] for r in points)
    net.plot([1, top], [1, top], color="black", lw=1, label="ideal: lambda of eq. (62)")
    for rule, marker in (("powers-of-two", "s"), ("any", "^")):
        net.scatter([r["lambda"] for r in points], [r[rule]["net"] for r in points], marker=marker, label=f"AVI, {rule}")
    net.set(xscale="log", yscale="log", xlabel="updates saved, ideally", ylabel="times faster than SIMD Newmark", title="saving on the clock, equal safety")
    net.grid(alpha=0.3, which="both")
    net.legend()
    m = results.machine
    figure.suptitle(f"{m['processor']}, {m['instructions']}", fontsize=9)
    figure.savefig(path, dpi=130)
    print(f"\n{path}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("results", type=Path)
    arguments.add_argument("--markdown", action="store_true")
    arguments.add_argument("--picture", type=Path)
    arguments.add_argument("--page", type=Path)
    given = arguments.parse_args()
    results = Results(given.results)
    print_all(results, given.markdown)
    if given.page:
        with contextlib.redirect_stdout(io.StringIO()) as tables:
            print_all(results, markdown=True)
        begin, end = "<!-- results: begin -->", "<!-- results: end -->"
        text = given.page.read_text(encoding="utf-8")
        head, tail = text[: text.index(begin) + len(begin)], text[text.index(end):]
        given.page.write_text(f"{head}\n{tables.getvalue()}\n{tail}", encoding="utf-8")
    if given.picture:
        draw(results, given.picture)


if __name__ == "__main__":
    main()
