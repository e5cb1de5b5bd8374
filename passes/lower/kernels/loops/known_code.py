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
from .....runtime.targets import Target
from ....ir.functions import functions
from .build import Code, build
from .outline import Outlined

_STRING_OR_NAME: Final = re.compile(r'"(?:[^"\\]|\\.)*"|@(\w+)')


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
            frozenset(owned),
            tuple(sorted(sizes.operands.items())),
            tuple(sorted(sizes.results.items())),
        )
        if key not in self._built:
            self._built[key] = build(outlined.module, self._target, owned=owned, sizes=sizes)
        return self._built[key]


def text_without_names(module: mlir.ir.Module) -> str:
    """The text of a module, in which its functions have numbers for names; what strings say stays."""
    numbers = {name: f"@{number}" for number, name in enumerate(functions(module))}
    return _STRING_OR_NAME.sub(lambda found: numbers.get(found[1], found[0]), str(module))
