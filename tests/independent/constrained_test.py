# SPDX-License-Identifier: Apache-2.0
"""Bodies whose nodes constraints hold, by shake and rattle, beside a motion with multipliers of its own."""

import constrained
from motion import Beside, main


class Constrained(Beside):
    def test_drawn_ones_come_to_their_motion(self):
        self.assertGreater(self.hold(constrained.draw, range(20)), 15)

    def test_without_its_constraints_a_motion_is_another(self):
        drawn = next(filter(None, map(constrained.draw, range(100))))
        drawn.system.constraints.clear()
        coarse, fine = self.compare(drawn)["places"]
        self.assertLess(coarse / fine, 1.5)


if __name__ == "__main__":
    main()
