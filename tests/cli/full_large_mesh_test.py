# SPDX-License-Identifier: Apache-2.0
"""A million 4-node tetrahedra load, check and run within 4 GiB, and start within a minute from an ASCII mesh."""

import resource
import time
import unittest

from case_folder import CaseFolder, cube, summary


class LargeMesh(CaseFolder):
    def test_a_million_tetrahedra(self):
        self.write("cube.msh", cube(55))
        start = time.monotonic()
        results = self.run_case(meshes={}, mesh='file = "cube.msh"', fix='group = "bottom"',
                                initial='velocity = ["0.1*Z", "0", "0"]', run="end_time = 1e-3",
                                load='type = "pressure"\ngroup = "skin"\nvalue = 1e3',
                                output="frames = 1\nhistory = 2")
        seconds = time.monotonic() - start
        megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        made = summary(results)
        self.assertEqual((6 * 55**3, 56**3), (made["elements"], made["nodes"]))
        for momentum in ("linear_momentum", "angular_momentum"):
            self.assertLess(made[momentum]["error"], 1e-11)
        self.assertLess(megabytes, 4096)
        self.assertLess(seconds - made["wall_time"], 60.0)
        print(f"{megabytes:.0f} MiB, {seconds:.1f} s, of which {made['wall_time']:.1f} s of updates")


if __name__ == "__main__":
    unittest.main()
