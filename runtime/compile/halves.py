"""The two halves of a CPU program whose kernels are LLVM's dialect: the kernels, and what the host does.

Input: a program of the phase `executable-targets`. Output: its halves as programs of their own; later the
program of both, each being of the phase `hal`.
Idea: compiling kernels and finding devices needs all dialects of IREE's targets, and each clean-up of the
host's functions builds the patterns of all of their ops. So the host's half goes to a session without
those dialects (`pipelines.py`); a half of the time of a small program is saved in this phase.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from .pipelines import ITERATES

_EXECUTABLE: Final = "hal.executable"
_EXPORT: Final = "hal.executable.export"
_GLOBAL: Final = "util.global"
_INITIALIZER: Final = "util.initializer"
_DEVICE: Final = "!hal.device"
_VISIBILITY: Final = "sym_visibility"


@dataclass(frozen=True, slots=True)
class Halves:
    """A program as two: `kernels` has the executables and the devices, `host` all, but no code of kernels.

    `exports` names the kernels.
    """

    kernels: bytes
    host: bytes
    exports: tuple[str, ...]


def divided(program: bytes) -> Halves:
    """`program`, bytecode of the phase `executable-targets`, as its halves."""
    from ...dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context:
        host = ir.Module.parse(program, context)
        kernels = ir.Module.create(host.operation.location)
        for name in host.operation.attributes:
            kernels.operation.attributes[name] = host.operation.attributes[name]
        exports = tuple(_exports(host))
        for operation in _top_level(host):
            if operation.name == _EXECUTABLE:
                kept = _without_code(operation)
            elif _is_device(ir, operation):
                kept = operation.clone().operation
            else:
                continue
            kept.attributes[_VISIBILITY] = ir.StringAttr.get("public")  # what nothing uses is kept
            kernels.body.append(kept)
        return Halves(_bytecode(kernels), _bytecode(host), exports)


def joined(host: bytes, kernels: bytes, exports: tuple[str, ...]) -> bytes | None:
    """The program of both halves, the kernels being compiled; its passes are to be iterated.

    None where the host does not use all `exports`: IREE would have compiled only those that it uses.
    """
    from ...dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context:
        program, compiled = ir.Module.parse(host, context), ir.Module.parse(kernels, context)
        if sorted(_exports(program)) != sorted(exports):
            return None
        parts: dict[str, list[Any]] = {}
        name = ""
        for operation in _top_level(compiled):
            if operation.name != _INITIALIZER:  # one stands behind the device that it finds
                name = _symbol(ir, operation)
                operation.attributes[_VISIBILITY] = ir.StringAttr.get("private")
            parts.setdefault(name, []).append(operation)
        for operation in _top_level(program):
            if operation.name not in (_EXECUTABLE, _GLOBAL):
                continue
            replacing = parts.pop(_symbol(ir, operation), [])
            for part in replacing:
                part.move_before(operation)
            if replacing:
                operation.erase()
        if parts:
            return None
        program.operation.attributes[ITERATES] = ir.UnitAttr.get()
        return _bytecode(program)


def _without_code(executable: Any) -> Any:
    """An executable with the code of its kernels, which `executable` loses."""
    code = [
        [inner.operation.detach_from_parent() for inner in list(module.regions[0].blocks[0].operations)]
        for module in _modules(executable)
    ]
    whole = executable.clone().operation
    for module, operations in zip(_modules(whole), code, strict=True):
        for operation in operations:
            module.regions[0].blocks[0].append(operation)
    return whole


def _modules(executable: Any) -> list[Any]:
    """The modules of the code of an executable's variants."""
    return [operation for operation in _in_variants(executable) if operation.name == "builtin.module"]


def _in_variants(executable: Any) -> list[Any]:
    return [
        inner.operation
        for variant in executable.regions[0].blocks[0].operations
        if variant.operation.name == "hal.executable.variant"
        for inner in variant.operation.regions[0].blocks[0].operations
    ]


def _exports(module: Any) -> Iterator[str]:
    """The name of each kernel of each variant of an executable."""
    for executable in _top_level(module):
        if executable.name == _EXECUTABLE:
            for operation in _in_variants(executable):
                if operation.name == _EXPORT:
                    yield operation.attributes["sym_name"].value


def _top_level(module: Any) -> list[Any]:
    return [operation.operation for operation in module.body.operations]


def _symbol(ir: Any, operation: Any) -> str:
    return str(ir.StringAttr(operation.attributes["sym_name"]).value)


def _is_device(ir: Any, operation: Any) -> bool:
    return operation.name == _GLOBAL and str(operation.attributes["type"]) == _DEVICE


def _bytecode(module: Any) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()
