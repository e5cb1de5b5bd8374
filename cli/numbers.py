"""Numbers as they are written, in the dtype of an input that holds them: from a command line or a file.

Input: nested lists of what JSON parsed, and the input that they are for. Output: an array, or the bad usage
that names the place in the lists, the value, the dtype and the way out. No number is changed but by rounding
a decimal fraction to the nearest float.
"""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .reporting import BadUsage

if TYPE_CHECKING:
    import numpy as np

    from ..runtime.artifact.signature import ArraySpec

_NOT_FINITE = ("nan", "inf", "-inf")  # how `adze run --json` writes them


def parsed_json(text: str) -> Any:
    """What JSON says, with each number as it was written; raises ValueError or RecursionError."""
    return json.loads(text, parse_float=Decimal, parse_constant=Decimal)


def array_of(parsed: Any, spec: ArraySpec, source: str = "") -> np.ndarray:
    """The array of `parsed` for the input `spec`; `source` is the file that the numbers stand in."""
    return _Numbers(spec, source).array(parsed)


class Decimal(float):
    """A number written with a point, an exponent or as a word, which remembers its text."""

    text: str

    def __new__(cls, text: str) -> Decimal:
        number = super().__new__(cls, text)
        number.text = text
        return number


class _Numbers:
    """Nested lists of numbers as an array of `spec`; every error names the place in the lists."""

    def __init__(self, spec: ArraySpec, source: str = "") -> None:
        import numpy as np

        self.spec = spec
        self.where = f"{source} for {spec}" if source else f"{spec}"
        self.kind = "f" if spec.dtype.name == "bfloat16" else spec.dtype.kind
        self.part = np.empty(0, spec.dtype).real.dtype if self.kind == "c" else spec.dtype

    def array(self, parsed: Any) -> np.ndarray:

        if self.kind == "c":
            return self._complex(parsed)
        shape = self._shape(parsed)
        return self._flat(parsed, shape).reshape(self._completed(shape))

    def _flat(self, parsed: Any, shape: tuple[int, ...]) -> np.ndarray:
        """All numbers in a row. Those of many floats that are surely right are converted together."""
        import numpy as np

        values = _in_a_row(parsed, len(shape))

        def number(index: int) -> Any:
            try:
                return self._number(values[index], ())
            except BadUsage:  # its place is worth computing
                place = tuple(int(n) for n in np.unravel_index(index, shape)) if shape else ()
                return self._number(values[index], place)

        kinds = set(map(type, values))
        if self.kind not in "fc" or not kinds <= {int, float, Decimal}:
            return np.array([number(index) for index in range(len(values))], dtype=self.part)
        wide = np.array([*map(_as_float, values)] if int in kinds else values, dtype=np.float64)
        with np.errstate(over="ignore", under="ignore"):
            flat = wide.astype(self.part)
        is_right = self._is_surely_right(wide, flat)
        if int in kinds:
            is_right &= (flat.astype(np.float64) == wide) & (np.abs(wide) < 2**53)
        for index in np.flatnonzero(~is_right):
            if wide[index] != 0 or _is_nonzero(values[index]):
                flat[index] = number(int(index))
        return flat

    def _is_surely_right(self, wide: np.ndarray, flat: np.ndarray) -> np.ndarray:
        """Where a float64 is as near to `flat` as the number that it was rounded from."""
        import numpy as np

        back = flat.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            beside = np.nextafter(flat, np.copysign(np.inf, wide - back).astype(self.part))
            is_tie = 2 * (wide - back) == beside.astype(np.float64) - back
        return np.isfinite(back) & (back != 0) & ((wide == back) | ~is_tie)

    def _complex(self, parsed: Any) -> np.ndarray:
        """Complex numbers are pairs [real, imaginary], as `adze run --json` writes them."""
        shape = self._shape(parsed)
        if 0 not in shape and (len(shape) != len(self.spec.shape) + 1 or shape[-1] != 2):
            place, value = next(iter(_leaves(parsed)))
            raise self.problem(
                place[: len(self.spec.shape)],
                f"{_text(value)} is no complex number",
                "write each as a pair [real, imaginary], such as [1.5, -2]",
            )
        parts = self._flat(parsed, shape).reshape(-1, 2)
        return parts.view(self.spec.dtype).reshape(self._completed(shape[: len(self.spec.shape)]))

    def _shape(self, parsed: Any) -> tuple[int, ...]:
        """The shape of the nested lists, which must be a full box."""
        shape: list[int] = []
        inner = parsed
        while isinstance(inner, list):
            shape.append(len(inner))
            if not inner:
                break
            inner = inner[0]
        self._check_box(parsed, tuple(shape), ())
        return tuple(shape)

    def _check_box(self, value: Any, shape: tuple[int, ...], place: tuple[int, ...]) -> None:
        if not shape:
            if isinstance(value, list):
                raise self.problem(place, "is a list where others are numbers", "write lists of one shape")
            return
        if not isinstance(value, list):
            raise self.problem(
                place, f"{_text(value)} stands where others are lists", "write lists of one shape"
            )
        if len(value) != shape[0]:
            raise self.problem(
                place, f"has {len(value)} entries where others have {shape[0]}", "write lists of one shape"
            )
        if len(shape) == 1 and not any(type(entry) is list for entry in value):
            return
        for index, entry in enumerate(value):
            self._check_box(entry, shape[1:], (*place, index))

    def _completed(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """`[]` says nothing of the axes behind its own: they are the input's, where those are known."""
        behind = self.spec.shape[len(shape) :]
        if 0 not in shape or not all(isinstance(n, int) for n in behind):
            return shape
        return (*shape, *(n for n in behind if isinstance(n, int)))

    def _number(self, value: Any, place: tuple[int, ...]) -> Any:
        """One number in the dtype of the input, or the error for one that it does not hold."""
        if self.kind == "b":
            if not isinstance(value, bool):
                raise self.problem(place, f"{_text(value)} is no bool", "write true or false")
            return value
        if isinstance(value, str) and value in _NOT_FINITE and self.kind not in "iu":
            return float(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.problem(place, f"{_text(value)} is no number", "write numbers such as 3 or 3.5")
        return self._integer(value, place) if self.kind in "iu" else self._float(value, place)

    def _integer(self, value: int | float, place: tuple[int, ...]) -> int:
        import numpy as np

        if isinstance(value, float):
            hint = "write an integer, or build the program for a float input"
            raise self.problem(place, f"{_text(value)} is no integer", hint)
        info = np.iinfo(self.part)
        if not info.min <= value <= info.max:
            raise self.problem(
                place,
                f"{_text(value)} is out of range for {self.part.name} ({info.min} to {info.max})",
                "give a value in that range, or build the program for a wider dtype",
            )
        return value

    def _float(self, value: int | float, place: tuple[int, ...]) -> Any:
        import numpy as np

        wide = _as_float(value)
        with np.errstate(over="ignore", under="ignore"):
            number = self._nearest(value, np.array(wide).astype(self.part))
        rounded = float(number)
        named = isinstance(value, Decimal) and value.text.strip("-") in ("NaN", "Infinity")
        wider = "give a value in its range, or build the program for a wider dtype"
        if math.isinf(rounded) and not named:
            raise self.problem(place, f"{_text(value)} is out of range for {self.part.name}", wider)
        if rounded == 0 and _is_nonzero(value):
            raise self.problem(place, f"{_text(value)} is too near 0 for {self.part.name}", wider)
        if isinstance(value, int) and int(rounded) != value:
            raise self.problem(
                place,
                f"{_text(value)} is no {self.part.name}: the nearest is {int(rounded)}",
                f"write {value}.0 to have it rounded",
            )
        return number

    def _nearest(self, value: int | float, number: Any) -> Any:
        """The float nearest to a number as it was written, from one that was rounded twice.

        A decimal beside the middle of two floats may become that middle as a float64, and then either.
        """
        import numpy as np

        if not isinstance(value, Decimal) or self.part.itemsize == 8 or not math.isfinite(float(number)):
            return number
        exact, here = Fraction(value.text), Fraction(float(number))
        if exact == here:
            return number
        beside = np.nextafter(number, np.array(math.copysign(math.inf, exact - here)).astype(self.part))
        if not math.isfinite(float(beside)):
            return number
        return beside if abs(exact - Fraction(float(beside))) < abs(exact - here) else number

    def problem(self, place: tuple[int, ...], what: str, hint: str) -> BadUsage:
        """The bad usage of `--in` at `place`: input, position, what is wrong there, dtype, way out."""
        position = "".join(f"[{index}]" for index in place)
        return BadUsage(f"--in: {self.where}: {position + ' ' if position else ''}{what}", hint=hint)


def _as_float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _in_a_row(parsed: Any, depth: int) -> list[Any]:
    """The numbers in lists that are nested `depth` deep."""
    level = [parsed]
    for _ in range(depth):
        level = [entry for entries in level for entry in entries]
    return level


def _leaves(parsed: Any, place: tuple[int, ...] = ()) -> Any:
    """The numbers in nested lists, each with its position."""
    if not isinstance(parsed, list):
        yield place, parsed
        return
    for index, entry in enumerate(parsed):
        yield from _leaves(entry, (*place, index))


def _is_nonzero(value: int | float) -> bool:
    """Whether the number as written is not 0: Python itself reads 1e-400 as 0."""
    if not isinstance(value, Decimal):
        return value != 0
    return any(digit in "123456789" for digit in re.split("[eE]", value.text)[0])


def _text(value: Any) -> str:
    """A parsed value as it was written."""
    return shortened(value.text if isinstance(value, Decimal) else json.dumps(value), quoted=False)


def shortened(text: str, *, quoted: bool = True) -> str:
    """`text` for a message: in one line, and cut where it is long."""
    cut = text if len(text) <= 60 else f"{text[:57]}..."
    return repr(cut) if quoted else cut
