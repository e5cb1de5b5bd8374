"""Parts of a file that have long runs of bytes in common: each run is stored once.

Input: two byte strings, of which one is in the file as it is. Output: the other as a patch, and from a patch
the string again, or an `ArtifactError` for what is none. Modules for several targets, and the adze IR, hold
the same weights.

A patch is a line of JSON, `{"length": n, "copies": [[at, source, count], ...]}`, and the bytes that are in no
copy, in order. Idea: 8 bytes out of each 4 KiB of the source are looked for at every place of the target;
where they are, the run is extended as far as both agree.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ..errors import ArtifactError

LEAST: Final = 4096
"""The shortest run that is shared, in bytes."""

_MOST_TIMES: Final = 64
"""A patch stands for at most so many times the bytes that are there."""
_WORD: Final = 8
_CHUNK: Final = 1 << 18
_HASH_BITS: Final = 22


def patch_of(source: bytes, target: bytes) -> bytes | None:
    """`target` as a patch of `source`; None where that is hardly smaller."""
    copies = _copies(source, target)
    if sum(count for _, _, count in copies) < 2 * LEAST:
        return None
    header = json.dumps({"length": len(target), "copies": copies}, separators=(",", ":")).encode()
    literals, end = [], 0
    for at, _, count in copies:
        literals.append(target[end:at])
        end = at + count
    patch = b"".join([header, b"\n", *literals, target[end:]])
    return patch if len(target) <= _MOST_TIMES * (len(source) + len(patch)) else None


def patched(source: bytes, patch: bytes) -> bytes:
    """What a patch of `source` stands for."""
    head, separator, literals = patch.partition(b"\n")
    try:
        data = json.loads(head)
        length, copies = data["length"], [(at, start, count) for at, start, count in data["copies"]]
        numbers = [length, *(n for copy in copies for n in copy)]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _damaged() from None
    if not separator or not all(type(n) is int and 0 <= n < 2**62 for n in numbers):
        raise _damaged()
    if length > _MOST_TIMES * (len(source) + len(patch)) or sum(n for _, _, n in copies) > length:
        raise _damaged()
    pieces, end, used = [], 0, 0
    for at, start, count in copies:
        gap = at - end
        if gap < 0 or used + gap > len(literals) or start + count > len(source):
            raise _damaged()
        pieces += [literals[used : used + gap], source[start : start + count]]
        used, end = used + gap, at + count
    if end + len(literals) - used != length:
        raise _damaged()
    return b"".join([*pieces, literals[used:]])


def _damaged() -> ArtifactError:
    return ArtifactError("the file is damaged: a part of it does not fit the others")


def _copies(source: bytes, target: bytes) -> list[tuple[int, int, int]]:
    """Runs that both have: where in the target, where in the source, and how long; in order, apart."""
    if min(len(source), len(target)) < 2 * LEAST:
        return []
    starts = np.arange(0, len(source) - _WORD, LEAST)
    words = np.frombuffer(source, np.uint8)[starts[:, None] + np.arange(_WORD)].copy().view(np.uint64)[:, 0]
    unique, first, counts = np.unique(words, return_index=True, return_counts=True)
    places = dict(zip(unique[counts == 1].tolist(), starts[first[counts == 1]].tolist(), strict=True))
    table = np.zeros(1 << _HASH_BITS, bool)
    table[_hashes(unique[counts == 1])] = True
    copies: list[tuple[int, int, int]] = []
    end = 0
    while end < len(target):
        runs = (
            _run(source, target, places[word], at, end)
            for at, word in _found(target, end, table)
            if word in places
        )
        run = next((run for run in runs if run is not None), None)
        if run is None:
            end += _CHUNK
            continue
        copies.append(run)
        end = run[0] + run[2]
    return copies


def _hashes(words: Any) -> Any:
    return (words * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - _HASH_BITS)


def _found(target: bytes, start: int, table: Any) -> Iterator[tuple[int, int]]:
    """Places of the chunk from `start` on, in order, where a word of the table may be, and the word."""
    chunk = np.frombuffer(target[start : start + _CHUNK + _WORD - 1], np.uint8)
    if chunk.size < _WORD:
        return
    windows = np.lib.stride_tricks.sliding_window_view(chunk, _WORD)
    words = np.ascontiguousarray(windows).view(np.uint64)[:, 0]
    for at in np.flatnonzero(table[_hashes(words)]).tolist():
        yield start + at, int(words[at])


def _run(source: bytes, target: bytes, start: int, at: int, least: int) -> tuple[int, int, int] | None:
    """The run around a place that both have, from `least` on in the target; None for a short one."""
    after = _agreement(source, target, start, at)
    back = 0
    most = min(start, at - least, LEAST)
    while back < most and source[start - back - 1] == target[at - back - 1]:
        back += 1
    return (at - back, start - back, back + after) if back + after >= LEAST else None


def _agreement(source: bytes, target: bytes, start: int, at: int) -> int:
    """How many bytes are equal from two places on."""
    count = 0
    while True:
        left = source[start + count : start + count + _CHUNK]
        right = target[at + count : at + count + _CHUNK]
        size = min(len(left), len(right))
        if left[:size] == right[:size] and size:
            count += size
            if size == _CHUNK:
                continue
            return count
        different = np.frombuffer(left, np.uint8, size) != np.frombuffer(right, np.uint8, size)
        return count + int(different.argmax()) if size else count
