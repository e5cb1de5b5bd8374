"""Whether all arrays of a loop have one size, which shows at the call.

Input: a loop over arrays of unknown sizes. Output: nothing, or `NotPointwise`.
Idea: the operands and the result of an elementwise op have one size, and so have what a loop is given,
carries and returns. Arrays that are connected in this way are of one size; a function is looked at for each
op that refers to it, since its arguments may have other sizes there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ......dialects import mlir
from ......dialects.builder.core import Application
from ......dialects.builder.emitter import Reader
from ......dialects.ops.control.cond import Cond
from ......dialects.ops.control.scan import Scan
from ......dialects.ops.control.while_loop import While
from .....ir.aliases import Operation, Value
from .....ir.functions import body, split_body
from .errors import NotPointwise

Site = tuple[int, ...]  # the ops that refer to a function, from the outermost on, by their numbers


def require_one_size(loop: Operation, by_symbol: Mapping[str, Operation], reader: Reader) -> None:
    """See the header of this file."""
    sizes = _Sizes(by_symbol, reader)
    application = reader.read(loop)
    assert application is not None
    sizes.refer(loop, application, ())
    arrays = [v for v in (*loop.operands, *loop.results) if _is_array(v) and not v.type.has_static_shape]
    found = {sizes.root(((), v)) for v in arrays}
    if len(found) > 1:
        raise NotPointwise("it is not known whether its arrays have one size")


def _is_array(value: Value) -> bool:
    return isinstance(value.type, mlir.ir.RankedTensorType) and bool(value.type.shape)


class _Sizes:
    """Values of functions at their sites, those together that have one size."""

    def __init__(self, by_symbol: Mapping[str, Operation], reader: Reader) -> None:
        self._by_symbol = by_symbol
        self._reader = reader
        self._same: dict[tuple[Site, Value], tuple[Site, Value]] = {}
        self._count = 0

    def root(self, value: tuple[Site, Value]) -> tuple[Site, Value]:
        """The value that stands for all of the size of a value."""
        while value in self._same:
            value = self._same[value]
        return value

    def _join(self, site: Site, values: Iterable[Value], others: Iterable[Value], other_site: Site) -> None:
        """Each of some values has the size of the one at its place among others."""
        for a, b in zip(values, others, strict=True):
            if _is_array(a) and _is_array(b):
                first, second = self.root((site, a)), self.root((other_site, b))
                if first != second:
                    self._same[second] = first

    def refer(self, operation: Operation, application: Application, site: Site) -> None:
        """A loop or a branch, and the functions that it refers to."""
        operands, results = list(operation.operands), list(operation.results)
        attributes = application.attributes
        if application.op is Cond:
            for symbol in attributes["branches"]:
                # The first operand chooses the branch.
                self._function(symbol, operands[1:], results, site)
        elif application.op is While:
            asked, given = attributes["condition_constants"], attributes["body_constants"]
            state = operands[asked + given :]
            self._function(attributes["condition"], [*operands[:asked], *state], [], site)
            inner = self._function(
                attributes["body"], [*operands[asked : asked + given], *state], results, site
            )
            self._carry(attributes["body"], inner, given, len(state))
        else:
            first, count = attributes["constant_count"], attributes["carry_count"]
            inner = self._function(attributes["body"], operands[: first + count], results[:count], site)
            self._carry(attributes["body"], inner, first, count)

    def _carry(self, symbol: str, site: Site, first: int, count: int) -> None:
        """What a step returns has the size of what it was given."""
        function = self._by_symbol[symbol]
        arguments, returned = list(body(function).arguments), list(split_body(function)[1].operands)
        self._join(site, arguments[first : first + count], returned[:count], site)

    def _function(self, symbol: str, given: Sequence[Value], results: Sequence[Value], site: Site) -> Site:
        """A function with what it is given first, and what becomes of its first results."""
        self._count += 1
        inner = (*site, self._count)
        function = self._by_symbol[symbol]
        operations, end = split_body(function)
        self._join(site, given, list(body(function).arguments)[: len(given)], inner)
        for child in operations:
            operation = child.operation
            application = self._reader.read(operation)
            if application is not None and application.op in (Scan, While, Cond):
                self.refer(operation, application, inner)
            else:
                arrays = [v for v in (*operation.operands, *operation.results) if _is_array(v)]
                self._join(inner, arrays[:-1], arrays[1:], inner)
        self._join(site, results, list(end.operands)[: len(results)], inner)
        return inner
