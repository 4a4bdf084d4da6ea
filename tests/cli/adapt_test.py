# SPDX-License-Identifier: Apache-2.0
"""`tempi adapt`: nodes of a static case's mesh move to configurational equilibrium, and the case runs on that mesh."""

import csv
import importlib.util
import unittest

import numpy as np

from case_folder import CaseFolder, case_text, cube, history, square, summary
from results_test import frame_files, read_frame

STATIC = 'method = "static"\nload_steps = 2'
PLATE = {"initial": "", "integrator": STATIC, "run": "end_time = 1", "output": "frames = 1\nhistory = 2\nconfigurational_forces = true",
         "mesh": 'file = "square.msh"', "material": 'model = "linear-elastic"\nlambda = 1e6\nmu = 1e6\ndensity = 1000',
         "fix": 'group = "left"', "load": 'type = "gravity"\nvalue = ["10*t", "-20*t"]'}


def iterations(folder):
    with (folder / "adaption.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


class Adapt(CaseFolder):
    def adapt(self, *arguments, code=0, **sections):
        self.write("square.msh", square(6))
        self.write("case.toml", case_text(**{**PLATE, **sections}))
        done = self.tempi("adapt", "case.toml", *arguments)
        self.assertEqual(code, done.returncode, done.stderr)
        return done

    def test_the_energy_falls_until_no_force_is_left_and_the_case_runs_on_the_mesh(self):
        done = self.adapt()
        folder = self.folder / "case.adapted"
        run = iterations(folder)
        total = run["potential_energy"] + run["barrier_energy"]
        self.assertLess(np.diff(total).max(), 1e-14 * abs(total[0]))
        self.assertLess(run["largest_force_of_all"][-1], 1e-8 * run["largest_force_of_all"][0])
        self.assertLess(total[-1], 1.005 * total[0])  # both are negative: lower by half a per cent at least
        self.assertIn("vertices        25 free, 20 along flat surfaces and straight edges, 4 stay", done.stdout)
        # What is written is read again, to the equilibrium that was found: potential = energy - 2 energy.
        rows = history(folder)
        self.assertAlmostEqual(run["potential_energy"][-1], -rows["total_energy"][-1], delta=1e-10 * abs(total[-1]))
        points, _, data, _, _ = read_frame(frame_files(folder)[-1][1])
        start, _, given, _, _ = read_frame(folder / "given.vtu")
        np.testing.assert_allclose(points - data["displacement"], start + given["moved"], atol=1e-15)
        self.assertGreater(np.abs(given["configurational_force"]).max(), 0.1)
        self.assertEqual("completed", summary(folder)["status"])
        self.assertIn("adapted.msh", summary(folder)["case"])

    def test_threads_leave_no_trace_and_results_are_kept_unless_told_otherwise(self):
        written = []
        for threads in (1, 2):
            self.adapt("--overwrite", "--threads", threads, "--quiet")
            written.append([(self.folder / "case.adapted" / name).read_bytes() for name in ("adapted.msh", "adaption.csv", "history.csv")])
        self.assertEqual(written[0], written[1])
        self.assertIn("already holds results", self.adapt(code=2).stderr)

    def test_in_space_in_two_materials_under_prescribed_motion(self):
        self.write("cube.msh", cube(4, jitter=0.3))
        self.adapt(mesh='file = "cube.msh"\nscale = 2.0',
                   material=['where = "X < 0.9"\nmodel = "neo-hookean"\nyoung = 1e6\npoisson = 0.3\ndensity = 1000',
                             'where = "X > 0.9"\nmodel = "saint-venant-kirchhoff"\nyoung = 2e6\npoisson = 0.3\ndensity = 1000'],
                   fix=['group = "bottom"', 'where = "Z > 2 - 1e-9"\ncomponents = ["x", "y", "z"]\ndisplacement = ["0.1*t", "0", "0.05*X*t"]'],
                   load='type = "traction"\nwhere = "X > 2 - 1e-9"\nvalue = ["0", "1e4*t", "0"]')
        folder = self.folder / "case.adapted"
        run = iterations(folder)
        self.assertLess(run["largest_force_of_all"][-1], 1e-8 * run["largest_force_of_all"][0])
        points, _, data, _, _ = read_frame(frame_files(folder)[-1][1])
        X = points - data["displacement"]
        self.assertAlmostEqual(2.0, X.max(), delta=1e-12)
        top = np.abs(X[:, 2] - 2) < 1e-9
        np.testing.assert_allclose(data["displacement"][top, 2], 0.05 * X[top, 0], atol=1e-12)
        _, _, given, _, _ = read_frame(folder / "given.vtu")
        moved = given["moved"]
        start = read_frame(folder / "given.vtu")[0]
        self.assertEqual(0.0, np.abs(moved[np.abs(start[:, 2] - 2) < 1e-9]).max())  # supports with formulas of X
        self.assertEqual(0.0, np.abs(moved[np.abs(start[:, 0] - 2) < 1e-9]).max())  # loads
        side = (np.abs(start[:, 1]) < 1e-9)
        self.assertLess(np.abs(moved[side, 1]).max(), 1e-12)
        self.assertGreater(np.abs(moved[side]).max(), 1e-3)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "needs matplotlib")
    def test_both_meshes_are_drawn(self):
        self.adapt()
        done = self.tempi("plot", "case.adapted")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("adaption.png", done.stdout)

    def test_too_few_iterations_are_told(self):
        done = self.adapt("--iterations", 2)
        self.assertIn("give more --iterations", done.stderr)
        self.assertTrue((self.folder / "case.adapted" / "history.csv").exists())

    def test_what_has_no_part_in_the_potential_is_refused_where_it_stands(self):
        follows = 'type = "pressure"\nwhere = "X > 1 - 1e-9"\nvalue = 1.0'
        spring = '\n[[potential]]\ntype = "spring"\npairs = [[1, 2]]\nstiffness = 1.0\nlength = 1.0\n'
        for sections, words in (({"integrator": ""}, 'Choose method = "static"'), ({"load": follows}, "dead = true"),
                                ({"load": 'type = "gravity"\nvalue = ["X", "0"]'}, "formula of the place"),
                                ({"title": "A case", "output": "frames = 1" + spring}, "[[potential]]")):
            with self.subTest(words=words):
                message = self.adapt("--overwrite", code=2, **sections).stderr
                self.assertIn(words, message)
                self.assertIn("case.toml:", message)

    def test_a_body_that_is_not_held_is_refused(self):
        self.assertIn("may move without force", self.adapt(code=2 + 1, fix="").stderr)


if __name__ == "__main__":
    unittest.main()
