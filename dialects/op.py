"""How an op of adze is declared: operands, attributes, results and the rules that every engine reads.

An op is one class in one room. Its class body states its name, its operands and attributes, how result
types follow from them (`infer`), what it computes (`evaluate`, in NumPy), and how it is differentiated and
batched; how it is lowered is said in `passes/lower/forms/`. The engines in `passes/` know only this file's
interface, never an op; a rule is a function or is `undefined("why")`, and a class that leaves one out cannot
be created.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Final, ParamSpec, TypeVar, cast

import numpy as np

from .attributes import (
    Attribute,
    Record,
    boolean,
    choice,
    dtype_attribute,
    elements,
    integer,
    ints,
    pairs,
    sizes,
    stated,
    stated_sizes,
    symbol,
    taking_record,
    text,
)
from .dataclass import dataclass
from .errors import TypeCheckError
from .types import (
    ANY,
    SIZE,
    Dimension,
    Shape,
    SizeType,
    TensorType,
    Value,
    ValueType,
    dtype_name,
    merge_shapes,
)

if TYPE_CHECKING:
    from .factors import Factors
    from .protocols import Batched, Cotangents, Tangents, WithTangents

T = TypeVar("T")
C = TypeVar("C")
P = ParamSpec("P")

DIALECT: Final = "adze"
RULES: Final = ("infer", "evaluate", "jvp", "transpose", "batch")
OPTIONAL_RULES: Final = (
    "simplify",
    "permuted",
    "summed",
    "linearize",
    "predicated",
    "undifferentiated",
    "factors",
    "of_part",
    "of_block",
    "iterations",
)


@dataclass(frozen=True, slots=True)
class Undefined:
    """A rule that an op does not have, and the reason: what a user is told who needs it."""

    reason: str


def family_rule(rule: Callable[Concatenate[C, P], T]) -> Callable[Concatenate[C, ...], T]:
    """A rule of a family (a class method): members may state it anew for their operands and attributes."""
    return cast("Callable[Concatenate[C, ...], T]", rule)


def undefined(reason: str) -> Any:
    """Declare that an op has no such rule, because of `reason`."""
    return Undefined(reason)


@dataclass(frozen=True)
class Linear(Value):
    """A linear operand as a transpose rule sees it: its type and its sizes, not its value."""

    type: ValueType
    sizes_of: Callable[[], Shape]

    @property
    def dtype(self) -> np.dtype:
        assert isinstance(self.type, TensorType)
        return self.type.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        assert isinstance(self.type, TensorType)
        return self.type.static_shape

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def sizes(self) -> Shape:
        """Its shape: integers, and size values where a dimension is dynamic."""
        static = tuple(n for n in self.shape if n is not None)
        return static if len(static) == self.rank else self.sizes_of()


NO_TANGENT: Final = undefined("it has no operand that carries a tangent")
NO_BATCH: Final = undefined("it has no operand that can be batched")


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand: its name, the dtypes it may have; `variadic` takes the rest of the operand list.

    `dtypes=None` marks a size operand (MLIR `index`) instead of a tensor.
    """

    name: str
    dtypes: frozenset[np.dtype] | None = ANY
    variadic: bool = False

    def check(self, op: str, actual: ValueType) -> None:
        """Raise `TypeCheckError` unless a value of type `actual` may be this operand of `op`."""
        if self.dtypes is None:
            if not isinstance(actual, SizeType):
                raise TypeCheckError(f"{op}: operand '{self.name}' must be a size, got {actual}")
        elif not isinstance(actual, TensorType):
            raise TypeCheckError(f"{op}: operand '{self.name}' must be an array, got a size")
        elif actual.dtype not in self.dtypes:
            names = ", ".join(sorted(map(dtype_name, self.dtypes)))
            raise TypeCheckError(
                f"{op}: operand '{self.name}' has dtype {dtype_name(actual.dtype)}, expected one of {names}"
            )


class Op:
    """Base of all op declarations; see the module docstring. Subclass a family where one fits.

    Rules (all static: the class is never instantiated; the types are those of `protocols.py`):

    - `infer(*operand_types, **attributes)` -> result type or tuple of them; raises `TypeCheckError`.
      A `sizes` attribute arrives with None for dynamic entries.
    - `evaluate(*arrays, **attributes)` -> array or tuple of arrays; NumPy semantics, dtypes exact.
    - `jvp(b, primals, tangents, results, **attributes)` -> tangents of the results; a tangent is None
      where it is zero.
    - `transpose(b, cotangents, operands, **attributes)` -> cotangents of the operands; a linear operand
      arrives as its type, a constant one as its value.
    - `batch(b, size, operands, batched, **attributes)` -> (results, which of them are batched): batched
      operands and results have the batch, of `size`, as axis 0; the others must not be copied along it.
    - `simplify(b, *operands, **attributes)` -> replacement value(s), or None; optional.
    - `permuted(b, permutation, *operands, **attributes)` -> the transposed result, made at once where that
      costs no more than the result itself, or None; optional.
    - `factors(*operand_types, **attributes)` -> along which axes the op can be divided, see `factors.py`, and
      `of_part(operand_types, result_types, **attributes)` -> its attributes for a part; optional.
      `of_block(b, operands, shapes, starts, **attributes)` -> what it computes of a block of its operands.
    - `summed(b, present, *operands, **attributes)` -> the cotangent `present` plus the result, where that
      costs less than an addition, or None; optional. Zeros may keep their sign.

    `has_effect`: it does something besides giving results. `effect_is_a_call`: namely, it calls a Python
    function, which compiled and evaluated programs do alike. `is_cheap`: computing it again costs no more
    than saving its result, so that linearization saves its operands instead. `is_contraction`: a sum of
    products, what the checkpoint policy `dots` saves. `element_cost`: about how many multiplications one
    element of the result costs; it decides with others whether threads pay. `callee_attribute`: the
    attribute that names the function whose results are the op's, for the inliner. `has_own_transpose`: it is
    kept in rules of custom derivatives, for its transpose is none of its callee.

    An op that refers to functions (a `symbol` attribute) gets the engine in place of `results`, and maps
    its bodies through it: `jvp(b, primals, tangents, engine, **attributes)` -> (results, tangents),
    `linearize` likewise, where it must be taken apart to be reversed,
    `transpose(b, cotangents, operands, engine, **attributes)` and
    `batch(b, size, operands, batched, engine, **attributes)`.
    """

    # The hooks: what a class body may state. `HOOKS` has the names annotated here, and those of the
    # methods `flops` and `reuses_operands`.

    name: ClassVar[str]
    operands: ClassVar[tuple[Operand, ...]] = ()
    attributes: ClassVar[Mapping[str, Attribute]] = {}
    record: ClassVar[type[Record] | None] = None
    """The class of the attributes, for an op with many: `attributes` follows from it, and each rule in the
    body of the op gets `attributes=`, an instance of it, in place of `**attributes`."""
    result_rule: ClassVar[str | None] = None
    """What the reference page says of the result, where its type does not say it all."""
    has_effect: ClassVar[bool] = False
    effect_is_a_call: ClassVar[bool] = False
    is_cheap: ClassVar[bool] = False
    is_contraction: ClassVar[bool] = False
    is_product: ClassVar[bool] = False
    """Whether it multiplies matrices, where it uses elements of both operands more than once."""
    element_cost: ClassVar[int] = 1
    is_aligned: ClassVar[bool] = False
    """Whether axes of operands at one place have one size, but for an `axis` that the op names."""
    callee_attribute: ClassVar[str | None] = None
    has_own_transpose: ClassVar[bool] = False
    is_routine: ClassVar[bool] = False
    """Whether a target may have a kernel for what its callee computes: only then it is no call any more."""
    simplify: ClassVar[Callable[..., Any] | None] = None
    permuted: ClassVar[Callable[..., Any] | None] = None
    summed: ClassVar[Callable[..., Any] | None] = None
    shape_operands: ClassVar[Callable[..., Sequence[int]] | None] = None
    """For each result the position of an operand of its shape; for ops that do not show it by themselves."""
    is_constant: ClassVar[bool] = False
    """Whether its result is an array that its attributes state."""
    is_count: ClassVar[bool] = False
    """Whether its result holds the places along an axis, which code counts."""
    is_elementwise: ClassVar[bool] = False
    """Whether each element of the result depends on the elements at the same place alone."""
    is_movement: ClassVar[bool] = False
    """Whether elements of operands are moved, repeated or left out, and none is computed."""
    is_broadcast: ClassVar[bool] = False
    """Whether it repeats its operand in a result of a given `shape`."""
    is_arithmetic: ClassVar[bool] = True
    """Whether elements are computed; False where they are moved, chosen, reinterpreted or shown."""
    has_own_rules: ClassVar[bool] = False
    """Whether it refers to rules of its own, for derivatives or batches, besides its callee."""
    runs_on_host: ClassVar[bool] = False
    """Whether a Python function of the process computes it: nothing computes it before the program runs."""
    label_attribute: ClassVar[str | None] = None
    """The attribute that names its result for checkpoint policies."""
    predicated: ClassVar[Callable[..., Any] | None] = None
    """`predicated(b, predicate, operands, engine, **attributes)` -> the results where the 0-d i1 `predicate`
    holds; where it does not, any values, and no effect. For ops that stop programs, may not end, or refer to
    functions that do."""
    is_always_predicated: ClassVar[bool] = False
    """Whether it needs its rule `predicated` itself, not only where a function it refers to does."""
    undifferentiated: ClassVar[Callable[..., Sequence[Value]] | None] = None
    """`undifferentiated(b, operands, **attributes)` -> the results of an op in its place where nothing is
    differentiated any more."""
    live_operands: ClassVar[Callable[..., tuple[tuple[bool, ...], tuple[bool, ...]]] | None] = None
    """`live_operands(engine, used, attributes)` -> which operands the `used` results depend on, and which
    results must be kept for them; without it all are kept. For ops that refer to functions."""
    without_dead_results: ClassVar[Callable[..., dict[str, Any]] | None] = None
    """`without_dead_results(engine, operands, results, attributes)` -> the attributes of the op with these
    operands and results only."""
    linearize: ClassVar[Callable[..., Any] | None] = None
    iterations: ClassVar[Callable[..., int | None] | None] = None
    """`iterations(**attributes)` -> how often a loop runs the function `body`; None where that shows only as
    it runs."""
    factors: ClassVar[Callable[..., Factors] | None] = None
    """`factors(*operand_types, **attributes)` -> along which axes it can be divided among ranks; without it
    each rank computes all of it."""
    of_part: ClassVar[Callable[..., dict[str, Any]] | None] = None
    """`of_part(operand_types, result_types, **attributes)` -> the attributes that compute one rank's part, of
    these types; without it they are those of the whole."""
    of_block: ClassVar[Callable[..., Value] | None] = None
    """`of_block(b, operands, shapes, starts, **attributes)` -> what a rank adds to the result that has blocks
    of operands of these whole shapes, along axes whose ranks combine results; a block begins at the start of
    its axis, None where the rank has all of it. Without it the op itself computes that."""
    sends_along: ClassVar[str | None] = None
    """The attribute that names the axis of a mesh along which it sends arrays, or its transpose does."""
    varies: ClassVar[Callable[..., Sequence[frozenset[str]]] | None] = None
    """`varies(engine, operands, attributes)` -> the axes of a mesh that each result varies over, for those of
    the operands; without it each varies over what any operand does, or as the callee's results."""

    infer: ClassVar[Callable[..., ValueType | tuple[ValueType, ...]]]
    evaluate: ClassVar[Callable[..., Any]]
    jvp: ClassVar[Callable[..., Tangents | WithTangents]]
    transpose: ClassVar[Callable[..., Cotangents]]
    batch: ClassVar[Callable[..., Batched]]

    # Not hooks: they follow from the declaration.

    size_attributes: ClassVar[tuple[str, ...]] = ()
    refers_to_functions: ClassVar[bool] = False
    added: ClassVar[frozenset[str]] = frozenset()
    """What its families state besides hooks."""

    def __init_subclass__(cls, adds: tuple[str, ...] = (), **kwargs: object) -> None:
        """Check the class body. `adds` names the members that a family has for itself, beside the hooks."""
        super().__init_subclass__(**kwargs)
        cls.added = cls.added | frozenset(adds)
        cls._require_hooks()
        if cls.record is not None:
            cls.attributes = cls.record.declared
            cls._take_records(cls.record)
        kinds = {n: a.kind for n, a in cls.attributes.items()}
        cls.size_attributes = tuple(n for n, kind in kinds.items() if kind == "sizes")
        cls.refers_to_functions = not {"symbol", "symbols"}.isdisjoint(kinds.values())
        if "name" not in cls.__dict__:
            return  # a family
        missing = [rule for rule in RULES if not hasattr(cls, rule)]
        if missing:
            raise TypeError(f"op {cls.name!r} declares no {', '.join(missing)}: write it or undefined(why)")
        if not cls.__doc__:
            raise TypeError(f"op {cls.name!r} has no docstring: state its mathematics")

    @classmethod
    def flops(
        cls, operands: Sequence[TensorType], results: Sequence[TensorType], attributes: Mapping[str, Any]
    ) -> int:
        """About how many operations one application costs; a dynamic size counts as 1."""
        if not cls.is_arithmetic or not operands:
            return 0
        return max(map(element_count, (*operands, *results)))

    @classmethod
    def reuses_operands(cls, arrays: Sequence[TensorType], attributes: Mapping[str, Any]) -> bool:
        """Whether elements of operands are used many times, so that arithmetic takes the time, not memory.

        `arrays` are the types of the operands, then of the results.
        """
        return False

    @classmethod
    def _require_hooks(cls) -> None:
        """Raise `TypeError` where the class body states a public name that nothing would ever ask for."""
        known = HOOKS | cls.added
        for name in vars(cls):
            if name.startswith("_") or name in known or name == "added":
                continue
            nearest = get_close_matches(name, known, 1)
            meant = f": did you mean {nearest[0]!r}?" if nearest else ""
            raise TypeError(
                f"class {cls.__name__} states {name!r}, which is no hook of ops{meant} (the hooks are listed "
                "in dialects/op.py; a family declares what it adds: "
                f"class {cls.__name__}(Op, adds=({name!r},)))"
            )

    @classmethod
    def _take_records(cls, record: type[Record]) -> None:
        """Let the rules of this class body have their attributes as one record."""
        for name in (*RULES, *OPTIONAL_RULES):
            rule = vars(cls).get(name)
            if isinstance(rule, (staticmethod, classmethod)):
                setattr(cls, name, type(rule)(taking_record(rule.__func__, record)))

    @classmethod
    def check(cls, operand_types: Sequence[ValueType], attributes: Mapping[str, object]) -> None:
        """Check operand count, operand kinds and dtypes, and the set of attributes."""
        fixed = [o for o in cls.operands if not o.variadic]
        variadic = next((o for o in cls.operands if o.variadic), None)
        if len(operand_types) < len(fixed) or (variadic is None and len(operand_types) > len(fixed)):
            more = " or more" if variadic else ""
            raise TypeCheckError(
                f"{cls.name}: expected {len(fixed)}{more} operands, got {len(operand_types)}"
            )
        if attributes.keys() != cls.attributes.keys():
            absent = sorted(cls.attributes.keys() - attributes.keys())
            extra = sorted(attributes.keys() - cls.attributes.keys())
            raise TypeCheckError(f"{cls.name}: missing attributes {absent}, unexpected attributes {extra}")
        for position, actual in enumerate(operand_types):
            declared = fixed[position] if position < len(fixed) else variadic
            assert declared is not None
            declared.check(cls.name, actual)
        for attribute_name, attribute in cls.attributes.items():
            attribute.check(cls.name, attribute_name, attributes[attribute_name])

    @classmethod
    def result_types(
        cls, operand_types: Sequence[ValueType], attributes: Mapping[str, Any]
    ) -> tuple[ValueType, ...]:
        """Checked result types of an application; `sizes` attributes may hold values or None."""
        if not cls.attributes and not attributes:
            return _known_result_types(cls._result_types, tuple(operand_types))
        return cls._result_types(operand_types, attributes)

    @classmethod
    def _result_types(
        cls, operand_types: Sequence[ValueType], attributes: Mapping[str, Any]
    ) -> tuple[ValueType, ...]:
        cls.check(operand_types, attributes)
        static = {
            name: stated_sizes(value) if cls.attributes[name].kind == "sizes" else value
            for name, value in attributes.items()
        }
        return as_tuple(cls.infer(*operand_types, **static))


_DERIVED: Final = frozenset({"size_attributes", "refers_to_functions", "added"})
HOOKS: Final[frozenset[str]] = frozenset(Op.__annotations__) - _DERIVED | {"flops", "reuses_operands"}
"""Every name that the class body of an op may state."""


@lru_cache(maxsize=4096)
def _known_result_types(rule: Callable[..., Any], operand_types: tuple[ValueType, ...]) -> Any:
    """The result types of an op without attributes, which programs apply to the same types many times."""
    return rule(operand_types, {})


def element_count(type_: TensorType) -> int:
    """How many elements an array of this type has; a dynamic size counts as 1."""
    return prod(1 if n is None else n for n in type_.static_shape)


def as_tuple(returned: T | Sequence[T]) -> tuple[T, ...]:
    """What a rule returned for one result, or for each of them in a tuple or list, as a tuple."""
    return tuple(returned) if isinstance(returned, (tuple, list)) else (cast(T, returned),)


def require(condition: bool, message: str) -> None:
    """Raise `TypeCheckError(message)` unless `condition`; for `infer` rules."""
    if not condition:
        raise TypeCheckError(message)


def require_same_shape(op: str, *types: TensorType) -> tuple[Dimension, ...]:
    """The merged shape of operands that must agree, or `TypeCheckError` naming their shapes."""
    merged = merge_shapes(t.shape for t in types)
    if merged is None:
        raise TypeCheckError(f"{op}: operands must have equal shapes, got {', '.join(map(str, types))}")
    return merged


def require_same_dtype(op: str, *types: TensorType) -> np.dtype:
    """The common dtype of operands that must agree, or `TypeCheckError` naming their types."""
    if len({t.dtype for t in types}) > 1:
        raise TypeCheckError(f"{op}: operands must have equal dtypes, got {', '.join(map(str, types))}")
    return types[0].dtype


def require_axis(op: str, name: str, axis: int, rank: int) -> None:
    """Raise `TypeCheckError` unless `0 <= axis < rank`."""
    if not 0 <= axis < rank:
        raise TypeCheckError(f"{op}: {name} {axis} is out of range for an array of rank {rank}")


def require_axes(op: str, name: str, axes: Sequence[int], rank: int) -> None:
    """Raise `TypeCheckError` unless the axes are in range and distinct."""
    for axis in axes:
        require_axis(op, name, axis, rank)
    if len(set(axes)) != len(axes):
        raise TypeCheckError(f"{op}: {name} {tuple(axes)} names an axis twice")


__all__ = [
    "ANY",
    "DIALECT",
    "HOOKS",
    "NO_BATCH",
    "NO_TANGENT",
    "RULES",
    "SIZE",
    "Attribute",
    "Linear",
    "Op",
    "Operand",
    "Record",
    "Undefined",
    "as_tuple",
    "boolean",
    "choice",
    "dtype_attribute",
    "element_count",
    "elements",
    "integer",
    "ints",
    "pairs",
    "require",
    "require_axes",
    "require_axis",
    "require_same_dtype",
    "require_same_shape",
    "sizes",
    "stated",
    "stated_sizes",
    "symbol",
    "text",
    "undefined",
]
