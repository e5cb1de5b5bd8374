"""Statements of how traced arrays lie on ranks: `with_sharding_constraint`, and the shardings of `jit`.

Input: a tree of shardings that is a prefix of a tree of arrays. Output: the arrays behind an op that states
them, which the pass `partition` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...dialects.dataclass import dataclass
from ...passes.partition.text import spec_text
from .. import tree
from ..errors import ShardingError
from ..tracing.array import Array
from ..tracing.interpreter import as_value, ops
from ..tracing.layouts import lay, stated_by_caller
from ..tracing.locations import user_location_text
from .arrays import ShardedArray, whole_array
from .mesh import Mesh, local_shape
from .named import NamedSharding, is_sharding, named_sharding


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """The arrays of the tree `x`, lying on the ranks of a mesh as `shardings` say; their values are the same.

    `shardings` is a `NamedSharding`, a `PartitionSpec` over the mesh in force, None for no statement, or a
    tree of them that is a prefix of `x`. Propagation divides what is computed from them, and before them, in
    the same way. A concrete array is put there. Raises `ShardingError` for one that does not fit.
    """
    return _applied("with_sharding_constraint", shardings, x)


def _applied(what: str, shardings: Any, values: Any) -> Any:
    leaves, structure = tree.flatten(values)
    stated = leaf_shardings(what, shardings, values)
    return tree.unflatten(structure, [_stated(what, x, s) for x, s in zip(leaves, stated, strict=True)])


def _stated(what: str, x: Any, sharding: NamedSharding | None) -> Any:
    if sharding is None:
        return x
    value = as_value(x)
    local_shape(what, sharding.mesh, sharding.spec, tuple(value.shape))
    if isinstance(value, Array):
        return whole_array(value, sharding)
    if sharding.mesh.size > 1:
        with stated_by_caller():
            value = ops.sharding_constraint(
                value,
                mesh=sharding.mesh.axis_sizes,
                axis_names=",".join(sharding.mesh.axis_names),
                spec=spec_text(sharding.dimensions(value.ndim)),
            )
    lay(value, sharding.layout(value.ndim))
    return value


def lying_as(stated: Any, function: Callable[[], Any]) -> Any:
    """What a function returns, put as `out_sharding` states it; operands may disagree meanwhile."""
    with stated_by_caller():
        result = function()
    return reshard(result, stated)


def reshard(xs: Any, out_shardings: Any) -> Any:
    """The arrays of the tree `xs`, lying as `out_shardings` say, whatever they did before.

    As `with_sharding_constraint`; None leaves an array where it is.
    """
    leaves, structure = tree.flatten(xs)
    stated = leaf_shardings("reshard", out_shardings, xs)
    return tree.unflatten(
        structure, [_stated("reshard", _whole(x, s), s) for x, s in zip(leaves, stated, strict=True)]
    )


def _whole(x: Any, sharding: NamedSharding | None) -> Any:
    """An array of local ranks without what it said of how it lies, which changes."""
    value = as_value(x)
    if sharding is None or type(value) is not ShardedArray or value.sharding.is_remote:
        return x
    return value.part


def leaf_shardings(what: str, shardings: Any, values: Any) -> list[NamedSharding | None]:
    """The sharding of each leaf of `values`, of which `shardings` is a prefix."""
    stated, structure = tree.flatten(shardings, is_sharding)
    try:
        parts = structure.flatten_up_to(values)
    except ValueError:
        raise ShardingError(
            f"{what}: {shardings!r} is no prefix of {tree.describe(tree.structure(values))}",
            where=user_location_text(),
            hint="give a sharding for each array, or one for a whole tree",
        ) from None
    named = [named_sharding(what, each) for each in stated]
    return [each for each, part in zip(named, parts, strict=True) for _ in tree.leaves(part)]


@dataclass(frozen=True)
class Shardings:
    """What `jit` was told: of the positional arguments, and of the result."""

    arguments: Any
    results: Any

    def of_arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[NamedSharding | None]:
        """The sharding of each leaf of the arguments; those by keyword have none."""
        stated = self._of(tuple(args))
        return [
            *leaf_shardings("jit: in_shardings", stated, tuple(args)),
            *(None for _ in tree.leaves(kwargs)),
        ]

    def _of(self, args: tuple[Any, ...]) -> Any:
        return tuple(self.arguments) if isinstance(self.arguments, list) else self.arguments

    def meshes(self) -> set[Mesh]:
        """The meshes of jobs that it names."""
        leaves = tree.leaves((self.arguments, self.results), is_leaf=is_sharding)
        named = [named_sharding("jit", leaf) for leaf in leaves]
        return {each.mesh for each in named if each is not None and each.is_remote}

    def constrained(self, args: Sequence[Any]) -> Sequence[Any]:
        """Traced arguments, each stated to lie as it was said."""
        values = tuple(args)
        applied: tuple[Any, ...] = _applied("jit: in_shardings", self._of(values), values)
        return applied

    def placed(self, result: Any) -> Any:
        """Concrete results where all ranks are local, as they were asked to lie."""
        leaves, structure = tree.flatten(result)
        stated = leaf_shardings("jit: out_shardings", self.results, result)
        placed = [
            x if s is None or s.is_remote else whole_array(x, s) for x, s in zip(leaves, stated, strict=True)
        ]
        return tree.unflatten(structure, placed)

    def constrained_results(self, result: Any) -> Any:
        """Traced results."""
        return _applied("jit: out_shardings", self.results, result)
