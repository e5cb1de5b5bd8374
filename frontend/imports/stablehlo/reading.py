"""A module of StableHLO, parsed by the MLIR bindings, as the plain data of `program.py`.

Input: a `Source`. Output: a `Program`. MLIR verifies the ops on the way: arities, types and attributes of
every op are those of its declaration when a rule sees them.

Idea: everything that can be said about a program without its arguments is said here: unknown ops, types that
adze lacks, functions that are missing or call themselves, programs that would grow without bound.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from ....dialects import mlir
from .attributes import attributes_of, python_value, type_of
from .program import Function, Operation, Program, Ranks, Region, StableHLOError
from .text import Source

_PLACE: Final = re.compile(r'"[^"]*":(\d+):(\d+)')
_NAME: Final = re.compile(r'loc\("([A-Za-z_]\w*)"', re.ASCII)
_RETURNS: Final = ("stablehlo.return", "func.return")
_MOST_STEPS: Final = 2_000_000
_MOST_DEEP: Final = 100


def read(source: Source, known: Collection[str], refused: Mapping[str, str]) -> Program:
    """The program, all of whose ops are `known`; `StableHLOError`, with the reason if it is `refused`."""
    module = _parsed(source)
    reader = _Reader(source, known, refused)
    functions: dict[str, Function] = {}
    for operation in module.body.operations:
        if operation.operation.name != "func.func":
            raise StableHLOError(
                f"a module of StableHLO holds functions, not {operation.operation.name}",
                where=reader.place(operation.operation),
            )
        function = reader.function(operation.operation)
        functions[function.name] = function
    draws = any(_has_rng(function.body) for function in functions.values())
    program = Program(functions, _main(functions, source.name), _ranks(module.operation), draws)
    _check_calls(program)
    return program


def _has_rng(region: Region) -> bool:
    return any(
        operation.name == "stablehlo.rng" or any(_has_rng(inner) for inner in operation.regions)
        for operation in region.operations
    )


def _ranks(module: Any) -> Ranks:
    def number(name: str) -> int:
        value = python_value(module.attributes[name]) if name in module.attributes else 1
        return value if isinstance(value, int) and value > 0 else 1

    return Ranks(number("mhlo.num_replicas"), number("mhlo.num_partitions"))


def _parsed(source: Source) -> Any:
    context = mlir.new_context()
    try:
        return mlir.ir.Module.parse(source.text, context)
    except mlir.ir.MLIRError as error:
        diagnostics = error.error_diagnostics
        message = diagnostics[0].message if diagnostics else str(error)
        place = _PLACE.search(str(diagnostics[0].location)) if diagnostics else None
        where = f"{source.name}:{source.lines.before(int(place[1]))}:{place[2]}" if place else None
        raise StableHLOError(f"{source.name} is not StableHLO: {message[:600]}", where=where) from None


class _Reader:
    """Numbers the values of a module while it scans over them."""

    def __init__(self, source: Source, known: Collection[str], refused: Mapping[str, str]) -> None:
        self.name = source.name
        self.lines = source.lines
        self.known = known
        self.refused = refused
        self.numbers: dict[Any, int] = {}

    def place(self, operation: Any) -> str:
        """Where an op is: its line in the text, or in the program that it was exported from."""
        text = str(operation.location)
        place = _PLACE.search(text)
        if place and text.startswith('loc("-"'):
            return f"{self.name}:{self.lines.before(int(place[1]))}:{place[2]}"
        return self.name if text == "loc(unknown)" else f"{self.name}, {text[:160]}"

    def number(self, value: Any) -> int:
        return self.numbers.setdefault(value, len(self.numbers))

    def function(self, operation: Any) -> Function:
        where = self.place(operation)
        name = operation.attributes["sym_name"].value
        if not len(operation.regions[0].blocks):
            raise StableHLOError(f"the function @{name} has no body", where=where)
        body = self.region(operation.regions[0], operation)
        type_ = mlir.ir.TypeAttr(operation.attributes["function_type"]).value
        visibility = (
            operation.attributes["sym_visibility"].value
            if "sym_visibility" in operation.attributes
            else "public"
        )
        names = [_NAME.match(str(a.location)) for a in operation.regions[0].blocks[0].arguments]
        return Function(
            name,
            body,
            tuple(type_of(t, where) for t in type_.results),
            _distinct([match[1] if match else None for match in names]),
            visibility == "public",
        )

    def region(self, region: Any, operation: Any) -> Region:
        where = self.place(operation)
        blocks = list(region.blocks)
        if len(blocks) != 1:
            raise StableHLOError(
                f"{operation.name}: a region of {len(blocks)} blocks, expected 1", where=where
            )
        arguments = tuple(self.number(a) for a in blocks[0].arguments)
        types = tuple(type_of(a.type, where) for a in blocks[0].arguments)
        operations = [op.operation for op in blocks[0].operations]
        if not operations or operations[-1].name not in _RETURNS:
            raise StableHLOError(f"{operation.name}: a region that returns nothing", where=where)
        body = tuple(self.operation(op) for op in operations[:-1])
        return Region(arguments, types, body, tuple(self.number(v) for v in operations[-1].operands))

    def operation(self, operation: Any) -> Operation:
        where, name = self.place(operation), operation.name
        if name not in self.known:
            is_foreign = not name.startswith(("stablehlo.", "chlo."))
            reason = "this is no op of StableHLO" if is_foreign else "this op is not supported"
            raise StableHLOError(f"{name}: {self.refused.get(name, reason)}", where=where)
        operands = tuple(self.number(v) for v in operation.operands)
        regions = tuple(self.region(r, operation) for r in operation.regions)
        return Operation(
            name,
            operands,
            tuple(type_of(v.type, where) for v in operation.operands),
            tuple(self.number(v) for v in operation.results),
            tuple(type_of(v.type, where) for v in operation.results),
            attributes_of(operation, where),
            regions,
            where,
        )


def _distinct(names: list[str | None]) -> tuple[str, ...]:
    """The names that arguments have in the text, `arg0`, `arg1`, ... where they have none of their own."""
    plain = [n for n in names if n and not keyword.iskeyword(n)]
    if len(set(plain)) != len(names):
        return tuple(f"arg{i}" for i in range(len(names)))
    return tuple(plain)


def _main(functions: dict[str, Function], name: str) -> Function:
    if "main" in functions:
        return functions["main"]
    public = [f for f in functions.values() if f.is_public]
    if len(public) != 1:
        raise StableHLOError(
            f"{name} has no function @main and {len(public)} public functions, expected one of either",
        )
    return public[0]


def callees(operation: Operation) -> Iterator[str]:
    """The functions that an op itself refers to."""
    for key in ("callee", "decomposition"):
        symbol = operation.attributes.get(key)
        if isinstance(symbol, str):
            yield symbol
    called = operation.attributes.get("called_computations")
    yield from called if isinstance(called, tuple) else ()


def _check_calls(program: Program) -> None:
    """Calls must end: no function calls itself, and the whole does not grow beyond what can be traced."""
    steps: dict[str, int] = {}
    active: list[str] = []

    def size(name: str, operation: Operation | None) -> int:
        if name not in program.functions:
            assert operation is not None
            raise operation.error(f"there is no function @{name}")
        if name in active or len(active) > _MOST_DEEP:
            problem = "calls itself" if name in active else f"is more than {_MOST_DEEP} calls deep"
            raise StableHLOError(
                f"the function @{name} {problem}", where=operation.where if operation else None
            )
        if name not in steps:
            active.append(name)
            steps[name] = region_size(program.functions[name].body)
            active.pop()
        return steps[name]

    def region_size(region: Region) -> int:
        total = 0
        for operation in region.operations:
            total += 1 + sum(region_size(r) for r in operation.regions)
            total += sum(size(name, operation) for name in callees(operation))
        return total

    if size(program.main.name, None) > _MOST_STEPS:
        raise StableHLOError(f"the program has more than {_MOST_STEPS} ops once its calls are inlined")
