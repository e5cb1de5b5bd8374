"""Pictures of how arrays lie on ranks: `debug.visualize_sharding` and its relatives.

Input: a shape and a sharding, or an array. Output: a table with a cell for each part and the ranks that have
it, printed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import ShapeError
from ..tracing.locations import user_location_text
from .named import NamedSharding


def visualize_sharding(shape: Sequence[int], sharding: Any, **_: Any) -> None:
    """Print which ranks have which part of an array of this shape, of one or two dimensions.

    JAX's options about colours and widths change nothing. Raises `ShapeError` for other dimensions.
    """
    if len(shape) not in (1, 2):
        raise ShapeError(
            f"visualize_sharding shows arrays of 1 and 2 dimensions, got the shape {tuple(shape)}",
            where=user_location_text(),
        )
    print(_table(_cells(tuple(shape), sharding)))


def visualize_array_sharding(arr: Any, **options: Any) -> None:
    """Print which ranks have which part of an array, of one or two dimensions; see `visualize_sharding`."""
    visualize_sharding(arr.shape, arr.sharding, **options)


def inspect_array_sharding(value: Any, *, callback: Callable[[Any], None]) -> None:
    """Call `callback` with how an array lies: at once, of a traced one with what is known while tracing."""
    callback(value.sharding)


def _cells(shape: tuple[int, ...], sharding: Any) -> list[list[str]]:
    """The text of each part, row by row."""
    if not isinstance(sharding, NamedSharding) or not sharding.has_ranks:
        return [["CPU 0"]]
    parts: dict[tuple[int, ...], list[int]] = {}
    for rank in range(sharding.mesh.size):
        index = sharding.index(shape, rank)
        start = tuple(s.start for s in index)
        parts.setdefault((0,) * (2 - len(start)) + start, []).append(int(sharding.mesh.device_ids.flat[rank]))
    rows = sorted({row for row, _ in parts})
    columns = sorted({column for _, column in parts})
    return [["CPU " + ",".join(map(str, sorted(parts[row, column]))) for column in columns] for row in rows]


def _table(cells: list[list[str]]) -> str:
    """Cells of one width between lines."""
    width = max(7, *(len(text) for row in cells for text in row))
    line = ["─" * width] * len(cells[0])
    between = f"├{'┼'.join(line)}┤"
    rows = [f"│{'│'.join(text.center(width) for text in row)}│" for row in cells]
    return "\n".join([f"┌{'┬'.join(line)}┐", f"\n{between}\n".join(rows), f"└{'┴'.join(line)}┘"])
