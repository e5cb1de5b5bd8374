"""A reader of flatbuffers, as far as IREE's executables need one.

Input: bytes. Output: the root table of a buffer, whose fields are read by their number in the schema.
Idea: every place is checked against the length, so that damaged bytes are a `ValueError` and no number.
"""

from __future__ import annotations

import struct

from ....dialects.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A table at a place of a buffer."""

    data: bytes
    place: int

    def u32(self, field: int) -> int:
        """A number, or what a struct begins with; 0 where the field is left out."""
        place = self._place(field)
        return 0 if place is None else _u32(self.data, place)

    def u32s(self, field: int, count: int) -> tuple[int, ...]:
        """The numbers of a struct that consists of `count` of them."""
        place = self._place(field)
        return (0,) * count if place is None else tuple(_u32(self.data, place + 4 * i) for i in range(count))

    def text(self, field: int) -> str:
        """A string, empty where it is left out."""
        return self.raw(field).decode("utf-8", errors="replace")

    def raw(self, field: int, item_bytes: int = 1) -> bytes:
        """The bytes of a string, or of a vector of numbers of `item_bytes` each."""
        place = self._vector(field)
        if place is None:
            return b""
        length = _u32(self.data, place) * item_bytes
        return _checked(self.data, place + 4, length)

    def tables(self, field: int) -> list[Table]:
        """The tables of a vector of tables."""
        place = self._vector(field)
        if place is None:
            return []
        count = _u32(self.data, place)
        _checked(self.data, place + 4, 4 * count)
        places = [place + 4 + 4 * i for i in range(count)]
        return [Table(self.data, at + _u32(self.data, at)) for at in places]

    def _vector(self, field: int) -> int | None:
        place = self._place(field)
        return None if place is None else place + _u32(self.data, place)

    def _place(self, field: int) -> int | None:
        layout = self.place - _i32(self.data, self.place)
        size = _u16(self.data, layout)
        if 4 + 2 * field + 2 > size:
            return None
        offset = _u16(self.data, layout + 4 + 2 * field)
        return self.place + offset if offset else None


def root_of(data: bytes, start: int) -> Table:
    """The root table of the buffer that begins at `start`; raises ValueError where there is none."""
    return Table(data, start + _u32(data, start))


def _u32(data: bytes, place: int) -> int:
    return int(struct.unpack("<I", _checked(data, place, 4))[0])


def _i32(data: bytes, place: int) -> int:
    return int(struct.unpack("<i", _checked(data, place, 4))[0])


def _u16(data: bytes, place: int) -> int:
    return int(struct.unpack("<H", _checked(data, place, 2))[0])


def _checked(data: bytes, place: int, length: int) -> bytes:
    if place < 0 or place + length > len(data):
        raise ValueError(f"a flatbuffer of {len(data)} bytes points to {length} at {place}")
    return data[place : place + length]
