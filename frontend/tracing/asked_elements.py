"""What Python asks of a traced array in place of an op: its truth, a number, its text, NumPy's array.

Input: a tracer, which has elements outside `jit`. Output: what was asked for, or the error that says why
there is no value and what to write instead. A derivative that would be lost that way is an error, too.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...dialects.types import TensorType
from ..errors import ConcretizationError
from .array import Array, ArrayMethods
from .concrete_values import UnknownValueError, is_differentiated
from .locations import is_call_of, user_line, user_location_text

if TYPE_CHECKING:
    from .frames import Frame

_INSTEAD_OF: Final = {
    "if": "use adze.cond for a branch, adze.numpy.where for a choice of values",
    "elif": "use adze.switch for several branches, adze.numpy.where for a choice of values",
    "while": "use adze.while_loop, or adze.fori_loop where the number of steps is known",
    "for": "use adze.scan or adze.fori_loop",
    "assert": "compare shapes and dtypes, which are known, instead of values",
}
"""For a Python statement that asks a traced array for its truth: what does it in a traced function."""
_CALL_OF_MATH: Final = re.compile(r"\bmath\.\w+\(")
_CALL_OF_DTYPE: Final = re.compile(r"\b(u?int|b?float|complex)(8|16|32|64|128)\(|\bbool_\(")
_ITEM_ASSIGNMENT: Final = re.compile(r"[\w.]+\[.*\]\s*[-+*/]?=[^=]")


class AskedForElements(ArrayMethods):
    """The methods of a tracer that need its elements."""

    __slots__ = ()

    if TYPE_CHECKING:  # a class with slots has no place for these: `Tracer` defines them
        frame: Frame
        value: Any
        type: TensorType
        kept: Array | None

        def concrete(self) -> np.ndarray: ...

        def origin(self) -> str: ...

    def has_no_value(
        self, wanted: str, hint: str, why: object = "", statement: str = ""
    ) -> ConcretizationError:
        """The error for who asks this array for `wanted`."""
        shown = f", in `{statement}`" if statement else ""
        reason = f"has no single value: it depends on {why}" if str(why) else "has no value while tracing"
        return ConcretizationError(
            f"{wanted} of a traced array: {self.type} {reason} (it comes from {self.origin()}){shown}",
            where=user_location_text(),
            hint=hint,
        )

    def __bool__(self) -> bool:
        try:
            return bool(self.concrete())
        except UnknownValueError as why:
            line = user_line()
            word = line.split(" ", 1)[0].split("(", 1)[0]
            choice = "use adze.numpy.where for a choice of values, adze.cond for a branch"
            hint = f"{_INSTEAD_OF.get(word, choice)}, or static_argnums"
            raise self.has_no_value("bool()", hint, why, line if word in _INSTEAD_OF else "") from None

    def _scalar(self, wanted: str, hint: str | None = None) -> np.ndarray:
        """The elements, of which Python wants a number."""
        try:
            return self.concrete()
        except UnknownValueError as why:
            raise self.has_no_value(wanted, hint or _instead_of_a_number(), why) from None

    def __int__(self) -> int:
        hint = "pass the value through static_argnums, or keep it an array (.astype)"
        return int(self._scalar("int()", hint))

    def __float__(self) -> float:
        value = float(self._scalar("float()"))
        if not is_call_of(sys._getframe(1), "float"):  # `math.sin(x)` asks for one, and has no derivative
            self._check_not_differentiated("a Python float")
        return value

    def __complex__(self) -> complex:
        value = complex(self._scalar("complex()"))
        if not is_call_of(sys._getframe(1), "complex"):
            self._check_not_differentiated("a Python complex number")
        return value

    def __index__(self) -> int:
        try:
            return self.concrete().__index__()
        except UnknownValueError as why:
            line = user_line()
            if re.search(r"\brange\(", line):
                hint = "use adze.fori_loop for a loop with traced bounds, or pass them through static_argnums"
                raise self.has_no_value("range()", hint, why, line) from None
            hint = "index with the array itself (x[i]), or pass the number through static_argnums"
            raise self.has_no_value("a Python integer", hint, why) from None

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        value = self._scalar("numpy.asarray()", _instead_of_numpy())
        self._check_not_differentiated("numpy.asarray()")
        return np.array(value, dtype=dtype, copy=copy)

    def __format__(self, specification: str) -> str:
        if not specification:
            return repr(self)
        hint = "return the array and format it outside the traced function"
        value = self._scalar(f"formatting with {specification!r}", hint)
        return format(value if value.ndim else value[()], specification)

    def tobytes(self, order: str = "C") -> Any:
        if self.kept is not None:
            return self.kept.numpy().tobytes(order)  # type: ignore[arg-type]
        raise self.has_no_value("tobytes()", "return the array and convert it outside the traced function")

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.kept is not None:
            return self.kept.__reduce_ex__(protocol)
        raise self.has_no_value("pickling", "return the array and pickle it outside the traced function")

    def tolist(self) -> Any:
        """The elements as (nested lists of) Python scalars, outside `jit`."""
        value = self._scalar("tolist()", "return the array and convert it outside the traced function")
        self._check_not_differentiated("tolist()")
        return value.tolist()

    def item(self, *index: Any) -> Any:
        """One element as a Python scalar, outside `jit`."""
        value = self._scalar("item()", "return the array and convert it outside the traced function")
        return value.item(*index)

    def _check_not_differentiated(self, wanted: str) -> None:
        """Raise where a derivative would be lost without a word."""
        if self.kept is None and is_differentiated(self.frame, self.value):
            raise ConcretizationError(
                f"{wanted} of {self.type}, which is differentiated (it comes from {self.origin()}): "
                "its derivative would be lost",
                where=user_location_text(),
                hint="use adze.numpy; where no derivative is wanted, convert adze.stop_gradient(x)",
            )

    def __dlpack__(self, **options: Any) -> Any:
        if self.kept is not None:
            return self.kept.__dlpack__(**options)
        hint = "return the array and export it outside the traced function"
        raise self.has_no_value("__dlpack__()", hint)


def _instead_of_numpy() -> str:
    """What to write where NumPy wants a traced array."""
    called = _CALL_OF_DTYPE.search(user_line())
    if called:
        return f"a dtype makes NumPy's arrays: write x.astype({called[0].rstrip('_(')!r})"
    return "use adze.numpy instead of numpy on traced values, or compute it outside"


def _instead_of_a_number() -> str:
    """What to write where Python wants a traced array as a number."""
    line = user_line()
    if _CALL_OF_MATH.search(line):
        return "write the functions of adze.numpy in place of those of math"
    if _ITEM_ASSIGNMENT.match(line):
        return "NumPy's arrays cannot hold it: let y be one of adze.numpy, and write y = y.at[index].set(x)"
    return "keep it an array (.astype), or pass it through static_argnums"
