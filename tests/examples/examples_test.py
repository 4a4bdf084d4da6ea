# SPDX-License-Identifier: Apache-2.0
"""Every example keeps its figures, at its short size."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

OPTIONS: list[str] = []
EXAMPLES = Path(os.environ["TEMPI_SOURCE_DIR"]) / "examples"


class Examples(unittest.TestCase):
    def check(self, name):
        subprocess.run([sys.executable, str(EXAMPLES / name / "check.py"), *OPTIONS], check=True)

    def test_block(self):
        self.check("block")

    def test_l_beam(self):
        self.check("l-beam")

    def test_blade(self):
        self.check("blade")

    def test_slab(self):
        self.check("slab")

    def test_crack(self):
        self.check("crack")

    def test_pendulum(self):
        self.check("pendulum")

    def test_kepler(self):
        self.check("kepler")

    def test_argon(self):
        self.check("argon")

    def test_spinning_cube(self):
        self.check("spinning-cube")

    def test_balls(self):
        self.check("balls")

    def test_bars(self):
        self.check("bars")

    def test_sphere_plate(self):
        self.check("sphere-plate")

    def test_cradle(self):
        self.check("cradle")

    def test_stack(self):
        self.check("stack")

    def test_crumple(self):
        self.check("crumple")

    def test_packing(self):
        self.check("packing")

    def test_restitution(self):
        self.check("restitution")

    def test_slit(self):
        self.check("slit")

    def test_cloth(self):
        self.check("cloth")

    def test_hertz(self):
        self.check("hertz")

    def test_beads(self):
        self.check("beads")

    def test_gel(self):
        self.check("gel")

    def test_impact(self):
        self.check("impact")

    def test_lattice(self):
        self.check("lattice")

    def test_dissipative(self):
        self.check("dissipative")

    def test_oscillator(self):
        self.check("oscillator")

    def test_split_oscillator(self):
        self.check("split-oscillator")

    def test_cantilever(self):
        self.check("cantilever")

    def test_granular(self):
        self.check("granular")

    def test_chains(self):
        self.check("chains")

    def test_twist(self):
        self.check("twist")

    def test_mixed_grains(self):
        self.check("mixed-grains")

    def test_spherical(self):
        self.check("spherical")


if __name__ == "__main__":
    unittest.main()
