"""The parts of a file: joined and taken apart, with every wrong trailer an error under a right checksum."""

from __future__ import annotations

import hashlib
import struct

import pytest

from adze.runtime.artifact.trailer import joined, message_of, taken_apart
from adze.runtime.errors import ArtifactError

PARTS = {"module": b"native code", "ir": b"", "manifest": b"{}", "weights": bytes(range(256))}
HEAD = struct.Struct("<8sIQQQ")


def sealed(
    body: bytes, directory: bytes, signature: bytes = b"", *, version: int = 3, lengths: tuple[int, ...] = ()
) -> bytes:
    """A file under a right checksum, whatever it says."""
    stated = lengths or (len(body), len(directory), len(signature))
    content = body + directory + signature + HEAD.pack(b"ADZEVMFB", version, *stated)
    return content + hashlib.sha256(content).digest()


def test_parts_come_back() -> None:
    for parts in (PARTS, {"module": b""}):
        for signature in (b"", b"signed"):
            found = taken_apart(joined(parts, signature))
            assert (dict(found.parts), found.signature) == (parts, signature)
            assert list(found.parts) == list(parts)
            assert found.message == message_of(parts)


def test_the_message_knows_where_each_byte_stands() -> None:
    moved = {"module": b"native code", "ir": b"{}", "manifest": b""}
    assert len({message_of(parts) for parts in ({**moved, "ir": b"", "manifest": b"{}"}, moved)}) == 2


def test_a_file_of_version_2_is_read() -> None:
    found = taken_apart(sealed(b"module", b"ir", b"manifest", version=2))
    assert dict(found.parts) == {"module": b"module", "ir": b"ir", "manifest": b"manifest"}
    assert found.signature == b""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (sealed(b"m", b'{"module":1}', version=4), "version 4, newer than the 3 of this adze"),
        (sealed(b"m", b'{"module":1}', version=1), "version 1, older than the 2 that this adze reads"),
        (sealed(b"m", b'{"module":1}', lengths=(2, 12, 0)), "do not add up to its length"),
        (sealed(b"m", b'{"module":1}', lengths=(2**64 - 1, 12, 0)), "do not add up to its length"),
        *(
            (sealed(b"m", directory), "its directory does not describe its parts")
            for directory in (
                b"",
                b"{",
                b"[1]",
                b"\xff",
                b'{"module":2}',
                b'{"ir":1}',
                b'{"ir":0,"module":1}',
                b'{"module":true}',
                b'{"module":1.0}',
                b'{"module":2,"ir":-1}',
                b'{"module":0,"module":1}',
                b"[" * 100_000,
            )
        ),
    ],
)
def test_wrong_trailers_are_errors(content: bytes, message: str) -> None:
    with pytest.raises(ArtifactError, match=message):
        taken_apart(content)
