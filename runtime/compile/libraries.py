"""CPU programs without the libraries that IREE links into every one of them.

Input: the flags of a compile; later the program, its kernels being LLVM's dialect. Output: flags with which
IREE links no libraries; whether the kernels call one; the program with libraries again.
Idea: IREE links its copy of libm (45 functions of musl) and its microkernels into the kernels of every
program, and has LLVM read and optimize them: a third of the compile of an add. Kernels of adze call them
rarely. An executable target that says `link_embedded = false` goes without, but has a "system" linker make
it: here that is IREE's own `lld` with the options of its embedded linker, so the format stays the same.
Kernels with a function or an intrinsic that is not known to become instructions get the libraries.
"""

from __future__ import annotations

import functools
import io
import os
import re
import shlex
from pathlib import Path
from typing import Any, Final

from ..targets import DEVICE_NAME
from .invocation import Invocation

_DEVICES_ARE_KNOWN: Final = "preprocessing"
"""The phase behind which a program names its device, with all that the flags say of it."""
KERNELS_ARE_LLVM: Final = "executable-targets"
"""The phase in which kernels are functions of LLVM's dialect, not yet compiled."""
KERNELS_ARE_COMPILED: Final = "hal"
"""The phase in which they are machine code, linked."""

_DEVICE: Final = re.compile(rf"@{DEVICE_NAME} = (#hal\.device\.target<.*>) : !hal\.device$", re.MULTILINE)
_CONFIGURATION: Final = '"embedded-elf-x86_64", {'
_NO_LIBRARIES: Final = ("link_embedded = false", "link_ukernel_bitcode = false")
_NAMED_DEVICE: Final = ("--iree-hal-target-device=", "--iree-hal-local-target-device-backends=")
_LLVM_CPU: Final = "--iree-hal-local-target-device-backends=llvm-cpu"
# A processor that rounds, multiplies with addition and converts half floats by instructions.
_FEATURES: Final = ("+avx2", "+f16c", "+fma", "+sse4.1")
_LINK: Final = (
    "-flavor gnu --build-id=none --no-undefined --no-allow-shlib-undefined --gc-sections -z now -z relro "
    "--discard-all --icf=all --ignore-data-address-equality --ignore-function-address-equality "
    "--hash-style=sysv 2>/dev/null"
)
_EMPTY: Final = b"util.func public @empty() { util.return }"

_INTRINSIC: Final = re.compile(rb"intr\.([\w.]+)\0")
_CALL: Final = b"call\0"
_CALLS: Final = (b"frem\0", b"invoke\0")
_REDUCED: Final = b"add and fadd fmax fmaximum fmin fminimum fmul mul or smax smin umax umin xor".split()
_INSTRUCTIONS: Final = frozenset(
    b"abs assume bitreverse bswap ceil copysign ctlz ctpop cttz fabs floor fma fmuladd fshl fshr is.fpclass "
    b"masked.compressstore masked.expandload masked.gather masked.load masked.scatter masked.store maximum "
    b"maxnum minimum minnum nearbyint prefetch rint round roundeven sadd.sat smax smin sqrt sshl.sat "
    b"ssub.sat stepvector trunc uadd.sat umax umin usub.sat vector.deinterleave2 vector.extract "
    b"vector.insert vector.interleave2".split()
    + [kind + operation for kind in (b"vector.reduce.", b"vp.reduce.") for operation in _REDUCED]
)
"""Intrinsics of LLVM that such a processor has instructions for, in all types that kernels have."""


@functools.lru_cache(maxsize=64)
def without_libraries(flags: tuple[str, ...]) -> tuple[str, ...] | None:
    """The flags of a compile for the same target without libraries; None for targets that need them."""
    if not _may_go_without(flags):
        return None
    with Invocation(flags, []) as invocation:
        if not (invocation.parse(_EMPTY) and invocation.advance(_DEVICES_ARE_KNOWN)):
            return None
        return _changed_flags(flags, invocation.text())


def _changed_flags(flags: tuple[str, ...], program: str) -> tuple[str, ...] | None:
    """As `without_libraries`, of the target that `program`, text of the phase `preprocessing`, has."""
    device = _DEVICE.search(program)
    if device is None or not _may_go_without(flags):
        return None
    if not all(text in device[1] for text in (_CONFIGURATION, *_FEATURES)):
        return None
    target = device[1].replace(
        _CONFIGURATION, _CONFIGURATION + "".join(f"{each}, " for each in _NO_LIBRARIES)
    )
    return (
        *(flag for flag in flags if not flag.startswith(_NAMED_DEVICE)),
        f"--iree-hal-target-device={DEVICE_NAME}={target}",
        f"--iree-llvmcpu-system-linker-path={_linker()}",
    )


def _may_go_without(flags: tuple[str, ...]) -> bool:
    return os.name == "posix" and _LLVM_CPU in flags


def calls_a_library(program: bytes) -> bool:
    """Whether a kernel of `program`, bytecode of the phase `executable-targets`, may call a library.

    The names of all operations stand in the bytecode, each with a zero behind it.
    """
    if any(name in program for name in _CALLS) or (_CALL in program and _calls_others(program)):
        return True
    return not _INSTRUCTIONS.issuperset(_INTRINSIC.findall(program))


def _calls_others(program: bytes) -> bool:
    """Whether a kernel calls a function that its program does not have."""
    from ...dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context:
        module = ir.Module.parse(program, context)
        known: set[str] = set()
        called: set[str | None] = set()

        def note(operation: Any) -> Any:
            if operation.name == "llvm.func" and len(operation.regions[0].blocks):
                known.add(operation.attributes["sym_name"].value)
            elif operation.name == "llvm.call":
                named = "callee" in operation.attributes
                called.add(operation.attributes["callee"].value if named else None)
            return ir.WalkResult.ADVANCE

        module.operation.walk(note)
        return not called <= known


def with_libraries(program: bytes) -> bytes:
    """`program`, of flags from `without_libraries`, for a linker that adds them."""
    from ...dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context:
        module = ir.Module.parse(program, context)

        def change(operation: Any) -> Any:
            if operation.name == "hal.executable.variant":
                target = str(operation.attributes["target"])
                for each in _NO_LIBRARIES:
                    target = target.replace(f"{each}, ", "")
                operation.attributes["target"] = ir.Attribute.parse(target)
                return ir.WalkResult.SKIP
            return ir.WalkResult.ADVANCE

        module.operation.walk(change, ir.WalkOrder.PRE_ORDER)
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _linker() -> str:
    """The command that links an executable; IREE appends its arguments and runs it in a shell."""
    import iree.compiler

    return f"{shlex.quote(str(Path(iree.compiler.__path__[0]) / '_mlir_libs' / 'iree-lld'))} {_LINK}"
