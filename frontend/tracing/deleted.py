"""`DeletedArray`: what an array is after its memory was given away.

Input: an `Array`. Output: the same object, whose shape and dtype remain and whose elements are an error.
Idea: the object changes its class, so that living arrays pay for no check: every short way asks for the
class `Array` itself, or for `kind`, which raises here.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..errors import DeletedArrayError
from .array import Array
from .locations import user_location_text


class PartialArray(Array):
    """An array of which this process may have a part alone: another array, which has the memory."""

    __slots__ = ("part",)

    part: Array

    def is_deleted(self) -> bool:
        return self.part.is_deleted()

    def forget(self) -> None:
        """Let go of the memory of the part, which is deleted."""
        self.kind = self.call_kind = None
        self._view = self._host = self._buffer = self.wide = None

    def of_part(self, part: Array) -> Array:
        """An array that lies as this one, with another part."""
        raise NotImplementedError


class DeletedArray(Array):
    """An array without elements; in place of a buffer it has its shape, its dtype and the reason."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return self._described[0]

    @property
    def dtype(self) -> np.dtype:
        return self._described[1]

    @property
    def _described(self) -> tuple[tuple[int, ...], np.dtype, str]:
        described: tuple[tuple[int, ...], np.dtype, str] = self._buffer
        return described

    def _refused(self) -> NoReturn:
        shape, dtype, reason = self._described
        raise DeletedArrayError(
            f"this array was deleted: {dtype.name}{list(shape)}, {reason}",
            where=user_location_text(),
            hint="use what the call returned, or do not donate an argument that is used again",
        )

    @property
    def kind(self) -> Any:  # type: ignore[override]
        self._refused()

    @property
    def call_kind(self) -> Any:  # type: ignore[override]
        self._refused()

    @property
    def wide(self) -> Any:  # type: ignore[override]
        self._refused()

    @property
    def device(self) -> str:
        self._refused()

    @property
    def buffer(self) -> Any:
        self._refused()

    def numpy(self) -> np.ndarray:
        self._refused()

    def is_deleted(self) -> bool:
        return True

    def __reduce__(self) -> Any:
        self._refused()

    def __repr__(self) -> str:
        shape, dtype, reason = self._described
        return f"Array(deleted, {dtype.name}{list(shape)}: {reason})"


def delete(array: Array, reason: str) -> None:
    """Let go of the elements of `array`; views of them that somebody has keep their memory alive."""
    if array.is_deleted():
        return
    if isinstance(array, PartialArray):
        array.forget()
        delete(array.part, reason)
        return
    described = (array.shape, array.dtype, reason)
    array.kind = array.call_kind = None
    array._view = array._host = array.wide = None
    array._buffer = described
    array.weak_type = False
    array.__class__ = DeletedArray


def copied(array: Any) -> Any:
    """Another array of the same elements, which are immutable and shared; a tracer is its own copy."""
    if not isinstance(array, Array):
        return array
    if array.is_deleted():
        array.numpy()  # raises, and says why it was deleted
    if isinstance(array, PartialArray):
        return array.of_part(copied(array.part))
    copy = Array.__new__(type(array))
    copy.kind, copy._view, copy._host = array.kind, array._view, array._host
    copy._buffer, copy.weak_type, copy.wide = array._buffer, array.weak_type, array.wide
    copy._number, copy.call_kind = array._number, array.call_kind
    return copy
