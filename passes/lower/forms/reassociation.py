"""Which axes of two shapes with the same elements correspond: pure arithmetic on sizes, no IR.

Input: two shapes, whose entries are integers or opaque values. Output: groups of neighbouring axes whose
products are equal, as `collapse_shape` and `expand_shape` want them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypeAlias

from ..builder import Size, Value

Groups = list[tuple[list[int], list[int]]]
Shorter: TypeAlias = Literal["source", "target", "equal", "unknown"]


def matching_groups(source: Sequence[Size], target: Sequence[Size]) -> tuple[Groups, bool]:
    """Groups of axes ``(of source, of target)`` with equal products, and whether equality is certain.

    Where sizes are opaque and no grouping is evident, all axes that remain form one group, which is then
    equal only if the program's sizes make it so. No groups: one of the shapes has no axes.
    """
    if not source or not target:
        ones = all(isinstance(n, int) and n == 1 for n in (*source, *target))
        return [], ones
    groups: Groups = []
    i = j = 0
    while i < len(source) and j < len(target):
        before, after = [i], [j]
        i, j = i + 1, j + 1
        while True:
            side = _shorter([source[a] for a in before], [target[a] for a in after])
            if side == "equal":
                break
            if (side == "source" and i == len(source)) or (side == "target" and j == len(target)):
                side = "unknown"
            if side == "unknown":
                before.extend(range(i, len(source)))
                after.extend(range(j, len(target)))
                certain = _product([source[a] for a in before]) == _product([target[a] for a in after])
                return [*groups, (before, after)], certain
            if side == "source":
                before.append(i)
                i += 1
            else:
                after.append(j)
                j += 1
        groups.append((before, after))
    rest = [*source[i:], *target[j:]]
    groups[-1][0].extend(range(i, len(source)))
    groups[-1][1].extend(range(j, len(target)))
    return groups, all(isinstance(n, int) and n == 1 for n in rest)


def _shorter(source: Sequence[Size], target: Sequence[Size]) -> Shorter:
    """Which product must grow to make both equal: `source`, `target`, `equal`, or `unknown`."""
    left, left_values = _product(source)
    right, right_values = _product(target)
    if left_values == right_values:
        if left == right:
            return "equal"
        return "source" if left < right else "target"
    if left_values <= right_values and right % left == 0:
        return "source"
    if right_values <= left_values and left % right == 0:
        return "target"
    return "unknown"


def _product(sizes: Sequence[Size]) -> tuple[int, Counter[Value]]:
    """The static factor and the multiset of opaque factors of a product."""
    factor = 1
    values: Counter[Value] = Counter()
    for n in sizes:
        if isinstance(n, int):
            factor *= n
        else:
            values[n] += 1
    return factor, values
