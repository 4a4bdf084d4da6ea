#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Beads that touch by Hertz's law: an impact, the solitary wave of a chain beside its exact form, speed over force; and
with a restitution, beside what the thesis fitted to its waves.

--full: a chain of 70 beads. --draw: granular.png.
"""

from __future__ import annotations

import math
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, options, run  # noqa: E402
from wave import Wave, full_width, peak, wave_of  # noqa: E402

DIAMETER, YOUNG, POISSON, DENSITY, SPEED = 0.00952, 213e9, 0.30, 7780.0, 0.44271
STIFFNESS = math.sqrt(DIAMETER) * YOUNG / (3 * (1 - POISSON**2))  # of two equal spheres [N/m^(3/2)]
MASS = DENSITY * math.pi / 6 * DIAMETER**3


def beads(result: Run) -> int:
    return sum(name.endswith(".displacement_x") for name in result.history)


def contact_forces(result: Run) -> np.ndarray:
    u = np.array([result.history[f"bead{k + 1}.displacement_x"] for k in range(beads(result))])
    return STIFFNESS * np.maximum(u[:-1] - u[1:], 0) ** 1.5


def seen(result: Run) -> Wave:
    wave = wave_of(result)
    assert wave is not None
    return wave


def decay_of(wave: Wave) -> float:
    found = wave.decay()
    assert found is not None
    return found[1]


def solitary_wave() -> tuple[float, float, float]:
    """The exact wave of a long chain (English, Pego 2005: its overlap r solves r = (K a^2 / m V^2) (tent * r^(3/2)); by
    iteration, x in beads): V [m/s] for an overlap of 1 m, widths at half height of the overlap and of the averaged
    force, in beads."""
    n = 400  # points a bead
    x = np.arange(-6 * n, 6 * n + 1) / n
    tent = np.maximum(1 - np.abs(np.arange(-n, n + 1) / n), 0) / n
    r = np.exp(-2 * x**2)
    for _ in range(60):
        image = np.convolve(r**1.5, tent, "same")
        r = image / image.max()
    largest = image.max()
    force = r**1.5
    averaged = 0.5 * (np.roll(force, n // 2) + np.roll(force, -n // 2))
    speed = DIAMETER * math.sqrt(STIFFNESS * largest / MASS)
    return speed, full_width(x, r), full_width(x, averaged)


def struck_at(speed: float, count: int) -> Path:
    """The chain at another speed, times as the law has them (v^(-1/5)); with as many beads."""
    text = (HERE / "chain.toml").read_text(encoding="utf-8")
    start = text.index("position = [")
    end = text.index("radius = ")
    places = ", ".join(f"[{k * DIAMETER!r}, 0.0]" for k in range(count))
    text = text[:start] + f"position = [{places}]\nvelocity = [[{speed}, 0.0]{', [0.0, 0.0]' * (count - 1)}]\n" + text[end:]
    text = re.sub(r'\[\[probe\]\]\n(?:[^\[\n].*\n|\n)*', "", text)
    probes = "".join(f'[[probe]]\nname = "bead{k + 1}"\nparticles = [{k}]\nbody = true\n' for k in range(count))
    text = text.replace("[integrator]", probes + "[integrator]")
    scale = (SPEED / speed) ** 0.2
    text = text.replace("step = 2e-8", f"step = {2e-8 * scale}")
    text = text.replace("end_time = 6e-4", f"end_time = {6e-4 * scale * count / 28}")
    path = Path(tempfile.mkdtemp(prefix="tempi-")) / "chain.toml"
    path.write_text(text, encoding="utf-8")
    return path


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("granular: beads by Hertz's law", HERE, given)
    pair = run(HERE / "pair.toml", "pair", {})
    t, force = pair.history["time"], contact_forces(pair)[0]
    touching = t[force > 0]
    report.figure("impact: peak force [N]", peak(t, force)[1], 85.7 * 0.99, 85.7 * 1.01, "85.7")
    report.figure("impact: duration [us]", 1e6 * float(touching[-1] - touching[0]), 33.4 * 0.99, 33.4 * 1.01, "33.4")
    report.figure("impact: coefficient of restitution", float(np.diff([pair.history[f"bead{k}.velocity_x"][-1] for k in (1, 2)])[0]) / SPEED,
                  1 - 1e-6, 1 + 1e-6, "1")

    lossy_pair = run(HERE / "pair.toml", "lossy-pair", {"constants.e": 0.975})
    e = float(np.diff([lossy_pair.history[f"bead{k}.velocity_x"][-1] for k in (1, 2)])[0]) / SPEED
    report.figure("impact, e = 0.975: coefficient of restitution", e, 0.975 - 1e-3, 0.975 + 1e-3, "0.975")
    lost = -lossy_pair.history["damping_work"][-1] / (0.25 * MASS * SPEED**2)
    report.figure("impact, e = 0.975: energy lost, of that of the relative motion", float(lost), 1 - 0.975**2 - 1e-6, 1 - 0.975**2 + 1e-6,
                  "1 - e^2")

    chain = run(HERE / "chain.toml", "chain", {})
    wave, contacts = seen(chain), contact_forces(chain)
    far = (wave.number >= 12) & (wave.number <= 24)
    speed_of, width_of, width_of_averaged = solitary_wave()
    overlap = (contacts[14].max() / STIFFNESS) ** (2 / 3)
    theory = (16 / 25) ** 0.2 * (math.sqrt(STIFFNESS * DIAMETER**2.5 / MASS)) ** 0.8 * chain.history["bead15.velocity_x"].max() ** 0.2
    decay = -np.polyfit(wave.number[far], np.log(wave.largest[far]), 1)[0]
    report.figure("chain: averaged force in bead 15 [N]", float(wave.largest[13]), 51.4 * 0.99, 51.4 * 1.01, "51.4")
    report.figure("chain: decay of the force a bead, beads 12 to 24", float(decay), -1e-4, 1e-4, "none", scatter=9)
    report.figure("chain: speed of the wave, bead 15 [m/s]", float(wave.speed[13]), 575, 593)
    report.figure("chain: speed over that of the exact wave", float(wave.speed[13]) / (speed_of * overlap**0.25), 1 - 1e-3, 1 + 1e-3, "1")
    report.figure("chain: speed over Nesterenko's long-wave theory", float(wave.speed[13]) / theory, 0.98, 1.02, "1")
    report.figure("chain: width of the averaged force [beads]", float(wave.width[13]), 2.0, 2.2, "2.1")
    report.figure("chain: width over that of the exact wave", float(wave.width[13]) / width_of_averaged, 1 - 1e-3, 1 + 1e-3, "1")
    overlap_width = full_width(chain.history["time"], np.maximum(contacts[14], 0) ** (2 / 3)) * wave.speed[13] / DIAMETER
    report.figure("chain: width of the overlap over that of the exact wave", overlap_width / width_of, 1 - 1e-3, 1 + 1e-3, "1")
    compact = 10 / math.sqrt(10) * math.acos(0.5**0.25)
    report.figure("chain: width of the overlap over Nesterenko's", overlap_width / compact, 0.94, 0.97, "1")
    report.figure("chain: error of the linear momentum", chain.summary["linear_momentum"]["error"], 0, 1e-12, scatter=9)
    report.figure("chain: band of the energy", chain.summary["energy"]["band"], 0, 1e-5)

    lossy = run(HERE / "chain.toml", "lossy", {"constants.loss": 0.0370})
    decaying = seen(lossy)
    fitted = 50.947 * np.exp(-0.0085411 * decaying.number)  # thesis, Fig. 5.15
    off = (decaying.largest / fitted)[decaying.formed]
    report.figure("restitution: force over the thesis' fit, beads 3 to 27: least", float(off.min()), 0.95, 1.05, "1")
    report.figure("restitution: force over the thesis' fit, beads 3 to 27: most", float(off.max()), 0.95, 1.05, "1")
    report.figure("restitution: decay of the force a bead, beads 3 to 27", decay_of(decaying), 0.007, 0.0105, "0.0085")
    formed = slice(4, 24)  # from bead 6: before, the wave forms
    between = np.sqrt(decaying.largest[:-1] * decaying.largest[1:])
    speeds = decaying.speed[formed] / (316.52 * between[formed] ** 0.15698)  # thesis, Fig. 5.16
    report.figure("restitution: speed over the thesis' fit, beads 6 to 25: least", float(speeds.min()), 0.98, 1.02, "1")
    report.figure("restitution: speed over the thesis' fit, beads 6 to 25: most", float(speeds.max()), 0.98, 1.02, "1")
    widths = decaying.width[formed]
    report.figure("restitution: width of the averaged force, beads 6 to 25: least [beads]", float(min(widths)), 2.0, 2.2, "2.1")
    report.figure("restitution: width of the averaged force, beads 6 to 25: most [beads]", float(max(widths)), 2.0, 2.2, "2.1")
    report.figure("restitution: error of the linear momentum", lossy.summary["linear_momentum"]["error"], 0, 1e-12, scatter=9)
    energy = lossy.history["kinetic_energy"] + lossy.history["potential_energy"]
    report.figure("restitution: largest rise of the energy from row to row", float(np.diff(energy).max() / energy[0]), -1, 0, "none",
                  scatter=math.inf)

    waves = [seen(run(struck_at(v, 70 if given.full else 28), f"at-{v}", {})) for v in (0.1, 0.44271, 1.77, 5.0)]
    middle = len(waves[0].number) // 2
    slope = np.polyfit(np.log([w.largest[middle] for w in waves]), np.log([w.speed[middle] for w in waves]), 1)[0]
    report.figure("speed over force: exponent, four speeds of impact", float(slope), 1 / 6 - 0.005, 1 / 6 + 0.005, "1/6; measured 0.17")
    if given.draw:
        draw(wave, decaying, chain.history["time"])
    return report.close()


def draw(wave: Wave, decaying: Wave, time: np.ndarray) -> None:
    figure = blank_picture(2.6)
    forces, heights = figure.subplots(1, 2, width_ratios=(2, 1))
    for k in range(2, 28, 4):
        forces.plot(1e6 * time, wave.force[k - 2], lw=1)
        forces.text(1e6 * wave.arrival[k - 2], wave.largest[k - 2] + 1, f"bead {k}" if k == 2 else f"{k}", ha="center")
    forces.set(xlabel="time (µs)", ylabel="averaged force (N)", xlim=(0, 480), ylim=(-2, 58))
    heights.plot(wave.number, wave.largest, "o", ms=3, color="#0072B2", label="Hertz")
    heights.plot(decaying.number, decaying.largest, "s", ms=3, color="#D55E00", label="with restitution")
    heights.plot(decaying.number, 50.947 * np.exp(-0.0085411 * decaying.number), color="black", lw=0.8, label="thesis' fit")
    heights.legend(loc="lower left", frameon=False)
    heights.set(xlabel="bead", ylabel="largest averaged force (N)", ylim=(0, 60))
    figure.savefig(HERE / "granular.png", dpi=200)


if __name__ == "__main__":
    sys.exit(main())
