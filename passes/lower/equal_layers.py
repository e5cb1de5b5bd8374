"""Equal layers of a lowered function: runs of ops that repeat themselves, each on results of the one before.

Input: the ops of one block, lowered. Output: groups of `Region`s, consecutive ops that are equal but for
their operands. Idea: each op has a number, the same for ops with the same name, types, attributes and body.
Where the sequence of numbers repeats itself with a period, each period is a candidate; candidates that use
values in the same places, and are used alike, are equal. They begin where IREE would fuse nothing over the
border. Only ops without effects, of static shapes, are parts of regions. Constants, empty tensors, fills and
what is computed of these alone are computed again in each region, so that IREE sees them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Final, TypeAlias

import numpy as np

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ..ir.aliases import Operation, Value

FEWEST: Final = 6
"""Fewer equal regions are left as they are."""
LEAST_SAVED: Final = 900
"""As few ops as outlining must save: a program with fewer compiles quickly as it is."""
SHORTEST: Final = 6
_CANDIDATES: Final = 12
"""The most frequent distances between equal ops that are tried as periods."""

_PURE: Final = (
    *("arith.", "math.", "complex.", "linalg.", "tensor."),
    *("iree_tensor_ext.compute_barrier.", "util.optimization_barrier"),
)
_SHARED: Final = frozenset({"arith.constant", "tensor.empty", "linalg.fill"})
"""With elementwise ops of these, what a region computes again rather than taking it as operands."""

Number: TypeAlias = int
_NONE: Final = -1
"""Stands in arrays for the number of an op that is part of no region."""


@dataclass(frozen=True)
class Region:
    """Consecutive ops; what is computed again before them, the operands and the results of the whole."""

    operations: tuple[Operation, ...]
    shared: tuple[Operation, ...]
    operands: tuple[Value, ...]
    results: tuple[Value, ...]


@dataclass
class _Sequence:
    """The ops of a block with their numbers, None for ops that are part of no region."""

    operations: list[Operation]
    numbers: list[Number | None]
    owners: dict[Value, int]
    operands: list[list[Value]]
    users: dict[Value, list[int]]
    products: set[int] = field(default_factory=set)
    movable: set[int] = field(default_factory=set)


def equal_regions(operations: Sequence[Operation], least_saved: int = LEAST_SAVED) -> list[list[Region]]:
    """Disjoint groups of at least `FEWEST` equal regions; none if they save fewer than `least_saved` ops."""
    sequence = _numbered(list(operations))
    groups: list[list[Region]] = []
    for start, period, count in _repeats(sequence.numbers):
        border = _border(sequence, start, period)
        if border is None:
            continue
        first = start + border
        copies = count - (first > start)
        by_signature: defaultdict[tuple[object, ...], list[Region]] = defaultdict(list)
        for copy in range(copies):
            begin = first + copy * period
            signature, region = _region(sequence, begin, begin + period)
            by_signature[signature].append(region)
        groups += [regions for regions in by_signature.values() if len(regions) >= FEWEST]
    saved = sum((len(regions) - 1) * len(regions[0].operations) for regions in groups)
    return groups if saved >= least_saved else []


def may_have_equal_regions(operations: Sequence[Operation]) -> bool:
    """Whether names and types repeat themselves often enough: quickly said, and rarely wrong."""
    if len(operations) < LEAST_SAVED:
        return False
    known: dict[tuple[object, ...], Number] = {}
    keys = [(o.name, *[r.type for r in o.results]) for o in operations]
    repeats = _repeats([known.setdefault(key, len(known)) for key in keys])
    return sum((count - 1) * period for _, period, count in repeats) >= LEAST_SAVED


def _numbered(operations: list[Operation]) -> _Sequence:
    known: dict[tuple[object, ...], Number] = {}
    sequence = _Sequence(operations, [], {}, [], defaultdict(list))
    reductions: dict[mlir.ir.Attribute, bool] = {}

    def reduces(generic: Operation) -> bool:
        axes = generic.attributes["iterator_types"]
        if axes not in reductions:
            reductions[axes] = "reduction" in str(axes)
        return reductions[axes]

    for place, operation in enumerate(operations):
        operands = list(operation.operands)
        results = list(operation.results)
        key = _key(operation, operands, results)
        sequence.numbers.append(None if key is None else known.setdefault(key, len(known)))
        sequence.operands.append(operands)
        for value in (*operands, *_inner_operands(operation, key)):
            sequence.users[value].append(place)
        for value in results:
            sequence.owners[value] = place
        name = operation.name
        is_cheap = name in _SHARED
        if name == "linalg.generic":
            is_cheap = not reduces(operation)
            if not is_cheap and len(operands) > 2:
                sequence.products.add(place)
        elif name.startswith("linalg.") and not is_cheap:
            sequence.products.add(place)
        if key is not None and is_cheap and all(sequence.owners.get(v) in sequence.movable for v in operands):
            sequence.movable.add(place)
    return sequence


def _key(
    operation: Operation, operands: Sequence[Value], results: Sequence[Value]
) -> tuple[object, ...] | None:
    """Equal for ops that are equal but for their operands; None where that is not sure."""
    if not operation.name.startswith(_PURE) or not results:
        return None
    types = [v.type for v in (*operands, *results)]
    if not all(_is_static(t) for t in types):
        return None
    body: tuple[object, ...] = ()
    if operation.name == "linalg.generic" or len(operation.regions):
        written = _body(operation)
        if written is None:
            return None
        body = written
    return (operation.name, _attributes(operation), *types, len(operands), *body)


def _inner_operands(operation: Operation, key: object) -> list[Value]:
    """What the regions of an op use, from outside too; those with a key use nothing from there."""
    if key is not None or not operation.regions:
        return []
    used: list[Value] = []

    def visit(inner: Operation) -> mlir.ir.WalkResult:
        if inner != operation:
            used.extend(inner.operands)
        return mlir.ir.WalkResult.ADVANCE

    operation.walk(visit)
    return used


def _attributes(operation: Operation) -> tuple[object, ...]:
    return tuple(operation.attributes.items())


def _is_static(type_: mlir.ir.Type) -> bool:
    return not isinstance(type_, mlir.ir.RankedTensorType) or type_.has_static_shape


def _body(operation: Operation) -> tuple[object, ...] | None:
    """What the regions of an op compute, None if they use values from outside or have regions themselves."""
    written: list[object] = []
    numbers: dict[Value, int] = {}
    for region in operation.regions:
        for block in region.blocks:
            for argument in block.arguments:
                numbers[argument] = len(numbers)
            for child in block.operations:
                inner = child.operation
                if len(inner.regions):
                    return None
                places = [numbers.get(v) for v in inner.operands]
                if None in places:
                    return None
                results = list(inner.results)
                written += [inner.name, _attributes(inner), tuple(places), tuple([r.type for r in results])]
                for result in results:
                    numbers[result] = len(numbers)
            written.append("end of block")
    return tuple(written)


def _repeats(numbers: Sequence[Number | None]) -> list[tuple[int, int, int]]:
    """Disjoint stretches that repeat themselves: (start, period, count), those that save most first."""
    taken = [False] * len(numbers)
    found: list[tuple[int, int, int]] = []
    array = np.array([_NONE if each is None else each for each in numbers])
    runs = [run for period in _periods(numbers) for run in _runs(array, period)]
    # Of stretches that save the same, the one of the shortest period: it has the most copies.
    for start, period, count in sorted(runs, key=lambda r: (-(r[2] - 1) * r[1], r[1], r[0])):
        if not any(taken[start : start + period * count]):
            taken[start : start + period * count] = [True] * (period * count)
            found.append((start, period, count))
    return sorted(found)


def _periods(numbers: Sequence[Number | None]) -> list[int]:
    """The distances at which ops most often have an equal one."""
    last: dict[Number, int] = {}
    distances: Counter[int] = Counter()
    for place, number in enumerate(numbers):
        if number is None:
            continue
        if number in last:
            distances[place - last[number]] += 1
        last[number] = place
    likely = [d for d, _ in distances.most_common(_CANDIDATES)]
    # A period may have an op several times: then its length is a sum of distances.
    sums = {a + b for a in likely for b in likely}
    return sorted(p for p in {*likely, *sums} if p >= SHORTEST)


def _runs(numbers: np.ndarray, period: int) -> Iterator[tuple[int, int, int]]:
    """The longest stretches in which each op has an equal one `period` ops later, by the numbers of ops."""
    start, end = 0, len(numbers) - period
    differing = np.flatnonzero(
        (numbers[:-period] != numbers[period:]) | (numbers[:-period] == _NONE)
    ).tolist()
    for place in (*differing, end) if end >= 0 else ():
        count = (place + period - start) // period
        if count >= FEWEST:
            yield start, period, count
        start = place + 1


def _border(sequence: _Sequence, start: int, period: int) -> int | None:
    """How many ops after `start` the regions begin so that IREE fuses nothing over the border, if anywhere.

    It fuses a value into its only user, unless that is a product of matrices.
    """
    for shift in range(period):
        end = start + shift + period
        fused = range(end, end + period)
        crossing = (
            sequence.users[value]
            for place in range(start + shift, end)
            if place not in sequence.movable
            for value in sequence.operations[place].results
        )
        if not any(
            len(users) == 1 and users[0] in fused and users[0] not in sequence.products for users in crossing
        ):
            return shift
    return None


def _region(sequence: _Sequence, begin: int, end: int) -> tuple[tuple[object, ...], Region]:
    """The region of the ops from `begin` to `end`, and what equal regions have in common."""
    inside: dict[Value, int] = {}
    operands: dict[Value, int] = {}
    shared: dict[int, int] = {}
    signature: list[object] = []

    def include(place: int) -> int:
        """Compute a shared op again; its number among those."""
        if place not in shared:
            for value in sequence.operands[place]:
                include(sequence.owners[value])
            shared[place] = len(shared)
        return shared[place]

    for place in range(begin, end):
        for value in sequence.operands[place]:
            owner = sequence.owners.get(value)
            if value in inside:
                signature.append(inside[value])
            elif owner is not None and owner in sequence.movable:
                signature.append(("shared", include(owner)))
            else:
                kind = None if owner is None or owner in sequence.products else sequence.numbers[owner]
                signature.append(("operand", operands.setdefault(value, len(operands)), kind))
        for value in sequence.operations[place].results:
            inside[value] = len(inside)
        signature.append(sequence.numbers[place])
    results = [v for v in inside if any(user >= end for user in sequence.users[v])]
    for value in results:
        after = [user for user in sequence.users[value] if user >= end and user not in sequence.products]
        signature.append(("result", inside[value], *sorted(sequence.numbers[user] or -1 for user in after)))
    for place in shared:
        signature.append(
            (sequence.numbers[place], *(shared[sequence.owners[v]] for v in sequence.operands[place]))
        )
    again = tuple(sequence.operations[place] for place in shared)
    region = Region(tuple(sequence.operations[begin:end]), again, tuple(operands), tuple(results))
    return tuple(signature), region
