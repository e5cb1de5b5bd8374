"""Why names of JAX are absent from adze: the first rule of `REASONS` that matches `module.name` says it."""

from __future__ import annotations

import re
from typing import Final

IGNORED_PARAMETERS: Final = {"out_sharding", "sharding", "spmd_axis_name", "inline", "abstracted_axes"}
"""Parameters about several devices or the tracing of JAX, which mean nothing for adze."""

REASONS: Final = (
    (
        r"jax\.lax.*_p|jax\.random\.\w+_p|.*\.\w+_p",
        "a primitive of JAX's tracer; ops are classes here (docs/ops.md)",
    ),
    (r"jax\.(sharding|distributed|export)\..*", "one device a program"),
    (r"jax\.experimental\.(multihost_utils|mesh_utils)\..*", "one device a program"),
    (r"jax\.profiler\..*", "a profiler of XLA; `adze perf` measures programs"),
    (r"jax\.monitoring\..*", "events of XLA's compiler"),
    (r".*", "not written yet"),
)


def reason_of(module: str, name: str) -> str:
    """Why `module.name` of JAX is absent."""
    return next(reason for rule, reason in REASONS if re.fullmatch(rule, f"{module}.{name}"))
