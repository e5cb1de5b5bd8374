"""Specs: the shape and dtype of an argument, without its values.

Input: `ShapeDtype`, which stands for an array when a function is traced ahead of time, or the text that the
command line takes: `f32[8,784]`, with `?` for a dimension that is known only when the program runs and a
name (`f32[n,784]`) for one that several places share; dicts, lists and tuples of specs are written as in
Python (`{w: f32[3], b: f32[]}`). Output: trees of `ShapeDtype`. Names of dtypes are parsed here and nowhere
else.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Iterable
from dataclasses import field
from typing import Any, Final, TypeAlias

import numpy as np

from ...dialects import types
from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError
from ...dialects.symbolic_sizes import is_size_text
from ...runtime.artifact.signature import Bounds
from .default_dtypes import stated_dtype
from .jax_rules import Installed, follows_jax
from .locations import located
from .sizes import Dim

SpecDimension = int | str | None
SpecTree: TypeAlias = "ShapeDtype | dict[str, SpecTree] | list[SpecTree] | tuple[SpecTree, ...] | None"

DTYPE_NAMES: Final[dict[str, np.dtype]] = {
    "bool": types.BOOL,
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    "f16": types.FLOAT16,
    "bf16": types.BFLOAT16,
    "f32": types.FLOAT32,
    "f64": types.FLOAT64,
    "c64": types.COMPLEX64,
    "c128": types.COMPLEX128,
}
_OTHER_NAMES: Final[dict[str, np.dtype]] = {
    "i1": types.BOOL,
    **{f"u{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{dtype.name: dtype for dtype in DTYPE_NAMES.values()},
}


class SpecError(AdzeError, ValueError):
    """The text of a spec, or a spec itself, is not well formed."""


class BoundedName(str):
    """The name of a dimension whose sizes are restricted; it is equal to the name alone."""

    bounds: Bounds

    def __new__(cls, name: str, bounds: Bounds) -> BoundedName:
        made = super().__new__(cls, name)
        made.bounds = bounds
        return made


_BOUNDED: Final = re.compile(
    r"\s*(?P<name>[^\s:]+)\s*:\s*(?:(?P<least>\d{1,19})\s*\.\.\s*(?P<most>\d{0,19})\s*(?:,|$)\s*)?(?:%\s*(?P<multiple>\d{1,19}))?\s*"
)


def bounded_name(text: str) -> BoundedName:
    """The dimension that `batch: 1..1024, %8` describes: its name, the sizes it may have, and a divisor.

    Either of the two may be left out, and so may the largest size: `n: 1..`. Raises `SpecError`.
    """
    match = _BOUNDED.fullmatch(text)
    if match is None or not match["name"].isidentifier() or not (match["least"] or match["multiple"]):
        raise SpecError(
            f"cannot read the dimension {_cut(text)!r}: expected a name and its sizes",
            hint="write 'batch: 1..1024', 'batch: 1..1024, %8', 'batch: 1..' or 'batch: %8'",
        )
    bounds = Bounds(
        int(match["least"] or 0), int(match["most"]) if match["most"] else None, int(match["multiple"] or 1)
    )
    is_large = max(bounds.least, bounds.most or 0, bounds.multiple_of) >= 2**63
    if bounds.multiple_of < 1 or is_large or bounds.near(bounds.least) not in bounds:
        raise SpecError(f"the dimension {_cut(text)!r} has no size: {bounds}")
    return BoundedName(match["name"], bounds)


@dataclass(frozen=True, repr=False)
class ShapeDtype:
    """An array known by shape and dtype only: `ShapeDtype((8, 784), "float32")`.

    A dimension is an int, None where it is known only when the program runs, or a name: dimensions of
    the same name have the same size. A name may say which sizes there are: `"batch: 1..1024, %8"`. With
    `weak_type` the array is weakly typed, as a Python number is.
    """

    shape: tuple[SpecDimension, ...]
    dtype: np.dtype
    weak_type: bool = False
    sharding: Any = field(default=None, repr=False)
    """How the array lies on a mesh, None where nothing is stated."""
    varying: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    """The axes of a mesh along which ranks may have different values, inside of `shard_map`."""

    def __new__(cls, shape: Iterable[SpecDimension] = (), dtype: object = None, **options: Any) -> Any:
        """What the dtype makes of a shape, where it is no dtype of arrays: that of keys."""
        make = getattr(dtype, "spec", None)
        return object.__new__(cls) if make is None else make(tuple(shape), **options)

    def __init__(
        self,
        shape: Iterable[SpecDimension],
        dtype: object = types.FLOAT32,
        *,
        sharding: Any = None,
        weak_type: bool = False,
        vma: Iterable[str] = (),
    ) -> None:
        with located():
            object.__setattr__(self, "shape", tuple(_dimension(size) for size in shape))
            object.__setattr__(self, "dtype", stated_dtype(dtype))
        object.__setattr__(self, "weak_type", bool(weak_type))
        object.__setattr__(self, "varying", frozenset(vma))
        object.__setattr__(self, "sharding", sharding if hasattr(sharding, "spec") else None)
        types.require_possible("spec", [self.type])

    def to_tangent_aval(self) -> ShapeDtype:
        """The type of its tangents, by JAX's name: this one."""
        return self

    @classmethod
    def like(cls, x: Any) -> ShapeDtype:
        """The spec of an array: its shape and dtype."""
        return cls(x.shape, x.dtype, weak_type=bool(getattr(x, "weak_type", False)))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def type(self) -> types.TensorType:
        """The type of such an array; the names of dynamic dimensions are not part of it."""
        sizes = tuple(size if isinstance(size, int) else None for size in self.shape)
        return types.TensorType(sizes, self.dtype)

    @property
    def vma(self) -> frozenset[str]:
        """Another name of `varying`."""
        return self.varying

    @property
    def manual_axis_type(self) -> ShapeDtype:
        """Itself: what JAX says of the axes of `shard_map` there, `varying`."""
        return self

    @property
    def layout(self) -> Any:
        """How it lies on a mesh whose axes are explicit, None where nothing is stated."""
        return None if self.sharding is None else self.sharding.layout(len(self.shape))

    @property
    def size(self) -> int | None:
        """How many elements there are, None where a dimension is dynamic."""
        sizes = [size for size in self.shape if isinstance(size, int)]
        return math.prod(sizes) if len(sizes) == len(self.shape) else None

    def update(self, **changes: Any) -> ShapeDtype:
        """The same with other values for some of `shape`, `dtype`, `weak_type`, `sharding` and `vma`."""
        own = {"shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type}
        return type(self)(**{**own, "sharding": self.sharding, "vma": self.varying, **changes})

    def __len__(self) -> int:
        if not self.shape or not isinstance(self.shape[0], int):
            raise SpecError(f"{self} has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        if not follows_jax():
            return f"ShapeDtype(shape={self.shape}, dtype={self.dtype!r}, weak_type={self.weak_type})"
        weak = ", weak_type=True" if self.weak_type else ""
        placed = "" if self.sharding is None else f", sharding={self.sharding}"
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{weak}{placed})"

    def __str__(self) -> str:
        if Installed.is_on:
            return repr(self)
        return self._text(next(name for name, dtype in DTYPE_NAMES.items() if dtype == self.dtype))

    def _text(self, name: str) -> str:
        """The type, of a dtype that is called `name`."""
        sizes = ["?" if size is None else str(size) for size in self.shape]
        layout = self.layout
        if layout is None:
            along = sorted(self.varying)
            over = f"{{V:{along[0] if len(along) == 1 else '(' + ','.join(along) + ')'}}}" if along else ""
            return f"{name}[{','.join(sizes)}]{over}"
        for axis, names in enumerate(layout.dimensions[: len(sizes)]):
            if names:
                sizes[axis] += f"@{names[0]}" if len(names) == 1 else f"@({','.join(names)})"
        sums = [
            f"{letter}:{','.join(sorted(axes))}"
            for letter, axes in zip("UR", layout[2:], strict=True)
            if axes
        ]
        return f"{name}[{','.join(sizes)}]" + (f"{{{','.join(sums)}}}" if sums else "")


ShapeDtypeStruct = ShapeDtype
"""JAX's name."""


class ShapedArray(ShapeDtype):
    """The type of an array, which prints as JAX's: `ShapedArray(float32[n,3])`, as text `float32[n,3]`."""

    def __eq__(self, other: object) -> bool:
        """As specs are equal, of either class."""
        if not isinstance(other, ShapeDtype):
            return NotImplemented
        own, theirs = ((s.shape, s.dtype, s.weak_type, s.sharding) for s in (self, other))
        return own == theirs

    __hash__ = ShapeDtype.__hash__

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapedArray({self._text(self.dtype.name)}{weak})"

    def __str__(self) -> str:
        return f"{'~' if self.weak_type else ''}{self._text(self.dtype.name)}"


def type_of(x: Any) -> ShapeDtype:
    """The type of an array: `x.aval`."""
    return (ShapedArray if Installed.is_on else ShapeDtype).like(x)


def _dimension(size: SpecDimension | Dim) -> SpecDimension:
    if isinstance(size, Dim):  # of an array that is being traced; one without a name is `?` and a number
        return None if size.text[1:].isdigit() and size.text.startswith("?") else _dimension(size.text)
    if size is None or (isinstance(size, str) and size.isidentifier()):
        return size
    if isinstance(size, str) and ":" in size:
        return bounded_name(size)
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool) and size >= 0:
        return int(size)
    if isinstance(size, str) and is_size_text(size):
        return size
    raise SpecError(
        f"{size!r} is not a dimension: expected an integer of at least 0, None where the size is known "
        "only when the program runs, or a name"
    )


def parse_spec(text: str) -> SpecTree:
    """The spec, or the tree of specs, that `text` writes."""
    try:
        return _Parser(text).whole()
    except RecursionError:
        raise SpecError(f"cannot read the spec {_cut(text)!r}: it is nested too deeply") from None


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


_TOKEN: Final = re.compile(r"\s*(?:(?P<word>[A-Za-z0-9_]+)|(?P<sign>[\[\]{}(),:?]))")
_DIGITS: Final = 30  # more than any size has; Python refuses to convert very long texts
_EXAMPLES: Final = "f32[8,784], f32[n,784], f32[?,784], f32[] or {w: f32[3], b: f32[]}"


class _Parser:
    """Recursive descent over the tokens of one text; every error shows the text and the place in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def whole(self) -> SpecTree:
        tree = self.tree()
        if self.peek():
            raise self.error(f"unexpected {self.peek()!r}")
        return tree

    def tree(self) -> SpecTree:
        token = self.peek()
        if token == "{":
            return self.mapping()
        if token in ("[", "("):
            return self.sequence()
        if token == "None":
            self.take("None")
            return None
        return self.leaf()

    def mapping(self) -> dict[str, SpecTree]:
        self.take("{")
        entries: dict[str, SpecTree] = {}
        while self.peek() != "}":
            key = self.word("a key")
            if key in entries:
                raise self.error(f"the key {key!r} stands twice")
            self.take(":")
            entries[key] = self.tree()
            if self.peek() != "}":
                self.take(",")
        self.take("}")
        return entries

    def sequence(self) -> list[SpecTree] | tuple[SpecTree, ...]:
        opening = self.peek()
        closing = "]" if opening == "[" else ")"
        self.take(opening)
        entries: list[SpecTree] = []
        while self.peek() != closing:
            entries.append(self.tree())
            if self.peek() != closing:
                self.take(",")
        self.take(closing)
        return entries if opening == "[" else tuple(entries)

    def leaf(self) -> ShapeDtype:
        name = self.word("a dtype")
        dtype = DTYPE_NAMES.get(name, _OTHER_NAMES.get(name))
        if dtype is None:
            text = f"unknown dtype {name!r}: expected one of {', '.join(DTYPE_NAMES)}"
            is_argument = self.peek() == ":"
            raise self.error(text, f"an argument is named with =: {name}=f32[3]" if is_argument else None)
        self.take("[")
        shape: list[SpecDimension] = []
        while self.peek() != "]":
            shape.append(self.dimension())
            if self.peek() != "]":
                self.take(",")
        self.take("]")
        return ShapeDtype(shape, dtype)

    def dimension(self) -> SpecDimension:
        if self.peek() == "?":
            self.take("?")
            return None
        word = self.word("a dimension (an integer, ? or a name)")
        if word.isdecimal():
            if len(word) > _DIGITS:
                raise self.error(f"{_cut(word)} is not a dimension: it does not fit in 64 bits")
            return int(word)
        if not word.isidentifier() or keyword.iskeyword(word):  # None, for one, is written ? here
            raise self.error(f"{word!r} is not a dimension: expected an integer, ? or a name")
        return word

    def peek(self) -> str:
        """The next token, or the empty text at the end."""
        match = _TOKEN.match(self.text, self.position)
        if match:
            return match.group(match.lastgroup or 0)
        rest = self.text[self.position :].strip()
        if rest:
            raise self.error(f"unexpected {rest[0]!r}")
        return ""

    def word(self, what: str) -> str:
        token = self.peek()
        if not re.fullmatch(r"\w+", token):
            raise self.error(f"expected {what}, got {token!r}" if token else f"expected {what}, got the end")
        return self.take(token)

    def take(self, expected: str) -> str:
        if self.peek() != expected:
            seen = repr(self.peek()) if self.peek() else "the end"
            raise self.error(f"expected {expected!r}, got {seen}")
        match = _TOKEN.match(self.text, self.position)
        assert match is not None
        self.position = match.end()
        return expected

    def error(self, problem: str, hint: str | None = None) -> SpecError:
        text = f"cannot read the spec {_cut(self.text)!r}: {problem}"
        return SpecError(text, hint=hint or f"write {_EXAMPLES}")
