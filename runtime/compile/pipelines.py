"""Phases of IREE's compiler as pipelines of passes that have names.

A phase that IREE runs loads the dialects of all its targets, and each clean-up of a program builds the
patterns of all ops that are loaded. The passes of a pipeline load what they need. They know no targets, so
devices are verified before, and kernels compiled and devices found in a phase. The order of the passes is
that of `iree-hal-transformation-pipeline`; `tests/runtime/compile/test_invocation.py` compares the bytes.
"""

from __future__ import annotations

from typing import Final


def _in_functions(passes: str) -> str:
    """`passes` in every function and initializer."""
    return ",".join(f"{kind}({passes})" for kind in ("func.func", "util.initializer", "util.func"))


_BEGIN: Final = "iree-util-verify-initialization-order,iree-util-attribute-call-graph"
_CLEAN_FUNCTIONS: Final = "canonicalize,cse,iree-util-simplify-global-accesses,iree-util-apply-patterns"
_CLEAN: Final = f"{_in_functions(_CLEAN_FUNCTIONS)},iree-util-fold-globals,iree-util-fuse-globals"

STREAM: Final = "iree-stream-transformation-pipeline"
EXECUTABLE_SOURCES: Final = f"{_BEGIN},{_CLEAN},iree-hal-materialize-interfaces,iree-hal-prune-executables"
VM: Final = "iree-vm-transformation-pipeline"

HOST_WITHOUT_KERNELS: Final = ",".join(
    (
        _BEGIN,
        "iree-hal-conversion",
        "iree-hal-outline-memoize-regions",
        _CLEAN,
        "iree-hal-prune-executables",
        "iree-llvmcpu-link-executables{target=llvm-cpu}",
        "hal.executable(canonicalize)",
        "hal.executable(hal.executable.variant(iree-llvmcpu-assign-constant-ordinals))",
        "hal.executable(hal.executable.variant(iree-llvmcpu-assign-import-ordinals))",
        "symbol-dce",
        "hal.executable(hal.executable.variant(iree-hal-hoist-executable-objects))",
        "iree-hal-resolve-export-ordinals",
        "iree-hal-materialize-resource-caches",
        "iree-hal-resolve-topology-queries",
        "iree-hal-memoize-device-selection",
        "iree-hal-memoize-device-queries",
        _CLEAN,
        _in_functions("iree-hal-elide-redundant-commands"),
    )
)
"""The phase `hal` up to the passes that find the devices and compile the kernels."""

HOST_WITH_KERNELS: Final = ",".join(
    (
        "iree-affine-expand-index-ops",
        "iree-lower-affine",
        _in_functions("convert-scf-to-cf"),
        "iree-hal-prune-executables",
        "symbol-dce",
    )
)
"""The phase `hal` behind these passes, but for what is run as long as it changes something."""

UNTIL_UNCHANGED: Final = f"{_CLEAN},iree-util-ipo"
"""What the phase `hal` ends with, as long as it changes something: given a pipeline as text,
`iree-util-fixed-point-iterator` runs nothing (observed with IREE 3.13)."""

ITERATES: Final = "iree.fixedpoint.iteration"
HAS_CHANGED: Final = "iree.fixedpoint.modified"
"""Attributes of a module: passes say that they changed it where it says that they are iterated."""

MOST_ITERATIONS: Final = 10
