"""Conversions of float16 in kernels for processors that have no instructions for it, as integer operations.

Input: a program of the phase `executable-targets`, whose kernels compute float16 in float32 and convert at
each step. Output: the same with conversions that work on vectors, where LLVM would call a function for each
element. They round to the nearest, ties to even; what is too large becomes infinite; a NaN stays one.
Source: F. Giesen, Float to half conversions, 2012 (`rtne`).

Symptom: silently, results of float16 below 6e-5, its subnormal numbers, are zeros.
Seen in: IREE 3.13.
Smallest: `x * 2` of a float16 2e-5 for `cpu:generic`, where LLVM calls IREE's copy of `__truncsfhf2`.
Goes when: `tests/runtime/compile/test_flushed_halves.py::test_iree_still_flushes_them` fails.
"""

from __future__ import annotations

import io
from typing import Any, Final

_FROM_FLOAT: Final = "llvm.fptrunc"
_TO_FLOAT: Final = "llvm.fpext"
_SIGN: Final = {"llvm.fneg": ("llvm.xor", 0x8000), "llvm.intr.fabs": ("llvm.and", 0x7FFF)}
_COMPUTED: Final = frozenset(
    [f"llvm.{name}" for name in ("fadd", "fcmp", "fdiv", "fmul", "frem", "fsub")]
    + [f"llvm.{name}" for name in ("fptosi", "fptoui", "sitofp", "uitofp")]
    + [f"llvm.intr.{name}" for name in ("ceil", "copysign", "floor", "fma", "fmuladd", "maximum", "maxnum")]
    + [f"llvm.intr.{name}" for name in ("minimum", "minnum", "nearbyint", "rint", "round", "roundeven")]
    + [f"llvm.intr.{name}" for name in ("sqrt", "trunc", "vector.reduce.fadd", "vector.reduce.fmul")]
    + [f"llvm.intr.vector.reduce.{name}" for name in ("fmax", "fmaximum", "fmin", "fminimum")]
)
"""Operations that take float32 as well as float16."""


def with_own_halves(program: bytes) -> bytes:
    """`program`, of the phase `executable-targets`, with conversions of its own."""
    from ....dialects.mlir import ir, load_dialect, new_context

    with new_context(foreign_ops=False, is_light=True) as context, ir.Location.unknown(context):
        load_dialect("llvm")
        module = ir.Module.parse(program, context)
        half = ir.F16Type.get()
        found: list[Any] = []

        def note(operation: Any) -> Any:
            if operation.name in _COMPUTED or operation.name in (_FROM_FLOAT, _TO_FLOAT, *_SIGN):
                types = [value.type for value in (*operation.operands, *operation.results)]
                if any(_element(type_) == half for type_ in types):
                    found.append(operation)
            return ir.WalkResult.ADVANCE

        module.operation.walk(note)
        if not found:
            return program
        for operation in found:
            with ir.InsertionPoint(operation), operation.location:
                _replace(ir, operation)
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _element(type_: Any) -> Any:
    return getattr(type_, "element_type", type_)


def _replace(ir: Any, operation: Any) -> None:
    """Write an operation on float16 anew, before it, and erase it."""
    half, single = ir.F16Type.get(), ir.F32Type.get()
    (result,) = operation.results
    code = _Code(ir, result.type)
    if operation.name in _SIGN:
        (value,) = operation.operands
        verb, mask = _SIGN[operation.name]
        bits = code.apply("llvm.bitcast", ir.IntegerType.get_signless(16), value)
        bits = code.apply(verb, _element(bits.type), bits, code.constant(mask, _element(bits.type)))
        made = code.apply("llvm.bitcast", half, bits)
    else:
        values = [
            _Code(ir, value.type).widened(value) if _element(value.type) == half else value
            for value in operation.operands
        ]
        if operation.name == _TO_FLOAT:
            made = values[0]
            if result.type != made.type:
                made = code.apply(_TO_FLOAT, _element(result.type), made)
        elif operation.name == _FROM_FLOAT:
            made = values[0]
            if _element(made.type) != single:
                made = code.apply(_FROM_FLOAT, single, made)
            made = code.narrowed(made)
        else:
            attributes = {name: operation.attributes[name] for name in operation.attributes}
            is_half = _element(result.type) == half
            type_ = code.like(single) if is_half else result.type
            made = ir.Operation.create(operation.name, [type_], values, attributes).result
            made = code.narrowed(made) if is_half else made
    result.replace_all_uses_with(made)
    operation.erase()


class _Code:
    """Operations of LLVM's dialect at the insertion point: on numbers, or on vectors as long as `type_`."""

    def __init__(self, ir: Any, type_: Any) -> None:
        self._ir = ir
        self._shape = list(type_.shape) if isinstance(type_, ir.VectorType) else None
        self._word, self._single = ir.IntegerType.get_signless(32), ir.F32Type.get()

    def like(self, element: Any) -> Any:
        """The type of as many elements of another type."""
        return element if self._shape is None else self._ir.VectorType.get(self._shape, element)

    def apply(self, name: str, element: Any, *operands: Any, **attributes: Any) -> Any:
        """The result of an operation, of elements of a type."""
        operation = self._ir.Operation.create(name, [self.like(element)], list(operands), attributes)
        return operation.result

    def constant(self, number: float, element: Any) -> Any:
        """A number, or a vector of it."""
        kind = self._ir.FloatAttr if isinstance(number, float) else self._ir.IntegerAttr
        value = kind.get(element, number)
        if self._shape is not None:
            value = self._ir.DenseElementsAttr.get_splat(self.like(element), value)
        return self.apply("llvm.mlir.constant", element, value=value)

    def _with(self, name: str, bits: Any, number: int) -> Any:
        return self.apply(name, self._word, bits, self.constant(number, self._word))

    def _chosen(self, predicate: int, bits: Any, number: int, yes: Any, no: Any) -> Any:
        """`yes` where a comparison with a number holds, else `no`."""
        truth, word = self._ir.IntegerType.get_signless(1), self._ir.IntegerType.get_signless(64)
        how = self._ir.IntegerAttr.get(word, predicate)
        holds = self.apply("llvm.icmp", truth, bits, self.constant(number, self._word), predicate=how)
        return self.apply("llvm.select", self._word, holds, yes, no)

    def narrowed(self, value: Any) -> Any:
        """float16 of float32: a number below its normal ones is rounded by an addition to 0.5."""
        word, single, short = self._word, self._single, self._ir.IntegerType.get_signless(16)
        bits = self.apply("llvm.bitcast", word, value)
        sign = self._with("llvm.and", bits, -(1 << 31))
        size = self.apply("llvm.xor", word, bits, sign)
        moved = self.apply(
            "llvm.fadd", single, self.apply("llvm.bitcast", single, size), self.constant(0.5, single)
        )
        small = self._with("llvm.sub", self.apply("llvm.bitcast", word, moved), 126 << 23)
        odd = self._with("llvm.and", self._with("llvm.lshr", size, 13), 1)
        normal = self.apply("llvm.add", word, self._with("llvm.add", size, (-112 << 23) + 0xFFF), odd)
        made = self._chosen(_LESS, size, 113 << 23, small, self._with("llvm.lshr", normal, 13))
        infinite, nan = (self.constant(number, word) for number in (0x7C00, 0x7E00))
        made = self._chosen(_LESS, size, 143 << 23, made, infinite)
        made = self._chosen(_GREATER, size, 255 << 23, nan, made)
        made = self.apply("llvm.or", word, made, self._with("llvm.lshr", sign, 16))
        return self.apply("llvm.bitcast", self._ir.F16Type.get(), self.apply("llvm.trunc", short, made))

    def widened(self, value: Any) -> Any:
        """float32 of float16: a number below its normal ones is the rest of a subtraction."""
        word, single, short = self._word, self._single, self._ir.IntegerType.get_signless(16)
        bits = self.apply("llvm.zext", word, self.apply("llvm.bitcast", short, value))
        size = self._with("llvm.shl", self._with("llvm.and", bits, 0x7FFF), 13)
        normal = self._with("llvm.add", size, 112 << 23)
        moved = self.apply("llvm.bitcast", single, self._with("llvm.add", normal, 1 << 23))
        rest = self.apply("llvm.fsub", single, moved, self.constant(2.0**-14, single))
        small = self.apply("llvm.bitcast", word, rest)
        made = self._chosen(_LESS, size, 1 << 23, small, normal)
        made = self._chosen(_LESS, size, 31 << 23, made, self._with("llvm.add", normal, 112 << 23))
        sign = self._with("llvm.shl", self._with("llvm.and", bits, 0x8000), 16)
        return self.apply("llvm.bitcast", single, self.apply("llvm.or", word, made, sign))


_LESS: Final = 6
_GREATER: Final = 8
"""LLVM's comparisons of unsigned integers: `ult` and `ugt`."""
