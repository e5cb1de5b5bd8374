"""The two halves of a CPU program whose kernels are LLVM's dialect: the kernels, and what the host does.

Input: a program of the phase `executable-targets`. Output: its halves as programs of their own; later the
program of both, each being of the phase `hal`.
Idea: compiling kernels and finding devices needs all dialects of IREE's targets, and each clean-up of the
host's functions builds the patterns of all of their ops. So the host's half goes to a session without
those dialects (`pipelines.py`); a half of the time of a small program is saved in this phase.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ...dialects.dataclass import dataclass
from .executables import EXECUTABLE, EXPORT, MODULE, VARIANT, inner, operations, symbol, top_level

_GLOBAL: Final = "util.global"
_INITIALIZER: Final = "util.initializer"
_DEVICE: Final = "!hal.device"
_VISIBILITY: Final = "sym_visibility"


@dataclass(frozen=True, slots=True)
class Halves:
    """A program as two: `kernels` has the executables and the devices, `host` all, but no code of kernels.

    `kernels` are several programs where each executable is to be a library of its own; the first has the
    devices. `exports` names the kernels.
    """

    kernels: tuple[bytes, ...]
    host: bytes
    exports: tuple[str, ...]


def divided(program: bytes, is_in_parts: bool = False) -> Halves:
    """`program`, bytecode of the phase `executable-targets`, as its halves."""
    from ...dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context:
        host = ir.Module.parse(program, context)
        exports = tuple(_exports(host))
        parts: list[Any] = [_like(ir, host)]
        for operation in top_level(host):
            if operation.name == EXECUTABLE:
                kept = _without_code(operation)
                if is_in_parts and any(each.name == EXECUTABLE for each in top_level(parts[-1])):
                    parts.append(_like(ir, host))
                kernels = parts[-1]
            elif _is_device(ir, operation):
                kept, kernels = operation.clone().operation, parts[0]
            else:
                continue
            kept.attributes[_VISIBILITY] = ir.StringAttr.get("public")  # what nothing uses is kept
            kernels.body.append(kept)
        return Halves(tuple(map(_bytecode, parts)), _bytecode(host), exports)


def _like(ir: Any, program: Any) -> Any:
    """An empty program with the attributes of `program`."""
    made = ir.Module.create(program.operation.location)
    for name in program.operation.attributes:
        made.operation.attributes[name] = program.operation.attributes[name]
    return made


def joined(host: bytes, kernels: Sequence[bytes], exports: tuple[str, ...]) -> bytes | None:
    """The program of both halves, the kernels being compiled.

    None where the host does not use all `exports`: IREE would have compiled only those that it uses.
    """
    from ...dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context:
        program, compiled = (
            ir.Module.parse(host, context),
            [ir.Module.parse(each, context) for each in kernels],
        )
        if sorted(_exports(program)) != sorted(exports):
            return None
        parts: dict[str, list[Any]] = {}
        name = ""
        for operation in itertools.chain.from_iterable(map(top_level, compiled)):
            if operation.name != _INITIALIZER:  # one stands behind the device that it finds
                name = symbol(ir, operation)
                operation.attributes[_VISIBILITY] = ir.StringAttr.get("private")
            parts.setdefault(name, []).append(operation)
        for operation in top_level(program):
            if operation.name not in (EXECUTABLE, _GLOBAL):
                continue
            replacing = parts.pop(symbol(ir, operation), [])
            for part in replacing:
                part.move_before(operation)
            if replacing:
                operation.erase()
        if parts:
            return None
        return _bytecode(program)


def _without_code(executable: Any) -> Any:
    """An executable with the code of its kernels, which `executable` loses."""
    code = [
        [each.detach_from_parent() for each in operations(module)]
        for module in inner(executable, MODULE, VARIANT)
    ]
    whole = executable.clone().operation
    for module, functions in zip(inner(whole, MODULE, VARIANT), code, strict=True):
        for function in functions:
            module.regions[0].blocks[0].append(function)
    return whole


def _exports(module: Any) -> Iterator[str]:
    """The name of each kernel of each variant of an executable."""
    for executable in top_level(module):
        if executable.name == EXECUTABLE:
            for export in inner(executable, EXPORT, VARIANT):
                yield export.attributes["sym_name"].value


def _is_device(ir: Any, operation: Any) -> bool:
    return operation.name == _GLOBAL and str(operation.attributes["type"]) == _DEVICE


def _bytecode(module: Any) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()
