"""`Error`: whether a check failed and which, as a value; and the kinds of checks.

Input: what a checked program found. Output: the text of the first failure, or an exception. Idea: an error is
four arrays (failed, which check, the numbers of its text as floats and as integers) and a static list of all
checks, so that it goes through loops and compiled functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import INEXACT
from ... import tree
from ...errors import ArgumentError
from ...tracing.locations import user_location_text
from .. import numpy as xp
from ..numpy.arguments import concrete

NUMBERS: Final = 8
"""How many numbers the text of a check can show."""


class JaxRuntimeError(ArgumentError):
    """A check failed."""


class FailedCheckError:
    """The kind of checks that a program writes: `check`."""


class NaNError:
    """The kind of checks that no op makes a NaN."""


class OOBError:
    """The kind of checks that indices lie inside."""


class DivisionByZeroError:
    """The kind of checks that nothing is divided by zero."""


Kind = type
ErrorCategory = Kind  # JAX's name
user_checks: Final[frozenset[Kind]] = frozenset({FailedCheckError})
nan_checks: Final[frozenset[Kind]] = frozenset({NaNError})
index_checks: Final[frozenset[Kind]] = frozenset({OOBError})
div_checks: Final[frozenset[Kind]] = frozenset({DivisionByZeroError})
float_checks: Final[frozenset[Kind]] = nan_checks | div_checks
automatic_checks: Final[frozenset[Kind]] = float_checks | index_checks
all_checks: Final[frozenset[Kind]] = automatic_checks | user_checks


@dataclass(frozen=True)
class Shown:
    """One value in the text of a check: its place among the numbers, its shape and dtype."""

    start: int
    shape: tuple[int, ...]
    dtype: str

    def of(self, floats: np.ndarray, integers: np.ndarray) -> Any:
        dtype = np.dtype(self.dtype)
        source = floats if dtype.kind == "f" else integers
        count = int(np.prod(self.shape, dtype=np.int64))
        value = source[self.start : self.start + count].astype(dtype).reshape(self.shape)
        return value if self.shape else value[()]


def shown_as(dtype: np.dtype) -> str:
    """The dtype in which a text shows a number: its own, where NumPy writes that as Python does."""
    if dtype in INEXACT:
        return "f4" if dtype == np.float32 else "f8"
    return {"b": "?", "u": "u8"}.get(dtype.kind, "i8")


@dataclass(frozen=True)
class Text:
    """The text of a check, with the values that `{}` and `{name}` in it stand for."""

    template: str
    positional: tuple[Shown, ...] = ()
    named: tuple[tuple[str, Shown], ...] = ()

    def written(self, floats: np.ndarray, integers: np.ndarray) -> str:
        values = [s.of(floats, integers) for s in self.positional]
        names = {name: s.of(floats, integers) for name, s in self.named}
        return self.template.format(*values, **names)


class Error:
    """What a checked function found: `get()` is the text of its first failure, `throw()` raises it."""

    def __init__(self, values: Sequence[Any], texts: tuple[Text, ...] = ()) -> None:
        self.values = tuple(values)
        self.texts = texts

    def get(self) -> str | None:
        """The text of the first failure (of each element of a batch), None where all checks held."""
        failed, codes, floats, integers = (concrete("Error.get", v, "an error") for v in self.values)
        if not failed.ndim:
            return self.texts[int(codes)].written(floats, integers) if failed else None
        lines = [
            f"at mapped index {', '.join(map(str, place))}: "
            f"{self.texts[int(codes[tuple(place)])].written(floats[tuple(place)], integers[tuple(place)])}"
            for place in np.argwhere(failed)
        ]
        return "\n".join(lines) or None

    def throw(self) -> None:
        """Raise `JaxRuntimeError` where a check failed."""
        text = self.get()
        if text is not None:
            raise JaxRuntimeError(text, where=user_location_text())

    def __str__(self) -> str:
        return f"Error({self.get()})"

    __repr__ = object.__repr__


def _flat(error: Error) -> tuple[tuple[Any, ...], tuple[Text, ...]]:
    return error.values, error.texts


def _restored(texts: tuple[Text, ...], values: Iterable[Any]) -> Error:
    return Error(tuple(values), texts)


tree.register(Error, _flat, _restored)


def no_failure() -> tuple[Any, ...]:
    """The arrays of an error in which nothing failed."""
    return (
        xp.zeros((), bool),
        xp.zeros((), np.int32),
        xp.zeros((NUMBERS,), np.float64),
        xp.zeros((NUMBERS,), np.int64),
    )


def init_error() -> Error:
    """An error in which nothing failed."""
    return Error(no_failure())
