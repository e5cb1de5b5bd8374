"""Code objects of AMD's GPUs: ELF files whose notes say what each kernel takes.

Input: the bytes of a code object. Output: its kernels, with what the notes say of them and the bytes of their
code. Idea: ELF's tables are read as far as they are needed, and the notes are MessagePack ("Code Object V3
Metadata" of LLVM's AMDGPU usage guide). Whatever points beyond the bytes is a `ValueError`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final

from ....dialects.dataclass import dataclass

ELF: Final = b"\x7fELF"
_SYMBOLS, _NOTES = (2, 11), 7  # types of sections
_METADATA: Final = 32  # the type of the note that describes kernels


@dataclass(frozen=True, slots=True)
class AmdKernel:
    """A kernel: its name, the GPU that it is for (`gfx942`), its code, and its note.

    The note has `.vgpr_count`, `.vgpr_spill_count`, `.group_segment_fixed_size` and so on.
    """

    name: str
    architecture: str
    code: bytes
    note: dict[str, Any]


def kernels_of(elf: bytes) -> list[AmdKernel]:
    """The kernels of a code object, in the order of its notes. Raises ValueError where it is none."""
    if elf[:4] != ELF:
        raise ValueError(f"{len(elf)} bytes that are to be a code object do not begin as an ELF file")
    sections = list(_sections(elf))
    notes = [_metadata(_part(elf, start, size)) for kind, start, size, _, _ in sections if kind == _NOTES]
    code: dict[str, bytes] = {}
    for kind, start, size, link, _ in sections:
        if kind in _SYMBOLS:
            names = sections[link] if link < len(sections) else (0, 0, 0, 0, 0)
            code |= dict(_functions(elf, _part(elf, start, size), _part(elf, names[1], names[2]), sections))
    found = []
    for note in notes:
        triple = str(note.get("amdhsa.target", ""))  # amdgcn-amd-amdhsa--gfx942, with features behind colons
        architecture = triple.rpartition("-")[2].partition(":")[0]
        for kernel in note.get("amdhsa.kernels", []):
            name = str(kernel[".name"])
            found.append(AmdKernel(name, architecture, code.get(name, b""), kernel))
    return found


def _sections(elf: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Type, place, size, link and address of each section."""
    (table,) = _unpack("<Q", elf, 40)
    width, count = _unpack("<HH", elf, 58)
    for number in range(count):
        at = table + number * width
        kind, _, address, start, size, link = _unpack("<IQQQQI", elf, at + 4)
        yield kind, start, size, link, address


def _functions(
    elf: bytes, symbols: bytes, names: bytes, sections: list[tuple[int, int, int, int, int]]
) -> Iterator[tuple[str, bytes]]:
    """The functions of a table of symbols, with their code."""
    for at in range(0, len(symbols) - 23, 24):
        name, info, _, section, address, size = _unpack("<IBBHQQ", symbols, at)
        if info & 15 == 2 and section < len(sections):
            _, start, _, _, begins = sections[section]
            text = names[name : names.index(b"\0", name)].decode("utf-8", errors="replace")
            yield text, _part(elf, start + address - begins, size)


def _metadata(notes: bytes) -> dict[str, Any]:
    """What the notes of a section say of kernels; nothing where they are about something else."""
    at = 0
    while at + 12 <= len(notes):
        name, length, kind = _unpack("<III", notes, at)
        start = at + 12 + -(-name // 4) * 4
        if kind == _METADATA and notes[at + 12 : at + 18] == b"AMDGPU":
            value, _ = _message(_part(notes, start, length), 0)
            return value if isinstance(value, dict) else {}
        at = start + -(-length // 4) * 4
    return {}


_NUMBERS: Final = {
    0xCA: "f", 0xCB: "d", 0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h", 0xD2: "i",
    0xD3: "q"
}  # fmt: skip
_CONSTANTS: Final = {0xC0: None, 0xC2: False, 0xC3: True}
# By the first byte of those whose length follows: what they are, and how the length is stored.
_LENGTHS: Final = {
    0xC4: ("raw", "B"), 0xC5: ("raw", "H"), 0xC6: ("raw", "I"), 0xD9: ("text", "B"), 0xDA: ("text", "H"),
    0xDB: ("text", "I"), 0xDC: ("list", "H"), 0xDD: ("list", "I"), 0xDE: ("map", "H"), 0xDF: ("map", "I")
}  # fmt: skip


def _message(data: bytes, at: int) -> tuple[Any, int]:
    """The value that MessagePack has at a place, and the place behind it."""
    (first,) = _unpack("B", data, at)
    at += 1
    if first < 0x80 or first >= 0xE0:
        return first - (256 if first >= 0xE0 else 0), at
    if first in _CONSTANTS:
        return _CONSTANTS[first], at
    if first in _NUMBERS:
        return _unpack(">" + _NUMBERS[first], data, at)[0], at + struct.calcsize(_NUMBERS[first])
    if first < 0xC0:
        kind, length = (
            ("text", first & 31) if first >= 0xA0 else ("list" if first >= 0x90 else "map", first & 15)
        )
    elif first in _LENGTHS:
        kind, width = _LENGTHS[first]
        length, at = _unpack(">" + width, data, at)[0], at + struct.calcsize(width)
    else:
        raise ValueError(f"a note has the byte {first:#x}, which MessagePack's values do not begin with")
    if kind in ("text", "raw"):
        content = _part(data, at, length)
        return content.decode("utf-8", errors="replace") if kind == "text" else content, at + length
    values = []
    for _ in range(length * (2 if kind == "map" else 1)):
        value, at = _message(data, at)
        values.append(value)
    return (dict(zip(values[::2], values[1::2], strict=True)) if kind == "map" else values), at


def _unpack(layout: str, data: bytes, at: int) -> tuple[Any, ...]:
    return struct.unpack(layout, _part(data, at, struct.calcsize(layout)))


def _part(data: bytes, start: int, size: int) -> bytes:
    if start < 0 or start + size > len(data):
        raise ValueError(f"a code object of {len(data)} bytes points to {size} at {start}")
    return data[start : start + size]
