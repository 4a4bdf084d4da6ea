# SPDX-License-Identifier: Apache-2.0
"""`tempi stability` and the choices that `tempi check` tells."""

import json
import re
import unittest

from case_folder import LINE, POINT, CaseFolder, bar, case_text, cube, msh

# 24 bars of length 1 and modulus 1, the 13th of length 1/32, held at the left.
LENGTHS = [1.0] * 12 + [1.0 / 32.0] + [1.0] * 11
UNIT = 'model = "linear-elastic"\nlambda = 0\nmu = 0.5\ndensity = 1'


def one_short_bar():
    points, x = [(0.0, 0.0, 0.0)], 0.0
    for length in LENGTHS:
        x += length
        points.append((x, 0.0, 0.0))
    elements = [(POINT, 2, (0,))] + [(LINE, 1, (i, i + 1)) for i in range(len(LENGTHS))]
    return msh(points, elements, {1: (1, "body"), 2: (0, "left")})


class Stability(CaseFolder):
    def report(self, *arguments, mesh=None, material=UNIT, integrator="", **sections):
        self.write("bar.msh", mesh or one_short_bar())
        self.write("case.toml", case_text(mesh='file = "bar.msh"', material=material, initial="", integrator=integrator,
                                          **sections))
        done = self.tempi("stability", "case.toml", *arguments)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return done.stdout

    def figures(self, text):
        growth = float(re.search(r"growth\s+(\S+) per longest step", text)[1])
        return growth, re.search(r"verdict\s+(\w+)", text)[1]

    HELD = {"fix": 'group = "left"'}

    def test_a_bar_beside_one_32_times_shorter_grows_at_half_its_stable_step(self):
        text = self.report(integrator='safety = 0.5\nlattice = "powers-of-two"\ncoupling = "plain"', **self.HELD)
        growth, verdict = self.figures(text)
        self.assertEqual("unstable", verdict)
        self.assertAlmostEqual(0.02754, growth, delta=0.05 * 0.02754)

    def test_mollified_kicks_let_it_grow_a_third_as_fast(self):
        text = self.report(integrator='safety = 0.5\nlattice = "powers-of-two"\ncoupling = "mollified"', **self.HELD)
        growth, verdict = self.figures(text)
        self.assertEqual("unstable", verdict)
        self.assertAlmostEqual(0.0091, growth, delta=0.05 * 0.0091)

    def test_the_same_bar_is_stable_where_neighbours_are_close(self):
        for integrator in ('safety = 0.95\nsteps = "one-ring"\nlattice = "powers-of-two"',
                           'safety = 0.5\nlattice = "powers-of-two"\nneighbour_ratio = 2',
                           "safety = 0.5"):
            growth, verdict = self.figures(self.report(integrator=integrator, **self.HELD))
            self.assertEqual("stable", verdict, integrator)
            self.assertLess(abs(growth), 1e-4)

    def test_newmark_and_the_queue_are_measured_too(self):
        for integrator in ('method = "newmark"\nsafety = 0.9', 'safety = 0.1\nlattice = "exact"'):
            text = self.report("--longest-steps", "1000", integrator=integrator, **self.HELD)
            self.assertEqual("stable", self.figures(text)[1], integrator)
            self.assertIn("would not have been seen", text)

    def test_rigid_motions_of_a_free_body_are_left_out(self):
        text = self.report("--longest-steps", "500", mesh=cube(2), material="lambda = 1\nmu = 1\ndensity = 1")
        self.assertIn("without 6 rigid motions", text)
        self.assertEqual("stable", self.figures(text)[1])

    def test_a_wrong_number_of_steps_is_refused(self):
        self.write("square.msh", bar())
        self.write("case.toml", case_text())
        done = self.tempi("stability", "case.toml", "--longest-steps", "1")
        self.assertEqual(2, done.returncode)
        self.assertIn("longest-steps", done.stderr)


class Choices(CaseFolder):
    def check(self, integrator=""):
        self.write("bar.msh", one_short_bar())
        self.write("case.toml", case_text(mesh='file = "bar.msh"', material=UNIT, initial="", integrator=integrator))
        done = self.tempi("check", "case.toml")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        lines = done.stdout.splitlines()
        return lines[next(i for i, line in enumerate(lines) if "choices of steps" in line) + 1:]

    def test_check_tells_every_choice_and_marks_the_one_taken(self):
        rows = self.check()
        for name in ("powers-of-two", "powers-of-three", "twos-and-threes", "any", "exact", "newmark, element limit",
                     "newmark, assembled limit"):
            self.assertTrue(any(row[4:].startswith(name) for row in rows), name)
        taken = [row for row in rows if row.startswith("  *")]
        self.assertEqual(1, len(taken), rows)
        self.assertRegex(taken[0], r"nodes 0\.9 .* no growth at (\d+) of \1 nodes where steps differ")

    def test_the_row_of_another_choice_is_marked_when_it_is_asked_for(self):
        for integrator, name in (('lattice = "any"', "any"), ('lattice = "exact"', "exact"),
                                 ('method = "newmark"', "newmark, element limit"),
                                 ('method = "newmark"\nnewmark_limit = "assembled"', "newmark, assembled limit"),
                                 ('lattice = "powers-of-three"\nneighbour_ratio = 3', "powers-of-three")):
            taken = [row for row in self.check(integrator) if row.startswith("  *")]
            self.assertEqual(1, len(taken), integrator)
            self.assertTrue(taken[0][4:].startswith(name), taken)

    def test_newmark_may_go_further_at_the_assembled_limit(self):
        for shares, least, most in (("own", 2.0, 9.0), ("balanced", 1.0, 1.2)):
            rows = self.check(f'mass_shares = "{shares}"')
            saving = {row[4:30].strip(): float(row[41:50]) for row in rows if not row.startswith("  note")}
            self.assertEqual(1.0, saving["newmark, element limit"])
            self.assertGreater(saving["newmark, assembled limit"], least, shares)
            self.assertLess(saving["newmark, assembled limit"], most, shares)

    def test_the_assembled_limit_goes_with_safety_only(self):
        self.write("bar.msh", one_short_bar())
        self.write("case.toml", case_text(mesh='file = "bar.msh"', material=UNIT, initial="",
                                          integrator='method = "newmark"\nnewmark_limit = "assembled"\nstep = 1e-3'))
        done = self.tempi("check", "case.toml")
        self.assertEqual(2, done.returncode)
        self.assertIn("newmark_limit", done.stderr)
        self.assertIn("safety", done.stderr)


class Trial(CaseFolder):
    """Steps are tried before the run, and looked after during it."""

    # A box whose spacings grow as the third power of the position along all three axes.
    STEEL = "lambda = 93e9\nmu = 10e9\ndensity = 7800"
    SMOOTH = 'velocity = ["0.7*cos(X + 2*Y)", "0.7*cos(1 + Y + 2*Z)", "0.7*cos(2 + Z)"]'
    YESTERDAY = 'lattice = "powers-of-two"\nmass_shares = "balanced"\nresidual = false'

    def case(self, integrator="residual = false", end_time=4e-3, history=200):
        self.write("box.msh", cube(6, power=3.0, jitter=0.3))
        return self.write("box.toml", case_text(mesh='file = "box.msh"', material=self.STEEL, initial=self.SMOOTH,
                                                integrator=integrator, run=f"end_time = {end_time}",
                                                output=f"frames = 0\nhistory = {history}"))

    def summary(self):
        return json.loads((self.folder / "box.out" / "summary.json").read_text(encoding="utf-8"))

    def test_the_default_is_tried_everywhere_and_keeps_its_energy(self):
        self.case()
        done = self.tempi("run", "box.toml")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertRegex(done.stdout, r"steps +powers-of-\w+, \w+, neighbours: nodes 0\.9; tried before the run: no growth at")
        summary = self.summary()
        self.assertLess(summary["energy"]["band"], 0.02)
        self.assertFalse(summary["lattice"]["trial"]["grows"])
        self.assertEqual(summary["lattice"]["trial"]["places"], summary["lattice"]["trial"]["tried"])
        self.assertNotIn("caution", summary)

    def test_a_lattice_of_one_s_own_is_told_to_resonate_and_not_changed(self):
        self.case(self.YESTERDAY)
        done = self.tempi("check", "box.toml")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertRegex(done.stdout, r"\* powers-of-two +- .* grows by \S+ per longest step of \S+ s around node")
        self.assertIn("note: these steps resonate", done.stdout)

    def test_the_exact_queue_is_tried_by_running_the_motion_of_the_whole_model(self):
        self.case('lattice = "exact"\nresidual = false\nmass_shares = "balanced"\ntrial = 0.3', end_time=4e-2)
        done = self.tempi("check", "box.toml")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertRegex(done.stdout, r"note: these steps resonate: a small motion of the whole model grows by \S+ per longest")
        self.case('lattice = "exact"\nresidual = false\nsafety = 0.1\ntrial = 0.3')
        done = self.tempi("check", "box.toml")
        self.assertRegex(done.stdout, r"note: .*tried as a whole for \d+ longest steps, of which the run has \d+, where no")

    def test_a_run_that_resonates_says_so_instead_of_inverting_an_element(self):
        for history in (200, 1):  # noticed at a row of the history; or when an element inverts
            self.case(self.YESTERDAY + "\nsafety = 0.9", end_time=4e-2, history=history)
            done = self.tempi("run", "box.toml", "--overwrite")
            self.assertEqual(3, done.returncode, done.stdout)
            self.assertIn("the steps resonate", done.stderr)
            self.assertIn('lattice = "auto"', done.stderr)
            self.assertEqual("failed", self.summary()["status"])
        self.assertIn("So at last", done.stderr)

    def test_a_run_whose_steps_are_left_to_it_begins_again_with_smaller_ones_when_they_resonate(self):
        self.case(self.YESTERDAY, end_time=4e-2)
        done = self.tempi("run", "box.toml", "--overwrite")
        self.assertEqual(0, done.returncode, done.stderr)
        made = self.summary()
        self.assertEqual(2, len(made["tries"]))
        self.assertIn("the steps resonate", made["tries"][0]["message"])
        self.assertLess(made["energy"]["band"], 0.05)

    def test_without_a_trial_check_says_that_nothing_was_tried(self):
        self.case("trial = 0\nresidual = false")
        done = self.tempi("check", "box.toml")
        self.assertIn("was not tried", done.stdout)
        self.case("trial = -1")
        done = self.tempi("check", "box.toml")
        self.assertEqual(2, done.returncode)
        self.assertIn("trial", done.stderr)

    def test_the_choice_does_not_depend_on_the_number_of_threads(self):
        self.case(end_time=1e-4)
        tried = []
        for threads in (1, 2, 3):
            self.tempi("run", "box.toml", "--overwrite", "--threads", threads)
            tried.append(self.summary()["lattice"])
        self.assertEqual(tried[0], tried[1])
        self.assertEqual(tried[0], tried[2])


if __name__ == "__main__":
    unittest.main()
