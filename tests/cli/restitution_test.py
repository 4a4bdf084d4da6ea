# SPDX-License-Identifier: Apache-2.0
"""`tempi restitution`: two bodies meet at several speeds, and what they lose is fitted."""

import csv
import unittest

import numpy as np

from case_folder import CaseFolder, summary

PAIR = """
[constants]
speed = 1.0
[particles]
file = "pair.csv"
[initial]
velocity = ["X < 0.01 ? speed : 0", "0"]
[[potential]]
type = "hertz"
young = 2e11
poisson = 0.3
restitution = "1 - 0.05*v^0.3"
[integrator]
step = 1e-7
[run]
end_time = 1e-3
[output]
history = 20
[[probe]]
name = "a"
particles = [0]
body = true
[[probe]]
name = "b"
particles = [1]
body = true
"""


class Restitution(CaseFolder):
    def setUp(self):
        super().setUp()
        self.write("pair.csv", "x,y,mass,radius\n0,0,0.03,0.01\n0.02201,0,0.05,0.012\n")
        self.write("case.toml", PAIR)

    def test_a_campaign_finds_the_law_and_is_drawn(self):
        done = self.tempi("restitution", "case.toml", "--speeds", "1.6,0.1,0.4")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stdout, r'restitution = "1 - 0\.0(5|49\d*|50\d*)\*v\^0\.(3|29\d*|30\d*)"')
        folder = self.folder / "case.restitution"
        with (folder / "restitution.csv").open(newline="", encoding="utf-8") as file:
            rows = {float(row["speed"]): float(row["restitution"]) for row in csv.DictReader(file)}
        self.assertEqual([0.1, 0.4, 1.6], list(rows))
        np.testing.assert_allclose(list(rows.values()), 1 - 0.05 * np.array(list(rows)) ** 0.3, atol=2e-4)
        for speed in ("0.1", "0.4", "1.6"):
            self.assertEqual("completed", summary(folder / f"speed-{speed}")["status"])
        drawn = self.tempi("plot", folder)
        self.assertEqual(0, drawn.returncode, drawn.stderr)
        self.assertIn("restitution.png", drawn.stdout)

    def test_results_are_kept_unless_told_otherwise_and_threads_leave_no_trace(self):
        written = []
        for threads in (1, 2):
            done = self.tempi("restitution", "case.toml", "--speeds", "0.5", "--overwrite", "--threads", threads, "--quiet")
            self.assertEqual((0, ""), (done.returncode, done.stdout), done.stderr)
            written.append((self.folder / "case.restitution" / "restitution.csv").read_bytes())
        self.assertEqual(*written)
        kept = self.tempi("restitution", "case.toml", "--speeds", "0.25,0.5")
        self.assertEqual(2, kept.returncode)
        self.assertIn("already holds results", kept.stderr)
        self.assertFalse((self.folder / "case.restitution" / "speed-0.25").exists())

    def test_a_campaign_goes_on_where_it_was_cut_off(self):
        speeds = ("--speeds", "0.1,0.4,1.6")
        self.assertEqual(0, self.tempi("restitution", "case.toml", *speeds, "--out", "whole").returncode)
        self.assertEqual(0, self.tempi("restitution", "case.toml", "--speeds", "0.1", "--out", "cut").returncode)
        done_first = (self.folder / "cut" / "speed-0.1" / "summary.json").stat().st_mtime_ns
        stopped = self.tempi("restitution", "case.toml", *speeds, "--out", "cut", "--resume", "--set", "potential.0.young=1e11")
        self.assertNotEqual(0, stopped.returncode)  # another case
        self.assertIn("another case", stopped.stderr)
        done = self.tempi("restitution", "case.toml", *speeds, "--out", "cut", "--resume")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(done_first, (self.folder / "cut" / "speed-0.1" / "summary.json").stat().st_mtime_ns)
        self.assertEqual((self.folder / "whole" / "restitution.csv").read_bytes(), (self.folder / "cut" / "restitution.csv").read_bytes())

    def test_what_cannot_be_is_said(self):
        for arguments, words, code in (
                (("--speeds", "0"), "--speeds", 2),
                ((), "--speeds", 2),
                (("--speeds", "1", "--set", "run.end_time=4e-5"), "have not parted", 3),
                (("--speeds", "1", "--set", "constants.speed=-1"), "constant speed", 2)):
            with self.subTest(words):
                done = self.tempi("restitution", "case.toml", "--overwrite", *arguments)
                self.assertEqual(code, done.returncode, done.stderr)
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
