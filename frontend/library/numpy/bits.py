"""Bits as bytes: `packbits` and `unpackbits`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects.types import BOOL, INTEGERS
from .arguments import argument_error, dtype_error, normalize_axis, static_size
from .logic import bitwise_and, not_equal, right_shift
from .padding import pad
from .promotion import asarray_of, convert, type_text
from .reductions import sum as sum_of
from .reshaping import moveaxis, ravel, reshape

_BYTE = np.dtype(np.uint8)


def _weights(function: str, bitorder: str) -> np.ndarray:
    if bitorder not in ("big", "little"):
        raise argument_error(f"{function}: bitorder is {bitorder!r}, expected 'big' or 'little'")
    weights = np.uint8(1) << np.arange(8, dtype=np.uint8)
    return weights if bitorder == "little" else weights[::-1]


def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> Any:
    """Each eight elements along `axis` (of the flat array when None) as the bits of a byte, zeros beyond.

    The elements, bools or integers, count as 1 unless they are 0. The first one is the highest bit, with
    `bitorder` little the lowest.
    """
    value = asarray_of(a)
    if value.dtype != BOOL and value.dtype not in INTEGERS:
        raise dtype_error(f"packbits: expected bools or integers, got {type_text(value)}")
    weights = _weights("packbits", bitorder)
    value = ravel(value) if axis is None else value
    place = normalize_axis("packbits", 0 if axis is None else axis, value.ndim)
    rows = moveaxis(convert(not_equal(value, 0), _BYTE), place, -1)
    count = static_size("packbits", rows.shape[-1], f"axis {place}")
    rows = pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, -count % 8)])
    groups = reshape(rows, (*rows.shape[:-1], -(-count // 8), 8))
    return moveaxis(sum_of(groups * weights, axis=-1, dtype=_BYTE), -1, place)


def unpackbits(a: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Any:
    """The bits of bytes (uint8) along `axis` (of the flat array when None) as elements 0 and 1 (uint8).

    Of the bits along an axis the first `count` are kept, all but the last ones where it is negative, and
    zeros follow where it is more than there are.
    """
    value = asarray_of(a)
    if value.dtype != _BYTE:
        raise dtype_error(f"unpackbits: expected uint8, got {type_text(value)}")
    weights = _weights("unpackbits", bitorder)
    value = ravel(value) if axis is None else value
    place = normalize_axis("unpackbits", 0 if axis is None else axis, value.ndim)
    rows = moveaxis(value, place, -1)
    bits = bitwise_and(right_shift(rows[..., None], np.log2(weights).astype(np.uint8)), np.uint8(1))
    total = 8 * static_size("unpackbits", rows.shape[-1], f"axis {place}")
    bits = reshape(bits, (*rows.shape[:-1], total))
    wanted = total if count is None else count if count >= 0 else total + count
    if wanted < 0:
        raise argument_error(f"unpackbits: count is {count}, and there are {total} bits")
    bits = bits[..., :wanted]
    if wanted > total:
        bits = pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, wanted - total)])
    return moveaxis(bits, -1, place)
