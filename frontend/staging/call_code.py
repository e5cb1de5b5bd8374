"""The call of a compiled program with arrays on its device, as code written for its numbers of arrays.

Input: a function of the runtime, the kinds of its results, an expression of their tree. Output: a Python
function of arrays whose kinds the program takes; nothing is checked again. Loops over arguments and results,
and the calls in between, would take a quarter of the time of a small call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from ..tracing.array import Array, next_number
from ..tracing.kinds import Kind
from .call_arguments import HELD, UNKNOWN, ViewOf

if TYPE_CHECKING:
    from ...runtime.execute.program import Function

CallCode = Callable[..., Any]
Expression = tuple[str, dict[str, Any]]
"""An expression of Python, and the objects that it names."""

MOST_ARRAYS: Final = 500
"""Arguments, and results, of which there may be so many: writing the code takes 60 us for each."""


def call_code(
    function: Function,
    kinds: Sequence[Kind],
    expression: Callable[[Sequence[str]], Expression | None],
    fail: Callable[[Exception, tuple[Any, ...]], Any],
    *,
    views: Sequence[ViewOf] | None = None,
    shapes: Sequence[tuple[int, ...]] | None = None,
) -> CallCode | None:
    """The code for `function`; None where there is none. `fail` raises the error of a call that failed.

    `views`: it takes a sequence of leaves, of which these are the views, and returns `UNKNOWN` where one has
    none. `shapes`: those of its arguments, where the function takes several.
    """
    parts = function.parts(shapes)
    inputs, outputs = len(function.signature.inputs), len(kinds)
    if parts is None or max(inputs, outputs) > MOST_ARRAYS:
        return None
    written = expression([f"r{position}" for position in range(outputs)])
    if written is None:
        return None
    text, names = written
    names |= {
        "Array": Array,
        "new": object.__new__,
        "next_number": next_number,
        "fail": fail,
        "Exception": Exception,
        "UNKNOWN": UNKNOWN,
        **parts,
    }
    names |= {f"kind{position}": kind for position, kind in enumerate(kinds)}
    arguments = [f"a{position}" for position in range(inputs)]
    leaves = f"({''.join(f'{a}, ' for a in arguments)})"
    lines = [f"def run({', '.join(arguments)}):"]
    if views is not None:
        lines = ["def run(leaves):", f" {leaves} = leaves" if arguments else " pass"]
    pushed = [f"{name}._view" for name in arguments]
    for position, view_of in enumerate(views or ()):
        if view_of is not HELD:
            names[f"view_of{position}"], pushed[position] = view_of, f"v{position}"
            lines.append(f" v{position} = view_of{position}(a{position})")
            lines.append(f" if v{position} is None: return UNKNOWN")
    lines += [
        f" inputs = new_list({inputs})",
        " push = inputs.push_ref",
        *(f" push({view})" for view in pushed),
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
        f" {name}.kind = {name}.call_kind = kind{position}",
        f" {name}._view = get({position}, view_class)",
        f" {name}._buffer = {name}._host = {name}.wide = None",
        f" {name}._number = next_number()",
        f" {name}.weak_type = {is_weak}",
    ]
