"""The contracts of rules: what the rules of ops receive, and what they return.

A rule is a function of values. It takes a `Builder` to make new values with, and never learns what the values
are: SSA values where IR is made, tracers or arrays in the frontend. Its attributes come as keywords, or as
one record where the op declares that. `op.py` lists the rules of an op and says what engines ask of each.

| alias        | what it is                                                                                  |
|--------------|---------------------------------------------------------------------------------------------|
| `Value`      | an array or a size; a rule only passes it on to its builder                                 |
| `Values`     | a sequence of them                                                                          |
| `Size`       | an entry of a shape: an int where it is static, else a `Value` of type `size`               |
| `Shape`      | one `Size` for each axis                                                                    |
| `Tangent`    | the tangent of one value, of its shape and dtype; None where it is zero                     |
| `Tangents`   | what `jvp` returns: one `Tangent` for each result, or the only one by itself                |
| `Cotangents` | what `transpose` returns: a cotangent for each operand, None for one that is not linear,    |
|              | or the only one by itself                                                                   |
| `Batched`    | what `batch` returns: the results, and for each of them whether it has the batch as axis 0  |
| `Linear`     | a linear operand of `transpose`: it has a type and sizes, but no value to compute with      |
| `OneTangent` | the tangents where only the first operand can carry one: as the rule is called, it does     |
| `OneLinear`  | the operands of a transpose that can only be linear in the first                            |

Errors: a rule raises `MissingRuleError` for an application that it does not cover, and `infer` and `evaluate`
raise as `op.py` says. A builder that is given a `Linear` operand as if it had a value refuses it, so that the
user is told that the op is not linear in its operands together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, TypeVar

from .builder import core
from .builder.core import Functions
from .dataclass import dataclass
from .generated import builder
from .op import Linear
from .types import Shape, Size, TensorType, Value

T = TypeVar("T")

Application: TypeAlias = core.Application
Builder: TypeAlias = builder.Builder[Value]

Values: TypeAlias = Sequence[Value]
Tangent: TypeAlias = Value | None
WithTangents: TypeAlias = tuple[Values, Sequence[Tangent]]
Tangents: TypeAlias = Tangent | Sequence[Tangent]
Cotangents: TypeAlias = Tangent | Sequence[Tangent]
Batched: TypeAlias = tuple[Values, Sequence[bool]]
OneTangent: TypeAlias = tuple[Value, *tuple[None, ...]]
OneLinear: TypeAlias = tuple[Linear, *tuple[Value, ...]]
Flags: TypeAlias = tuple[bool, ...]
Build: TypeAlias = Callable[[Builder, Values], Values]
"""The body of a function: `build(b, arguments)` returns its results."""
Partial: TypeAlias = Callable[..., Value]
"""A partial derivative of an elementwise op: `(b, result, *operands)` -> the factor of its tangent."""


class Differentiated(Protocol):
    """A function that maps primals and active tangents to results and active tangents of results."""

    @property
    def symbol(self) -> str: ...

    @property
    def active_results(self) -> Flags:
        """Which results have a tangent."""


class Residual(Protocol):
    """Where a residual comes from: the `index`-th "input", "result" or "saved" value of the primal."""

    @property
    def kind(self) -> str: ...

    @property
    def index(self) -> int: ...


class Linearized(Protocol):
    """A function split in two: `primal` returns results and saved values, `linear` maps residuals and active
    tangents to active tangents of the results."""

    @property
    def primal(self) -> str: ...

    @property
    def linear(self) -> str: ...

    @property
    def residuals(self) -> Sequence[Residual]: ...

    @property
    def active_results(self) -> Flags: ...

    def residual_values(self, inputs: Sequence[T], outputs: Sequence[T]) -> list[T]:
        """The residuals, picked from the inputs and outputs of the primal function."""


class Transposed(Protocol):
    """A backward pass: it maps known operands and cotangents to the cotangents that are `nonzero`."""

    @property
    def symbol(self) -> str: ...

    @property
    def nonzero(self) -> Flags:
        """For which linear arguments it returns a cotangent."""


class BatchedFunction(Protocol):
    """A function that maps each slice along the batch axis."""

    @property
    def symbol(self) -> str: ...

    @property
    def batched_results(self) -> Flags:
        """Which results have the batch as axis 0."""


@dataclass(frozen=True)
class CountedLoop:
    """`steps` times `state = body(constants..., state...)`, from the initial `state`.

    `steps` is a 0-d int32. `saved_states` says how many states the backward pass may keep at a time.
    """

    body: str
    constants: list[Value]
    state: list[Value]
    steps: Value | None
    saved_states: int


class Engine(Functions, Protocol):
    """What the rules of ops with bodies ask of every engine: the functions of the module.

    `MissingRuleError` is raised where a function holds an op that has no such rule.
    """

    def called(self, b: Builder, symbol: str, operands: Values, /) -> list[Value]:
        """The results of a call of a function as it is."""

    def effect_free(self, symbol: str, /) -> str:
        """A function like `symbol` without effects, for what is computed again."""

    def set_shape_operands(self, symbol: str, places: Sequence[int], /) -> None:
        """State for each argument of a linear function which argument has its shape, -1 for none."""

    def active_state(self, body: str, constants: Flags, state: Flags, /) -> Flags:
        """Which entries of the state of a loop have a tangent after some iteration."""

    def tangent_loop(
        self, b: Builder, loop: CountedLoop, dconstants: Sequence[Tangent], dstate: Sequence[Tangent], /
    ) -> tuple[CountedLoop, Flags]:
        """The loop with tangents beside its state, and which entries of the state have one."""

    def push_through(
        self, b: Builder, loop: CountedLoop, dconstants: Sequence[Tangent], dstate: Sequence[Tangent], /
    ) -> list[Tangent]:
        """Tangents of the final state of a loop."""

    def pull_back(
        self,
        b: Builder,
        loop: CountedLoop,
        cotangents: Sequence[Tangent],
        wanted_constants: Sequence[bool],
        wanted_state: Sequence[bool],
        /,
    ) -> tuple[list[Tangent], list[Tangent]]:
        """Cotangents of constants and initial state of a loop for those of its final state."""


class Differentiation(Engine, Protocol):
    """The engine of `jvp` rules: forward mode, or linearization where a rule `linearize` is missing."""

    def differentiate(self, symbol: str, active: Flags, wanted: Flags | None = None, /) -> Differentiated:
        """The derivative of a function in its `active` arguments; with tangents of the `wanted` results."""

    def call(
        self,
        b: Builder,
        symbol: str,
        primals: Values,
        tangents: Sequence[Tangent],
        policy: tuple[str, str] = ...,
        /,
    ) -> tuple[Values, Sequence[Tangent]]:
        """Results and tangents of the results of a differentiated function."""

    def rule_for(self, symbol: str, active: Flags, /) -> str:
        """A user's rule for the tangents that there are."""

    def inlined(self, b: Builder, symbol: str, operands: Values, count: int, /) -> list[Value]:
        """The results of a user's rule, of whose operands the last `count` are tangents."""

    def custom_pullback(
        self, b: Builder, fwd: str, bwd: str, primals: Values, tangents: Values, count: int, /
    ) -> tuple[Values, Values]:
        """The `count` results of `fwd`, and their tangents by the transpose of a user's `bwd`."""


class Linearization(Differentiation, Protocol):
    """The engine of `linearize` rules."""

    @property
    def forward(self) -> Differentiation:
        """Forward mode, for a linear part that is not split further."""

    def linearize(self, symbol: str, active: Flags, /) -> Linearized:
        """A function split into its primal and its linear part, in its `active` arguments."""


class Transposition(Engine, Protocol):
    """The engine of `transpose` rules."""

    def transpose(self, symbol: str, linear: Flags, has_cotangent: Flags | None = None, /) -> Transposed:
        """The backward pass of a function in its `linear` arguments, for results that have a cotangent."""

    def transpose_sized(
        self, symbol: str, linear: Flags, has_cotangent: Flags | None = None, /
    ) -> tuple[Transposed, tuple[int, ...]]:
        """The same, and the linear arguments of whose shapes it takes values first."""

    def rule_for(self, symbol: str, has_cotangent: Flags, /) -> str:
        """A user's pullback for the cotangents that there are."""

    def call(
        self, b: Builder, symbol: str, operands: Values, cotangents: Sequence[Tangent], /
    ) -> list[Tangent]:
        """Cotangents of the operands of a called function."""


class Batching(Engine, Protocol):
    """The engine of `batch` rules, for one batch axis."""

    @property
    def size(self) -> int | None:
        """The static size of the axis."""

    @property
    def linearizer(self) -> Linearization: ...

    @property
    def transposer(self) -> Transposition: ...

    def leading(self, size: Size | None, /) -> list[Value]:
        """What batched functions take first: the size of the axis, where it is dynamic."""

    def batch(self, symbol: str, batched: Flags, all_results: bool = False, /) -> BatchedFunction:
        """The batched function; with `all_results` every result has the batch axis."""

    def batched_callee(
        self, b: Builder, symbol: str, batched: Sequence[bool], all_results: bool = False
    ) -> tuple[str, Flags, tuple[TensorType, ...]]:
        """The batched function, which results are batched, and their types."""

    def batched_rules(
        self, rules: Sequence[str], batch: Callable[[Sequence[str]], Sequence[str]], /
    ) -> Sequence[str]:
        """The rules that `batch` makes of a user's rules, when they are first needed."""

    def call(
        self, b: Builder, size: Size, symbol: str, operands: Values, batched: Sequence[bool], /
    ) -> tuple[Values, Flags]:
        """The results of a batched function, and which are batched."""

    def needs_predicate(self, symbol: str, /) -> bool:
        """Whether a function has effects that elements which did not choose it must not have."""

    def predicated(self, symbol: str, /) -> str:
        """`symbol` with one more argument, first: for each element, whether it chose the function."""


class Predication(Engine, Protocol):
    """The engine of `predicated` rules."""

    def predicated(self, symbol: str, /) -> str:
        """`symbol` with one more argument, first: a 0-d predicate without which it has no effect."""


class VaryingFunctions(Protocol):
    """The analysis of what varies over the axes of a mesh, as ops that refer to functions use it."""

    def of_function(self, symbol: str, arguments: Sequence[frozenset[str]], /) -> Sequence[frozenset[str]]:
        """The axes that the results of a function vary over, for those of its arguments."""


class DeadResults(Protocol):
    """The engine of `live_operands` and `without_dead_results`."""

    def live_arguments(self, symbol: str, used: Flags, /) -> Flags:
        """The arguments of a function that its `used` results, and its effects, depend on."""

    def restricted(self, symbol: str, arguments: Flags, results: Flags, /) -> str:
        """A function with these arguments and results of `symbol` only."""


__all__ = [
    "Application",
    "Batched",
    "BatchedFunction",
    "Batching",
    "Build",
    "Builder",
    "Cotangents",
    "CountedLoop",
    "DeadResults",
    "Differentiated",
    "Differentiation",
    "Engine",
    "Flags",
    "Functions",
    "Linear",
    "Linearization",
    "Linearized",
    "OneLinear",
    "OneTangent",
    "Partial",
    "Predication",
    "Residual",
    "Shape",
    "Size",
    "Tangent",
    "Tangents",
    "Transposed",
    "Transposition",
    "Value",
    "Values",
    "WithTangents",
]
