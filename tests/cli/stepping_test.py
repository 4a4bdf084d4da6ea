# SPDX-License-Identifier: Apache-2.0
"""Energy-stepping by the command: what it reports, subdomains, what it refuses and why."""

import re
import unittest

from case_folder import TRIANGLE, CaseFolder, case_text, history, msh, square_elements, summary

BODY = {
    "initial": 'velocity = ["0.2*(Y-0.5)*X", "0.1*(0.5-X)"]',
    "integrator": 'method = "async-energy-stepping"\nenergy_step = 1e-3',
    "output": "frames = 2\nhistory = 20",
}
PAIR = """[particles]
mass = [1, 2]
position = [[0, 0], [1, 0]]
velocity = [[0, 0.5], [0.3, -0.25]]
[[potential]]
type = "spring"
pairs = [[0, 1]]
stiffness = 10
length = 1
[integrator]
{integrator}
[run]
end_time = 5
"""


def two_squares():
    """Apart from each other: bodies 1 and 4."""
    points, elements = square_elements(3)
    count = len(points)
    more = [(kind, 4 if kind == TRIANGLE else group, [a + count for a in nodes]) for kind, group, nodes in elements]
    return msh(points + [(x + 3, y, z) for x, y, z in points], elements + more,
               {1: (2, "first"), 2: (1, "left"), 3: (1, "right"), 4: (2, "second")})


class Stepping(CaseFolder):
    def test_energy_and_momenta_are_kept_and_events_reported(self):
        results = self.run_case(**BODY)
        made, rows = summary(results), history(results)
        self.assertEqual("completed", made["status"])
        measures = made["measures"]
        self.assertGreater(measures["events"], 100)
        self.assertEqual(measures["events"], measures["uphill"] + measures["downhill"] + measures["reflected"])
        self.assertLess(abs(measures["level_error"]), 1e-13)
        self.assertLess(made["linear_momentum"]["error"], 1e-12)
        self.assertLess(made["angular_momentum"]["error"], 1e-12)
        energy = rows["total_energy"]
        self.assertLess(max(energy) - min(energy), 1e-3 * (1 + 1e-9), "within one energy step")
        self.assertGreater(max(energy) - min(energy), 1e-4, "and not by accident")

    def test_subdomains_are_bodies_groups_terms_or_sections(self):
        mesh = two_squares()
        for more, count in (("", 2), ('subdomains = "groups"', 2), ('subdomains = "terms"', 36)):
            results = self.run_case("--overwrite", meshes={"square.msh": mesh},
                                    **{**BODY, "integrator": BODY["integrator"] + "\n" + more})
            self.assertEqual(count, summary(results)["measures"]["subdomains"], more)
        text = case_text(**BODY)
        for section, count, steps in (('group = "second"', 2, 2e-3), ('where = "Y < 0.4"', 3, 3e-3)):
            self.write("case.toml", text + f"\n[[subdomain]]\n{section}\n")
            done = self.tempi("run", "case.toml", "--overwrite")
            self.assertEqual(0, done.returncode, done.stderr)
            made, rows = summary(self.folder / "case.out"), history(self.folder / "case.out")
            self.assertEqual(count, made["measures"]["subdomains"])
            self.assertLess(max(rows["total_energy"]) - min(rows["total_energy"]), steps)

    def test_check_predicts_events_and_time(self):
        self.write("square.msh", two_squares())
        self.write("case.toml", case_text(**{**BODY, "run": "end_time = 0.5"}))
        done = self.tempi("check", "case.toml")
        self.assertEqual(0, done.returncode, done.stderr)
        told = float(re.search(r"events +([0-9.e+]+) until", done.stdout).group(1))
        self.assertEqual(0, self.tempi("run", "case.toml").returncode)
        self.assertAlmostEqual(1.0, told / summary(self.folder / "case.out")["measures"]["events"], delta=0.4)

    def test_force_stepping_keeps_the_energy_of_its_grid(self):
        self.write("case.toml", PAIR.format(integrator='method = "force-stepping"\ngrid = 0.01'))
        done = self.tempi("run", "case.toml")
        self.assertEqual(0, done.returncode, done.stderr)
        made = summary(self.folder / "case.out")
        self.assertLess(abs(made["measures"]["level_error"]), 1e-12)
        self.assertGreater(made["measures"]["events"], 500)
        self.assertLess(made["energy"]["band"], 0.01)
        told = self.tempi("check", "case.toml").stdout
        self.assertAlmostEqual(1.0, float(re.search(r"events +([0-9.e+]+) until", told).group(1)) / made["measures"]["events"],
                               delta=0.4)
        self.assertEqual(0, self.tempi("plot", "case.out").returncode)
        body = self.run_case("--overwrite", meshes={"square.msh": two_squares()}, **{
            **BODY, "integrator": 'method = "force-stepping"\ngrid = [1e-5, 2e-5]', "run": "end_time = 0.002"})
        self.assertLess(abs(summary(body)["measures"]["level_error"]), 1e-9)
        for integrator, word in (('method = "force-stepping"', "needs grid"), ('method = "newmark"\ngrid = 1', "belongs to"),
                                 ('method = "force-stepping"\ngrid = -1', "> 0"),
                                 ('method = "force-stepping"\ngrid = [1, 1, 1]', "3 spacings"),
                                 ('method = "force-stepping"\ngrid = 1\nsafety = 1', "follow from grid")):
            self.write("case.toml", case_text(**{**BODY, "integrator": integrator}))
            done = self.tempi("check", "case.toml")
            self.assertEqual(2, done.returncode, done.stderr)
            self.assertIn(word, done.stderr)

    def test_what_has_no_potential_or_no_meaning_is_refused(self):
        def refuse(*words, **sections):
            self.write("case.toml", case_text(**{**BODY, **sections}))
            done = self.tempi("check", "case.toml")
            with self.subTest(words=words, message=done.stderr):
                self.assertEqual(2, done.returncode)
                for word in words:
                    self.assertIn(word, done.stderr)

        self.write("square.msh", two_squares())
        method = 'method = "energy-stepping"'
        refuse("energy_step", "Add", integrator=method)
        refuse("energy_step", "-1", "> 0", integrator=method + "\nenergy_step = -1")
        refuse("step", "no time steps", integrator=method + "\nenergy_step = 1e-3\nstep = 0.1")
        refuse("loads", "uniform-field", load='type = "gravity"\nvalue = [0, -9.81]')
        refuse("supports that move", fix='group = "left"\ndisplacement = ["t", "0"]')
        refuse("residual", integrator=BODY["integrator"] + "\nresidual = true")
        refuse("subdomains", "belongs to async-energy-stepping", integrator=method + '\nenergy_step = 1\nsubdomains = "terms"')
        refuse("energy_step", "belongs to", integrator="energy_step = 1")
        for section, method_name, word in (('group = "second"', "energy-stepping", "has one"),
                                           ('group = "second"', "newmark", "belongs to async-energy-stepping"),
                                           ('where = "X > 99"', "async-energy-stepping", "selects no"),
                                           ('group = "second"\n[[subdomain]]\nwhere = "X > 3"', "async-energy-stepping",
                                            "in another")):
            energy = "" if method_name == "newmark" else "\nenergy_step = 1e-3"
            self.write("case.toml", case_text(**{**BODY, "integrator": f'method = "{method_name}"{energy}'})
                       + f"\n[[subdomain]]\n{section}\n")
            done = self.tempi("check", "case.toml")
            self.assertEqual(2, done.returncode, done.stderr)
            self.assertIn(word, done.stderr)

    def test_rest_and_steps_above_all_energy_are_warned_of(self):
        self.write("square.msh", two_squares())
        for sections, word in (({"initial": ""}, "nothing will ever move"),
                               ({"integrator": 'method = "energy-stepping"\nenergy_step = 1e6'}, "more than the kinetic energy")):
            self.write("case.toml", case_text(**{**BODY, **sections}))
            done = self.tempi("check", "case.toml")
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertIn(word, done.stderr)

    def test_particles_keep_their_energy_too(self):
        for method in ('method = "energy-stepping"', 'method = "async-energy-stepping"\nsubdomains = "terms"'):
            self.write("case.toml", PAIR.format(integrator=method + "\nenergy_step = 1e-3"))
            done = self.tempi("run", "case.toml", "--overwrite")
            self.assertEqual(0, done.returncode, done.stderr)
            made = summary(self.folder / "case.out")
            self.assertLess(abs(made["measures"]["level_error"]), 1e-13)
            self.assertLess(made["energy"]["max"] - made["energy"]["min"], 1e-3)
            self.assertEqual(0, self.tempi("plot", "case.out").returncode)


if __name__ == "__main__":
    unittest.main()
