"""The code of a kernel of loops, translated to Python that checks every access.

Input: a block of memref, scf and arith code. Output: a function of the views of its arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from adze.dialects import mlir

from .checked_values import (
    FLOAT_OPS,
    INTEGER_FUNCTIONS,
    INTEGERS,
    UNKNOWN,
    Buffer,
    View,
    as_float,
    bits,
    compared,
    compared_floats,
    integer,
    signed,
    to_integer,
    unsigned,
)
from .interpreter import KernelFault

MOST_STEPS: Final = 1_000_000  # of a while
FLOATS: Final[dict[str, Any]] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}


class Translation:
    """The Python code of one kernel, line by line; `first` are arguments before those of its block."""

    first: Sequence[str] = ()

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.names: dict[Any, str] = {}
        self.held: dict[str, Any] = {
            "integer": integer, "compared": compared, "compared_floats": compared_floats, "signed": signed,
            "unsigned": unsigned, "bits": bits, "to_integer": to_integer, "as_float": as_float,
            "View": View, "Buffer": Buffer, "UNKNOWN": UNKNOWN, "KernelFault": KernelFault,
            "MOST_STEPS": MOST_STEPS, "lanes": lanes,
        }  # fmt: skip

    def say(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    def name(self, value: Any) -> str:
        return self.names.setdefault(value, f"v{len(self.names)}")

    def hold(self, value: Any) -> str:
        """A name for an object that the code uses."""
        key = f"held{len(self.held)}"
        self.held[key] = value
        return key

    def function(self, block: Any) -> Callable[..., None]:
        """The block as a function of its arguments."""
        arguments = ", ".join([*self.first, *(self.name(a) for a in block.arguments)])
        self.block(block)
        code = "\n".join([f"def kernel({arguments}):", *self.lines, "  return"])
        exec(compile(code, "<kernel>", "exec"), self.held)
        return self.held["kernel"]  # type: ignore[no-any-return]

    def block(self, block: Any) -> list[str]:
        """Say what a block does; the names of what its terminator has."""
        self.say("pass")
        for child in block.operations:
            operation = child.operation
            operands = [self.name(v) for v in operation.operands]
            if operation.name in ("scf.yield", "scf.condition", "func.return"):
                return operands
            self.operation(operation, operation.name, operands)
        return []

    def assign(self, targets: Sequence[str], values: Sequence[str]) -> None:
        if targets:
            self.say(f"{', '.join(targets)}, = {', '.join(values)},")

    def operation(self, operation: Any, name: str, operands: list[str]) -> None:
        results = [self.name(v) for v in operation.results]
        dialect, kind = name.split(".", 1)
        if dialect == "scf":
            getattr(self, f"scf_{kind}")(operation, operands, results)
        elif dialect == "memref":
            self.memory(operation, kind, operands, results)
        elif dialect == "vector":
            self.vector(operation, kind, operands, results)
        elif name != "arith.constant" and isinstance(operation.results[0].type, mlir.ir.VectorType):
            each = [f"x{k}" for k in range(len(operands))]  # every operand is a vector
            number = self.number(operation, name, each)
            self.assign(results, [f"lanes([{number} for {', '.join(each)}, in zip({', '.join(operands)})])"])
        else:
            self.assign(results, [self.number(operation, name, operands)])

    # -- loops and branches

    def scf_for(self, operation: Any, operands: list[str], results: list[str]) -> None:
        start, stop, step, *initial = operands
        block = operation.regions[0].blocks[0]
        counter, *carried = (self.name(a) for a in block.arguments)
        self.assign(carried, initial)
        self.say(f"if {step} <= 0: raise KernelFault('a loop of step ' + str({step}))")
        self.say(f"for {counter} in range({start}, {stop}, {step}):")
        self.depth += 1
        self.assign(carried, self.block(block))
        self.depth -= 1
        self.assign(results, carried)

    def scf_if(self, operation: Any, operands: list[str], results: list[str]) -> None:
        for word, region in zip((f"if {operands[0]}:", "else:"), operation.regions, strict=True):
            self.say(word)
            self.depth += 1
            self.assign(results, self.block(region.blocks[0]) if len(region.blocks) else [])
            self.say("pass")
            self.depth -= 1

    def scf_index_switch(self, operation: Any, operands: list[str], results: list[str]) -> None:
        default, *cases = operation.regions
        numbers = list(mlir.ir.DenseI64ArrayAttr(operation.attributes["cases"]))
        for position, (number, region) in enumerate(zip(numbers, cases, strict=True)):
            self.say(f"{'elif' if position else 'if'} {operands[0]} == {number}:")
            self.depth += 1
            self.assign(results, self.block(region.blocks[0]))
            self.depth -= 1
        self.say("else:" if cases else "if True:")
        self.depth += 1
        self.assign(results, self.block(default.blocks[0]))
        self.depth -= 1

    def scf_while(self, operation: Any, operands: list[str], results: list[str]) -> None:
        before, after = (region.blocks[0] for region in operation.regions)
        carried = [self.name(a) for a in before.arguments]
        self.assign(carried, operands)
        self.say("for _ in range(MOST_STEPS):")
        self.depth += 1
        goes_on, *passed = self.block(before)
        self.say(f"if not {goes_on}: break")
        self.assign([self.name(a) for a in after.arguments], passed)
        self.assign(carried, self.block(after))
        self.depth -= 1
        self.say("else: raise KernelFault('a loop without end')")
        self.assign(results, passed)

    # -- memory

    def memory(self, operation: Any, kind: str, operands: list[str], results: list[str]) -> None:
        if kind in ("alloca", "alloc"):
            type_ = mlir.ir.MemRefType(operation.results[0].type)
            dtype, sizes = self.hold(stored_dtype(type_.element_type)), tuple(type_.shape)
            self.say(f"{results[0]} = View.whole(Buffer.fresh({math.prod(sizes)}, {dtype}), {sizes})")
        elif kind == "load":
            self.say(f"{results[0]} = {operands[0]}.load({', '.join(operands[1:])})")
        elif kind == "store":
            value, target, *places = operands
            self.say(f"{target}.store({', '.join([value, *places])})")
        elif kind == "dim":
            self.say(f"{results[0]} = {operands[0]}.sizes[{operands[1]}]")
        elif kind == "cast":
            self.assign(results, operands)
        elif kind == "reinterpret_cast":
            source, *dynamic = operands
            offsets, sizes, strides = _mixed(operation, dynamic)
            self.say(f"{results[0]} = {source}.shown({offsets[0]}, ({_listed(sizes)}), ({_listed(strides)}))")
        elif kind == "extract_strided_metadata":
            (source,), (base, offset, *rest) = operands, results
            rank = len(rest) // 2
            self.say(f"{base}, {offset} = {source}, {source}.offset")
            for axis in range(rank):
                self.say(f"{rest[axis]} = {source}.sizes[{axis}]")
                self.say(f"{rest[rank + axis]} = {source}.strides[{axis}]")
        elif kind != "dealloc":
            raise NotImplementedError(operation.name)

    def vector(self, operation: Any, kind: str, operands: list[str], results: list[str]) -> None:
        """Vectors are lists of numbers, loaded one by one, so that each place is checked."""
        if kind in ("transfer_read", "load"):
            rank = len(mlir.ir.MemRefType(operation.operands[0].type).shape)
            source, *places = operands[: 1 + rank]
            (width,) = mlir.ir.VectorType(operation.results[0].type).shape
            at = f"*{source}.behind(k, {', '.join(places)})"
            self.say(f"{results[0]} = lanes([{source}.load({at}) for k in range({width})])")
        elif kind == "store":
            value, target, *places = operands
            at = f"*{target}.behind(k, {', '.join(places)})"
            self.say(f"for k, x in enumerate({value}): {target}.store(x, {at})")
        elif kind == "broadcast":
            (width,) = mlir.ir.VectorType(operation.results[0].type).shape
            self.say(f"{results[0]} = lanes([{operands[0]}] * {width})")
        elif kind == "extract":
            (place,) = mlir.ir.DenseI64ArrayAttr(operation.attributes["static_position"])
            self.say(f"{results[0]} = {operands[0]}[{place}]")
        elif kind == "shuffle":
            mask = list(mlir.ir.DenseI64ArrayAttr(operation.attributes["mask"]))
            self.say(f"{results[0]} = lanes([[*{operands[0]}, *{operands[1]}][k] for k in {mask}])")
        elif kind == "reduction":
            self.reduction(operation, operands, results[0])
        else:
            raise NotImplementedError(operation.name)

    def reduction(self, operation: Any, operands: list[str], result: str) -> None:
        """The elements of a vector one after the other, and a number before them if there is one."""
        type_ = operation.results[0].type
        kind = str(operation.attributes["kind"]).removeprefix("#vector.kind<").removesuffix(">")
        if str(type_) in FLOATS:
            name = f"arith.{kind}f" if kind in ("add", "mul") else f"arith.{kind}"
            step = f"{self.hold(FLOAT_OPS[name])}(whole, x)"
        else:
            name = {"add": "addi", "mul": "muli", "and": "andi", "or": "ori", "xor": "xori"}.get(kind, kind)
            step = f"integer({name!r}, whole, x, {width_of(type_)})"
            if f"arith.{name}" in INTEGER_FUNCTIONS:
                held, width = self.hold(INTEGER_FUNCTIONS[f"arith.{name}"]), width_of(type_)
                step = f"signed({held}(whole, x, {width}), {width})"
        vector, *first = operands
        self.say(f"whole, *rest = [{''.join(f'{number}, ' for number in first)}*{vector}]")
        self.say(f"for x in rest: whole = {step}")
        self.say(f"{result} = whole")

    # -- numbers

    def number(self, operation: Any, name: str, operands: list[str]) -> str:
        """An expression for the result of an op on numbers."""
        dialect, kind = name.split(".", 1)
        type_, given = element_of(operation.results[0].type), ", ".join(operands)
        if name == "arith.constant":
            return self.constant(operation.attributes["value"], operation.results[0].type)
        if name == "complex.constant":
            real, imaginary = (float(a.value) for a in operation.attributes["value"])
            dtype = FLOATS[str(mlir.ir.ComplexType(type_).element_type)]
            return self.hold((dtype(real), dtype(imaginary)))
        if kind in INTEGERS and dialect == "arith":
            flags = (
                str(operation.attributes["overflowFlags"]) if "overflowFlags" in operation.attributes else ""
            )
            return f"integer({kind!r}, {given}, {width_of(type_)}, {'nsw' not in flags})"
        if name in INTEGER_FUNCTIONS:
            held, width = self.hold(INTEGER_FUNCTIONS[name]), width_of(type_)
            return f"signed({held}({given}, {width}), {width})"
        if name in FLOAT_OPS:
            return f"{self.hold(FLOAT_OPS[name])}({given})"
        if kind == "select":
            return f"({operands[1]} if {operands[0]} else {operands[2]})"
        source = element_of(operation.operands[0].type)
        if kind in ("cmpi", "cmpf"):
            predicate = operation.attributes["predicate"].value
            if kind == "cmpi":
                return f"compared({predicate}, {given}, {width_of(source)})"
            return f"compared_floats({predicate}, {given})"
        return self.conversion(name, given, source, type_)

    def conversion(self, name: str, given: str, source: Any, type_: Any) -> str:
        kind = name.split(".", 1)[1]
        is_float = str(type_) in FLOATS
        if kind in ("extui", "index_castui"):
            return f"signed(unsigned({given}, {width_of(source)}), {width_of(type_)})"
        if kind in ("extsi", "index_cast"):
            minus = "-" if width_of(source) == 1 else ""
            return f"signed({minus}{given}, {width_of(type_)})"
        if kind == "trunci":
            return f"signed({given}, {width_of(type_)})"
        if kind == "bitcast":
            return (
                f"bits({given}, {self.hold(FLOATS.get(str(type_)))}, {None if is_float else width_of(type_)})"
            )
        if kind in ("extf", "truncf", "sitofp", "uitofp"):
            if kind == "uitofp":
                given = f"unsigned({given}, {width_of(source)})"
            if kind == "sitofp" and width_of(source) == 1:
                given = f"-{given}"
            return f"as_float({self.hold(FLOATS[str(type_)])}, {given})"
        if kind in ("fptosi", "fptoui"):
            return f"to_integer({given}, {width_of(type_)}, {kind == 'fptosi'})"
        raise NotImplementedError(name)

    def constant(self, value: Any, type_: Any) -> str:
        if str(type_) in FLOATS:
            return self.hold(FLOATS[str(type_)](mlir.ir.FloatAttr(value).value))
        if isinstance(type_, (mlir.ir.IntegerType, mlir.ir.IndexType)):
            if isinstance(value, mlir.ir.BoolAttr):
                return str(int(value.value))
            return str(signed(int(mlir.ir.IntegerAttr(value).value), width_of(type_)))
        if isinstance(type_, mlir.ir.VectorType) and str(type_.element_type) in FLOATS:
            number = FLOATS[str(type_.element_type)](mlir.ir.DenseElementsAttr(value).get_splat_value().value)
            return self.hold(lanes([number] * type_.shape[0]))
        if isinstance(type_, mlir.ir.VectorType):
            numbers = [int(n) for n in mlir.ir.DenseIntElementsAttr(value)]
            return self.hold(lanes([signed(n, width_of(type_.element_type)) for n in numbers]))
        raise NotImplementedError(f"a constant of type {type_}")


def lanes(numbers: list[Any]) -> np.ndarray:
    """A vector, whose numbers may be unknown."""
    result = np.empty(len(numbers), object)
    result[:] = numbers
    return result


def _listed(values: Sequence[str]) -> str:
    return "".join(f"{value}, " for value in values)


def _mixed(operation: Any, dynamic: Sequence[str]) -> Iterator[list[str]]:
    """Offsets, sizes and strides of a `memref.reinterpret_cast`, each a number or a name."""
    values = iter(dynamic)
    unknown = mlir.ir.ShapedType.get_dynamic_size()
    for name in ("static_offsets", "static_sizes", "static_strides"):
        numbers = list(mlir.ir.DenseI64ArrayAttr(operation.attributes[name]))
        yield [next(values) if n in (unknown, -(2**63)) else str(n) for n in numbers]


def element_of(type_: Any) -> Any:
    """The type of a number, or of a vector's elements."""
    return type_.element_type if isinstance(type_, mlir.ir.VectorType) else type_


def width_of(type_: Any) -> int:
    """The bits of an integer or index."""
    return int(mlir.ir.IntegerType(type_).width) if isinstance(type_, mlir.ir.IntegerType) else 64


def stored_dtype(element: Any) -> Any:
    """How an element lies in memory."""
    if isinstance(element, mlir.ir.ComplexType):
        return {"f32": np.complex64, "f64": np.complex128}[str(mlir.ir.ComplexType(element).element_type)]
    if isinstance(element, mlir.ir.IntegerType) and width_of(element) == 1:
        raise KernelFault("bools in memory that are not bytes")
    return FLOATS.get(str(element)) or np.dtype(f"i{width_of(element) // 8}")
