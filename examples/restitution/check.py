#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Elastic beads of finite elements: an impact beside Hertz's law, impacts at several speeds, and a row of five beside
the same row by Hertz's law.

--full: 10-node elements. --draw: restitution.png.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, command, options, run  # noqa: E402
from read import read_run  # noqa: E402
from wave import Wave, wave_of  # noqa: E402

PEAK, DURATION, SPEED = 85.7, 33.4e-6, 0.44271  # by Hertz


def seen(result: Run) -> Wave:
    wave = wave_of(result)
    assert wave is not None
    return wave


def middle(result: Run, force: np.ndarray) -> float:
    """The middle of the time in which a force is above half of its largest value [s]: of a peak that trembles."""
    t, high = result.history["time"], np.flatnonzero(force >= 0.5 * force.max())
    return float(0.5 * (t[high[0]] + t[high[-1]]))


def campaign(folder: Path, speeds: tuple[float, ...], settings: dict[str, object]) -> tuple[np.ndarray, np.ndarray]:
    words = [command(), "restitution", str(HERE / "pair.toml"), "--out", str(folder), "--quiet", "--speeds", ",".join(map(str, speeds))]
    for key, value in settings.items():
        words += ["--set", f"{key}={value}"]
    if not (folder / f"speed-{speeds[-1]:g}" / "summary.json").exists():
        subprocess.run([*words, "--overwrite"], check=True)
    with (folder / "restitution.csv").open(newline="", encoding="utf-8") as file:
        rows = [(float(row["speed"]), float(row["restitution"])) for row in csv.DictReader(file)]
    found = np.array(rows)
    return found[:, 0], found[:, 1]


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("restitution: elastic beads", HERE, given)
    folder = (given.keep or Path(tempfile.mkdtemp(prefix="tempi-"))) / f"restitution-{given.full}"
    folder.mkdir(parents=True, exist_ok=True)
    meshes: dict[str, dict[str, object]] = {}
    for name, count in (("pair", 2), ("row", 5)):
        size = "1.2e-4" if given.full else "2e-4"
        (folder / f"{name}.geo").write_text(f"count = {count};\nfine = {size};\n" + (HERE / "beads.geo").read_text(encoding="utf-8"),
                                            encoding="utf-8")
        meshes[name] = {"mesh.file": f'"{folder / f"{name}.geo"}"', "mesh.order": 2 if given.full else 1}

    speeds = (0.1, 0.2, SPEED, 1.0, 2.0) if given.full else (0.2, SPEED, 2.0)
    v, e = campaign(folder / "pair", speeds, meshes["pair"])
    at = int(np.argmin(np.abs(v - SPEED)))
    pair = read_run(folder / "pair" / f"speed-{SPEED:g}")
    force = np.gradient(pair.history["bead2.linear_momentum_z"], pair.history["time"])
    touching = pair.history["time"][pair.history["contact_1.force"] > 0]
    wide = 0.05 if given.full else 0.35  # few cells touch, and these are too stiff
    report.figure("impact: largest force over Hertz's", float(force.max()) / PEAK, 1 - wide, 1 + wide, "1", 0.03)
    report.figure("impact: duration over Hertz's", float(touching[-1] - touching[0]) / DURATION, 1 - wide, 1 + wide, "1", 0.03)
    report.figure("impact: coefficient of restitution", float(e[at]), 0.9, 1 - 1e-9, "0.975", 0.01)
    report.figure("impact: error of the linear momentum", pair.summary["linear_momentum"]["error"], 0, 1e-12, scatter=9)
    report.figure("impact: band of the energy", pair.summary["energy"]["band"], 0, 3e-3, scatter=1)
    for speed, one in zip(v, e):
        if speed != SPEED:
            report.figure(f"1 - e at {speed:g} m/s", 1 - float(one), 0, 0.06, f"{0.037 * speed**0.4101:.4f}", 1)
    slope = np.polyfit(np.log(v), np.log(1 - e), 1)[0]
    report.figure("exponent of 1 - e over the speed", float(slope), -3, 0, "0.41", 0.5)

    if given.full:
        beads = run(HERE / "row.toml", f"row-{given.full}", meshes["row"], folder)
        law = run(HERE / "hertz.toml", "hertz", {"constants.e": float(e[at])}, folder)
        wave, exact = seen(beads), seen(law)
        for k in range(len(exact.number)):
            name = f"row, bead {exact.number[k]}: "
            report.figure(name + "averaged force over that by Hertz's law", float(wave.largest[k] / exact.largest[k]), 0.95, 1.05, "1", 0.05)
            report.figure(name + "arrival over that by Hertz's law", middle(beads, wave.force[k]) / middle(law, exact.force[k]), 0.95, 1.05, "1", 0.03)
        report.figure("row: error of the linear momentum", beads.summary["linear_momentum"]["error"], 0, 1e-12, scatter=9)
        report.figure("row: vibrations in the end, of all energy",
                      float(sum(beads.history[f"bead{k}.vibrational_energy"][-1] + beads.history[f"bead{k}.potential_energy"][-1] for k in range(1, 6))
                            / beads.history["total_energy"][0]), 0, 0.02, "", 1)
        if given.draw:
            draw(beads, law, wave, exact, v, e)
    return report.close()


def draw(beads: Run, law: Run, wave: Wave, exact: Wave, v: np.ndarray, e: np.ndarray) -> None:
    figure = blank_picture(2.6)
    forces, lost = figure.subplots(1, 2, width_ratios=(2, 1))
    colours = ["#0072B2", "#009E73", "#E69F00", "#D55E00"]
    for k, colour in enumerate(colours):
        forces.plot(1e6 * law.history["time"], exact.force[k], color="#999999", lw=1.8, label="Hertz's law" if k == 0 else None)
        forces.plot(1e6 * beads.history["time"], wave.force[k], color=colour, lw=0.7, label=f"bead {k + 2}")
    forces.set(xlabel="time (µs)", ylabel="averaged force (N)")
    forces.legend(frameon=False, ncol=5, loc="lower center", bbox_to_anchor=(0.5, 1.0), columnspacing=0.8, handlelength=1)
    lost.loglog(v, 1 - e, "o-", color="#0072B2", ms=3, label="here")
    lost.loglog(v, 0.037 * v**0.4101, color="black", lw=0.8, label="thesis' fit")
    lost.set(xlabel="speed of approach (m/s)", ylabel="1 - e")
    lost.legend(frameon=False)
    figure.savefig(HERE / "restitution.png", dpi=200)


if __name__ == "__main__":
    sys.exit(main())
