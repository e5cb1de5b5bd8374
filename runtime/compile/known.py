"""What traced programs became: the way to an entry of the compile cache that needs no lowering.

Input: the digest of all that decides how a traced program is lowered and compiled. Output: the key of its
entry in the cache, and what its manifest says of the lowered program. One small file each, beside the
entries, written atomically; a damaged or foreign one counts as absent, and so does one whose entry is gone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Final

from ...dialects.dataclass import dataclass
from ..artifact.files import write_atomically
from ..settings import KNOWN_SUFFIX
from .cache import CacheKey

_HASHED: Final = 64  # a file begins with the SHA-256 of the rest, in hexadecimal digits


@dataclass(frozen=True, slots=True)
class KnownProgram:
    """The key of a compiled program, the hash of its simplified IR, and the work of a call."""

    key: CacheKey
    ir_sha256: str
    work: float | None


class KnownPrograms:
    """The known programs of the compile cache in `folder`, which any number of processes may use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, digest: str) -> KnownProgram | None:
        """What the traced program of this digest became, if that is known."""
        path = self._path(digest)
        try:
            program = _parsed(path.read_bytes(), digest)
        except OSError:
            return None
        if program is not None:
            with contextlib.suppress(OSError):
                os.utime(path)  # the time of last use decides what is evicted
        return program

    def put(self, digest: str, program: KnownProgram) -> None:
        """Know a program from now on; trouble with the disk only means that it is not known."""
        fields = {"key": json.loads(program.key.to_json()), "ir": program.ir_sha256, "work": program.work}
        text = json.dumps({"traced": digest, **fields}, sort_keys=True).encode()
        path = self._path(digest)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, hashlib.sha256(text).hexdigest().encode() + text)

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}{KNOWN_SUFFIX}"


def _parsed(content: bytes, digest: str) -> KnownProgram | None:
    text = content[_HASHED:]
    if hashlib.sha256(text).hexdigest().encode() != content[:_HASHED]:
        return None
    try:
        fields = json.loads(text)
        if fields["traced"] != digest:
            return None
        return KnownProgram(CacheKey.from_json(fields["key"]), fields["ir"], fields["work"])
    except (ValueError, KeyError, TypeError):
        return None
