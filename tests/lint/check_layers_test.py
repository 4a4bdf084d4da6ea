# SPDX-License-Identifier: Apache-2.0
"""The checker of layers and form reports each kind of violation in a small tree, and nothing in a clean one."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("TEMPI_SOURCE_DIR", Path(__file__).parents[2]))
sys.path.insert(0, str(ROOT / "scripts"))
import check_layers  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = SPDX + "#pragma once\n"


def findings(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return list(check_layers.findings(Path(folder)))


class CheckLayers(unittest.TestCase):
    def assert_finds(self, name, text, line, words, others=None):
        found = findings({name: text, **(others or {})})
        self.assertEqual([(name, line)], [(f[0], f[1]) for f in found], found)
        self.assertIn(words, found[0][2])

    def test_a_clean_tree_has_no_findings(self):
        found = findings({
            "src/tempi/core/ids.hpp": HEADER,
            "src/tempi/mesh/mesh.hpp": HEADER + '#include "tempi/core/ids.hpp"\n#include <Eigen/Core>\n',
            "src/tempi/case/parse.cpp": SPDX + '#include <toml++/toml.h>\n#include "tempi/mesh/mesh.hpp"\n',
            "app/reader.cpp": SPDX + '#include <gmsh.h>\n#include "tempi/version.hpp"\n// TODO(#12): pyramids\n',
            "app/main.cpp": SPDX + '#include <CLI/CLI.hpp>\n#include "tempi/mesh/mesh.hpp"\n#include "print.hpp"\n',
            "app/print.hpp": HEADER,
            "scripts/tool.py": "#!/usr/bin/env python3\n# SPDX-License-Identifier: Apache-2.0\n",
        })
        self.assertEqual([], found)

    def test_an_include_against_the_table(self):
        self.assert_finds("src/tempi/material/m.hpp", HEADER + '#include "tempi/mesh/mesh.hpp"\n', 3, "may not include mesh/")

    def test_the_table_is_literal(self):
        self.assert_finds("src/tempi/io/x.cpp", SPDX + '#include "tempi/potential/p.hpp"\n', 2, "may not include potential/")

    def test_a_folder_that_is_no_layer(self):
        self.assert_finds("src/tempi/utils/u.hpp", HEADER, 1, "no layer")

    def test_libraries_stay_behind_their_folder(self):
        for folder, header in (("io", "toml++/toml.h"), ("io", "gmsh.h"), ("case", "gmsh.h"), ("case", "muParser.h"), ("case", "CLI/CLI.hpp")):
            with self.subTest(header=header):
                self.assert_finds(f"src/tempi/{folder}/x.cpp", SPDX + f"#include <{header}>\n", 2, "only")
        self.assert_finds("app/main.cpp", SPDX + "#include <toml++/toml.h>\n", 2, "only")

    def test_own_headers_by_their_full_name(self):
        beside = {"src/tempi/core/ids.hpp": HEADER}
        self.assert_finds("src/tempi/core/x.cpp", SPDX + '#include "ids.hpp"\n', 2, "full name", beside)
        self.assert_finds("src/tempi/core/x.cpp", SPDX + "#include <tempi/core/ids.hpp>\n", 2, "own headers", beside)

    def test_headers_that_include_each_other(self):
        found = findings({
            "src/tempi/core/a.hpp": HEADER + '#include "tempi/core/b.hpp"\n',
            "src/tempi/core/b.hpp": HEADER + '#include "tempi/core/a.hpp"\n',
        })
        self.assertEqual(1, len(found))
        self.assertIn("include each other", found[0][2])

    def test_the_form_of_files(self):
        self.assert_finds("src/tempi/core/x.cpp", "int x;\n", 1, "SPDX")
        self.assert_finds("scripts/x.py", "import os\n", 1, "SPDX")
        self.assert_finds("tests/core/x.hpp", SPDX, 1, "#pragma once")
        self.assert_finds("src/tempi/core/x.hpp", HEADER + "\n" * 298, 300, "fewer than 300")

    def test_forgotten_notes_and_machine_paths(self):
        note = "TO" + "DO"
        self.assert_finds("src/tempi/core/x.cpp", SPDX + f"// {note}: later\n", 2, "issue number")
        for place in ("home", "root", "Users"):
            self.assert_finds("docs/x.md", f"see /{place}/me/tempi\n", 1, "machine")

    def test_the_table_has_no_cycle(self):
        self.assertIsNone(check_layers.cycle(check_layers.LAYERS))
        self.assertEqual(["a", "b", "a"], check_layers.cycle({"a": {"b"}, "b": {"a"}}))

    def test_the_exit_code_tells(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(0, check_layers.main([folder]))
            path = Path(folder) / "app" / "main.cpp"
            path.parent.mkdir()
            path.write_text("int main() {}\n", encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                self.assertEqual(1, check_layers.main([folder]))
            self.assertTrue(printed.getvalue().startswith("app/main.cpp:1: "))


if __name__ == "__main__":
    unittest.main()
