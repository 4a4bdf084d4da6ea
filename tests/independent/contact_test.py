# SPDX-License-Identifier: Apache-2.0
"""Bodies and sheets that meet each other and walls by layers, beside distances and a motion of their own."""

import contact
from motion import Beside, main


class Contact(Beside):
    touched = 0

    def compare(self, drawn):
        errors = super().compare(drawn)
        self.touched += any(drawn.system.potentials[-1](x)[0] > 0.0 for x in self.shown)
        return errors

    def test_drawn_ones_come_to_their_motion(self):
        cases = self.hold(contact.draw, range(10))
        self.assertGreater(cases, 7)
        self.assertGreater(self.touched, cases // 2)  # in a row that was shown


if __name__ == "__main__":
    main()
