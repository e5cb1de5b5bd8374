"""The code of kernels by what it was built of: equal loops of a program are built once.

Input: outlined loops, one after the other. Output: the code of each. Idea: the layers of a net have small
ops and loops in common, which differ in the names of the functions that they call, and to build a kernel is
to run forty of MLIR's passes.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Set
from typing import Final

from .....dialects import mlir
from .....dialects.ops.constants import Constant
from .....runtime.targets import Target
from ....base import names_of
from ....ir.functions import body, functions
from .build import Code, build
from .outline import Outlined

_STRING_OR_NAME: Final = re.compile(r'"(?:[^"\\]|\\.)*"|@(\w+)')
_CONSTANT: Final = names_of(Constant)
_WRITTEN: Final = 16
"""Elements of a constant that a text has: of a million of them it would take a second."""


class KnownCode:
    """The code of the loops of one module."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._built: dict[Hashable, Code] = {}

    def build(self, outlined: Outlined, owned: Set[int]) -> Code:
        """The code of `outlined`, whose operands at `owned` nothing else uses, or an error of `build`."""
        sizes = outlined.sizes
        key = (
            text_without_names(outlined.module),
            constants(outlined.module),
            frozenset(owned),
            tuple(sorted(sizes.operands.items())),
            tuple(sorted(sizes.results.items())),
        )
        if key not in self._built:
            self._built[key] = build(outlined.module, self._target, owned=owned, sizes=sizes)
        return self._built[key]


def text_without_names(module: mlir.ir.Module) -> str:
    """The text of a module without the elements of large constants, in which its functions have numbers for
    names; what strings say stays."""
    numbers = {name: f"@{number}" for number, name in enumerate(functions(module))}
    text = module.operation.get_asm(large_elements_limit=_WRITTEN)
    return _STRING_OR_NAME.sub(lambda found: numbers.get(found[1], found[0]), str(text))


def constants(module: mlir.ir.Module) -> tuple[mlir.ir.Attribute, ...]:
    """The values of a module's constants; a context has each of them once, and compares them at once."""
    operations = [each.operation for f in functions(module).values() for each in body(f).operations]
    return tuple(each.attributes["value"] for each in operations if each.name in _CONSTANT)
