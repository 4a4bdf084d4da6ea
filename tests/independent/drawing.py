# SPDX-License-Identifier: Apache-2.0
"""Numbers and formulas drawn at random, each as Tempi's case files write it and as a function."""

import numpy as np


def vector(values):
    """Of numbers, as a case file writes them."""
    return "[" + ", ".join(repr(float(value)) for value in values) + "]"


def linear(constant, matrix):
    """`constant` + `matrix` X, a formula a component."""
    def component(c, row):
        return f'"{float(c)!r}' + "".join(f" + ({float(a)!r})*{axis}" for a, axis in zip(row, "XYZ")) + '"'

    return "[" + ", ".join(component(c, row) for c, row in zip(constant, matrix)) + "]"


def field(random, size):
    """A function of places (n, dim) and time, and its formula: constant, of t, of X, or of both."""
    a, rate, share = random.uniform(-size, size), random.uniform(1, 5), random.uniform(0, 1)
    return random.choice([
        (lambda X, t: np.full(len(X), a), repr(a)),
        (lambda X, t: np.full(len(X), a * np.sin(rate * t)), f'"{a!r}*sin({rate!r}*t)"'),
        (lambda X, t: a * (X[:, 0] - share * X[:, 1]), f'"{a!r}*(X - {share!r}*Y)"'),
        (lambda X, t: a * np.cos(rate * t) * X[:, 0], f'"{a!r}*cos({rate!r}*t)*X"'),
    ])


def vector_field(random, size, dim):
    parts = [field(random, size) for _ in range(dim)]
    return (lambda X, t: np.stack([f(X, t) for f, _ in parts], -1)), "[" + ", ".join(text for _, text in parts) + "]"
