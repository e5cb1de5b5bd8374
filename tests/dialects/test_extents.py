"""Which sizes an op carries over from its operands: named where they are, None where they are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adze.dialects.dialect import BY_NAME
from adze.dialects.extents import Extent, carried_extents
from adze.dialects.types import FLOAT32, INT32, NamedSize, TensorType, merge_shapes, same_dimension

Shapes = list[tuple[Extent, ...]]

N, M = NamedSize("n"), NamedSize("m")

CASES: list[tuple[str, Shapes, dict[str, Any], Shapes]] = [
    ("add", [("n", 3), ("n", 3)], {}, [("n", 3)]),
    ("add", [("n", 3), ("m", 3)], {}, [("n", 3)]),
    ("add", [(None, 3), ("m", 3)], {}, [("m", 3)]),
    ("add", [("n", 3), (4, 3)], {}, [(4, 3)]),
    ("add", [(5, 3), (4, 3)], {}, []),
    ("transpose", [("n", "m", 2)], {"permutation": (2, 0, 1)}, [(2, "n", "m")]),
    ("reduce_sum", [("n", "m")], {"axes": (0,)}, [("m",)]),
    ("concatenate", [("n", "m"), ("n", 2)], {"axis": 1}, [("n", M + 2)]),
    ("concatenate", [("n", "m"), ("n", 0)], {"axis": 1}, [("n", "m")]),
    ("concatenate", [("n", 1), ("n", 2)], {"axis": 1}, [("n", 3)]),
    ("slice", [("n",)], {"start": (0,), "limit": ("m",), "strides": (1,)}, [("m",)]),
    ("slice", [("n",)], {"start": (1,), "limit": ("n",), "strides": (1,)}, [(N - 1,)]),
    ("slice", [("n",)], {"start": (0,), "limit": ("n",), "strides": (2,)}, [((N + 1) // 2,)]),
    ("slice", [("n",)], {"start": (2,), "limit": (5,), "strides": (2,)}, [(2,)]),
    ("pad", [("n", "m"), ()], {"low": (0, 1), "high": (0, 0), "interior": (0, 0)}, [("n", M + 1)]),
    ("reshape", [("n", 4)], {"shape": (2, "n", 2)}, [(2, "n", 2)]),
    ("broadcast_in_dim", [("n",)], {"shape": ("m", "n"), "dimensions": (1,)}, [("m", "n")]),
    ("top_k", [("n", "m")], {"k": 3}, [("n", 3), ("n", 3)]),
]


@pytest.mark.parametrize(("name", "shapes", "attributes", "expected"), CASES)
def test_extents_of_results(
    name: str,
    shapes: list[tuple[Extent, ...]],
    attributes: dict[str, Any],
    expected: list[tuple[Extent, ...]],
) -> None:
    types = [TensorType(tuple(n if isinstance(n, int) else None for n in s), FLOAT32) for s in shapes]
    assert carried_extents(BY_NAME[name], types, shapes, attributes) == expected


def test_a_gather_carries_over_the_sizes_of_its_window_and_of_its_indices() -> None:
    types = [TensorType((None, None), FLOAT32), TensorType((None, 1), INT32)]
    attributes: dict[str, Any] = {
        "slice_sizes": (1, "m"),
        "offset_dims": (1,),
        "collapsed_slice_dims": (0,),
        "start_index_map": (0,),
        "operand_batching_dims": (),
        "start_indices_batching_dims": (),
        "mode": "clip",
        "fill_value": np.zeros((), FLOAT32),
    }
    assert carried_extents(BY_NAME["gather"], types, [("n", "m"), ("k", 1)], attributes) == [("k", "m")]


def test_equal_numbers_are_not_taken_for_one_size() -> None:
    """What stands for two dynamic sizes must differ, however many there are."""
    names = tuple(f"n{k}" for k in range(12))
    types = [TensorType((None,) * 12, FLOAT32)]
    permutation = tuple(reversed(range(12)))
    assert carried_extents(BY_NAME["transpose"], types, [names], {"permutation": permutation}) == [
        names[::-1]
    ]


def test_named_sizes_are_dynamic() -> None:
    n = NamedSize("n")
    assert not TensorType((n, 2), FLOAT32).is_static
    assert TensorType((n, 2), FLOAT32).static_shape == (None, 2)
    assert str(TensorType((n, 2), FLOAT32)) == "f32[n,2]"
    assert same_dimension(n, 2) and same_dimension(n, NamedSize("m")) and not same_dimension(3, 2)
    assert merge_shapes([(None, n), (n, 2)]) == (n, 2)
