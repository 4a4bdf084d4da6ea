# SPDX-License-Identifier: Apache-2.0
"""Every example keeps its figures at its full size (minutes each)."""

import unittest

import examples_test
from examples_test import Examples

examples_test.OPTIONS.append("--full")
__all__ = ["Examples"]

if __name__ == "__main__":
    unittest.main()
