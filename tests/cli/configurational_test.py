# SPDX-License-Identifier: Apache-2.0
"""Configurational forces and path integrals of a case: what is written, and what is refused."""

import importlib.util
import unittest

import numpy as np

from case_folder import CaseFolder, case_text, cube, history, square, summary
from results_test import frame_files, read_frame

TIP = 'name = "tip"\npoint = [0.5, 0.5]\ndirection = [1, 0]\nrings = 2'


class Configurational(CaseFolder):
    def test_frames_and_probes_have_the_forces_of_nodes(self):
        for name, mesh in (("square.msh", square(4)), ("cube.msh", cube(3))):
            results = self.run_case(
                "--overwrite", meshes={name: mesh}, mesh=f'file = "{name}"',
                initial='velocity = ["0.1*Y", "0.2*X*X"' + (', "0"]' if "cube" in name else "]"),
                probe=['name = "left"\nwhere = "X < 1e-9"', 'name = "right"\nwhere = "X > 1e-9"'],
                output="frames = 2\nhistory = 10\nconfigurational_forces = true")
            _, _, data, _, _ = read_frame(frame_files(results)[-1][1])
            rows, f = history(results), data["configurational_force"]
            self.assertGreater(np.abs(f).max(), 1e-6)
            self.assertLess(np.abs(f.sum(axis=0)).max(), 1e-13 * np.abs(f).sum())
            for axis in "xy":
                left, right = (rows[f"{side}.configurational_force_{axis}"][-1] for side in ("left", "right"))
                self.assertAlmostEqual(0.0, left + right, delta=1e-13 * np.abs(f).sum())
                self.assertNotEqual(0.0, left)

    def test_without_being_asked_for_nothing_is_written(self):
        results = self.run_case("--overwrite", probe='name = "left"\nwhere = "X < 1e-9"')
        self.assertFalse([name for name in history(results) if "configurational" in name])
        self.assertNotIn("configurational_force", read_frame(frame_files(results)[-1][1])[2])

    def test_a_path_integral_has_a_column_a_ring_on_any_number_of_threads(self):
        text = case_text(output="frames = 1\nhistory = 10") + f"\n[[path_integral]]\n{TIP}\n"
        self.write("square.msh", square(8))
        self.write("case.toml", text)
        rows = []
        for threads in (1, 2):
            done = self.tempi("run", "case.toml", "--overwrite", "--threads", threads)
            self.assertEqual(0, done.returncode, done.stderr)
            rows.append((self.folder / "case.out" / "history.csv").read_bytes())
        self.assertEqual(rows[0], rows[1])
        table = history(self.folder / "case.out")
        self.assertEqual(["tip.J_1", "tip.J_2"], [name for name in table if name.startswith("tip.")])
        self.assertIn("path     tip: J of 2 rings about 1 nodes", self.tempi("check", "case.toml").stdout)
        made = summary(self.folder / "case.out")["path_integrals"]
        self.assertEqual({"tip": {"J": [table["tip.J_1"][-1], table["tip.J_2"][-1]], "length": 1.0}}, made)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "needs matplotlib")
    def test_j_is_drawn(self):
        self.write("square.msh", square(8))
        self.write("case.toml", case_text(output="frames = 1\nhistory = 10") + f"\n[[path_integral]]\n{TIP}\n")
        self.assertEqual(0, self.tempi("run", "case.toml", "--overwrite").returncode)
        done = self.tempi("plot", "case.out")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("path_integrals.png", done.stdout)

    def refused(self, section, *words, text=None):
        self.write("square.msh", square(8))
        self.write("case.toml", (text or case_text()) + f"\n[[path_integral]]\n{section}\n")
        done = self.tempi("run", "case.toml", "--overwrite")
        self.assertEqual(2, done.returncode, done.stderr)
        for word in ("case.toml", *words):
            self.assertIn(word, done.stderr)

    def test_tips_that_are_none_are_refused(self):
        self.refused(TIP.replace("[0.5, 0.5]", "[0.51, 0.5]"), "no node at (0.51, 0.5)", "(0.5, 0.5)")
        self.refused(TIP.replace("rings = 2", "rings = 0"), "rings")
        self.refused(TIP.replace("rings = 2", "rings = 30"), "every node of the body")
        self.refused(TIP.replace("[1, 0]", "[0, 0]"), "direction")
        self.refused('name = "tip"\ndirection = [1, 0]', "either a point or a group")
        self.refused(f"{TIP}\n[[path_integral]]\n{TIP}", "two path integrals named 'tip'")
        self.refused(TIP.replace("rings", "ringss"), "ringss", "rings")
        particles = ('[particles]\nmass = 1.0\nposition = [[0, 0], [1, 0]]\n[[potential]]\ntype = "spring"\nstiffness = 1.0\n'
                     'length = 1.0\npairs = [[0, 1]]\n[integrator]\nstep = 0.1\n[run]\nend_time = 1.0\n')
        self.refused(TIP, "only particles", text=particles)

    def test_another_material_near_the_tip_is_told(self):
        self.write("square.msh", square(8))
        soft = 'where = "X < 0.25"\nlambda = 1e6\nmu = 1e6\ndensity = 1000'
        self.write("case.toml", case_text(material=[soft, 'where = "X >= 0.25"\nlambda = 2e6\nmu = 1e6\ndensity = 1000'])
                   + f"\n[[path_integral]]\n{TIP.replace('rings = 2', 'rings = 4')}\n")
        done = self.tempi("run", "case.toml", "--overwrite")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("Trust J_1 to J_2", done.stderr)
        self.assertTrue(any("another material" in warning for warning in summary(self.folder / "case.out")["warnings"]))


if __name__ == "__main__":
    unittest.main()
