"""Ops that a guard can switch off: what a batch does for elements that did not ask for it must not be felt.

A batched `cond` runs every branch for all elements, and a batched `while` goes on until the last is done. The
batch engine has such functions guarded before it maps them: each takes a flag first, and where the flag is
false its checks hold and its loops make no step. What an op means there is its `guarded` rule,
`guarded(b, flag, operands, engine, **attributes)`, which gives its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from ...types import BOOL, TensorType

FLAG: Final = TensorType((), BOOL)


class Guardable:
    """An op that has a `guarded` rule. One that refers to functions needs it only if one of them does."""

    always_guarded: ClassVar[bool] = False

    @classmethod
    def guarded(cls, b: Any, flag: Any, operands: Sequence[Any], engine: Any, **attributes: Any) -> Any:
        """The results where the 0-d i1 `flag` is true; where it is false, any, in peace."""
        raise NotImplementedError


class GuardedCall(Guardable):
    """A call of a function, which takes the flag too."""

    @classmethod
    def guarded(cls, b: Any, flag: Any, operands: Sequence[Any], engine: Any, **attributes: Any) -> Any:
        return b.apply(cls, (flag, *operands), {**attributes, "callee": engine.guarded(attributes["callee"])})


class GuardedBranches(Guardable):
    """A choice between functions, each of which takes the flag too."""

    @classmethod
    def guarded(cls, b: Any, flag: Any, operands: Sequence[Any], engine: Any, **attributes: Any) -> Any:
        branches = tuple(engine.guarded(name) for name in attributes["branches"])
        return b.apply(cls, (operands[0], flag, *operands[1:]), {**attributes, "branches": branches})


class GuardedScan(Guardable):
    """A loop of known length, whose body takes the flag as one more constant."""

    @classmethod
    def guarded(cls, b: Any, flag: Any, operands: Sequence[Any], engine: Any, **attributes: Any) -> Any:
        count = attributes["constant_count"] + 1
        changed = {"body": engine.guarded(attributes["body"]), "constant_count": count}
        return b.apply(cls, (flag, *operands), {**attributes, **changed})


class GuardedWhile(Guardable):
    """A loop that may never end, which makes no step where the flag is false."""

    always_guarded = True

    @classmethod
    def guarded(cls, b: Any, flag: Any, operands: Sequence[Any], engine: Any, **attributes: Any) -> Any:
        m, k = attributes["condition_constants"], attributes["body_constants"]
        c, d, state = operands[:m], operands[m : m + k], operands[m + k :]
        condition = engine.guarded(attributes["condition"])

        def ask(builder: Any, values: Any) -> Any:
            (left,) = engine.called(builder, condition, values)
            return [builder.and_(values[0], left)]

        types = [b.type_of(v) for v in (flag, *c, *state)]
        changed = {
            "condition": engine.function(f"{attributes['condition']}_if", types, ask),
            "body": engine.guarded(attributes["body"]),
            "condition_constants": m + 1,
            "body_constants": k + 1,
        }
        return b.apply(cls, (flag, *c, flag, *d, *state), {**attributes, **changed})
