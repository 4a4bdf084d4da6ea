# SPDX-License-Identifier: Apache-2.0
"""Numbers and words on pictures."""

from __future__ import annotations

import math

import numpy as np

from read import Run
from style import Array


def scaled_unit(largest: float, name: str, at_most: int = 12) -> tuple[float, str]:
    """The factor and the name of the unit with the SI prefix in which `largest` reads best."""
    if not (math.isfinite(largest) and largest > 0):
        return 1.0, name
    exponent = 3 * math.floor(math.log10(largest * (1 + 1e-9)) / 3)
    exponent = max(-24, min(exponent, at_most))
    prefix = "yzafpnµm kMGT"[exponent // 3 + 8].strip()
    return 10.0**-exponent, prefix + name


def largest_magnitude(*arrays: Array) -> float:
    finite = [np.abs(a[np.isfinite(a)]) for a in arrays]
    return max((float(a.max()) for a in finite if a.size), default=0.0)


def method_name(method: str) -> str:
    words = {"avi": "AVI", "shake": "SHAKE", "rattle": "RATTLE", "rk4": "RK4"}
    words |= {name.lower(): name for name in ("Newmark", "Gauss", "Lobatto")}
    return "-".join(words.get(word, word) for word in method.split("-"))


def grouped(number: float) -> str:
    return f"{int(number):,}".replace(",", "\N{NO-BREAK SPACE}")


def time_text(time: float, end: float) -> str:
    factor, name = scaled_unit(end, "s", at_most=0)
    return f"$t$ = {time * factor:.3g} {name}"


def power_text(number: float) -> str:
    """Two digits and a power of ten."""
    digits, exponent = f"{number:.1e}".split("e")
    return rf"${digits}\times 10^{{{int(exponent)}}}$"


def plain(text: str) -> str:
    """A user's words, of which nothing is taken for a formula."""
    return text.replace("$", r"\$")


def headline(run: Run) -> str:
    """Title of the case; below it the method and what it did."""
    summary = run.summary
    parts = [method_name(str(summary.get("method", "?")))]
    if run.has_particles:
        parts.append(f"{grouped(summary['nodes'])} particle" + "s" * (summary["nodes"] != 1))
    elif "elements" in summary:
        parts.append(f"{grouped(summary['elements'])} elements")
    total = summary.get("updates", {}).get("total")
    if total is not None:
        parts.append(f"{grouped(total)} updates")
    speedup = summary.get("counted_speedup")
    if isinstance(speedup, (int, float)) and speedup > 1.05:
        parts.append(f"{speedup:.3g} times fewer than Newmark\N{RIGHT SINGLE QUOTATION MARK}s")
    if summary.get("status", "completed") != "completed":
        parts.append(str(summary["status"]))
    title = plain(str(summary.get("title") or run.folder.resolve().name))
    return f"{title}\n" + ", ".join(parts)
