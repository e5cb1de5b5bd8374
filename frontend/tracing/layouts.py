"""How values lie on a mesh whose axes are `Explicit`: part of their types, as in JAX, and changes no value.

Input: each op as it is applied to values of which some were put on such a mesh. Output: how its results lie,
or an error where ops disagree. Idea: the rules by which programs are divided (`factors`, in the class of each
op) say this too. A value of which nothing is stated lies nowhere: no axis divides it. Where it is not known
(results of derivatives, batches and loops that no rule covers), nothing is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...dialects.factors import Factors
from ...dialects.op import Op
from ...dialects.types import TensorType
from ..errors import ShardingError
from .locations import user_location_text
from .varying import mesh_axes

if TYPE_CHECKING:
    from .frames import Frame
    from .program import Program


class Layout(NamedTuple):
    """For each dimension the axes of `mesh` that divide it; those whose ranks have summands (`unreduced`),
    and those along which a cotangent may stay summands (`reduced`)."""

    mesh: Any
    dimensions: tuple[tuple[str, ...], ...]
    unreduced: frozenset[str] = frozenset()
    reduced: frozenset[str] = frozenset()

    def __str__(self) -> str:
        entries = [None if not names else names[0] if len(names) == 1 else names for names in self.dimensions]
        sums = [f"{name}={set(axes)}" for name, axes in self._sums() if axes]
        return f"P({', '.join([*map(repr, entries), *sums])}{',' if len(entries) + len(sums) == 1 else ''})"

    def _sums(self) -> tuple[tuple[str, frozenset[str]], ...]:
        return ("unreduced", self.unreduced), ("reduced", self.reduced)

    @property
    def of_cotangent(self) -> Layout:
        """How a cotangent lies: as its primal, summands where that is the same in all ranks by promise."""
        return Layout(self.mesh, self.dimensions, unreduced=self.reduced, reduced=self.unreduced)


UNKNOWN: Final = Layout(None, ())
"""Of a value on the mesh of which nothing more is known."""

_is_stated: Final[ContextVar[bool]] = ContextVar("layout stated by the caller", default=False)


@contextmanager
def stated_by_caller() -> Iterator[None]:
    """Let ops whose operands disagree pass: how the result lies is stated afterwards (`out_sharding=`)."""
    token = _is_stated.set(True)
    try:
        yield
    finally:
        _is_stated.reset(token)


def layout_of(value: Any) -> Layout | None:
    """How a value lies, None where no axis divides it, and inside of `shard_map`."""
    if mesh_axes():
        return None
    frame = getattr(value, "frame", None)
    found: Layout | None = getattr(value, "layout", None) if frame is None else frame.layouts.get(value.value)
    return found


def lay(value: Any, layout: Layout | None) -> None:
    """Remember how a traced value lies."""
    layouts = value.frame.layouts
    if layout is None or mesh_axes():
        layouts.pop(value.value, None)
    elif layout is not UNKNOWN and len(layout.dimensions) != value.ndim:
        layouts[value.value] = UNKNOWN
    else:
        layouts[value.value] = layout


def follow(
    frame: Frame,
    op: type[Op],
    values: Sequence[Any],
    types: Sequence[Any],
    attributes: Mapping[str, Any],
    results: Sequence[Any],
    result_types: Sequence[Any],
) -> None:
    """Remember how the results of an op that was recorded lie."""
    layouts = [frame.layouts.get(v) for v in values]
    if not any(layouts) or mesh_axes():
        return
    found = layouts_of_results(frame.program, op, layouts, types, attributes, result_types)
    frame.layouts.update((r, layout) for r, layout in zip(results, found, strict=True) if layout is not None)


def layouts_of_results(
    program: Program | None,
    op: type[Op],
    layouts: Sequence[Layout | None],
    types: Sequence[Any],
    attributes: Mapping[str, Any],
    result_types: Sequence[Any],
) -> Sequence[Layout | None]:
    """How the results of an op lie, of whose operands one at least lies on a mesh.

    Raises `ShardingError` where operands disagree, or would have to be moved, unless the caller states how
    the result lies.
    """
    if op.refers_to_functions:
        return _of_functions(program, op, layouts, attributes, len(result_types))
    is_static = all(isinstance(t, TensorType) and t.is_static for t in (*types, *result_types))
    if UNKNOWN in layouts or op.factors is None or not is_static:
        return [UNKNOWN] * len(result_types)
    try:
        return _by_factors(op, layouts, types, attributes, result_types)
    except _Disagreement as problem:
        if _is_stated.get():
            return [UNKNOWN] * len(result_types)
        shown = ", ".join(
            f"{t}{'' if layout is None else f' as {layout}'}"
            for t, layout in zip(types, layouts, strict=True)
        )
        raise ShardingError(
            f"{op.name}: {problem}; its operands are {shown}",
            where=user_location_text(),
            hint="state how the result lies (out_sharding=), or put operands elsewhere first (adze.reshard)",
        ) from None


class _Disagreement(Exception):
    """Why the layouts of operands say nothing about results."""


def _by_factors(
    op: type[Op],
    layouts: Sequence[Layout | None],
    types: Sequence[TensorType],
    attributes: Mapping[str, Any],
    result_types: Sequence[TensorType],
) -> list[Layout | None]:
    assert op.factors is not None
    rule: Factors = op.factors(*types, **attributes)
    kept = {f for dimensions in rule.results for factors in dimensions for f in factors}
    known = [layout for layout in layouts if layout is not None]
    mesh = known[0].mesh
    if any(layout.mesh != mesh for layout in known):
        raise _Disagreement(f"operands lie on different meshes, {mesh} and {known[-1].mesh}")
    axes: dict[int, tuple[str, ...]] = {}
    stated: dict[int, int] = {}
    for layout, dimensions in zip(layouts, rule.operands, strict=True):
        if layout is None:
            continue
        for names, factors in zip(layout.dimensions, dimensions, strict=True):
            for factor, own in _of_factors(rule, mesh, names, factors):
                if not own:
                    continue
                if axes.setdefault(factor, own) != own:
                    raise _Disagreement(f"one dimension is divided by {axes[factor]} and by {own}")
                stated[factor] = stated.get(factor, 0) + 1
    for factor, names in axes.items():
        if factor in rule.whole and factor in kept:
            raise _Disagreement(f"a dimension that must be whole is divided by {names}")
        if factor in rule.reduced and stated[factor] > 1 and len(types) > 1:
            raise _Disagreement(
                f"contracted dimensions are divided by {names}, so that it is ambiguous how the result lies"
            )
    unreduced = _summands(op, layouts)
    reduced = frozenset.intersection(*(layout.reduced for layout in known))
    found: list[Layout | None] = []
    for dimensions in rule.results:
        entries = tuple(tuple(n for f in factors for n in axes.get(f, ())) for factors in dimensions)
        named = [name for names in entries for name in names]
        if len(set(named)) < len(named):
            raise _Disagreement(f"an axis would divide two dimensions of the result: {entries}")
        found.append(Layout(mesh, entries, unreduced, reduced - set(named)))
    return found


def _of_factors(
    rule: Factors, mesh: Any, names: tuple[str, ...], factors: tuple[int, ...]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The axes that divide each factor of a dimension, from the left."""
    rest = list(names)
    for factor in factors:
        own: list[str] = []
        while rest and rule.sizes[factor] % prod(mesh.shape[name] for name in (*own, rest[0])) == 0:
            own.append(rest.pop(0))
        yield factor, tuple(own)
        if own and rest and rule.sizes[factor] != prod(mesh.shape[name] for name in own):
            break
    if rest:
        raise _Disagreement(f"a dimension that is divided by {names} is cut or joined otherwise")


_LINEAR: Final = frozenset(
    (
        *("add", "sub", "neg", "convert", "reshape", "transpose", "broadcast_in_dim", "reduce_sum", "slice"),
        *("concatenate", "reverse", "pad", "sharding_constraint", "real", "imag", "dynamic_slice"),
    )
)
_TOGETHER: Final = frozenset(("add", "sub", "concatenate"))
_PRODUCTS: Final = frozenset(("mul", "dot_general"))


def _summands(op: type[Op], layouts: Sequence[Layout | None]) -> frozenset[str]:
    """The axes along which the result is summands: linear ops keep them, others need the sum."""
    stated = [frozenset() if layout is None else layout.unreduced for layout in layouts]
    found: frozenset[str] = frozenset().union(*stated)
    if not found or op.name in _LINEAR - _TOGETHER:
        return found
    if op.name in _TOGETHER and all(axes == found for axes in stated):
        return found
    if op.name in _PRODUCTS and sum(map(bool, stated)) == 1:
        return found
    raise _Disagreement(f"it is not linear in an operand of which ranks have summands over {set(found)}")


def _of_functions(
    program: Program | None,
    op: type[Op],
    layouts: Sequence[Layout | None],
    attributes: Mapping[str, Any],
    count: int,
) -> Sequence[Layout | None]:
    """Results of a function lie as they did when it was traced for such operands; a carry as it came in."""
    if program is not None and op.name in ("call", "custom_jvp_call", "custom_vjp_call", "checkpoint_call"):
        known: Sequence[Layout | None] | None = program.memo.get((Layout, attributes["callee"]))
        if known is not None and len(known) == count:
            return known
    if op.name == "scan":
        k, n = attributes["constant_count"], attributes["carry_count"]
        return [*layouts[k : k + n], *[UNKNOWN] * (count - n)]
    if op.name == "while":
        k = attributes["condition_constants"] + attributes["body_constants"]
        return [*layouts[k : k + count], *[UNKNOWN] * (count - len(layouts[k : k + count]))]
    return [UNKNOWN] * count


def keep_results(frame: Frame, results: Sequence[Any]) -> None:
    """Remember how the results of a function that was traced lie, for its calls."""
    if frame.layouts:
        frame.program.memo[Layout, frame.symbol] = tuple(map(layout_of, results))
