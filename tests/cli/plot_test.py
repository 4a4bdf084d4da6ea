# SPDX-License-Identifier: Apache-2.0
"""The pictures: which are made, what is refused."""

import importlib.util
import unittest

from case_folder import CaseFolder

HAS_MATPLOTLIB = bool(importlib.util.find_spec("matplotlib"))


class Plot(CaseFolder):
    def test_folders_without_a_run_are_refused(self):
        (self.folder / "empty").mkdir()
        self.write("file", "")
        for folder in ("nowhere", "empty", "file"):
            done = self.tempi("plot", folder)
            with self.subTest(folder=folder, message=done.stderr):
                self.assertEqual((2, ""), (done.returncode, done.stdout))
                self.assertIn(folder, done.stderr)

    @unittest.skipUnless(HAS_MATPLOTLIB, "needs matplotlib")
    def test_a_run_is_drawn_and_the_pictures_are_listed(self):
        results = self.run_case(fix='group = "left"')
        done = self.tempi("plot", "case.out")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("overview.png", done.stdout)
        for name in done.stdout.split():
            self.assertEqual(b"\x89PNG\r\n\x1a\n", (self.folder / name).read_bytes()[:8])
        self.assertTrue((results / "overview.png").exists())

    @unittest.skipUnless(HAS_MATPLOTLIB, "needs matplotlib")
    def test_a_frame_can_be_chosen(self):
        self.run_case()
        for order in (["case.out", "--frame", "1"], ["--frame", "1", "case.out"], ["case.out", "--frame=1"]):
            done = self.tempi("plot", *order)
            self.assertEqual(0, done.returncode, done.stderr)
        done = self.tempi("plot", "case.out", "--frame", "99")
        self.assertEqual(2, done.returncode)
        self.assertIn("99", done.stderr)


if __name__ == "__main__":
    unittest.main()
