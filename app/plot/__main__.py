# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of a finished run into its folder, or one that compares several, and prints their paths.

usage: plot DIR [--frame N]
       plot DIR DIR ...

overview.png   the deformed mesh coloured by updates per element, beside the energies over time; of particles: discs
               coloured by speed, their bonds and paths, or their world lines if all keep to one line
von_mises.png  the deformed mesh coloured by von Mises stress at evenly spaced frames (2-D and 3-D)
residual.png   the accumulated energy residual of each element, if the run recorded it
momentum.png   how linear and angular momentum change over time
phase.png      the velocity of particles' probes over their position
probes.png, reactions.png   the histories of probes and supports, if there are any
bodies.png     the energies of probes that are followed as bodies
steps.png      of energy-stepping and force-stepping: how often steps of each length were taken
wave.png, wave.csv   of bodies in a row, when one strikes: forces within them, arrivals, speeds, widths, fits
path_integrals.png   J, L, M of cracks, ring by ring
adaption.png         of `tempi adapt`: both meshes, what is left of forces and energy
contact.png    the force of contact by layers, the smallest distance, the layers touched
restitution.png      of `tempi restitution`, the folder over its runs: e over the speed, what is lost, the fit
comparison.png of several runs, in the first one's folder: the change of energy, the running mean of the kinetic
               energy and, if all have a probe of the same name, its phase portrait

Reads the files this program's own writer makes, nothing more general. Needs NumPy and matplotlib.
Exit codes: 0 done, 2 no finished run in a DIR or a package is missing, 4 a picture could not be written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

try:
    import matplotlib
    from matplotlib.figure import Figure
except ImportError as missing:
    package = {"numpy": "numpy", "PIL": "pil"}.get((missing.name or "").partition(".")[0], "matplotlib")
    print(f"plot: {package} is missing. Install it: apt-get install python3-{package}", file=sys.stderr)
    sys.exit(2)

from comparison import comparison
from pictures import adaption, body_energies, contact_histories, momentum, overview, path_integrals, phase, residual, step_histograms, vector_histories, von_mises
from read import Run, RunError, WriteError, damage_named, read_run
from restitution import TABLE, restitution
from style import RESOLUTION, STYLE
from wave import wave_picture, wave_table


def pictures(run: Run, frame: int) -> Iterator[tuple[str, Figure | None]]:
    yield "overview.png", overview(run, frame)
    if run.has_mesh:
        yield "von_mises.png", von_mises(run)
        yield "residual.png", residual(run, frame)
    yield "momentum.png", momentum(run)
    if run.has_particles:
        yield "phase.png", phase(run)
    yield "probes.png", vector_histories(run, reactions=False)
    yield "bodies.png", body_energies(run)
    yield "steps.png", step_histograms(run)
    yield "wave.png", wave_picture(run)
    yield "path_integrals.png", path_integrals(run)
    yield "adaption.png", adaption(run)
    yield "contact.png", contact_histories(run)
    yield "reactions.png", vector_histories(run, reactions=True)


def save(figure: Figure, path: Path) -> None:
    try:
        figure.savefig(path, dpi=RESOLUTION)
    except OSError as error:
        raise WriteError(f"cannot write {path} ({error.strerror}).") from error
    print(path)


def write(text: str, path: Path) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WriteError(f"cannot write {path} ({error.strerror}).") from error
    print(path)


def draw_pictures(folder: Path, frame: int) -> None:
    with damage_named(folder):
        if (folder / TABLE).exists():
            save(restitution(folder), folder / "restitution.png")
            return
        run = read_run(folder)
        if run.frames and not -len(run.frames) <= frame < len(run.frames):
            raise RunError(f"frame {frame} does not exist (the run has frames 0 to {len(run.frames) - 1}).")
        for name, figure in pictures(run, frame):
            if figure is not None:
                save(figure, folder / name)
        if table := wave_table(run):
            write(table, folder / "wave.csv")


def compare_runs(folders: list[Path]) -> None:
    runs = []
    for folder in folders:
        with damage_named(folder):
            runs.append(read_run(folder))
    with damage_named(*folders):
        figure = comparison(runs)
    save(figure, folders[0] / "comparison.png")


def main() -> int:
    parser = argparse.ArgumentParser(prog="plot", description="Draw the pictures of a finished run into its folder.")
    told = "what a run has written; of several, comparison.png in the first compares them"
    parser.add_argument("folders", metavar="DIR", type=Path, nargs="+", help=told)
    parser.add_argument("--frame", metavar="N", type=int, help="the frame to draw (default: the last), of a single run")
    arguments = parser.parse_args()
    matplotlib.rcParams.update(STYLE)
    try:
        if len(arguments.folders) == 1:
            draw_pictures(arguments.folders[0], -1 if arguments.frame is None else arguments.frame)
        elif arguments.frame is None:
            compare_runs(arguments.folders)
        else:
            raise RunError("--frame is for a single run (several are compared over all time). Leave it out.")
    except (RunError, WriteError) as error:
        print(f"plot: {error}", file=sys.stderr)
        return 2 if isinstance(error, RunError) else 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
