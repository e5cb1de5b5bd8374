"""How an op finds its lowering inside of a kernel: the table of these lowerings, and `KernelLowering`.

Input: an op of adze with lowered operands. Output: the lowered values of its results. A lowering is a function
as those of `lowering.py` are, registered by `@lowers_in_kernel`. An op that the table lacks keeps its loop on
the host: `can_lower` says so before anything is lowered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from .....dialects.op import Op
from .....runtime.targets import Target
from ...lowering import Lowering, LoweringFunction, Registered, lowering_of
from .builder import KernelBuilder
from .counted import Counted

if TYPE_CHECKING:
    from iree.compiler import ir

TABLE: Final[dict[type[Op], LoweringFunction]] = {}


def lowers_in_kernel(*classes: type[Op]) -> Callable[[Registered], Registered]:
    """Register a function as the lowering of op classes, or of all members of families, in kernels."""

    def register(function: Registered) -> Registered:
        for op in classes:
            if op in TABLE:
                raise TypeError(f"{op.__name__} has a lowering in kernels already: {TABLE[op].__name__}")
            TABLE[op] = function
        return function

    return register


def same_in_kernel(*classes: type[Op]) -> None:
    """State that the host's lowering of op classes serves in kernels as well."""
    for op in classes:
        lowers_in_kernel(op)(lowering_of(op))


def can_lower(op: type[Op]) -> bool:
    """Whether an op has a lowering in kernels."""
    return any(base in TABLE for base in op.__mro__)


class KernelLowering(Lowering):
    """The state of lowering the functions of one loop; `counted` are the whiles that count."""

    def __init__(self, module: ir.Module, target: Target, counted: Mapping[tuple[str, str], Counted]) -> None:
        super().__init__(module, target)
        self.builder = KernelBuilder(module.context, counted)

    def function_of(self, op: type[Op]) -> LoweringFunction:
        for base in op.__mro__:
            if base in TABLE:
                return TABLE[base]
        raise AssertionError(f"adze.{op.name} has no lowering in kernels")
