"""The meaning of every elementwise op on one element, and the choice of its code by dtype and target.

Input: MLIR values of signless element types and the dtype that adze sees. Output: the value of the result,
whose code is emitted at the ambient insertion point. NumPy's semantics hold; the docstrings say what NumPy
leaves open. f16 and bf16 are computed in f32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from ....dialects import mlir
from ....dialects.ops.random import threefry_words
from ....dialects.types import BFLOAT16, BOOL, FLOAT16, FLOAT32
from . import complexes, conversions, integers, reals
from .complexes import Complex
from .real_functions import REAL, SHORT
from .terms import Arithmetic, Term, choose, constant, emitting_for

if TYPE_CHECKING:
    from iree.compiler import ir

NO_INLINE: Final = "no_inline"
"""On a shared scalar function while the module is being lowered."""

TargetKind = Literal["cpu", "vulkan", "cuda", "rocm", "metal"]
Direction = Literal["EQ", "NE", "LT", "LE", "GT", "GE"]


class Scalars:
    """One method an op. `dtype` is that of the operands; the result has it too unless the method says."""

    def __init__(self, target_kind: TargetKind) -> None:
        self.target_kind = target_kind
        self._on_vulkan = target_kind in ("vulkan", "metal")  # both through SPIR-V
        self.arithmetic = Arithmetic(is_reassociated=self._on_vulkan)
        self._module: ir.Module | None = None
        self._functions: dict[str, ir.Type] = {}

    def share_in(self, module: ir.Module) -> None:
        """Emit the code of each long function once, as a private function of `module` that is then called.

        The code of a sine is a hundred ops: emitted at every use it would take most of the time of lowering.
        IREE's inliner, which is among its first passes, puts it back where it is called.
        """
        self._module = module

    # -- types and constants -------------------------------------------------------------------

    def element_type(self, dtype: np.dtype) -> ir.Type:
        """The signless MLIR type of an element."""
        if dtype.kind == "c":
            return mlir.ir.ComplexType.get(self.element_type(_part(dtype)))
        if dtype == BOOL:
            return conversions.integer_type(1)
        if dtype.kind in "iu":
            return conversions.integer_type(dtype.itemsize * 8)
        floats = {FLOAT16: mlir.ir.F16Type, BFLOAT16: mlir.ir.BF16Type, FLOAT32: mlir.ir.F32Type}
        return floats.get(dtype, mlir.ir.F64Type).get()

    def constant(self, dtype: np.dtype, value: Any) -> ir.Value:
        """`value` rounded (floats) or wrapped (integers) to the dtype."""
        kind = self.element_type(dtype)
        if dtype.kind == "c":
            part = mlir.ir.ComplexType(kind).element_type
            number = complex(value)
            real, imaginary = (mlir.ir.FloatAttr.get(part, v) for v in (number.real, number.imag))
            return mlir.complex.ConstantOp(kind, mlir.ir.ArrayAttr.get([real, imaginary])).result
        if dtype == BOOL:
            return constant(kind, int(bool(value))).value
        return constant(kind, int(value) if dtype.kind in "iu" else float(value)).value

    # -- arithmetic ----------------------------------------------------------------------------

    def add(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """Sum; integers wrap, bools: or."""
        return self._arithmetic("add", dtype, x, y, lambda a, b: a + b, integers_or=lambda a, b: a | b)

    def sub(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """Difference; integers wrap, bools: exclusive or."""
        return self._arithmetic("sub", dtype, x, y, lambda a, b: a - b, integers_or=lambda a, b: a ^ b)

    def mul(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """Product; integers wrap, bools: and."""
        return self._arithmetic("mul", dtype, x, y, lambda a, b: a * b, integers_or=lambda a, b: a & b)

    def div(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """Quotient. Integers truncate towards zero; x / 0 is -1 (all ones), INT_MIN / -1 is INT_MIN."""
        if dtype.kind in "iu":
            return integers.div(Term(x), Term(y), dtype.kind == "i", self._on_vulkan).value
        return self._arithmetic("div", dtype, x, y, lambda a, b: a / b)

    def rem(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """Remainder with the sign of x: exact C fmod for floats; for integers x rem 0 is x."""
        if dtype.kind in "iu":
            return integers.rem(Term(x), Term(y), dtype.kind == "i", self._on_vulkan).value
        return self._float("rem", dtype, x, y)

    def rem_by_power_of_two(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """The remainder of floats for |y| = 1, 2, 4, ..., in a few operations."""
        return self._float("rem_by_power_of_two", dtype, x, y)

    def pow(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """x**y. Floats: the special cases of C99. Integers wrap; negative exponents give 0 unless x = +-1."""
        if dtype.kind in "iu":
            return integers.power(Term(x), Term(y), dtype.kind == "i").value
        return self._float("pow", dtype, x, y)

    def power_of_halves(self, dtype: np.dtype, halves: int, x: ir.Value) -> ir.Value:
        """x**(halves / 2) of floats for a few odd numbers, in a few operations."""
        return self._float(f"power_of_{halves}_halves", dtype, x)

    def atan2(self, dtype: np.dtype, y: ir.Value, x: ir.Value) -> ir.Value:
        """Angle of the point (x, y), with C99's signed zeros and infinities."""
        return self._float("atan2", dtype, y, x)

    def nextafter(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """The neighbour of x towards y in its own format (also f16 and bf16)."""
        bits = reals.next_after(Term(x).bits(), Term(y).bits(), _widened(dtype, x), _widened(dtype, y))
        return mlir.arith.bitcast(self.element_type(dtype), bits.value)

    def max(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """Larger operand; NaN wins, max(-0, +0) = +0; complex numbers by (real, imag)."""
        return self._with_ordered_zeros(dtype, x, y, self.larger(dtype, x, y), lambda a, b: a & b)

    def min(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """Smaller operand; NaN wins, min(-0, +0) = -0; complex numbers by (real, imag)."""
        return self._with_ordered_zeros(dtype, x, y, self.smaller(dtype, x, y), lambda a, b: a | b)

    def larger(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """As `max`, by the one op that reductions know; Vulkan leaves open which of two zeros is larger."""
        return self._extremum("max", dtype, x, y)

    def smaller(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """As `min`, by the one op that reductions know; Vulkan leaves open which of two zeros is smaller."""
        return self._extremum("min", dtype, x, y)

    def neg(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """-x; integers wrap; bools: themselves."""
        if dtype.kind == "c":
            return self._float("neg", dtype, x)
        return x if dtype == BOOL else (-Term(x)).value

    def abs(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Magnitude (real for complex, without overflow); |INT_MIN| = INT_MIN."""
        if dtype.kind == "c":
            return complexes.magnitude(Complex.of(x)).value
        if dtype.kind in "iub":
            return integers.absolute(Term(x), dtype.kind == "i").value
        return mlir.math.absf(x)

    def sign(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """-1, 0 or 1; signed zeros and NaN stay; complex: x / |x|, 0 at 0."""
        if dtype.kind in "iub":
            return integers.sign(Term(x), dtype.kind == "i").value
        return self._float("sign", dtype, x)

    def floor(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Largest integer not above x; integers: themselves."""
        return self._rounding("floor", dtype, x)

    def ceil(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Smallest integer not below x; integers: themselves."""
        return self._rounding("ceil", dtype, x)

    def round(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Nearest integer, half to even; integers: themselves."""
        return self._rounding("round", dtype, x)

    # -- analytic functions: real floats and, where they make sense, complex ----------------------

    def sqrt(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Principal square root, correctly rounded for reals; NaN below 0."""
        return self._float("sqrt", dtype, x)

    def rsqrt(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """1 / sqrt(x); infinity with the sign of x at +-0."""
        return self._float("rsqrt", dtype, x)

    def cbrt(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Real cube root, odd."""
        return self._float("cbrt", dtype, x)

    def exp(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """e**x."""
        return self._float("exp", dtype, x)

    def exp2(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """2**x, exact for whole x."""
        return self._float("exp2", dtype, x)

    def expm1(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """e**x - 1 with full relative accuracy at 0."""
        return self._float("expm1", dtype, x)

    def log(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Natural logarithm; -inf at +-0, NaN below."""
        return self._float("log", dtype, x)

    def log2(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Logarithm to base 2."""
        return self._float("log2", dtype, x)

    def log1p(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """log(1 + x) with full relative accuracy at 0."""
        return self._float("log1p", dtype, x)

    def sin(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Sine, right for every finite argument; NaN at infinity."""
        return self._float("sin", dtype, x)

    def cos(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Cosine, right for every finite argument; NaN at infinity."""
        return self._float("cos", dtype, x)

    def tan(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Tangent, right for every finite argument; NaN at infinity."""
        return self._float("tan", dtype, x)

    def asin(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Arc sine; NaN outside [-1, 1]."""
        return self._float("asin", dtype, x)

    def acos(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Arc cosine; NaN outside [-1, 1]."""
        return self._float("acos", dtype, x)

    def atan(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Arc tangent."""
        return self._float("atan", dtype, x)

    def sinh(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Hyperbolic sine."""
        return self._float("sinh", dtype, x)

    def cosh(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Hyperbolic cosine."""
        return self._float("cosh", dtype, x)

    def tanh(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Hyperbolic tangent."""
        return self._float("tanh", dtype, x)

    def asinh(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Inverse hyperbolic sine."""
        return self._float("asinh", dtype, x)

    def acosh(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Inverse hyperbolic cosine; NaN below 1."""
        return self._float("acosh", dtype, x)

    def atanh(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Inverse hyperbolic tangent; NaN outside [-1, 1]."""
        return self._float("atanh", dtype, x)

    def erf(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Error function."""
        return self._float("erf", dtype, x)

    def erfc(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """1 - erf(x) with full relative accuracy in the tail."""
        return self._float("erfc", dtype, x)

    def erf_inv(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Inverse of erf; +-inf at +-1, NaN outside."""
        return self._float("erf_inv", dtype, x)

    def lgamma(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """log |gamma(x)|; inf at 0, the negative integers and +-inf."""
        return self._float("lgamma", dtype, x)

    def digamma(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Derivative of lgamma; NaN at the negative integers, -+inf at +-0."""
        return self._float("digamma", dtype, x)

    def logistic(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """1 / (1 + exp(-x))."""
        return self._float("logistic", dtype, x)

    # -- complex parts -------------------------------------------------------------------------

    def real(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Real part, of the part's dtype; a real number itself."""
        return Complex.of(x).real.value if dtype.kind == "c" else x

    def imag(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Imaginary part, of the part's dtype; 0 of a real number."""
        return Complex.of(x).imag.value if dtype.kind == "c" else self.constant(dtype, 0)

    def conj(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Complex conjugate."""
        return self._float("conj", dtype, x) if dtype.kind == "c" else x

    def complex(self, dtype: np.dtype, real: ir.Value, imag: ir.Value) -> ir.Value:
        """real + i imag; `dtype` is that of the parts."""
        return Complex(Term(real), Term(imag)).value

    # -- bits and logic ------------------------------------------------------------------------

    def and_(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """Bitwise and; bools: logical and."""
        return (Term(x) & Term(y)).value

    def or_(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """Bitwise or; bools: logical or."""
        return (Term(x) | Term(y)).value

    def xor(self, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        """Bitwise exclusive or; bools: logical."""
        return (Term(x) ^ Term(y)).value

    def not_(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Bitwise complement; bools: logical not."""
        return (~Term(x)).value

    def threefry(
        self, dtype: np.dtype, word: int, k0: ir.Value, k1: ir.Value, x0: ir.Value, x1: ir.Value
    ) -> ir.Value:
        """Word `word` of a block of twenty rounds."""
        block: tuple[Term, Term] = threefry_words((Term(k0), Term(k1)), Term(x0), Term(x1))
        return block[word].value

    def shift_left(self, dtype: np.dtype, x: ir.Value, amount: ir.Value) -> ir.Value:
        """x << amount; 0 for amounts (read as unsigned) of the width or more."""
        return integers.shift_left(Term(x), Term(amount)).value

    def shift_right_logical(self, dtype: np.dtype, x: ir.Value, amount: ir.Value) -> ir.Value:
        """Shift right filling with zeros; 0 for amounts of the width or more."""
        return integers.shift_right_logical(Term(x), Term(amount)).value

    def shift_right_arithmetic(self, dtype: np.dtype, x: ir.Value, amount: ir.Value) -> ir.Value:
        """Shift right filling with the top bit; all sign for amounts of the width or more."""
        return integers.shift_right_arithmetic(Term(x), Term(amount)).value

    def popcount(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Number of one bits, in the same dtype."""
        return integers.count_ones(Term(x)).value

    def clz(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Number of leading zero bits, in the same dtype; the width at 0."""
        return integers.count_leading_zeros(Term(x), self._on_vulkan).value

    # -- comparing and choosing ----------------------------------------------------------------

    def is_finite(self, dtype: np.dtype, x: ir.Value) -> ir.Value:
        """i1: neither infinite nor NaN (both parts of a complex number); true for integers."""
        if dtype.kind in "iub":
            return constant(conversions.integer_type(1), 1).value
        if dtype.kind == "c":
            number = Complex.of(x)
            return (reals.is_finite(number.real) & reals.is_finite(number.imag)).value
        return reals.is_finite(_widened(dtype, x)).value

    def compare(self, dtype: np.dtype, direction: Direction, x: ir.Value, y: ir.Value) -> ir.Value:
        """i1. NaN is unequal to everything and not ordered; complex numbers by (real, imag) as NumPy."""
        if dtype.kind == "c":
            return complexes.compare(direction, Complex.of(x), Complex.of(y)).value
        return conversions.compare(direction, dtype, _widened(dtype, x), _widened(dtype, y)).value

    def select(self, dtype: np.dtype, pred: ir.Value, x: ir.Value, y: ir.Value) -> ir.Value:
        """x where pred (i1) holds, else y."""
        return mlir.arith.select(pred, x, y)

    def clamp(self, dtype: np.dtype, low: ir.Value, x: ir.Value, high: ir.Value) -> ir.Value:
        """min(max(x, low), high); of a NaN it is NaN."""
        return self.min(dtype, self.max(dtype, x, low), high)

    # -- conversions ---------------------------------------------------------------------------

    def convert(self, source_dtype: np.dtype, target_dtype: np.dtype, x: ir.Value) -> ir.Value:
        """Rounded once to nearest even; float to integer truncates and saturates with NaN to 0; integers
        wrap; to bool asks `!= 0`; complex to real drops the imaginary part."""
        if source_dtype == target_dtype:
            return x
        source_part, target_part = _part(source_dtype), _part(target_dtype)
        if source_dtype.kind != "c":
            real = conversions.convert_real(Term(x), source_dtype, target_part)
            return Complex(real, real.lift(0.0)).value if target_dtype.kind == "c" else real.value
        number = Complex.of(x)
        if target_dtype == BOOL:
            return (number.real.differs(0.0) | number.imag.differs(0.0)).value
        real = conversions.convert_real(number.real, source_part, target_part)
        if target_dtype.kind != "c":
            return real.value
        return Complex(real, conversions.convert_real(number.imag, source_part, target_part)).value

    def bitcast_convert(self, source_dtype: np.dtype, target_dtype: np.dtype, x: ir.Value) -> ir.Value:
        """The same bits read as another dtype of the same width."""
        target = self.element_type(target_dtype)
        return x if x.type == target else mlir.arith.bitcast(target, x)

    # -- helpers -------------------------------------------------------------------------------

    def _float(self, name: str, dtype: np.dtype, *operands: ir.Value) -> ir.Value:
        if self._module is not None and name not in SHORT:
            return self._called(self._module, name, dtype, operands)
        return self._float_code(name, dtype, *operands)

    def _called(
        self, module: ir.Module, name: str, dtype: np.dtype, operands: tuple[ir.Value, ...]
    ) -> ir.Value:
        """A call of the function that holds the code, which is emitted when it is first needed."""
        symbol = f"scalar.{name}.{dtype.name}"
        types = [x.type for x in operands]
        if symbol not in self._functions:
            with mlir.ir.InsertionPoint(module.body), mlir.ir.Location.unknown():
                function = mlir.func.FuncOp(symbol, (types, types[:1]), visibility="private")
                function.attributes[NO_INLINE] = mlir.ir.UnitAttr.get()
                block = function.add_entry_block()
                with mlir.ir.InsertionPoint(block):
                    result = self._float_code(name, dtype, *block.arguments)
                    mlir.func.ReturnOp([result])
                function.attributes["function_type"] = mlir.ir.TypeAttr.get(
                    mlir.ir.FunctionType.get(types, [result.type])
                )
            self._functions[symbol] = result.type
        reference = mlir.ir.FlatSymbolRefAttr.get(symbol)
        call = mlir.func.CallOp([self._functions[symbol]], reference, list(operands))
        return call.results[0]

    def _float_code(self, name: str, dtype: np.dtype, *operands: ir.Value) -> ir.Value:
        if dtype.kind == "c":
            with emitting_for(self.arithmetic):
                return complexes.FUNCTIONS[name](*(Complex.of(x) for x in operands)).value
        if dtype in (FLOAT16, BFLOAT16):
            wide = [conversions.widen(Term(x)).value for x in operands]
            return conversions.narrow(Term(self._float(name, FLOAT32, *wide)), dtype).value
        with emitting_for(self.arithmetic):
            return REAL[name](*(Term(x) for x in operands)).value

    def _arithmetic(
        self,
        name: str,
        dtype: np.dtype,
        x: ir.Value,
        y: ir.Value,
        function: Callable[[Term, Term], Term],
        integers_or: Callable[[Term, Term], Term] | None = None,
    ) -> ir.Value:
        if dtype.kind == "c":
            return self._float(name, dtype, x, y)
        if dtype in (FLOAT16, BFLOAT16):
            return conversions.narrow(function(_widened(dtype, x), _widened(dtype, y)), dtype).value
        if dtype == BOOL and integers_or is not None:
            return integers_or(Term(x), Term(y)).value
        return function(Term(x), Term(y)).value

    def _extremum(self, name: str, dtype: np.dtype, x: ir.Value, y: ir.Value) -> ir.Value:
        if dtype == BOOL:
            return (Term(x) | Term(y) if name == "max" else Term(x) & Term(y)).value
        if dtype.kind in "iu":
            pick = integers.maximum if name == "max" else integers.minimum
            return pick(Term(x), Term(y), dtype.kind == "i").value
        return self._float(name, dtype, x, y)

    def _with_ordered_zeros(
        self,
        dtype: np.dtype,
        x: ir.Value,
        y: ir.Value,
        extremum: ir.Value,
        joined: Callable[[Term, Term], Term],
    ) -> ir.Value:
        """An extremum on Vulkan: of equal operands their joined bits, which differ for zeros only."""
        if not self._on_vulkan or dtype.kind in "biuc":
            return extremum
        bits = joined(Term(x).bits(), Term(y).bits())
        same = Term(mlir.arith.bitcast(self.element_type(dtype), bits.value))
        return choose(_widened(dtype, x).equals(_widened(dtype, y)), same, Term(extremum)).value

    def _rounding(self, name: str, dtype: np.dtype, x: ir.Value) -> ir.Value:
        return x if dtype.kind in "iub" else self._float(name, dtype, x)


def _part(dtype: np.dtype) -> np.dtype:
    """The dtype of the parts of a complex dtype; a real dtype itself."""
    return np.dtype(f"float{dtype.itemsize * 4}") if dtype.kind == "c" else dtype


def _widened(dtype: np.dtype, x: ir.Value) -> Term:
    return conversions.widen(Term(x)) if dtype in (FLOAT16, BFLOAT16) else Term(x)


@cache
def scalar_code(name: str) -> Callable[..., ir.Value]:
    """The rule that emits the code of one element of an op: `rule(scalars, dtypes, *elements, **attributes)`.

    It is the same object for each use of an op.
    """
    method = getattr(Scalars, name, None) or getattr(Scalars, name + "_")

    def rule(scalars: Scalars, dtypes: tuple[np.dtype, ...], *elements: Any, **attributes: object) -> Any:
        return method(scalars, dtypes[-1], *attributes.values(), *elements)

    return rule
