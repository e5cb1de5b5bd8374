"""The call of a compiled program with arrays on its device, as code written for its numbers of arrays.

Input: a function of the runtime, the kinds and the tree of its results. Output: a Python function of arrays
whose kinds the program takes; nothing is checked again. Loops over arguments and results, and the calls in
between, would take a quarter of the time of a small call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from ..tracing.array import Array, next_number
from ..tracing.kinds import Kind
from .tree_code import tree_expression

if TYPE_CHECKING:
    from ...runtime.execute.program import Function
    from .. import tree

CallCode = Callable[..., Any]

MOST_ARRAYS: Final = 64
"""Arguments, and results, of which there may be so many: with more, the loops cost little of a call."""


def call_code(
    function: Function,
    kinds: Sequence[Kind],
    result_tree: tree.Structure,
    fail: Callable[[Exception, tuple[Any, ...]], Any],
    *,
    of_views: bool = False,
    shapes: Sequence[tuple[int, ...]] | None = None,
) -> CallCode | None:
    """The code for `function`; None where there is none. `fail` raises the error of a call that failed.

    `of_views`: it takes the runtime's views of the arguments, and before them the arguments, for errors.
    `shapes`: those of its arguments, where the function takes several.
    """
    parts = function.parts(shapes)
    inputs, outputs = len(function.signature.inputs), len(kinds)
    if parts is None or max(inputs, outputs) > MOST_ARRAYS:
        return None
    expression = tree_expression(result_tree, [f"r{position}" for position in range(outputs)])
    if expression is None:
        return None
    text, names = expression
    names |= {
        "Array": Array,
        "new": object.__new__,
        "next_number": next_number,
        "fail": fail,
        "Exception": Exception,
        **parts,
    }
    names |= {f"kind{position}": kind for position, kind in enumerate(kinds)}
    arguments = [f"a{position}" for position in range(inputs)]
    view, leaves = ("", "leaves") if of_views else ("._view", f"({''.join(f'{a}, ' for a in arguments)})")
    lines = [
        f"def run({', '.join(['leaves'] * of_views + arguments)}):",
        f" inputs = new_list({inputs})",
        " push = inputs.push_ref",
        *(f" push({name}{view})" for name in arguments),
        f" results = new_list({outputs})",
        " try:",
        "  invoke(vm_function, inputs, results)",
        " except Exception as error:",
        f"  fail(error, {leaves})",
        " get = results.get_as_object",
        *(line for position, kind in enumerate(kinds) for line in _array(position, kind.is_weak)),
        f" return {text}",
    ]
    exec(_compiled("\n".join(lines)), names)
    code: CallCode = names["run"]
    return code


@functools.lru_cache(maxsize=256)
def _compiled(text: str) -> CodeType:
    return compile(text, "<code of a call>", "exec")


def _array(position: int, is_weak: bool) -> list[str]:
    """Lines that make the array of a result, as `array_of_view` does."""
    name = f"r{position}"
    return [
        f" {name} = new(Array)",
        f" {name}.kind = kind{position}",
        f" {name}._view = get({position}, view_class)",
        f" {name}._buffer = {name}._host = {name}.wide = None",
        f" {name}._number = next_number()",
        f" {name}.weak_type = {is_weak}",
    ]
