"""Parts that have runs of bytes in common: what a patch stands for, and patches that are none."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adze.runtime.artifact.shared_bytes import LEAST, patch_of, patched
from adze.runtime.errors import ArtifactError

RNG = np.random.default_rng(5)
WEIGHTS = RNG.bytes(40 * LEAST)


@pytest.mark.parametrize("shift", [0, 1, 7, 64])
def test_a_run_is_stored_once(shift: int) -> None:
    source = RNG.bytes(500) + WEIGHTS + RNG.bytes(300)
    target = RNG.bytes(1000 + shift) + WEIGHTS + RNG.bytes(10) + WEIGHTS[: 3 * LEAST]
    patch = patch_of(source, target)
    assert patch is not None and len(patch) < 1000 + shift + 10 + 2 * LEAST
    assert patched(source, patch) == target


def test_pieces_in_another_order_and_runs_of_equal_bytes() -> None:
    half = len(WEIGHTS) // 2
    target = WEIGHTS[half:] + bytes(20 * LEAST) + WEIGHTS[:half]
    source = bytes(20 * LEAST) + WEIGHTS
    patch = patch_of(source, target)
    assert patch is not None and len(patch) < 22 * LEAST
    assert patched(source, patch) == target
    assert patched(source, patch_of(source, source) or b"") == source


def test_what_has_little_in_common_is_no_patch() -> None:
    assert patch_of(WEIGHTS, RNG.bytes(len(WEIGHTS))) is None
    assert patch_of(b"", b"") is None
    assert patch_of(WEIGHTS, WEIGHTS[:LEAST]) is None


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"{",
        b"[]",
        b'{"length":4}',
        b'{"length":4,"copies":[[0,0]]}',
        b'{"length":4,"copies":[[0,0,9]]}',
        b'{"length":4,"copies":[[0,0,4],[2,0,2]]}',
        b'{"length":5,"copies":[[0,0,4]]}',
        b'{"length":4,"copies":[[0,-1,4]]}',
        b'{"length":4,"copies":[[1,0,3]]}',
        b'{"length":4.0,"copies":[[0,0,4]]}',
        b'{"length":true,"copies":[]}',
        json.dumps({"length": 2**70, "copies": [[2**69, 0, 1]]}).encode(),
    ],
)
def test_a_wrong_patch_is_an_error(head: bytes) -> None:
    with pytest.raises(ArtifactError, match="the file is damaged"):
        patched(b"12345678", head + b"\n")
    with pytest.raises(ArtifactError, match="the file is damaged"):
        patched(b"12345678", head)


def test_a_patch_does_not_stand_for_more_than_memory() -> None:
    count = 1 << 12
    copies = [[n << 20, 0, 1 << 20] for n in range(count)]
    head = json.dumps({"length": count << 20, "copies": copies}).encode()
    with pytest.raises(ArtifactError, match="the file is damaged"):
        patched(bytes(1 << 20), head + b"\n")
