"""Reductions whose results lie side by side, in tiles: vectors of results stay in registers for all steps.

Input: the bufferized code of a kernel. Output: the same, where generics that sum (or take extrema of) what
does not lie along the last axis of their result are loops over tiles: a few rows of the result by a few
vectors along that axis. Idea: an operand that runs along the result is loaded once for all rows of a tile,
and a result loaded and stored once for all steps. Each result combines its elements in the order of the
generic. LLVM would make sums along the steps, whose elements are apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

from .....dialects import mlir
from .....runtime.targets import Target
from ..builder import Array, Number, Place, carried, loop
from .vector_reductions import Reduced, parts_of, reduction_of
from .walk import operations_named

NARROWEST: Final = 4  # results side by side from which on vectors of them gain
TILE: Final = 8  # registers that are enough for two multiplications a cycle, each of which takes four
SHORT: Final = 4  # operations of an element up to which a tile takes most registers


def keep_in_registers(module: mlir.ir.Module, target: Target) -> None:
    """Rewrite the reductions whose results are vectors."""
    for generic in operations_named(module, "linalg.generic"):
        found = reduction_of(generic)
        if found is not None and _gains(found):
            with mlir.ir.InsertionPoint(generic), generic.location:
                width = max(target.vector_bits // (8 * found.widest(found.results[-1])), 1)
                _emit(found, width, _registers(target))
            generic.erase()


def _registers(target: Target) -> int:
    """How many vectors a processor keeps."""
    return 16 if target.architecture == "x86_64" and target.vector_bits < 512 else 32


def _gains(found: Reduced) -> bool:
    """Whether results lie side by side, enough of them for a vector."""
    if not found.results:
        return False
    columns = found.results[-1]
    return found.is_long(columns, NARROWEST) and found.runs_along(columns)


# -- the tiles ---------------------------------------------------------------------------------------


def _emit(found: Reduced, width: int, registers: int) -> None:
    """The loops over tiles, at the ambient insertion point.

    A row of the right operand of a product is loaded once for all rows of a tile, which has as many as leave
    room for several vectors along the result.
    """
    is_short = len(found.operation.regions[0].blocks[0].operations) <= SHORT
    tile, most = (registers * 3 // 4, registers // 4) if is_short else (TILE, TILE // 2)
    others, columns = list(found.results[:-1]), found.size(found.results[-1])
    vectors = -(-columns // width) if isinstance(columns, int) else tile
    rows = found.size(others[-1]) if others else 1
    of_rows = parts_of(rows, TILE if vectors == 1 else most)
    high = of_rows[0][2]
    fit = max(tile // high, 1)

    def nest(at: Mapping[int, Place], outer: Sequence[int]) -> None:
        if outer:
            with loop(0, found.size(outer[0])) as i:
                nest({**at, outer[0]: i}, outer[1:])
            return
        # The columns are the outer loop: what they take stays in the first cache for all rows.
        for across in _tiles_across(columns, width, fit):
            with across as vectors:
                for first, stop, size in of_rows:
                    with loop(first, stop, size) as i:
                        rows = [{**at, others[-1]: i + row} for row in range(size)] if others else [at]
                        _tile(found, rows, vectors)

    nest({}, others[:-1])


def _tiles_across(
    columns: Place, width: int, fit: int
) -> Iterator[AbstractContextManager[Sequence[tuple[Place, int]]]]:
    """The columns in tiles of up to `fit` vectors, each the places and widths of its vectors: a loop over
    those of one size, and what is left in vectors that are ever narrower, in loops, too, where the number of
    columns is unknown. Rows that fit into one tile are read from end to end."""
    if not isinstance(columns, int):
        first: Place = 0
        for step, part in ((fit * width, width), (width, width), (NARROWEST, NARROWEST), (1, 1)):
            stop = columns - columns % step
            yield _looped(first, stop, step, part)
            first = stop
        return
    parts = _vectors(columns, width)
    if len(parts) <= fit:
        yield nullcontext(parts)
        return
    full = columns // width
    wide = -(-full // -(-full // fit)) if full else 1  # tiles that are as equal as may be
    whole = full - full % wide
    if whole:
        yield _looped(0, whole * width, wide * width, width)
    for start in range(whole, len(parts), fit):
        yield nullcontext(parts[start : start + fit])


def _vectors(columns: int, width: int) -> list[tuple[Place, int]]:
    """The places and widths of vectors, all of them full but for the last ones."""
    parts: list[tuple[Place, int]] = []
    first = 0
    while first < columns:
        part = min(width, 1 << ((columns - first).bit_length() - 1))
        parts.append((first, part))
        first += part
    return parts


@contextmanager
def _looped(first: Place, stop: Place, wide: int, width: int) -> Iterator[Sequence[tuple[Place, int]]]:
    with loop(first, stop, wide) as j:
        yield [(j + part, width) for part in range(0, wide, width)]


def _tile(found: Reduced, down: Sequence[Mapping[int, Place]], across: Sequence[tuple[Place, int]]) -> None:
    """A tile of some rows by vectors: its results, combined with the elements of all steps.

    `across` are the places and widths of the vectors.
    """
    along, outputs = found.results[-1], range(found.inputs, len(found.axes))
    places = [({**row, along: column}, width) for row in down for column, width in across]
    yielded = list(found.operation.regions[0].blocks[0].operations)[-1].operands

    def combined(at: Mapping[int, Place], values: Sequence[Number]) -> list[Number]:
        known: dict[object, Number] = {}
        following: list[Number] = []
        for k, (place, width) in enumerate(places):
            here = {**place, **at}
            numbers = []
            for which in range(found.inputs):  # all results share a vector that is the same for them
                key = (which, width, *(id(here.get(a)) for a in found.axes[which]))
                if key not in known:
                    known[key] = found.taken(which, here, along, width)
                numbers.append(known[key])
            before = values[k * len(outputs) : (k + 1) * len(outputs)]
            after = found.computed([*numbers, *before], here, along, width, yielded)
            following += [old.lift(new) for old, new in zip(before, after, strict=True)]
        return following

    def nest(at: Mapping[int, Place], steps: Sequence[int], values: Sequence[Number]) -> Sequence[Number]:
        if not steps:
            return combined(at, values)
        return carried(
            0,
            found.size(steps[0]),
            values,
            lambda i, *inner: nest({**at, steps[0]: i}, steps[1:], inner),
        )

    initial = [found.taken(which, place, along, width) for place, width in places for which in outputs]
    totals = iter(nest({}, found.steps, initial))
    for place, _ in places:
        for which in outputs:
            array = Array(found.operation.operands[which])
            array[tuple(place[a] for a in found.axes[which])] = next(totals)
