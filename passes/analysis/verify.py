"""The verifier: is a module well-formed adze IR? Runs after every pass that leaves adze IR.

MLIR checks SSA form and builtin types; the ops of adze are unregistered in the process, so that operand
counts, attributes and result types are checked here against the declarations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.errors import AdzeError, VerificationError
from ...dialects.op import Op
from ...dialects.types import SIZE, TensorType, ValueType, require_possible, same_dimension
from ..ir.functions import body, functions
from ..ir.marks import MARKS

_STRUCTURE = frozenset({"func.return"})


Verified = set[tuple[object, ...]]
"""What was verified of ops: name, operand types, attributes and result types."""


def verify(module: mlir.ir.Module, verified: Verified | None = None) -> None:
    """Raise `VerificationError` naming the op and its location unless `module` is valid adze IR.

    An op like one in `verified` is not verified again; a set that is passed to several calls, of modules of
    one context, makes them several times faster.
    """
    verified = set() if verified is None else verified
    try:
        module.operation.verify()
    except mlir.ir.MLIRError as error:
        raise invalid(error) from None
    reader = Reader(Codec(module.context))
    by_symbol = functions(module)
    for symbol, operation in by_symbol.items():
        _verify_end(symbol, operation)
        for argument in body(operation).arguments:
            require_possible(f"@{symbol}", [reader.codec.read_type(argument.type)])
        for child in body(operation).operations:
            signature = _signature(child.operation)
            if signature in verified:
                continue
            try:
                refers = _verify_operation(child.operation, reader, by_symbol)
            except AdzeError as error:
                raise VerificationError(
                    f"in @{symbol}: {error.message}", where=location_text(child.location)
                ) from None
            if not refers:  # what is referred to may change
                verified.add(signature)


def _signature(operation: mlir.ir.Operation) -> tuple[object, ...]:
    """All that decides whether an op is valid that refers to no function."""
    attributes = operation.attributes
    return (
        operation.name,
        tuple([v.type for v in operation.operands]),
        tuple([(name, attributes[name]) for name in attributes]),
        tuple([v.type for v in operation.results]),
    )


def invalid(error: mlir.ir.MLIRError) -> VerificationError:
    """What MLIR's own verifier says, as an error of adze: its first diagnostic, and where that is."""
    first = error.error_diagnostics[0]
    return VerificationError(f"not valid MLIR: {first.message}", where=location_text(first.location))


def _verify_end(symbol: str, operation: mlir.ir.Operation) -> None:
    """MLIR takes any op that it does not know for the end of a function."""
    operations = body(operation).operations
    last = operations[len(operations) - 1]
    if last.operation.name != "func.return":
        raise VerificationError(
            f"@{symbol} ends in '{last.operation.name}', expected 'func.return'",
            where=location_text(last.location),
        )


def _verify_operation(
    operation: mlir.ir.Operation, reader: Reader, symbols: Mapping[str, mlir.ir.Operation]
) -> bool:
    """Raise unless the op is valid; whether it refers to functions."""
    application = reader.read(operation)
    if application is None:
        if operation.name not in _STRUCTURE:
            raise VerificationError(f"op '{operation.name}' has no place in adze IR")
        return False
    op, operands, attributes = application
    types = [reader.codec.read_type(v.type) for v in operands]
    _verify_sizes(op, attributes, reader)
    inferred = op.result_types(types, attributes)
    require_possible(op.name, inferred)
    actual = tuple(reader.codec.read_type(r.type) for r in operation.results)
    if len(actual) != len(inferred) or not all(map(_compatible, actual, inferred)):
        raise VerificationError(
            f"op 'adze.{op.name}' states results ({', '.join(map(str, actual))}), "
            f"its operands and attributes imply ({', '.join(map(str, inferred))})"
        )
    extra = set(operation.attributes) - op.attributes.keys() - MARKS  # iteration yields the names
    if extra:
        raise VerificationError(f"op 'adze.{op.name}' has no attribute '{sorted(extra)[0]}'")
    for name, attribute in op.attributes.items():
        named = attributes[name]
        for symbol in (
            (named,) if attribute.kind == "symbol" else named if attribute.kind == "symbols" else ()
        ):
            if symbol not in symbols:
                raise VerificationError(f"op 'adze.{op.name}' refers to @{symbol}, which does not exist")
    if op.callee_attribute is not None:
        _verify_call(op, attributes[op.callee_attribute], types, actual, symbols, reader)
    return op.refers_to_functions


def _verify_call(
    op: type[Op],
    symbol: str,
    types: Sequence[ValueType],
    results: Sequence[ValueType],
    symbols: Mapping[str, mlir.ir.Operation],
    reader: Reader,
) -> None:
    """Operands and stated results must have the types of the callee's arguments and results."""
    block = body(symbols[symbol])
    terminator = block.operations[len(block.operations) - 1]
    for what, here, values in (
        ("passes", types, block.arguments),
        ("states results", results, terminator.operands),
    ):
        there = [reader.codec.read_type(v.type) for v in values]
        if len(here) != len(there) or not all(map(_compatible, here, there)):
            raise VerificationError(
                f"op 'adze.{op.name}' {what} ({', '.join(map(str, here))}) where "
                f"@{symbol} has ({', '.join(map(str, there))})"
            )


def _verify_sizes(op: type[Op], attributes: dict[str, object], reader: Reader) -> None:
    for name, attribute in op.attributes.items():
        if attribute.kind != "sizes":
            continue
        for n in attributes[name]:  # type: ignore[attr-defined]
            if isinstance(n, mlir.ir.Value) and reader.codec.read_type(n.type) != SIZE:
                raise VerificationError(f"op 'adze.{op.name}' takes sizes for '{name}', got {n.type}")


def _compatible(actual: ValueType, inferred: ValueType) -> bool:
    if not isinstance(actual, TensorType) or not isinstance(inferred, TensorType):
        return actual == inferred
    return (
        actual.dtype == inferred.dtype
        and actual.rank == inferred.rank
        and all(map(same_dimension, actual.shape, inferred.shape))
    )


_FILE_LINE: Final = re.compile(r'"([^"]+)":(\d+)')


def location_text(location: mlir.ir.Location) -> str:
    """`file:line` of the user where the location has one (in whatever it is fused), else its MLIR text."""
    place = _FILE_LINE.search(str(location))
    if place is None:
        return str(location)
    return f"{'<stdin>' if place[1] == '-' else place[1]}:{place[2]}"
