"""`Entry`: a program that was compiled in this process, ready to be called with leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ...dialects.errors import AdzeError
from .. import tree
from ..tracing.array import Array
from ..tracing.locations import user_location_text
from .call_code import Expression
from .ready_functions import ReadyFunction
from .tree_code import tree_expression, unflatten_code

if TYPE_CHECKING:
    from .compiled import Compiled


class Entry(ReadyFunction):
    """A compiled program, ready to be called; `results` are the tree of those of an earlier call."""

    def __init__(
        self, compiled: Compiled, results: Any = None, shapes: Sequence[tuple[int, ...]] | None = None
    ) -> None:
        self.compiled = compiled
        program, function = compiled.program, compiled.function
        self.result_tree = program.result_tree
        self._is_single = program.result_tree.is_leaf()
        self._unflatten = unflatten_code(self.result_tree) or self.result_tree.unflatten
        count = len(function.signature.outputs)
        weak = program.weak_results if len(program.weak_results) == count else [False] * count
        earlier = None if results is None else tree.leaves(results)
        super().__init__(function, [p.type.dtype for p in program.parameters], weak, earlier, shapes)

    def tree_of(self, arrays: Sequence[Array]) -> Any:
        """The tree that the traced function returned, with these leaves."""
        return arrays[0] if self._is_single else self._unflatten(arrays)

    def expression(self, results: Sequence[str]) -> Expression | None:
        """As `tree_expression` of the tree of the results."""
        return tree_expression(self.result_tree, results)

    def raise_located(self, error: AdzeError, leaves: Sequence[Any]) -> NoReturn:
        """Raise the error of a call with the arguments' names and the line of the call."""
        from .debug import explained

        located = explained(error, self.compiled.program.parameters, leaves)
        located.locate(user_location_text())
        if located is error:
            raise error
        raise located from error
