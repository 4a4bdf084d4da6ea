# SPDX-License-Identifier: Apache-2.0
"""A mesh of 200 000 tetrahedra needs a few hundred megabytes and a minute, not more."""

import resource
import time
import unittest

from case_folder import CaseFolder, cube, summary


class LargeMesh(CaseFolder):
    def test_two_hundred_thousand_tetrahedra(self):
        self.write("cube.msh", cube(32))
        start = time.monotonic()
        results = self.run_case(meshes={}, mesh='file = "cube.msh"', fix='group = "bottom"',
                                initial='velocity = ["0.1*Z", "0", "0"]', run="end_time = 2e-3",
                                load='type = "pressure"\ngroup = "skin"\nvalue = 1e3',
                                output="frames = 1\nhistory = 10")
        seconds = time.monotonic() - start
        megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        made = summary(results)
        self.assertEqual((6 * 32**3, 33**3), (made["elements"], made["nodes"]))
        for momentum in ("linear_momentum", "angular_momentum"):
            self.assertLess(made[momentum]["error"], 1e-11)
        self.assertLess(megabytes, 500)
        self.assertLess(seconds - made["wall_time"], 30.0)


if __name__ == "__main__":
    unittest.main()
