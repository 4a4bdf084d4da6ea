# SPDX-License-Identifier: Apache-2.0
"""method = "static": equilibrium under loads and supports that grow with t."""

import unittest

import numpy as np

from case_folder import CaseFolder, case_text, cube, history, square, summary
from results_test import frame_files, read_frame

BEAM = """SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 0.1, 0.1};
Physical Volume("beam") = {1};
"""
OUTSIDE = {2: "X < 1e-9 || X > 1 - 1e-9 || Y < 1e-9 || Y > 1 - 1e-9"}
OUTSIDE[3] = OUTSIDE[2] + " || Z < 1e-9 || Z > 1 - 1e-9"
STATIC = 'method = "static"\nload_steps = 4'
LAWS = ("neo-hookean", "saint-venant-kirchhoff", "linear-elastic")


class Static(CaseFolder):
    def run_static(self, *arguments, code=0, **sections):
        return self.run_case("--overwrite", *arguments, code=code,
                             **{"initial": "", "integrator": STATIC, "run": "end_time = 1", "output": "frames = 1\nhistory = 4",
                                **sections})

    def beam(self, order, **sections):
        return self.run_static(meshes={"beam.geo": BEAM}, **{
            "mesh": f'file = "beam.geo"\norder = {order}\nsize = 0.05',
            "material": 'model = "linear-elastic"\nyoung = 1e6\npoisson = 0.0\ndensity = 1000', "fix": 'where = "X < 1e-6"',
            "load": 'type = "traction"\nwhere = "X > 0.999999"\nvalue = ["0", "0", "-t"]',
            "probe": 'name = "tip"\npoint = [1, 0.05, 0.05]', **sections})

    def test_a_linear_motion_of_the_boundary_is_that_of_all_nodes(self):
        meshes = {"square.msh": (square(4), 2), "cube.msh": (cube(3, jitter=0.3), 3)}
        motion = ["0.1*X + 0.05*Y", "-0.03*X + 0.08*Y", "0.02*X - 0.04*Y + 0.06*Z"]
        for name, (mesh, dim) in meshes.items():
            for law in LAWS:
                with self.subTest(mesh=name, law=law):
                    moves = ", ".join(f'"({formula})*t"' for formula in motion[:dim])
                    results = self.run_static(
                        meshes={name: mesh}, mesh=f'file = "{name}"',
                        material=f'model = "{law}"\nlambda = 1e6\nmu = 1e6\ndensity = 1000',
                        fix=f'where = "{OUTSIDE[dim]}"\ndisplacement = [{moves}]')
                    points, _, data, _, _ = read_frame(frame_files(results)[-1][1])
                    u = data["displacement"]
                    X = points - u
                    A = np.array([[0.1, 0.05, 0], [-0.03, 0.08, 0], [0.02, -0.04, 0.06]])
                    A[dim:] = 0.0
                    np.testing.assert_allclose(u, X @ A.T, atol=2e-13)
                    self.assertEqual(0.0, np.abs(data["velocity"]).max())

    def test_a_row_is_a_load_step_unless_asked_for_and_the_search_for_it_counts_as_the_run(self):
        load = 'type = "traction"\nwhere = "X > 0.999999"\nvalue = ["0", "0", "%s"]'
        for value in ("-t", "-1"):
            with self.subTest(value=value):
                results = self.beam(2, output="frames = 0", load=load % value)
                rows, made = history(results), summary(results)
                self.assertEqual([0, 0.25, 0.5, 0.75, 1], list(rows["time"]))
                self.assertGreater(made["wall_time"], made["history_time"])
        results = self.beam(1, output="", integrator='method = "static"\nload_steps = 7')
        np.testing.assert_allclose(history(results)["time"], np.arange(8) / 7, rtol=1e-15)
        results = self.beam(2, output="frames = 0\nhistory = 8")  # between them, by solutions of its own
        np.testing.assert_allclose(history(results)["fix1.reaction_z"], 0.01 * np.linspace(0, 1, 9), atol=1e-15)

    def test_a_cantilever_bends_as_theory_has_it(self):
        results = self.beam(2)
        rows, made = history(results), summary(results)
        inertia, area = 0.1**4 / 12, 0.01
        tip = -0.01 / (3 * 1e6 * inertia) - 0.01 / (5 / 6 * 0.5e6 * area)  # Timoshenko
        self.assertAlmostEqual(1.0, rows["tip.displacement_z"][-1] / tip, delta=0.002)
        np.testing.assert_allclose(rows["fix1.reaction_z"], 0.01 * np.array(rows["time"]), atol=1e-15)
        np.testing.assert_allclose(rows["total_energy"], rows["external_work"], rtol=1e-12)  # linear: exactly
        self.assertEqual("completed", made["status"])

    def test_newtons_method_takes_few_iterations_on_a_large_bend(self):
        # Four steps of a large bend (0.4 of the length): residuals fall from 1 to 1e-13 in few iterations.
        results = self.beam(2, material='model = "neo-hookean"\nyoung = 1e6\npoisson = 0.3\ndensity = 1000',
                            load='type = "traction"\nwhere = "X > 0.999999"\nvalue = ["0", "0", "-1000*t"]',
                            integrator='method = "static"\nload_steps = 10')
        made, rows = summary(results), history(results)
        self.assertLess(made["measures"]["newton_iterations"], 10)
        self.assertLess(rows["tip.displacement_z"][-1], -0.25)
        self.assertAlmostEqual(1.0, rows["total_energy"][-1] / rows["external_work"][-1], delta=5e-3)

    def test_threads_and_steps_before_leave_no_trace_beyond_the_solver(self):
        tips = []
        for threads, steps in ((1, 4), (2, 4), (1, 8)):
            results = self.beam(1, integrator=f'method = "static"\nload_steps = {steps}',
                                material='model = "neo-hookean"\nyoung = 1e6\npoisson = 0.3\ndensity = 1000')
            tips.append(history(results)["tip.displacement_z"][-1])
        self.assertEqual(tips[0], tips[1])
        self.assertAlmostEqual(1.0, tips[2] / tips[0], delta=1e-10)  # of conservative loads the path does not matter

    def test_what_cannot_be_in_equilibrium_is_told(self):
        for words, sections in (
            (("may move without force", "[[fix]]"), {"fix": ""}),
            (("may move without force",), {"fix": 'where = "X < 1e-6"\ncomponents = ["x"]'}),
            (("load step", "load_steps"), {"load": 'type = "traction"\nwhere = "X > 0.999999"\nvalue = ["-1e9*t", "0", "0"]',
                                           "material": 'model = "neo-hookean"\nyoung = 1e6\npoisson = 0.3\ndensity = 1000'})):
            self.beam(1)
            done = self.tempi("run", "case.toml", "--overwrite")
            self.assertEqual(0, done.returncode)
            results = self.run_beam_that_fails(sections)
            for word in words:
                self.assertIn(word, summary(results)["message"])

    def run_beam_that_fails(self, sections):
        base = {"mesh": 'file = "beam.geo"\norder = 1\nsize = 0.05', "initial": "",
                "material": "young = 1e6\npoisson = 0.0\ndensity = 1000", "fix": 'where = "X < 1e-6"',
                "load": 'type = "traction"\nwhere = "X > 0.999999"\nvalue = ["0", "-t", "-t"]', "integrator": STATIC,
                "run": "end_time = 1", "output": "frames = 1\nhistory = 4"}
        self.write("case.toml", case_text(**{**base, **sections}))
        done = self.tempi("run", "case.toml", "--overwrite")
        self.assertEqual(3, done.returncode, done.stderr)
        return self.folder / "case.out"

    def test_keys_that_belong_to_motion_are_refused(self):
        for integrator, word in (('method = "static"\nstep = 0.1', "load steps"), ('method = "static"\nload_steps = 0', "load_steps"),
                                 ('method = "newmark"\nload_steps = 3', "load_steps belongs to static")):
            done = self.run_refused(integrator)
            self.assertIn(word, done.stderr)

    def run_refused(self, integrator):
        self.write("square.msh", square())
        self.write("case.toml", case_text(integrator=integrator))
        done = self.tempi("run", "case.toml")
        self.assertEqual(2, done.returncode, done.stderr)
        return done


if __name__ == "__main__":
    unittest.main()
