# SPDX-License-Identifier: Apache-2.0
"""The synchronous variational methods from the command: they run, agree where they are the same, and refuse what is none."""

import unittest

import numpy as np

from case_folder import case_text, history, square, summary
from refused import Refused

METHODS = ('"symplectic-euler-a"', '"symplectic-euler-b"', '"midpoint"', '"midpoint"\nalpha = 0.3', '"trapezoidal"',
           '"symmetric-midpoint"\nalpha = 0.2', '"gauss"', '"gauss"\norder = 6', '"lobatto"', '"lobatto"\norder = 2', '"newmark"\nbeta = 0.25', '"newmark"\nbeta = 0')


class Methods(Refused):
    def run_method(self, method, **sections):
        sections = {"run": "end_time = 0.05", "output": "frames = 2\nhistory = 20", **sections}
        results = self.run_case("--overwrite", meshes={"square.msh": square()}, integrator=f"method = {method}",
                                **sections)
        return summary(results), history(results)

    def test_each_keeps_momenta_and_energy_and_names_itself(self):
        for method in METHODS:
            made, _ = self.run_method(method)
            self.assertEqual("completed", made["status"])
            self.assertEqual(method.split('"')[1], made["method"])
            self.assertLess(made["linear_momentum"]["error"], 1e-12, method)
            if "beta = 0.25" not in method:
                self.assertLess(made["angular_momentum"]["error"], 1e-11, method)
            self.assertLess(abs(made["energy"]["drift"]), 0.05, method)
            self.assertNotIn("energy_residual", made)

    def test_the_controls_run_and_lose_what_they_do_not_claim(self):
        made, _ = self.run_method('"rk4"')
        self.assertLess(made["linear_momentum"]["error"], 1e-12)
        self.assertGreater(made["angular_momentum"]["error"], 1e-10)
        made, _ = self.run_method('"energy-momentum"')
        self.assertLess(made["linear_momentum"]["error"], 1e-12)
        self.assertLess(made["energy"]["band"], 1e-11)
        self.assertGreater(made["angular_momentum"]["error"], 1e-9)

    def test_the_same_method_by_two_names_gives_the_same(self):
        for one, other in (('"trapezoidal"', '"newmark"'), ('"lobatto"\norder = 2', '"newmark"'),
                           ('"newmark"\nbeta = 0', '"newmark"'),
                           ('"midpoint"', '"gauss"\norder = 2'), ('"midpoint"', '"symmetric-midpoint"')):
            step = "\nstep = 0.0025"  # rows at multiples of it: between them newmark interpolates
            mine, its = self.run_method(one + step)[1], self.run_method(other + step)[1]
            for a, b in zip(mine["kinetic_energy"], its["kinetic_energy"]):
                self.assertAlmostEqual(a, b, delta=1e-9 * max(its["kinetic_energy"]), msg=one)

    def test_implicit_methods_may_exceed_the_stable_step(self):
        made, _ = self.run_method('"midpoint"\nstep = 0.02', run="end_time = 0.2")
        self.assertEqual("completed", made["status"])
        self.refused("step 0.02 s", "exceeds its stable step", arguments=("--overwrite",),
                     integrator='method = "trapezoidal"\nstep = 0.02')

    def test_outputs_of_implicit_methods_are_at_steps_and_leave_no_trace(self):
        for method in ('"midpoint"', '"gauss"\norder = 4', '"newmark"\nbeta = 0.25', '"energy-momentum"'):
            with self.subTest(method=method):
                step = f"{method}\nstep = 0.004"
                made, rows = self.run_method(step, run="end_time = 0.08", output="")
                np.testing.assert_allclose(rows["time"], 0.004 * np.arange(21), rtol=1e-15)
                # What is looked at before it is taken is not solved again ...
                self.assertGreater(made["wall_time"], made["history_time"])
                # ... and is what is found where nobody looks, or between steps.
                for history_rows in (1, 7, 30):
                    _, others = self.run_method(step, run="end_time = 0.08", output=f"frames = 0\nhistory = {history_rows}")
                    for column in rows:
                        self.assertEqual(rows[column][-1], others[column][-1], column)
        # Where few numbers divide the steps outputs are at those nearest, else they are where they are asked for.
        _, rows = self.run_method('"midpoint"\nstep = 0.001', run="end_time = 0.0971", output="")
        np.testing.assert_allclose(np.array(rows["time"][:-1]) / 0.001, np.round(np.array(rows["time"][:-1]) / 0.001), rtol=1e-12)
        self.assertEqual(0.0971, rows["time"][-1])
        _, rows = self.run_method('"midpoint"\nstep = 0.004', run="end_time = 0.08", output="history = 30")
        np.testing.assert_allclose(rows["time"], 0.08 * np.arange(31) / 30, rtol=1e-15)

    def test_newmark_that_damps_has_a_smaller_limit(self):
        made, _ = self.run_method('"newmark"\ngamma = 1.0', run="end_time = 2")
        self.assertEqual("completed", made["status"])
        self.assertLess(made["energy"]["max"], 1.2 * made["energy"]["initial"])
        self.refused("step 0.0055 s", "beta and gamma", arguments=("--overwrite",),
                     integrator='method = "newmark"\ngamma = 1.0\nstep = 0.0055')

    def test_stability_measures_them(self):
        self.write("square.msh", square())
        self.write("case.toml", case_text(integrator='method = "midpoint"\nstep = 0.02', initial=""))
        done = self.tempi("stability", "case.toml", "--longest-steps", "300")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertIn("verdict         stable", done.stdout)

    def test_keys_of_other_methods_are_refused(self):
        self.refused("alpha belongs to", "midpoint", "gauss", integrator='method = "gauss"\nalpha = 0.5')
        self.refused("order belongs to", "gauss, lobatto", "avi", integrator="order = 4")
        self.refused("beta belongs to", "newmark", "rk4", integrator='method = "rk4"\nbeta = 0.25')
        self.refused("order = 3", "2, 4 or 6", integrator='method = "lobatto"\norder = 3')
        self.refused("alpha = 1.5", "must be", integrator='method = "midpoint"\nalpha = 1.5')
        self.refused("residual = true", "newmark without beta and gamma", integrator='method = "gauss"\nresidual = true')
        self.refused('mean "midpoint"', integrator='method = "mid-point"')


if __name__ == "__main__":
    unittest.main()
