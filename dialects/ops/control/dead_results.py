"""Control ops that can do with less: of what a loop or branch gives, often only a part is read.

`reads(engine, wanted, attributes)` says of an op whose results are `wanted` which of its operands are
needed, and which results it must give all the same (what a loop carries may feed what is wanted).
`narrowed(engine, operands, results, attributes)` gives the attributes of the op that has those only; the
engine makes the functions. An op of these without such rules keeps all that it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Flags = tuple[bool, ...]
Attributes = Mapping[str, Any]


class Narrowable:
    """An op that has the rules `reads` and `narrowed`."""

    @classmethod
    def reads(cls, engine: Any, wanted: Flags, attributes: Attributes) -> tuple[Flags, Flags]:
        """The operands that are needed, and the results that must be given."""
        raise NotImplementedError

    @classmethod
    def narrowed(cls, engine: Any, operands: Flags, results: Flags, attributes: Attributes) -> dict[str, Any]:
        """The attributes of the op with these operands and results only."""
        raise NotImplementedError


class NarrowedBranches(Narrowable):
    """A choice between functions: an operand is needed where one of them reads it."""

    @classmethod
    def reads(cls, engine: Any, wanted: Flags, attributes: Attributes) -> tuple[Flags, Flags]:
        flags = [engine.reads(branch, wanted) for branch in attributes["branches"]]
        return (True, *(any(of_one) for of_one in zip(*flags, strict=True))), wanted

    @classmethod
    def narrowed(cls, engine: Any, operands: Flags, results: Flags, attributes: Attributes) -> dict[str, Any]:
        branches = tuple(engine.narrowed(name, operands[1:], results) for name in attributes["branches"])
        return {"branches": branches, "results": _pick(attributes["results"], results)}


class NarrowedScan(Narrowable):
    """A loop of known length: an entry of the carry is needed where what is wanted follows from it."""

    @classmethod
    def reads(cls, engine: Any, wanted: Flags, attributes: Attributes) -> tuple[Flags, Flags]:
        k, n = attributes["constant_count"], attributes["carry_count"]
        while True:
            read = engine.reads(attributes["body"], wanted)
            grown = (*(w or r for w, r in zip(wanted[:n], read[k : k + n], strict=True)), *wanted[n:])
            if grown == wanted:
                return (*read[:k], *wanted[:n], *read[k + n :]), wanted
            wanted = grown

    @classmethod
    def narrowed(cls, engine: Any, operands: Flags, results: Flags, attributes: Attributes) -> dict[str, Any]:
        k, n = attributes["constant_count"], attributes["carry_count"]
        return {
            **attributes,
            "body": engine.narrowed(attributes["body"], operands, results),
            "constant_count": sum(operands[:k]),
            "carry_count": sum(results[:n]),
            "results": _pick(attributes["results"], results),
        }


class NarrowedWhile(Narrowable):
    """A loop until a condition fails: needed is what the condition or what is wanted follows from."""

    @classmethod
    def reads(cls, engine: Any, wanted: Flags, attributes: Attributes) -> tuple[Flags, Flags]:
        m, k = attributes["condition_constants"], attributes["body_constants"]
        asked = engine.reads(attributes["condition"], (True,))
        wanted = _either(wanted, asked[m:])
        while True:
            read = engine.reads(attributes["body"], wanted)
            grown = _either(wanted, read[k:])
            if grown == wanted:
                return (*asked[:m], *read[:k], *wanted), wanted
            wanted = grown

    @classmethod
    def narrowed(cls, engine: Any, operands: Flags, results: Flags, attributes: Attributes) -> dict[str, Any]:
        m, k = attributes["condition_constants"], attributes["body_constants"]
        asked, read = operands[:m], operands[m : m + k]
        return {
            **attributes,
            "condition": engine.narrowed(attributes["condition"], (*asked, *results), (True,)),
            "body": engine.narrowed(attributes["body"], (*read, *results), results),
            "condition_constants": sum(asked),
            "body_constants": sum(read),
        }


def _either(left: Flags, right: Sequence[bool]) -> Flags:
    return tuple(a or b for a, b in zip(left, right, strict=True))


def _pick(values: Sequence[Any], flags: Flags) -> tuple[Any, ...]:
    return tuple(v for v, flag in zip(values, flags, strict=True) if flag)
