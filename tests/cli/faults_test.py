# SPDX-License-Identifier: Apache-2.0
"""A disk that fails at the n-th write, fsync, rename or close of a run's files: the run says so, names the file, and
what it leaves behind can be gone on with."""

import os
import random
import shutil
import unittest

from case_folder import CaseFolder, case_text, square, summary

SHIM = os.environ.get("TEMPI_FAILING_FILES", "")
PLACES = int(os.environ.get("TEMPI_FAULTS", "24"))  # of every kind; 0: all

CASE = {
    "fix": 'group = "left"', "load": 'type = "gravity"\nvalue = ["0", "-9.81*sin(40*t)"]', "initial": "",
    "integrator": "safety = 0.5\nresidual = true", "run": "end_time = 0.1\ncheckpoint = 1e-9",
    "output": "frames = 3\nhistory = 6",
}


@unittest.skipUnless(SHIM, "built with the C++ tests")
class Faults(CaseFolder):
    def setUp(self):
        super().setUp()
        self.write("square.msh", square(6))
        self.write("case.toml", case_text(**CASE))
        done = self.tempi("run", "case.toml", "--out", "whole")
        self.assertEqual(0, done.returncode, done.stderr)

    def faulty(self, at, kind, *more):
        count = self.folder / "count"
        environment = {**os.environ, "LD_PRELOAD": SHIM, "FAULT_BELOW": "case.out", "FAULT_AT": str(at),
                       "FAULT_KIND": kind, "FAULT_COUNT": str(count)}
        done = self.tempi("run", "case.toml", *more, env=environment)
        return done, int(count.read_text())

    def test_every_fault_is_told_and_what_is_left_goes_on_to_the_same_bits(self):
        done, calls = self.faulty(0, "")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertGreater(calls, 60, "the shim sees the calls")
        places = range(1, calls + 1)
        if PLACES:
            places = sorted(random.Random(11).sample(places, min(PLACES, calls)))
        refused = 0
        for kind in ("ENOSPC", "EIO", "short"):
            for at in places:
                with self.subTest(kind=kind, at=at):
                    shutil.rmtree(self.folder / "case.out", ignore_errors=True)
                    done, _ = self.faulty(at, kind)
                    if done.returncode == 2:  # found before the run began
                        refused += 1
                        self.assertIn("case.out", done.stderr)
                        continue
                    # A close that fails where nothing is at stake (a lock, a folder) and the log's last one are not told.
                    self.assertIn(done.returncode, (0, 4), done.stderr)
                    if done.returncode == 4:
                        self.assertIn("case.out", done.stderr)
                        self.assertIn("cannot write", done.stderr)
                    again = self.tempi("run", "case.toml", "--resume")
                    self.assertEqual(0, again.returncode, again.stderr)
                    self.assert_same()
        self.assertLess(refused, 6 * 3)

    def assert_same(self):
        one, other = self.folder / "whole", self.folder / "case.out"
        self.assertEqual((one / "history.csv").read_bytes(), (other / "history.csv").read_bytes())
        frames = sorted(file.name for file in (one / "frames").iterdir())
        self.assertEqual(frames, sorted(file.name for file in (other / "frames").iterdir()))
        for name in frames:
            self.assertEqual((one / "frames" / name).read_bytes(), (other / "frames" / name).read_bytes(), name)
        self.assertEqual("completed", summary(other)["status"])


if __name__ == "__main__":
    unittest.main()
