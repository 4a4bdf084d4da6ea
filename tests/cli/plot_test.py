# SPDX-License-Identifier: Apache-2.0
"""The pictures: which are made, what they show of particles, what a comparison of runs shows, what is refused."""

import importlib.util
import math
import os
import sys
import unittest
from pathlib import Path

import numpy as np
from case_folder import CaseFolder, history
from particles_test import KEPLER, text

SOURCE = Path(os.environ.get("TEMPI_SOURCE_DIR", Path(__file__).parents[2]))
HAS_MATPLOTLIB = bool(importlib.util.find_spec("matplotlib"))
if HAS_MATPLOTLIB:
    sys.path.insert(0, str(SOURCE / "app" / "plot"))
    import comparison
    import geometry
    import pictures
    import read
    import vtu
    import wave

OSCILLATOR = {  # x = cos 2t: kinetic energy 4 sin^2 2t
    "particles": "mass = 2\nposition = [[1, 0]]",
    "potential": 'type = "well"\nstiffness = [8, 50]\ncentre = [0, 0]',
    "probe": 'name = "p"\nparticles = [0]',
    "integrator": 'method = "gauss"\norder = 6\nstep = 0.05',
    "run": "end_time = 3",
    "output": "frames = 20\nhistory = 300",
}
LATTICE = [[x, y, z] for x in range(4) for y in range(4) for z in range(4)]
BLOCK = {  # 64 particles, 144 bonds
    "particles": f"mass = 1\nposition = {LATTICE}\nvelocity = {[[0.1 * z, 0.0, 0.0] for _, _, z in LATTICE]}",
    "potential": 'type = "spring"\nwithin = 1.1\nstiffness = 10\nlength = 1',
    "integrator": 'method = "newmark"\nstep = 0.01',
    "run": "end_time = 0.1",
    "output": "frames = 2\nhistory = 4",
}


class Plot(CaseFolder):
    def test_folders_without_a_run_are_refused(self):
        (self.folder / "empty").mkdir()
        self.write("file", "")
        for folder in ("nowhere", "empty", "file"):
            done = self.tempi("plot", folder)
            with self.subTest(folder=folder, message=done.stderr):
                self.assertEqual((2, ""), (done.returncode, done.stdout))
                self.assertIn(folder, done.stderr)

    @unittest.skipUnless(HAS_MATPLOTLIB, "needs matplotlib")
    def test_a_run_is_drawn_and_the_pictures_are_listed(self):
        results = self.run_case(fix='group = "left"')
        done = self.tempi("plot", "case.out")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("overview.png", done.stdout)
        for name in done.stdout.split():
            self.assertEqual(b"\x89PNG\r\n\x1a\n", (self.folder / name).read_bytes()[:8])
        self.assertTrue((results / "overview.png").exists())

    @unittest.skipUnless(HAS_MATPLOTLIB, "needs matplotlib")
    def test_a_frame_can_be_chosen(self):
        self.run_case()
        for order in (["case.out", "--frame", "1"], ["--frame", "1", "case.out"], ["case.out", "--frame=1"]):
            done = self.tempi("plot", *order)
            self.assertEqual(0, done.returncode, done.stderr)
        done = self.tempi("plot", "case.out", "--frame", "99")
        self.assertEqual(2, done.returncode)
        self.assertIn("99", done.stderr)


@unittest.skipUnless(HAS_MATPLOTLIB, "needs matplotlib")
class Particles(CaseFolder):
    def run_particles(self, name, base, **changes):
        self.write(f"{name}.toml", text(base, **changes))
        done = self.tempi("run", f"{name}.toml", "--overwrite")
        self.assertEqual(0, done.returncode, done.stderr)
        return read.read_run(self.folder / f"{name}.out")

    def pictures_of(self, *folders):
        done = self.tempi("plot", *folders)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return done.stdout.split()

    def drawn(self, run):
        """The axes of the overview that show the particles; their paths, bonds and discs."""
        ax = pictures.overview(run, -1).axes[0]
        return ax, *ax.collections

    def test_pictures_of_particles_are_drawn_and_listed_without_those_of_bodies(self):
        self.run_particles("a", KEPLER)
        names = ("overview", "momentum", "phase", "probes")
        self.assertEqual([f"a.out/{name}.png" for name in names], self.pictures_of("a.out"))

    def test_particles_are_drawn_of_what_fields_there_are(self):
        """Without masses discs are alike, without velocities of one colour and no bar beside them."""
        run = self.run_particles("a", KEPLER)
        whole, axes = self.drawn(run)[3], len(pictures.overview(run, -1).axes)
        for fields, alike, plain in (('["velocity"]', True, False), ('["mass"]', False, True), ('["energy"]', True, True)):
            self.run_particles("b", KEPLER, output=f"fields = {fields}")
            self.pictures_of("b.out")
            run = read.read_run(self.folder / "b.out")
            discs = self.drawn(run)[3]
            self.assertEqual(axes - plain, len(pictures.overview(run, -1).axes), fields)
            self.assertEqual(alike, len(set(discs.get_sizes())) == 1, fields)
            self.assertEqual(plain, len({tuple(c) for c in discs.get_facecolor()}) == 1, fields)
            self.assertEqual(not alike, list(whole.get_sizes()) == list(discs.get_sizes()), fields)

    def test_a_kepler_orbit_is_drawn_as_its_ellipse_with_discs_as_the_masses(self):
        ax, paths, _, discs = self.drawn(self.run_particles("a", KEPLER, output="frames = 64"))
        self.assertIn(ax.get_aspect(), ("equal", 1.0))
        for path, share in zip(paths.get_segments(), (-0.25, 0.75)):  # of the semi-axis 1, focus at the origin
            self.assertEqual(65, len(path))
            for x, y in path / share:
                self.assertAlmostEqual(1.0, (x + 0.5) ** 2 + y**2 / 0.75, delta=1e-4)
        heavy, light = discs.get_sizes()
        self.assertAlmostEqual(3.0, heavy / light)

    def test_bonds_are_drawn_and_the_paths_of_many_particles_are_not(self):
        run = self.run_particles("a", BLOCK)
        ax, paths, bonds, discs = self.drawn(run)
        self.assertFalse(ax.axison, "in three dimensions")
        self.assertEqual((0, 144, 64), (len(paths.get_segments()), len(bonds.get_segments()), len(discs.get_offsets())))
        cloud = geometry.draw_particles(run, vtu.VtuFile(run.frames[-1][1]), 3)
        self.assertEqual(sorted(cloud.haze, reverse=True), list(cloud.haze), "those behind first")

    def test_gravity_points_down(self):
        for pull, up in (([0, 3, 0], [0, -1, 0]), ([0, 0, -2], [0, 0, 1]), ([-1, 0, 0], [1, 0, 0]), ([3, 0, 4], [-0.6, 0, -0.8])):
            field = f'type = "uniform-field"\nacceleration = {pull}'
            run = self.run_particles("a", BLOCK, potential=BLOCK["potential"] + "\n[[potential]]\n" + field)
            view = geometry.draw_particles(run, vtu.VtuFile(run.frames[-1][1]), 3).view
            self.assertAlmostEqual(1.0, np.linalg.det(view), delta=1e-12)
            right, upwards, _ = view @ np.array(up)
            self.assertAlmostEqual(0.0, right, delta=1e-12)
            self.assertGreater(upwards, 0.7)
        still = self.run_particles("b", BLOCK)
        self.assertIsNone(still.up)

    def test_a_hanging_body_hangs_and_a_lying_one_lies(self):
        rod = np.random.default_rng(3).uniform(size=(200, 3)) * [10, 1, 1]
        lying = geometry.choose_view(3, rod, np.array([0.0, 0.0, 1.0]))
        hanging = geometry.choose_view(3, rod, np.array([1.0, 0.0, 0.0]))
        self.assertGreater(np.ptp(rod @ lying[0]), 3 * np.ptp(rod @ lying[1]))
        self.assertGreater(np.ptp(rod @ hanging[1]), 3 * np.ptp(rod @ hanging[0]))

    def test_frames_at_rest_and_in_single_precision_give_the_same_picture(self):
        for more in ("deformed = false", "float32 = true", "deformed = false\nfloat32 = true"):
            pictures_of = [geometry.draw_particles(run, vtu.VtuFile(run.frames[-1][1]), 3)
                           for run in (self.run_particles("a", BLOCK),
                                       self.run_particles("b", BLOCK, output=BLOCK["output"] + "\n" + more))]
            np.testing.assert_allclose(pictures_of[1].discs, pictures_of[0].discs, rtol=0, atol=1e-5)

    def test_particles_on_one_line_are_drawn_over_time(self):
        run = self.run_particles("a", OSCILLATOR)
        ax = pictures.overview(run, -1).axes[0]
        self.assertEqual(("time (s)", "$x$ (m)"), (ax.get_xlabel(), ax.get_ylabel()))
        (line,) = ax.lines
        for time, place in line.get_xydata():
            self.assertAlmostEqual(math.cos(2 * time), place, delta=1e-6)
        aside = self.run_particles("b", OSCILLATOR, particles=OSCILLATOR["particles"] + "\nvelocity = [[0, 1]]")
        self.assertEqual("$x$ (m)", pictures.overview(aside, -1).axes[0].get_xlabel())

    def test_the_phase_portrait_of_an_oscillator_is_an_ellipse_around_the_well(self):
        def portrait(probe):
            axes = pictures.phase(self.run_particles("a", OSCILLATOR, probe=f'name = "p"\n{probe}')).axes
            self.assertEqual(1, len(axes), "y is at rest")
            return axes[0].get_xlabel(), axes[0].lines[0].get_xydata()

        label, points = portrait("particles = [0]")
        self.assertEqual("position $x$ (m)", label)
        for x, v in points:
            self.assertAlmostEqual(1.0, x**2 + (v / 2) ** 2, delta=1e-6)
        label, points = portrait('where = "X > 0"')  # of which the results do not tell where it starts
        self.assertEqual("displacement $x$ (m)", label)
        self.assertEqual(0.0, points[0][0])

    def test_a_wave_in_a_row_of_beads_is_measured(self):
        count = 12
        beads = {"particles": f"mass = 0.004\nposition = {[[0.006 * k, -0.008 * k] for k in range(count)]}\nradius = 0.005\n"
                              f"velocity = {[[0.3, -0.4]] + [[0, 0]] * (count - 1)}",  # along a slanted line
                 "potential": 'type = "hertz"\nyoung = 2e11\npoisson = 0.3\nwithin = 0.0101',
                 "probe": [f'name = "b{k + 1}"\nparticles = [{k}]\nbody = true' for k in range(count)],
                 "integrator": 'method = "newmark"\nstep = 5e-8', "run": "end_time = 2.5e-4", "output": "frames = 0\nhistory = 1000"}
        run = self.run_particles("a", beads)
        found = wave.wave_of(run)
        stiffness, mass = 4 / 3 * 2e11 / 2 / 0.91 * math.sqrt(0.0025), 0.004
        # The contacts' own forces, from overlaps.
        along = np.array([0.6 * run.history[f"b{k + 1}.displacement_x"] - 0.8 * run.history[f"b{k + 1}.displacement_y"]
                          for k in range(count)])
        contacts = stiffness * np.maximum(along[:-1] - along[1:], 0) ** 1.5
        for k in range(count - 2):
            averaged = 0.5 * (contacts[k] + contacts[k + 1])
            np.testing.assert_allclose(found.force[k], averaged, rtol=0, atol=0.01 * averaged.max())
        np.testing.assert_allclose(found.distance[:3], [0.01, 0.02, 0.03], rtol=1e-12)
        # The solitary wave of Nesterenko's theory, from the largest speed of a bead: within 1.5 % of the exact one.
        fastest = math.sqrt(2 * run.history["b7.kinetic_energy"].max() / mass)
        theory = (16 / 25) ** 0.2 * math.sqrt(stiffness * 0.01**2.5 / mass) ** 0.8 * fastest**0.2
        self.assertAlmostEqual(found.speed[5] / theory, 1, delta=0.015)
        self.assertAlmostEqual(found.width[5], 2.08, delta=0.05)
        self.assertAlmostEqual(found.decay()[1], 0, delta=2e-3)
        drawn = self.tempi("plot", "a.out")
        self.assertIn("wave.csv", drawn.stdout, drawn.stderr)
        lines = (self.folder / "a.out" / "wave.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(1 + 1 + count - 1, len(lines))  # forces too much alike for a law of speeds
        few = {**beads, "particles": f"mass = 0.004\nposition = {[[0.01 * k, 0] for k in range(4)]}\nradius = 0.005\n"
                                     "velocity = [[0.5, 0], [0, 0], [0, 0], [0, 0]]", "probe": beads["probe"][:4]}
        self.assertIsNone(wave.wave_of(self.run_particles("few", few)).decay(), "of one force between the ends")
        drawn = self.tempi("plot", "few.out")
        self.assertIn("wave.png", drawn.stdout, drawn.stderr)
        # With losses the force falls; bodies that stand in no row have no wave.
        lossy = self.run_particles("b", {**beads, "potential": beads["potential"] + "\nrestitution = 0.9"})
        self.assertGreater(wave.wave_of(lossy).decay()[1], 0.02)
        moved = beads["particles"].replace("[0.012, -0.016]", "[0.0121, -0.0155]")
        self.assertIsNone(wave.wave_of(self.run_particles("c", {**beads, "particles": moved})))

    def test_methods_that_find_their_steps_show_how_long_these_are(self):
        spheres = {"particles": "position = [[0, 0], [0.0101, 0], [0.0202, 0]]\nvelocity = [[0.5, 0], [0, 0], [0, 0]]\nradius = 0.005\nmass = 0.004",
                   "potential": 'type = "hertz"\nyoung = 2e11\npoisson = 0.3\nwithin = 0.011', "run": "end_time = 8e-4", "output": "frames = 0\nhistory = 2"}
        for name, integrator, most in (("one", 'method = "energy-stepping"\nenergy_step = 1e-6', 1),
                                       ("two", 'method = "async-energy-stepping"\nenergy_step = 1e-6\nsubdomains = "terms"', 2),
                                       ("faces", 'method = "force-stepping"\ngrid = 1e-7', 1)):
            run = self.run_particles(name, {**spheres, "integrator": integrator})
            told, measures = run.summary["step_histograms"], run.summary["measures"]
            self.assertEqual(most, len(told))
            counted = sum(sum(h["counts"]) for h in told)
            self.assertEqual(measures["events"] - (0 if name == "faces" else most), counted)  # between two events of a subdomain
            for h in told:
                self.assertEqual(len(h["edges"]), len(h["counts"]) + 1)
                self.assertTrue(all(a < b <= 1.25000001 * a for a, b in zip(h["edges"], h["edges"][1:]) if a > 0))
            self.assertTrue(min(h["edges"][0] for h in told) <= measures["shortest_step"])
            if name == "faces":  # others tell as longest what may be the way to the first event, which is no step
                self.assertTrue(told[0]["edges"][-2] <= measures["longest_step"] <= told[0]["edges"][-1])
            self.assertIn(f"{name}.out/steps.png", self.pictures_of(f"{name}.out"))
        self.assertIsNone(pictures.step_histograms(self.run_particles("none", OSCILLATOR)))

    def test_a_run_without_frames_shows_its_energies(self):
        run = self.run_particles("a", OSCILLATOR, output="frames = 0\nhistory = 20")
        (ax,) = pictures.overview(run, -1).axes
        self.assertEqual(["kinetic", "potential", "total"], ax.get_legend_handles_labels()[1])
        self.assertEqual("displacement $x$ (m)", pictures.phase(run).axes[0].get_xlabel())
        self.run_particles("b", OSCILLATOR)
        self.assertEqual(["a.out/comparison.png"], self.pictures_of("a.out", "b.out"))
        self.assertEqual(["comparison.png"], [path.name for path in self.folder.rglob("*.png")])

    def test_a_comparison_shows_energies_and_running_means_of_all_runs(self):
        exact = self.run_particles("gauss", OSCILLATOR)
        verlet = self.run_particles("verlet", OSCILLATOR, integrator='method = "newmark"\nstep = 0.05')
        energy, heat, phase = comparison.comparison([exact, verlet]).axes
        self.assertEqual(["Gauss", "Newmark"], energy.get_legend_handles_labels()[1])
        self.assertEqual("symlog", energy.get_yscale())
        for run, line in zip((exact, verlet), energy.lines):
            told = run.summary["energy"]
            self.assertAlmostEqual((told["max"] - told["initial"]) / told["reference"], max(line.get_ydata()))
            self.assertAlmostEqual((told["min"] - told["initial"]) / told["reference"], min(line.get_ydata()))
        for time, mean in heat.lines[0].get_xydata()[1:]:
            self.assertAlmostEqual(2 * (1 - math.sin(4 * time) / (4 * time)), mean, delta=3e-4)
        self.assertEqual("position $x$ (m)", phase.get_xlabel())

    def test_runs_are_labelled_by_method_then_settings_then_folder(self):
        def labels(*methods):
            short = {**OSCILLATOR, "run": "end_time = 0.2", "output": "frames = 0"}
            runs = [self.run_particles(f"run{i}", short, integrator=method) for i, method in enumerate(methods)]
            return [label.replace(str(self.folder) + os.sep, "") for label in comparison.run_labels(runs)]

        verlet, coarse = ('method = "newmark"\nstep = 0.01', 'method = "newmark"\nstep = 0.1')
        middle = 'method = "midpoint"\nstep = 0.1'
        self.assertEqual(["Newmark", "midpoint"], labels(verlet, middle))
        self.assertEqual(["Newmark, step 10 ms", "Newmark, step 100 ms", "midpoint"], labels(verlet, coarse, middle))
        self.assertEqual(["midpoint", "midpoint, alpha 0.4"], labels(middle, middle + "\nalpha = 0.4"))
        self.assertEqual(["Newmark (run0.out)", "Newmark (run1.out)"], labels(verlet, verlet))

    def test_work_of_loads_is_not_taken_for_an_error_of_the_energy(self):
        load = 'type = "force"\nparticles = [0]\nvalue = [1, 0]'
        pushed = self.run_particles("a", OSCILLATOR, load=load)
        self.assertLess(min(history(pushed.folder)["external_work"]), -1.0)
        self.assertLess(abs(comparison.energy_change(pushed)).max(), 1e-6)

    def test_a_folder_without_a_run_among_several_is_named(self):
        self.run_particles("a", OSCILLATOR)
        self.run_particles("c", OSCILLATOR)
        (self.folder / "empty").mkdir()
        for wrong in ("nowhere", "empty"):
            done = self.tempi("plot", "a.out", wrong, "c.out")
            with self.subTest(message=done.stderr):
                self.assertEqual((2, ""), (done.returncode, done.stdout))
                self.assertIn(wrong, done.stderr)
                self.assertNotIn("a.out", done.stderr)
        (self.folder / "c.out" / "summary.json").write_text("{", encoding="utf-8")
        self.assertIn("c.out holds damaged files", self.tempi("plot", "a.out", "c.out").stderr)
        self.assertFalse((self.folder / "a.out" / "comparison.png").exists())

    def test_a_frame_of_several_runs_is_refused(self):
        self.run_particles("a", OSCILLATOR)
        done = self.tempi("plot", "a.out", "a.out", "--frame", "1")
        self.assertEqual((2, ""), (done.returncode, done.stdout))
        self.assertIn("--frame is for a single run", done.stderr)


if __name__ == "__main__":
    unittest.main()
