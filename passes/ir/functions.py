"""Functions of a module, as every engine traverses them: one block, straight-line ops, one return."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ...dialects.errors import VerificationError
from ...dialects.op import Op
from .aliases import Operation

EXECUTABLE: Final = "stream.executable"
"""A kernel of our own, which the lowering put beside the functions: no pass looks into it."""

_BESIDE: Final = (EXECUTABLE, "util.global", "util.initializer")
"""Kernels of our own, and the arrays and channels that a program keeps."""


def functions(module: mlir.ir.Module) -> dict[str, Operation]:
    """The functions of `module` by symbol, in order, without declarations of imported ones;
    `VerificationError` if it holds others than kernels."""
    by_symbol: dict[str, Operation] = {}
    for operation in module.body.operations:
        if operation.operation.name in _BESIDE:
            continue
        if operation.operation.name != "func.func":
            raise VerificationError(
                f"a module of adze holds functions only, not '{operation.operation.name}'"
            )
        if len(operation.regions[0].blocks) == 0:
            continue  # one that the lowered program imports
        by_symbol[operation.attributes["sym_name"].value] = operation
    return by_symbol


def find_function(module: mlir.ir.Module, symbol: str) -> Operation | None:
    """The function called `symbol`, without looking at the others; None for a declaration too."""
    symbols = mlir.ir.SymbolTable(module.operation)
    if symbol not in symbols:
        return None
    found = symbols[symbol]
    is_defined = found.operation.name == "func.func" and len(found.operation.regions[0].blocks) > 0
    return found if is_defined else None


def function(module: mlir.ir.Module, symbol: str) -> Operation:
    """The function called `symbol`, or `VerificationError` listing those that exist."""
    found = find_function(module, symbol)
    if found is None:
        names = ", @".join(functions(module))
        raise VerificationError(f"there is no function @{symbol}; the module has @{names}")
    return found


def body(operation: Operation) -> mlir.ir.Block:
    """The only block of a function."""
    blocks = operation.regions[0].blocks
    if len(blocks) != 1:
        name = operation.attributes["sym_name"].value
        raise VerificationError(f"function @{name} must have exactly one block, has {len(blocks)}")
    return blocks[0]


def split_body(operation: Operation) -> tuple[list[Operation], Operation]:
    """The ops of a function in order, without its terminator; and the terminator."""
    operations = list(body(operation).operations)
    return operations[:-1], operations[-1]


def is_private(operation: Operation) -> bool:
    """Whether only this module calls the function."""
    attributes = operation.attributes
    return "sym_visibility" in attributes and attributes["sym_visibility"].value == "private"


def walk(module: mlir.ir.Module) -> Iterator[tuple[str, Operation]]:
    """Every op of every function, with the function's symbol."""
    for symbol, operation in functions(module).items():
        for child in body(operation).operations:
            yield symbol, child


def refers_to_functions(op: type[Op]) -> bool:
    """Whether ops of a class refer to functions: for `Reader.read_if`."""
    return op.refers_to_functions


def referenced(application: Application) -> list[str]:
    """The symbols of the functions that an application refers to."""
    symbols: list[str] = []
    for name, attribute in application.op.attributes.items():
        if attribute.kind == "symbol":
            symbols.append(application.attributes[name])
        elif attribute.kind == "symbols":
            symbols.extend(application.attributes[name])
    return symbols


def drop_unfinished(module: mlir.ir.Module, kept: Collection[str] = ()) -> None:
    """Drop functions without a terminator, which an error left behind, except those `kept`."""
    for symbol, operation in functions(module).items():
        operations = list(body(operation).operations)
        if symbol not in kept and (not operations or operations[-1].operation.name != "func.return"):
            operation.operation.erase()


def rename_references(operation: Operation, reader: Reader, renamed: Mapping[str, str]) -> None:
    """Let an op refer to functions by their new symbols."""
    op = reader.declaration(operation.name)
    for name, attribute in op.attributes.items() if op is not None else ():
        if attribute.kind in ("symbol", "symbols"):
            old = reader.codec.read(attribute, operation.attributes[name])
            new = renamed[old] if isinstance(old, str) else tuple(renamed[symbol] for symbol in old)
            operation.attributes[name] = reader.codec.write(attribute, new)
