# SPDX-License-Identifier: Apache-2.0
"""Energy-stepping by the command: what it reports, subdomains, what it refuses and why."""

import re
import unittest

from case_folder import SQUARE_NAMES, TETRAHEDRON, TRIANGLE, CaseFolder, case_text, history, msh, square_elements, summary

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


def square_elements_mesh():
    points, elements = square_elements(3)
    return msh(points, elements, SQUARE_NAMES)


def two_tetrahedra(gap):
    """One with its point down above a face of the other."""
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, -1),
              (0.2, 0.25, gap), (0.6, 0.2, 1 + gap), (0.2, 0.6, 1 + gap), (0.1, 0.1, 1 + gap)]
    return msh(points, [(TETRAHEDRON, 1, [0, 2, 1, 3]), (TETRAHEDRON, 2, [4, 5, 6, 7])],
               {1: (3, "lower"), 2: (3, "upper")})


TOUCHING = """[mesh]
file = "bodies.msh"
[[material]]
lambda = 100
mu = 100
density = 1
[[contact]]
between = ["lower", "upper"]
law = "faces"
penalty = 1e-3
[initial]
velocity = ["0", "0", "Z > 0 ? -1 : 0"]
[[probe]]
name = "lower"
group = "lower"
body = true
[[probe]]
name = "upper"
group = "upper"
body = true
[integrator]
method = "async-energy-stepping"
energy_step = 1e-5
[run]
end_time = 0.5
[output]
frames = 2
history = 40
"""


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

    def test_subdomains_may_be_parts_cut_by_number(self):
        results = self.run_case(**{**BODY, "integrator": BODY["integrator"] + "\nsubdomains = 4"})
        self.assertEqual(4, summary(results)["measures"]["subdomains"])
        for wrong, why in (("0", "must be >= 1"), ("4000", "4000 parts of"), ("2.5", "an integer"),
                           ('"halves"', "bodies | groups | terms")):
            self.write("case.toml", case_text(**{**BODY, "integrator": BODY["integrator"] + f"\nsubdomains = {wrong}"}))
            done = self.tempi("check", "case.toml")
            self.assertEqual(2, done.returncode, wrong)
            self.assertIn(why, done.stderr)

    def test_walls_are_met_exactly_or_by_a_penalty(self):
        falls = {"initial": 'velocity = ["0.05", "-0.3"]', "run": "end_time = 4"}
        floor = '\n[[wall]]\ntype = "plane"\npoint = [0, -0.3]\nnormal = [0, 1]\n'
        coarse = {"integrator": 'method = "async-energy-stepping"\nenergy_step = 0.1'}
        for wall in (floor, floor + "penalty = 1e-3\n"):
            self.write("square.msh", square_elements_mesh())
            self.write("case.toml", case_text(**{**BODY, **falls, **coarse}) + wall)
            done = self.tempi("run", "case.toml", "--overwrite")
            self.assertEqual(0, done.returncode, done.stderr)
            made, rows = summary(self.folder / "case.out"), history(self.folder / "case.out")
            self.assertLess(abs(made["measures"]["level_error"]), 1e-13)
            first, last = rows["linear_momentum_y"][0], rows["linear_momentum_y"][-1]
            self.assertLess(first, 0)
            self.assertGreater(last, 0.3 * -first, "thrown back")
            self.assertAlmostEqual(rows["linear_momentum_x"][0], rows["linear_momentum_x"][-1], delta=1e-12 * -first)
            self.assertEqual("penalty" not in wall, made["measures"].get("wall_hits", 0) > 0)
        # Steps in time take the penalty, and a step of their own that fits it.
        self.write("case.toml", case_text(**{**BODY, **falls, "integrator": 'method = "newmark"'}) + wall)
        done = self.tempi("run", "case.toml", "--overwrite")
        self.assertEqual(0, done.returncode, done.stderr)
        made, rows = summary(self.folder / "case.out"), history(self.folder / "case.out")
        self.assertLess(made["energy"]["band"], 0.05)
        self.assertGreater(rows["linear_momentum_y"][-1], 0.3 * -rows["linear_momentum_y"][0])

    def test_what_walls_and_contacts_cannot_be_is_said(self):
        self.write("square.msh", square_elements_mesh())
        newmark = {"integrator": 'method = "newmark"'}
        for more, options, why in (
                ('[[wall]]\ntype = "plane"\npoint = [0, -0.3]\nnormal = [0, 1]', newmark, "needs a penalty"),
                ('[[wall]]\ntype = "plane"\npoint = [0, -0.3]', BODY, "needs point normal"),
                ('[[wall]]\ntype = "plane"\npoint = [0, -0.3]\nnormal = [0, 1, 0]', BODY, "3 components"),
                ('[[wall]]\ntype = "plane"\npoint = [0, -0.3]\nnormal = [0, 1]\nradius = 2', BODY,
                 "radius belongs to sphere, cylinder"),
                ('[[wall]]\ntype = "plane"\npoint = [0, 0.3]\nnormal = [0, 1]', BODY, "beyond a wall"),
                ('[[wall]]\ntype = "cylinder"\npoint = [0, -3]\naxis = [0, 1]\nradius = 1', BODY, "three dimensions"),
                ('[[wall]]\ntype = "plan"', BODY, 'Did you mean "plane"'),
                ('[[contact]]\nlaw = "faces"\npenalty = 1e-3', BODY, "needs three dimensions"),
                ('[[contact]]\npenalty = 1e-3', BODY, 'belongs to law = "faces"'),
                ('[[contact]]\ndistance = 1e-3', BODY, "is for avi on a lattice"),
                ('[[contact]]', BODY, "needs a distance"),
                ('[[contact]]\nlaw = "faces"', BODY, "penalty")):
            self.write("case.toml", case_text(**{**BODY, **options}) + "\n" + more + "\n")
            done = self.tempi("check", "case.toml")
            self.assertEqual(2, done.returncode, more)
            self.assertIn(why, done.stderr)

    def test_reduced_and_mirrored_grids_are_for_what_can_have_them(self):
        planets = PAIR.format(integrator='method = "force-stepping"\ngrid = 0.01\n{more}')
        aside = planets.replace("[[0, 0], [1, 0]]", "[[0.1037, 0.2041], [1.1513, 0.3377]]")
        for case, more, why in ((planets, "reduced = true", ""), (aside, "parity = true", ""),
                                (planets, "parity = true", "starts on a face of the mirrored grid"),
                                (planets, "reduced = true\nparity = true", "has no mirror image")):
            self.write("case.toml", case.replace("{more}", more))
            done = self.tempi("run", "case.toml", "--overwrite")
            self.assertEqual(2 if why else 0, done.returncode, done.stderr)
            self.assertIn(why, done.stderr)
            if not why:
                made = summary(self.folder / "case.out")
                self.assertLess(abs(made["measures"]["level_error"]), 1e-12)
                self.assertEqual("reduced" in more, made["angular_momentum"]["error"] < 1e-13, more)
        self.write("case.toml", planets.replace("{more}", "reduced = true") + '[[wall]]\ntype = "plane"\npoint = [0, -9]\n'
                   "normal = [0, 1]\npenalty = 1\n")
        done = self.tempi("check", "case.toml")
        self.assertEqual(2, done.returncode)
        self.assertIn("where the centre of mass is", done.stderr)
        self.write("case.toml", planets.replace("force-stepping", "energy-stepping").replace("grid = 0.01", "energy_step = 1e-3").replace(
            "{more}", "reduced = true"))
        self.assertIn("reduced belongs to force-stepping", self.tempi("check", "case.toml").stderr)

    def test_bodies_touch_by_their_faces(self):
        self.write("bodies.msh", two_tetrahedra(0.02))
        self.write("case.toml", TOUCHING)
        done = self.tempi("run", "case.toml")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        made, rows = summary(self.folder / "case.out"), history(self.folder / "case.out")
        self.assertEqual(3, made["measures"]["subdomains"])
        self.assertLess(made["linear_momentum"]["error"], 1e-12)
        self.assertLess(made["angular_momentum"]["error"], 1e-12)
        given = [rows[f"{body}.linear_momentum_z"][-1] - rows[f"{body}.linear_momentum_z"][0]
                 for body in ("lower", "upper")]
        self.assertLess(given[0], -0.01, "pushed")
        self.assertAlmostEqual(given[0], -given[1], delta=1e-14)
        for body in ("lower", "upper"):
            local = [t + v for t, v in zip(rows[f"{body}.kinetic_energy"], rows[f"{body}.level_energy"])]
            self.assertAlmostEqual(local[0], local[1], delta=1e-15, msg="before they meet")
            self.assertGreaterEqual(rows[f"{body}.kinetic_energy"][-1], rows[f"{body}.vibrational_energy"][-1])
        drawn = self.tempi("plot", "case.out")
        self.assertIn("bodies.png", drawn.stdout, drawn.stderr)
        # One after the other as in one go; with steps in time too; a start inside each other is refused.
        again = self.tempi("run", "case.toml", "--threads", "2", "--out", "two")
        self.assertEqual(0, again.returncode, again.stderr)
        self.assertEqual(rows, history(self.folder / "two"))
        for method in ("newmark", "avi"):
            self.write("steps.toml", TOUCHING.replace("async-energy-stepping", method).replace("energy_step = 1e-5",
                                                                                              "safety = 0.2"))
            done = self.tempi("run", "steps.toml", "--overwrite")
            self.assertEqual(0, done.returncode, done.stderr)
            made = summary(self.folder / "steps.out")
            self.assertLess(made["energy"]["band"], 0.05)
            self.assertLess(made["linear_momentum"]["error"], 1e-12)
        self.write("steps.toml", TOUCHING.replace("async-energy-stepping", "energy-momentum").replace("energy_step", "#"))
        self.assertIn("does not take [[contact]]", self.tempi("check", "steps.toml").stderr)
        self.write("bodies.msh", two_tetrahedra(-0.05))
        done = self.tempi("check", "case.toml")
        self.assertEqual(2, done.returncode)
        self.assertIn("cross where the run starts", done.stderr)

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

    def test_a_motion_that_only_bounces_off_the_terrace_is_told(self):
        """Across a stretched spring: V rises along the flight, whatever the step, and the pair should come nearer."""
        across = PAIR.replace("length = 1\n", "length = 0.9\n").replace("[0.3, -0.25]", "[0, -0.25]")
        for case, told in ((across, True), (across.replace("[0, 0.5]", "[0.1, 0.5]"), False)):
            self.write("case.toml", case.format(integrator='method = "energy-stepping"\nenergy_step = 1.1e-3'))
            done = self.tempi("run", "case.toml", "--overwrite")
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual(told, "events were reflections" in done.stderr + done.stdout, done.stdout)

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
