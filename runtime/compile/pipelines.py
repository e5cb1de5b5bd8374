"""Phases of IREE's compiler as pipelines of passes that have names.

A phase that IREE runs loads the dialects of all its targets, and each clean-up of a program builds the
patterns of all ops that are loaded. The passes of a pipeline load what they need. They know no targets, so
devices are verified before, and machine code made and devices found in a phase. The order of the passes is
that of `iree-hal-transformation-pipeline`; `tests/runtime/compile/test_invocation.py` compares the programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final


def _in_functions(passes: str) -> str:
    """`passes` in every function and initializer of a program, whose functions are IREE's own."""
    return ",".join(f"{kind}({passes})" for kind in ("util.initializer", "util.func"))


def _in_host_functions(passes: str) -> str:
    """`passes` in every function of a program without initializers."""
    return f"util.func({passes})"


_NAMED_DEVICE: Final = "--iree-hal-target-device="
_DEVICE_TARGET: Final = "=#hal.device.target<"
_FLAGS_OF_PASSES: Final = (
    "--iree-opt-",
    "--iree-global-opt",
    "--iree-dispatch-creation-",
    "--iree-flow-",
    "--iree-preprocessing-",
    "--iree-util-",
    "--iree-parameter-",
)
_FLAGS_OF_KERNELS: Final = ("--iree-llvmcpu-", "--iree-codegen-", "--iree-linalgext-", "--iree-hal-")
_NOT_OF_THEIR_PASSES: Final = frozenset(
    f"--iree-{name}"
    for name in (
        "hal-executable-debug-level",  # 0, as `CompileOptions` says
        "hal-target-device",
        "llvmcpu-debug-symbols",
        "llvmcpu-loop-interleaving",
        "llvmcpu-loop-unrolling",
        "llvmcpu-loop-vectorization",
        "llvmcpu-slp-vectorization",
        "llvmcpu-stack-allocation-limit",
        "llvmcpu-system-linker-path",
        "llvmcpu-target-cpu",
        "llvmcpu-target-cpu-features",
        "llvmcpu-target-triple",
    )
)
"""Flags that are LLVM's or the linker's, or that the target of each executable states as well."""
_X86: Final = '"embedded-elf-x86_64"'
_LEVEL: Final = ("--iree-opt-level", "O3")
_CONST_EVAL: Final = ("--iree-opt-const-eval", "false")
_GLOBAL: Final = {
    "--iree-opt-strip-assertions": "strip-assertions",
    "--iree-opt-const-expr-hoisting": "const-expr-hoisting",
}
_DISPATCH: Final = {
    "--iree-opt-const-expr-hoisting": "const-expr-hoisting",
    "--iree-dispatch-creation-data-tiling": "data-tiling",
    "--iree-dispatch-creation-enable-aggressive-fusion": "aggressive-fusion",
    "--iree-dispatch-creation-fuse-multi-use": "fuse-multi-use",
}
# What the optimization level O3 means for the two pipelines.
_GLOBAL_O3: Final = {
    "aggressive-transpose-propagation": "true",
    "generalize-matmul": "true",
    "outer-dim-concat": "true",
    "strip-assertions": "true",
    "const-eval": "false",
}
_DISPATCH_O3: Final = {"aggressive-fusion": "true"}


def stated_devices(flags: Sequence[str]) -> str | None:
    """The devices that `flags` state in full, as the text of MLIR's attribute; None where they name them."""
    stated = [flag.removeprefix(_NAMED_DEVICE) for flag in flags if flag.startswith(_NAMED_DEVICE)]
    if len(stated) != 1 or _DEVICE_TARGET not in stated[0]:
        return None
    name, _, target = stated[0].partition("=")
    return f"{{{name} = {target}}}"


def until_flow(flags: Sequence[str]) -> dict[str, str]:
    """The phases from `preprocessing` to `flow`, of a module that states its devices, with `flags`.

    Without the evaluation of constants, which compiles: `global-optimization` is right where it leaves no
    initializers. Empty where a flag is not known here to be one of the pipelines' options.
    """
    level, global_options, dispatch_options = "", dict(_GLOBAL_O3), dict(_DISPATCH_O3)
    for flag in flags:
        name, _, value = flag.partition("=")
        if name == _LEVEL[0]:
            level = value
        elif name in _GLOBAL or name in _DISPATCH:
            global_options |= {_GLOBAL[name]: value} if name in _GLOBAL else {}
            dispatch_options |= {_DISPATCH[name]: value} if name in _DISPATCH else {}
        elif name.startswith(_FLAGS_OF_PASSES) and (name, value) != _CONST_EVAL:
            return {}
    if level != _LEVEL[1]:
        return {}
    return {
        "preprocessing": "iree-hal-materialize-target-devices,iree-hal-resolve-device-promises",
        "global-optimization": f"iree-global-optimization-transformation-pipeline{_text(global_options)}",
        "dispatch-creation": f"iree-dispatch-creation-pipeline{_text(dispatch_options)}",
        "flow": "iree-flow-transformation-pipeline",
    }


def until_llvm(flags: Sequence[str]) -> dict[str, str]:
    """The phases that make LLVM's dialect of kernels, for x86 processors that `flags` state in full.

    Empty for others, and where a flag may be one that the passes of these phases look at.
    """
    if _X86 not in (stated_devices(flags) or "") or f"{_LEVEL[0]}={_LEVEL[1]}" not in flags:
        return {}
    names = {flag.partition("=")[0] for flag in flags if flag.startswith(_FLAGS_OF_KERNELS)}
    return dict(_OF_KERNELS) if names <= _NOT_OF_THEIR_PASSES else {}


def _text(options: dict[str, str]) -> str:
    return f"{{{' '.join(f'{name}={value}' for name, value in options.items())}}}"


def _in_executables(passes: str) -> str:
    return f"hal.executable(hal.executable.variant({passes}))"


_OF_KERNELS: Final = {
    "executable-configurations": _in_executables(
        "iree-codegen-specialize-exports,iree-codegen-create-dispatch-config,"
        "builtin.module(iree-codegen-llvmcpu-configuration-pipeline)"
    ),
    "executable-targets": _in_executables(
        f"builtin.module(iree-codegen-llvmcpu-lowering-pipeline{{opt-level={_LEVEL[1]}}}),"
        "iree-codegen-propagate-dispatch-config"
    ),
}

ALIGNED: Final = _in_executables("builtin.module(func.func(iree-codegen-inject-assume-alignment))")
"""What IREE's pipelines for kernels do that kernels of adze need: they say how arrays are aligned."""

_BEGIN: Final = "iree-util-verify-initialization-order,iree-util-attribute-call-graph"
_CLEAN_FUNCTIONS: Final = "canonicalize,cse,iree-util-simplify-global-accesses,iree-util-apply-patterns"
_CLEAN: Final = f"{_in_functions(_CLEAN_FUNCTIONS)},iree-util-fold-globals,iree-util-fuse-globals"

_INTEGERS: Final = "iree-util-optimize-int-arithmetic"
_TIDY: Final = _in_host_functions("canonicalize,cse")
_WITHOUT_DUPLICATES: Final = _in_host_functions("canonicalize,cse,iree-util-apply-patterns")
"""The clean-up before `schedule-allocation`, which wants canonical work: of two loops over one vector of
counts, which the second loop also compares, the second one stacked what was in memory before, **silently**,
where `canonicalize,cse` were the last passes (observed with IREE 3.13, whose own clean-up ends as this one;
`test_loops_over_one_vector_of_counts` in `tests/passes/lower/forms/test_loops.py`)."""
_CLEAN_ALL: Final = ",".join(
    (
        _in_host_functions(f"canonicalize,cse,{_INTEGERS},iree-util-apply-patterns"),
        "iree-util-ipo",
    )
)

STREAM: Final = "iree-stream-transformation-pipeline"
STREAM_WITHOUT_GLOBALS: Final = ",".join(
    (
        "iree-util-verify-initialization-order",
        "iree-stream-verify-input",
        _TIDY,
        "iree-stream-clone-to-consumers",
        "iree-stream-conversion",
        "iree-stream-verify-lowering-to-tensors",
        "inline{default-pipeline=}",  # by itself it would clean up as `_CLEAN_ALL` does
        _CLEAN_ALL,
        "iree-stream-specialize-encodings",
        _in_host_functions("iree-stream-encode-host-tensors"),
        "stream.executable(iree-stream-encode-device-tensors)",
        "iree-stream-materialize-encodings",
        _in_host_functions("iree-stream-layout-slices"),
        _TIDY,
        "iree-stream-verify-lowering-to-async-resources",
        _in_host_functions("iree-stream-materialize-copy-on-write,canonicalize"),
        "iree-stream-elide-async-copies",
        _in_host_functions("canonicalize,iree-stream-emplace-allocations"),
        "iree-stream-refine-usage",
        _in_host_functions("canonicalize"),
        "iree-stream-elide-async-copies",
        _TIDY,
        "iree-stream-verify-async-access-ranges",
        "iree-stream-place-transfer-executions",
        _in_host_functions("iree-stream-schedule-execution,iree-stream-schedule-concurrency"),
        "iree-stream-propagate-timepoints",
        "iree-stream-materialize-builtins",
        _WITHOUT_DUPLICATES,
        "iree-stream-verify-lowering-to-async",
        "iree-stream-schedule-allocation",
        "iree-stream-emplace-transients",
        "iree-stream-materialize-transient-size-queries",
        _in_host_functions("iree-stream-pack-constants,iree-stream-layout-slices,canonicalize"),
        "iree-util-propagate-subranges",
        _TIDY,
        "iree-stream-automatic-reference-counting",
        "iree-stream-annotate-constant-transient-size",
        "iree-stream-verify-lowering-to-cmd",
        _in_host_functions("iree-stream-reuse-allocations,convert-scf-to-cf"),
        _TIDY,
        "iree-stream-elide-timepoints",
        _TIDY,
        "iree-stream-fuse-dispatch-bindings",
        "iree-stream-annotate-dispatch-arguments",
        "iree-stream-annotate-dispatch-assumptions",
        "iree-stream-pack-dispatch-operands",
        _CLEAN_ALL,
        "iree-stream-fold-uniform-operands",
        _CLEAN_ALL,
        "symbol-dce",
    )
)
"""The passes of `STREAM` for programs without globals and initializers: of its thirteen clean-ups, which take
most of its time, only three do more there than `canonicalize` and `cse` do, and the bytes are the same. With
globals they are not: the program of a Gaussian process' gradient was refused when loaded (IREE 3.13)."""
_COMPARISONS: Final = ",".join(
    f"mlir::iree_compiler::IREE::Stream::(anonymous namespace)::DeduplicateTensorOp"
    f"<mlir::iree_compiler::IREE::Stream::Tensor{name}Op>"
    for name in ("Import", "Export")
)
_FOR_MANY_ARRAYS: Final = f"canonicalize{{disable-patterns='{_COMPARISONS}'}}"
STREAM_OF_MANY_ARRAYS: Final = STREAM_WITHOUT_GLOBALS.replace("canonicalize", _FOR_MANY_ARRAYS)
"""The same without two patterns that compare each argument, and each result, of a program with all others
in each clean-up: a third of the phase for 400 of each, nine tenths for 1,600. `cse` finds what is equal."""
EXECUTABLE_SOURCES: Final = f"{_BEGIN},{_CLEAN},iree-hal-materialize-interfaces,iree-hal-prune-executables"
SOURCES_OF_MANY_ARRAYS: Final = EXECUTABLE_SOURCES.replace("canonicalize", _FOR_MANY_ARRAYS).replace(
    "iree-util-fold-globals,iree-util-fuse-globals", _FOR_MANY_ARRAYS
)
"""The same for a program without globals: to fold them would clean up all of it too."""
VM: Final = "iree-vm-transformation-pipeline"

_LINKING: Final = "iree-llvmcpu-link-executables{target=llvm-cpu}"
HOST_WITHOUT_KERNELS: Final = ",".join(
    (
        _BEGIN,
        "iree-hal-conversion",
        "iree-hal-outline-memoize-regions",
        _in_functions("canonicalize,cse"),
        "iree-hal-prune-executables",
        _LINKING,
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
HOST_OF_SEVERAL_LIBRARIES: Final = HOST_WITHOUT_KERNELS.replace(f"{_LINKING},", "")
"""The same of a program each of whose executables is a library of its own."""

HOST_WITH_KERNELS: Final = ",".join(
    (
        "iree-affine-expand-index-ops",
        "iree-lower-affine",
        _in_functions("convert-scf-to-cf"),
        "iree-hal-prune-executables",
        "iree-util-ipo",
        "symbol-dce",
    )
)
"""The phase `hal` behind these passes. IREE ends it with clean-ups that it runs until they change nothing,
four times as a rule; the phase `vm` makes the same operations of a program without them, in another order."""
