"""The budgets of an artifact against what was measured of it.

Input: the budgets, and the result of a build. Output: a problem for each that is exceeded or cannot be
told: a limit that is not looked at is worse than none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from ..reporting import readable_bytes
from .configuration import Budgets
from .outcomes import Problem

MEASURED: Final = {
    "max_bytes": "bytes",
    "max_compile_s": "compile_s",
    "max_kernels": "kernels",
    "max_error": "error",
    "max_peak_bytes": "peak_bytes",
}
"""The fact of a result that each budget limits."""

ON_REQUEST: Final = ("max_error",)
"""Budgets whose facts cost calls, and are measured only where they are asked for."""

_UNKNOWN: Final = {
    "max_compile_s": ("the compile cache has no time of it", "clear it once: adze cache clear"),
    "max_peak_bytes": ("its sizes are known only when it runs", "give its inputs sizes, or drop the budget"),
}


def asked(budgets: Budgets) -> list[str]:
    """The budgets that need a measurement of their own."""
    return [name for name in ON_REQUEST if getattr(budgets, name) is not None]


def unmeasured(budgets: Budgets, result: Mapping[str, Any]) -> str | None:
    """A budget that is asked for, and was not when the result was made."""
    return next((name for name in asked(budgets) if result.get(MEASURED[name]) is None), None)


def problems(budgets: Budgets, result: Mapping[str, Any], where: str) -> list[Problem]:
    """What is over its budget. `where` is the place of the artifact in the project's file."""
    found = []
    for name, limit in asdict(budgets).items():
        if limit is None:
            continue
        value = result.get(MEASURED[name])
        if value is None:
            why, hint = _UNKNOWN.get(name, ("it was not measured", None))
            found.append(Problem(f"budgets.{name} cannot be told: {why}", where, hint))
        elif not value <= limit:
            found.append(Problem(f"{name} is {_text(name, limit)}, and it is {_text(name, value)}", where))
    return found


def _text(name: str, value: float) -> str:
    if name.endswith("bytes"):
        return f"{value} B ({readable_bytes(int(value))})"
    if name == "max_compile_s":
        return f"{value:.3g} s"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
