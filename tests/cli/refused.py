# SPDX-License-Identifier: Apache-2.0
"""A case that must be refused before anything is written."""

import os
import re
import shutil

from case_folder import CaseFolder, case_text, square


class Refused(CaseFolder):
    def refused(self, *words, at=None, meshes=None, text=None, arguments=(), **sections):
        """Runs the case; the message must hold `words` and name the line of the case file that starts with `at`."""
        text = text if text is not None else case_text(**sections)
        self.write("case.toml", text)
        for name, content in (meshes or {"square.msh": square()}).items():
            self.write(name, content)
        before = sorted(os.listdir(self.folder))
        done = self.tempi("run", "case.toml", *arguments, timeout=10)
        after = sorted(os.listdir(self.folder))
        shutil.rmtree(self.folder / "case.out", ignore_errors=True)
        with self.subTest(case=text, message=done.stderr):
            self.assertEqual(2, done.returncode)
            self.assertEqual("", done.stdout)
            self.assertEqual(before, after, "nothing may be written")
            self.assertRegex(done.stderr, r"\Atempi: [^\n]+\n\Z", "one line")
            for word in words:
                self.assertIn(word, done.stderr)
            places = re.findall(r"case\.toml:(\d+): ", done.stderr)
            self.assertLessEqual(len(places), 1, "one place")
            if at is not None:
                lines = [i for i, line in enumerate(text.splitlines(), 1) if line.startswith(at)]
                self.assertEqual([str(lines[-1])], places, f"the line of {at!r}")
