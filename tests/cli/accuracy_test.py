# SPDX-License-Identifier: Apache-2.0
"""Which coupling and which steps the command takes for an accuracy, what check predicts, what is refused."""

import json
import re
import unittest

from case_folder import CaseFolder, case_text, cube


class Accuracy(CaseFolder):
    """A box whose spacings grow as the third power of the position along all three axes."""

    STEEL = "lambda = 93e9\nmu = 10e9\ndensity = 7800"
    SMOOTH = 'velocity = ["0.01*cos(X + 2*Y)", "0.01*cos(1 + Y + 2*Z)", "0.01*cos(2 + Z)"]'

    def tempi_on(self, command, integrator, *arguments):
        self.write("box.msh", cube(6, power=3.0, jitter=0.3))
        self.write("box.toml", case_text(mesh='file = "box.msh"', material=self.STEEL, initial=self.SMOOTH,
                                         integrator=integrator, run="end_time = 2e-3",
                                         output="frames = 0\nhistory = 100"))
        return self.tempi(command, "box.toml", *arguments)

    def rows(self, integrator):
        """Of the table of choices: marked, neighbours, saving, coupling, error."""
        done = self.tempi_on("check", integrator)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        found = re.findall(r"^  ([* ]) powers-of-(?:two|three) +(.*?) +(\d+\.\d+) +\S+ m?s +(plain|mollified) +(\S+)",
                           done.stdout, re.M)
        return [(mark == "*", limit, float(saving), coupling, float(error))
                for mark, limit, saving, coupling, error in found]

    def taken(self, integrator):
        marked = [row for row in self.rows(integrator) if row[0]]
        self.assertEqual(1, len(marked), marked)
        return marked[0]

    def test_the_coupling_left_open_is_plain_up_to_a_thousandth(self):
        plain = self.taken('coupling = "plain"')[4]
        self.assertEqual("plain" if plain <= 1e-3 else "mollified", self.taken("")[3])
        self.assertEqual("plain", self.taken("safety = 0.3")[3])  # a ninth of it
        without_limit = self.taken('lattice = "powers-of-two"\nsafety = 0.5\nmass_shares = "balanced"')
        self.assertEqual("mollified", without_limit[3])
        self.assertLess(without_limit[4], 1e-3)

    def test_an_accuracy_takes_the_fastest_that_stays_below(self):
        last = float("inf")
        for accuracy in (1e-2, 3e-4, 3e-5):
            _, _, saving, _, error = self.taken(f"accuracy = {accuracy}")
            self.assertLess(error, accuracy)
            self.assertLessEqual(saving, last)
            last = saving
        self.assertLess(last, self.taken("")[2])

    def test_the_run_tells_what_it_took(self):
        for coupling in ("plain", "mollified"):
            done = self.tempi_on("run", f'coupling = "{coupling}"', "--overwrite")
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            summary = json.loads((self.folder / "box.out" / "summary.json").read_text(encoding="utf-8"))
            self.assertEqual(coupling, summary["lattice"]["coupling"])
            self.assertEqual(coupling == "mollified", summary["lattice"]["border_updates"] > 0.0)
            self.assertLess(summary["linear_momentum"]["error"], 1e-12)

    def test_what_cannot_be_had_is_refused(self):
        for integrator, words in (('coupling = "mollified"\nlattice = "any"', ("coupling", "any", "plain")),
                                  ('coupling = "mollified"\nlattice = "exact"', ("coupling", "exact")),
                                  ('coupling = "mollified"\nmethod = "newmark"', ("coupling", "newmark")),
                                  ('coupling = "molified"', ("molified", "mollified")),
                                  ('accuracy = 1e-3\nlattice = "any"', ("accuracy", "lattice")),
                                  ("accuracy = 1e-3\ncourant = 0.1", ("accuracy", "courant")),
                                  ('accuracy = 1e-3\nmethod = "newmark"', ("accuracy", "newmark")),
                                  ("accuracy = 0", ("accuracy",))):
            done = self.tempi_on("check", integrator)
            self.assertEqual(2, done.returncode, integrator)
            for word in words:
                self.assertIn(word, done.stderr, integrator)


if __name__ == "__main__":
    unittest.main()
