#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bodies of two domains beside the same bodies undivided: a stiff piece with substeps, meshes that do not match, a
metal plate taken implicitly.

--full: about 25,000 elements. --draw: cantilever.png.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, options, run  # noqa: E402


def undivided(case: str) -> Path:
    """The case without its domains, by explicit Newmark."""
    text = (HERE / f"{case}.toml").read_text(encoding="utf-8")
    text = re.sub(r"\[\[(domain|tie)\]\]\n(?:[^\[\n].*\n|\n)*", "", text).replace('"multi-domain"', '"newmark"')
    text = re.sub(r'file = "(.*)"', lambda m: f'file = "{HERE / m[1]}"', text)
    path = Path(tempfile.mkdtemp(prefix="tempi-")) / f"{case}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def by_avi_implicit(step: float) -> Path:
    """The plate's case with every stiff element implicit by itself."""
    path = undivided("insert")
    text = path.read_text(encoding="utf-8").replace('"newmark"', f'"avi-implicit"\nimplicit_step = {step}')
    path.write_text(text, encoding="utf-8")
    return path


def lost(result: Run) -> float:
    """The largest change of the total energy, smoothed over a tenth of the rows, relative."""
    total = result.history["total_energy"]
    width = len(total) // 10
    smooth = np.convolve(total, np.ones(width) / width, "valid")
    return float(np.abs(smooth / smooth[0] - 1).max())


def tip_error(result: Run, reference: Run, probe: str) -> float:
    """Of a probe's displacement beside that of another run, over the largest there."""
    off = scale = 0.0
    for c in "xyz":
        here, there = (r.history[f"{probe}.displacement_{c}"] for r in (result, reference))
        at = np.interp(result.history["time"], reference.history["time"], there)
        off, scale = max(off, float(np.abs(here - at).max())), max(scale, float(np.abs(there).max()))
    return off / scale


def common(report: Report, name: str, result: Run, most_lost: float) -> None:
    report.figure(f"{name}: energy lost, of all there is", lost(result), 0, most_lost, scatter=9)
    report.figure(f"{name}: error of the linear momentum", result.summary["linear_momentum"]["error"], 0, 1e-12)
    report.figure(f"{name}: error of the angular momentum", result.summary["angular_momentum"]["error"], 0, 1e-12)
    measures = result.summary["measures"]
    report.figure(f"{name}: imbalance of the interface's work, of all it did",
                  abs(measures["interface_imbalance"]) / measures["interface_work"], 0, 1e-10)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("cantilever: domains of one body", HERE, given)
    size = {"mesh.size": 0.0125} if given.full else {}
    reference = run(undivided("cantilever"), "undivided", size | {"output.history": 2000})
    picture = {"undivided": reference}
    for substeps, rule in ((4, {}), (8, {}), (8, {"domain.0.integrator": "midpoint", "domain.0.rings": 2})):
        result = run(HERE / "cantilever.toml", f"substeps-{substeps}-{len(rule)}", size | {"domain.0.substeps": substeps} | rule)
        name = f"stiff piece, {substeps}:1" + (", the paper's rule" if rule else "")
        if not rule:
            picture[f"{substeps}:1"] = result
        common(report, name, result, 1e-3)
        report.figure(f"{name}: error of the tip beside the undivided run", tip_error(result, reference, "tip"), 0, 2e-3, scatter=0.2)
        report.figure(f"{name}: updates saved over the undivided run", result.summary["counted_speedup"], 1.8)
    if given.full:
        clocks(report)
    bar = run(HERE / "bar.toml", "bar", {})
    common(report, "bar", bar, 1e-2)
    velocity = float(bar.history["back.velocity_x"][-1]) / 0.01
    report.figure("bar: reflected velocity, over what came", velocity, -0.7778 - 0.008, -0.7778 + 0.008, "theory: -0.7778")
    report.figure("bar: updates saved over the undivided run", bar.summary["counted_speedup"], 2)
    tied = run(HERE / "tied.toml", "tied", {"mesh.size": 0.015} if given.full else {})
    common(report, "meshes that do not match", tied, 1e-2)
    size = {"mesh.size": 0.004} if given.full else {}
    insert = run(HERE / "insert.toml", "insert", size)
    explicit = run(undivided("insert"), "insert-explicit", size | {"output.history": 2000})
    common(report, "implicit plate", insert, 1e-3)
    report.figure("implicit plate: error of the end beside the explicit run", tip_error(insert, explicit, "end"), 0, 2e-3, scatter=0.2)
    report.figure("implicit plate: wall time saved over explicit everywhere",
                  explicit.summary["wall_time"] / insert.summary["wall_time"], scatter=9)
    by_element = run(by_avi_implicit(insert.summary["step"]["max"]), "insert-avi-implicit", size)
    report.figure("implicit plate: wall time saved over avi-implicit",
                  by_element.summary["wall_time"] / insert.summary["wall_time"], scatter=9)
    if given.draw:
        draw(picture)
    return report.close()


def clocks(report: Report) -> None:
    """Wall times beside explicit Newmark's on as many threads, medians of three pairs of runs one after the other."""
    common = {"mesh.size": 0.0125, "run.end_time": 0.04, "output.history": 10, "output.frames": 1}
    undecomposed, divided = undivided("cantilever"), HERE / "cantilever.toml"
    short = {"integrator.step": 3e-6}  # below the elements' own limit
    halves = short | {"integrator.method": "multi-domain", "integrator.domains": 2}
    paper = {"domain.0.integrator": "midpoint", "domain.0.rings": 2}
    pairs = {
        "stiff piece, 4:1": ({}, divided, {"domain.0.substeps": 4}),
        "stiff piece, 8:1": ({}, divided, {}),
        "stiff piece, 8:1, the paper's rule": ({}, divided, paper),
        "two halves, 1:1": (short, undecomposed, halves),
    }
    for name, (of_reference, case, settings) in pairs.items():
        saved: dict[int, list[float]] = {1: [], 2: []}
        taken: dict[int, list[float]] = {1: [], 2: []}
        for turn in range(3):
            for threads, times in saved.items():
                told = [run(path, f"{name}-{turn}-{threads}-{path.parent.name}", common | changes, threads=threads).summary
                        for path, changes in ((undecomposed, of_reference), (case, settings))]
                times.append(told[0]["wall_time"] / told[1]["wall_time"])
                taken[threads].append(told[1]["wall_time"])
        report.figure(f"{name}: updates saved over newmark's own", told[0]["updates"]["total"] / told[1]["updates"]["total"], scatter=9)
        for threads, times in saved.items():
            report.figure(f"{name}: wall time saved, {threads} thread{'s' * (threads > 1)}", float(np.median(times)), scatter=9)
        report.figure(f"{name}: two threads over one", float(np.median(taken[1]) / np.median(taken[2])), scatter=9)


def draw(runs: dict[str, Run]) -> None:
    figure = blank_picture(2.6)
    tip, energy = figure.subplots(1, 2)
    for (name, result), colour in zip(runs.items(), ("black", "#0072B2", "#D55E00")):
        h = result.history
        tip.plot(1e3 * h["time"], 1e3 * h["tip.displacement_z"], color=colour, label=name, lw=2 if name == "undivided" else 1)
        energy.plot(1e3 * h["time"], 1e6 * (h["total_energy"] / h["total_energy"][0] - 1), color=colour, lw=0.8)
    tip.set(xlabel="time (ms)", ylabel="tip (mm)")
    tip.legend()
    energy.set(xlabel="time (ms)", ylabel="change of the energy (1e-6)")
    figure.savefig(HERE / "cantilever.png", dpi=200)


if __name__ == "__main__":
    sys.exit(main())
