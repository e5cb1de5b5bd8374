"""How the parts of a program file stand in it: one behind the other, then a trailer that says where.

Input: named parts, the IREE module first, and a signature where there is one. Output: bytes, and from bytes
the parts again, or an `ArtifactError` that says what the bytes are instead.

    parts | directory | signature | magic, version, three lengths | SHA-256 of everything before

The directory is a JSON object from the names of the parts to their lengths, in order. The signature is of
`message`, so of parts and directory; it is empty in a file that nobody signed. Version 2, which adze 0.1.0
wrote, has the parts module, ir and manifest, their lengths in place of the three, and neither directory nor
signature.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import struct
from collections.abc import Mapping
from typing import Any, Final

from ...dialects.dataclass import dataclass
from ..errors import ArtifactError

VERSION: Final = 3
_FIRST_VERSION: Final = 2
_MAGIC: Final = b"ADZEVMFB"
_HEAD: Final = struct.Struct("<8sIQQQ")
_CHECKSUM_BYTES: Final = 32
_TRAILER_BYTES: Final = _HEAD.size + _CHECKSUM_BYTES
_FIRST_PARTS: Final = ("module", "ir", "manifest")
_ZIP_MAGIC: Final = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class Parts:
    """A file taken apart. `message` is what its signature, empty in an unsigned file, is of."""

    parts: Mapping[str, bytes]
    signature: bytes
    message: bytes


def joined(parts: Mapping[str, bytes], signature: bytes = b"") -> bytes:
    """The file of these parts."""
    body, directory = b"".join(parts.values()), _directory(parts)
    head = _HEAD.pack(_MAGIC, VERSION, len(body), len(directory), len(signature))
    content = b"".join([body, directory, signature, head])
    return content + hashlib.sha256(content).digest()


def message_of(parts: Mapping[str, bytes]) -> bytes:
    """What a signature of a file with these parts is of: two hashes, so that no byte changes its place."""
    return _message(b"".join(parts.values()), _directory(parts))


def taken_apart(content: bytes) -> Parts:
    """The parts of a file whose checksum is right; an ArtifactError says what the bytes are instead."""
    if not content:
        raise ArtifactError("the file is empty")
    trailer = content[-_TRAILER_BYTES:]
    if len(content) < _TRAILER_BYTES or not trailer.startswith(_MAGIC):
        raise ArtifactError(_what_else(content))
    _, version, *lengths = _HEAD.unpack(trailer[: _HEAD.size])
    if not _FIRST_VERSION <= version <= VERSION:
        raise _other_version(version)
    if hashlib.sha256(memoryview(content)[:-_CHECKSUM_BYTES]).digest() != content[-_CHECKSUM_BYTES:]:
        raise ArtifactError(
            "the file is damaged: its contents do not match its checksum",
            hint="copy or build it again",
        )
    if sum(lengths) + _TRAILER_BYTES != len(content):
        raise ArtifactError("the file is damaged: its parts do not add up to its length")
    if version == _FIRST_VERSION:
        return Parts(_slices(content, dict(zip(_FIRST_PARTS, lengths, strict=True))), b"", b"")
    first, second, third = itertools.accumulate(lengths)
    body, directory = content[:first], content[first:second]
    return Parts(_slices(body, _sizes(directory, first)), content[second:third], _message(body, directory))


def _message(body: bytes, directory: bytes) -> bytes:
    return hashlib.sha256(body).digest() + hashlib.sha256(directory).digest()


def _directory(parts: Mapping[str, bytes]) -> bytes:
    return json.dumps({name: len(part) for name, part in parts.items()}, separators=(",", ":")).encode()


def _sizes(directory: bytes, total: int) -> dict[str, int]:
    """The length of each part, whose sum is `total`."""
    try:
        sizes = json.loads(directory, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError):
        sizes = None
    is_legal = isinstance(sizes, dict) and all(type(n) is int and n >= 0 for n in sizes.values())
    if not is_legal or sum(sizes.values()) != total or next(iter(sizes), None) != "module":
        raise ArtifactError("the file is damaged: its directory does not describe its parts")
    return sizes


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError
    return dict(pairs)


def _slices(content: bytes, sizes: Mapping[str, int]) -> dict[str, bytes]:
    ends = itertools.accumulate(sizes.values())
    return {name: content[end - sizes[name] : end] for name, end in zip(sizes, ends, strict=True)}


def _other_version(version: int) -> ArtifactError:
    if version > VERSION:
        return ArtifactError(
            f"the file has format version {version}, newer than the {VERSION} of this adze",
            hint="install a newer adze, or build the program again with this one",
        )
    return ArtifactError(
        f"the file has format version {version}, older than the {_FIRST_VERSION} that this adze reads",
        hint="build the program again with this version of adze",
    )


def _what_else(content: bytes) -> str:
    if content.startswith(_ZIP_MAGIC) and b"module.fb" in content[:200]:
        if _MAGIC in content:
            return "the file is damaged: its trailer is incomplete"
        return (
            "an IREE module without adze's trailer: either cut short or not built by adze, and so there is "
            "no telling whether it is whole"
        )
    return "not a program built by adze"
