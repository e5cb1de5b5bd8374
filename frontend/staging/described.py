"""What a program on its way says of itself, under the names of `jax.stages`.

Input: a traced program, which every stage has. Output: trees and types of its arguments and results, and
what a call costs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import tree
from ..tracing.specs import ShapeDtype
from ..tracing.trace import TracedProgram


class Shown:
    """How stages show structures: as adze's, or as `structure` of a tree of types has them."""

    structure: Callable[[Any], Any] | None = None


class Described:
    """A stage of a program: `Traced`, `Lowered` or `Compiled`."""

    program: TracedProgram

    @property
    def fun_name(self) -> str:
        """The name of the function."""
        return self.program.symbol

    @property
    def in_tree(self) -> Any:
        """The structure of `(args, kwargs)`, static arguments left out."""
        return self.program.argument_tree if Shown.structure is None else Shown.structure(self.in_avals)

    @property
    def out_tree(self) -> Any:
        """The structure of the result."""
        return self.program.result_tree if Shown.structure is None else Shown.structure(self.out_avals)

    @property
    def in_avals(self) -> Any:
        """The types of the arguments, a tree `(args, kwargs)`."""
        types = [ShapeDtype(p.type.static_shape, p.type.dtype) for p in self.program.parameters]
        return tree.unflatten(self.program.argument_tree, types)

    @property
    def args_info(self) -> Any:
        """The types of the arguments, a tree `(args, kwargs)`."""
        return self.in_avals

    @property
    def out_avals(self) -> Any:
        """The types of the results, in the tree of the result."""
        types = [ShapeDtype(t.static_shape, t.dtype) for t in self.program.result_types]
        return tree.unflatten(self.program.result_tree, types)

    @property
    def out_info(self) -> Any:
        """The types of the results, in the tree of the result."""
        return self.out_avals

    def cost_analysis(self) -> dict[str, float]:
        """What a call costs by JAX's keys: `flops`, and `bytes accessed` by all ops as traced."""
        from ...passes.analysis.cost import cost

        found = cost(self.program.module)
        return {"flops": float(found.flops), "bytes accessed": float(found.bytes_moved)}
