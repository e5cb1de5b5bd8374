"""Functions of one op, differentiated and mapped by the engines, for the checks of derivatives and batches.

In: a row of the table of op cases. Out: a `Subject` for each of its cases at a wide dtype, with values away
from kinks, poles and branch cuts, so that differences measure derivatives; and the functions that the
engines make of it. Everything is evaluated in NumPy: nothing is compiled.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from adze.dialects import mlir
from adze.dialects.codec import Codec
from adze.dialects.types import COMPLEX, INEXACT, TensorType, ValueType, from_storage, storage
from adze.passes.analysis.evaluate import evaluate
from adze.passes.analysis.verify import verify
from adze.passes.autodiff.jvp import carries_tangent
from adze.passes.engines import Engines
from adze.passes.ir.construction import Activity, NewFunction, call_function, derived_location
from adze.passes.ir.functions import body, function, split_body

from .cases import Array, Case, Domain, Instance, Row, Size, T
from .programs import ModuleOfCases

FLOAT64: Final = np.dtype(np.float64)
COMPLEX128: Final = np.dtype(np.complex128)
LARGEST: Final = 300
"""Cases with larger operands are about the form of compiled code, not about mathematics."""


IRREVERSIBLE: Final = {"while": "the number of its steps is known only when it ends"}
"""Ops that forward mode differentiates and reverse mode cannot."""
SUMMED_OVER_AXIS: Final = {"axis_gather": "its dot identity holds for the sum over the axis"}
"""Ops transposed as a whole batch is: tests/frontend/test_collectives.py compares with JAX."""


# -- values --------------------------------------------------------------------------------------------


def between(low: float, high: float) -> Domain:
    """Values in [low, high], no two of them close; complex ones have such a modulus, away from both axes."""

    def domain(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        count = int(np.prod(shape))
        steps = (rng.permutation(count) + 0.5 + rng.uniform(-0.3, 0.3, count)) / max(count, 1)
        values = low + (high - low) * steps
        if dtype in COMPLEX:
            quarter = rng.integers(0, 4, count) + rng.uniform(0.2, 0.8, count)
            values = values * np.exp(0.5j * np.pi * quarter)
        return values.reshape(shape).astype(dtype)

    return domain


def either_sign(low: float, high: float) -> Domain:
    """Values of modulus in [low, high], negative ones too."""
    positive = between(low, high)

    def domain(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        values = positive(rng, shape, dtype)
        return values if dtype in COMPLEX else values * rng.choice([-1, 1], shape).astype(dtype)

    return domain


ANYWHERE: Final = between(-2.1, 2)
SMOOTH: Final[Mapping[str, tuple[Domain, ...]]] = {
    "abs": (either_sign(0.3, 2),),
    "acos": (between(-0.9, 0.9),),
    "acosh": (between(1.1, 3),),
    "asin": (between(-0.9, 0.9),),
    "atanh": (between(-0.9, 0.9),),
    "atan2": (either_sign(0.3, 2), either_sign(0.3, 2)),
    "cbrt": (either_sign(0.3, 2),),
    "cumprod": (either_sign(0.5, 1.5),),
    "digamma": (either_sign(0.3, 0.8),),
    "div": (ANYWHERE, either_sign(0.5, 2)),
    "erf_inv": (between(-0.9, 0.9),),
    "lgamma": (either_sign(0.3, 0.8),),
    "log": (between(0.3, 3),),
    "log1p": (between(-0.7, 2),),
    "log2": (between(0.3, 3),),
    "pow": (between(0.3, 3), ANYWHERE),
    "reduce_prod": (either_sign(0.7, 1.3),),
    "rem": (between(-9.7, 9.6), either_sign(2, 4)),
    "rsqrt": (between(0.3, 3),),
    "sign": (either_sign(0.3, 2),),
    "sqrt": (between(0.3, 3),),
    "tan": (between(-1.2, 1.2),),
}
"""Where an op is smooth, for ops that are not smooth almost everywhere in [-2, 2]."""


# -- subjects ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """A function of a module: what to call it with, and which of its arguments are floats."""

    module: mlir.ir.Module
    symbol: str
    arguments: tuple[np.ndarray, ...]
    active: Activity
    title: str

    def __str__(self) -> str:
        return self.title

    def at(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [np.asarray(r) for r in evaluate(self.module, self.symbol, arguments)]

    @property
    def result_types(self) -> list[ValueType]:
        codec = Codec(self.module.context)
        _, terminator = split_body(function(self.module, self.symbol))
        return [codec.read_type(v.type) for v in terminator.operands]

    @property
    def active_results(self) -> Activity:
        """Which results may have a tangent."""
        return tuple(carries_tangent(t) for t in self.result_types)


def subject_of(instance: Instance) -> Subject:
    """The function that applies the instance's op, in a module of its own."""
    program = ModuleOfCases.of([instance])
    made = program.functions[0]
    active = tuple(a.dtype in INEXACT for a in made.arguments)
    return Subject(program.module, made.name, made.arguments, active, str(instance))


def smooth_instances(row: Row, dtypes: Sequence[np.dtype] = (FLOAT64, COMPLEX128)) -> Iterator[Instance]:
    """The cases of a row that have float operands, at smooth values, static and dynamic."""
    seen: set[str] = set()
    for number, case in enumerate(row.cases):
        if any(isinstance(o, Array) and int(np.prod(o.shape)) > LARGEST for o in case.operands):
            continue
        for dtype in dtypes if _uses_row_dtype(case) else (None,):
            if dtype is not None and not _allows(row, case, dtype):
                continue
            key = f"{case.operands} {dtype} {_without_elements(row, case)}"
            if key not in seen:
                seen.add(key)
                yield from _variants(row, case, number, dtype)


def _variants(row: Row, case: Case, number: int, dtype: np.dtype | None) -> Iterator[Instance]:
    rng = np.random.default_rng(zlib.crc32(f"smooth {row.op} {number} {dtype}".encode()))
    arguments = draw(row, case, rng, dtype)
    if not any(isinstance(a, np.ndarray) and a.dtype in INEXACT for a in arguments):
        return
    attributes = {n: _at_dtype(v, dtype) for n, v in case.attributes.items()}
    has_shape = any(isinstance(o, Size) or o.shape for o in case.operands)
    # dynamic sizes are the same for every dtype: one of them is enough
    only_static = case.static_only or not has_shape or dtype in COMPLEX
    for dynamic in (False,) if only_static else (False, True):
        yield Instance(row, case, dtype, dynamic, arguments, attributes)


def draw(
    row: Row, case: Case, rng: np.random.Generator, dtype: np.dtype | None
) -> tuple[np.ndarray | int, ...]:
    """Operands: smooth values of floats, the case's own values of the others."""
    results: list[np.ndarray | int] = []
    for position, operand in enumerate(case.operands):
        if isinstance(operand, Size):
            results.append(operand.value)
            continue
        chosen = dtype if operand.dtype is T else operand.dtype
        assert isinstance(chosen, np.dtype)
        if chosen in INEXACT:
            domains = SMOOTH.get(row.op, (ANYWHERE,))
            results.append(domains[min(position, len(domains) - 1)](rng, operand.shape, chosen))
        else:
            results.append(operand.values(rng, chosen))
    return tuple(results)


def _uses_row_dtype(case: Case) -> bool:
    return any(isinstance(o, Array) and o.dtype is T for o in case.operands)


def _allows(row: Row, case: Case, dtype: np.dtype) -> bool:
    """Whether the op takes this dtype, and the case is not about another kind of number."""
    if dtype not in row.dtypes:
        return False
    if row.op == "bitcast_convert":
        return case.dtypes is not None and dtype in case.dtypes  # the other dtype has as many bits
    near = {np.dtype(np.complex64), COMPLEX128} if dtype in COMPLEX else {np.dtype(np.float32), FLOAT64}
    return case.dtypes is None or dtype in case.dtypes or (dtype.itemsize >= 8 and bool(case.dtypes & near))


def _at_dtype(value: Any, dtype: np.dtype | None) -> Any:
    if value is T:
        return dtype
    if not isinstance(value, np.ndarray) or dtype is None:
        return value
    # stored elements of the float32 or complex64 case, which stands for its wide variant here
    narrow = np.dtype(np.complex64 if dtype in COMPLEX else np.float32)
    known = narrow if value.dtype == np.float32 else dtype
    return storage(from_storage(value, known).astype(dtype))


def _without_elements(row: Row, case: Case) -> str:
    return str({n: v for n, v in case.attributes.items() if not isinstance(v, np.ndarray)})


# -- what the engines make of a subject ----------------------------------------------------------------


def pushforward(subject: Subject, active: Activity | None = None) -> tuple[Subject, Activity]:
    """(primals, tangents) -> (results, tangents), at random tangents; and which results have a tangent."""
    active = subject.active if active is None else active
    made = Engines(subject.module).forward.differentiate(subject.symbol, active)
    verify(subject.module)
    tangents = directions(subject, active)
    pushed = Subject(
        subject.module,
        made.symbol,
        (*subject.arguments, *tangents),
        (*subject.active, *(True for _ in tangents)),
        f"jvp of {subject}",
    )
    return pushed, made.active_results


def pullback(subject: Subject, active: Activity | None = None) -> Subject:
    """(primals, cotangents of the float results) -> cotangents of the active arguments."""
    active = subject.active if active is None else active
    module = subject.module
    codec = Codec(module.context)
    engine = Engines(module).linearizer
    made = engine.linearize(subject.symbol, active)
    linear = (False,) * len(made.residuals) + (True,) * sum(active)
    transposed = engine.transposer.transpose(made.linear, linear)
    source = function(module, subject.symbol)
    arguments = [codec.read_type(a.type) for a in body(source).arguments]
    types = [t for t, has in zip(subject.result_types, subject.active_results, strict=True) if has]
    location = derived_location(source.location, "vjp")
    new = NewFunction(module, codec, f"{subject.symbol}_vjp", [*arguments, *types], location)
    count = len(arguments)
    outputs = call_function(new.emitter, module, made.primal, new.arguments[:count])
    residuals = made.residual_values(new.arguments[:count], outputs)
    given = [
        c
        for c, has in zip(
            new.arguments[count:],
            (f for f, may in zip(made.active_results, subject.active_results, strict=True) if may),
            strict=True,
        )
        if has
    ]
    values = iter(call_function(new.emitter, module, transposed.symbol, [*residuals, *given]))
    flags = iter(transposed.nonzero)
    actual = [
        next(values) if next(flags) else new.emitter.zeros_like(a)
        for a, is_active in zip(new.arguments[:count], active, strict=True)
        if is_active
    ]
    symbol = new.finish(actual)
    verify(module)
    rng = np.random.default_rng(5)
    results = subject.at(subject.arguments)
    cotangents = [direction(rng, r) for r, has in zip(results, subject.active_results, strict=True) if has]
    return Subject(
        module,
        symbol,
        (*subject.arguments, *cotangents),
        (*subject.active, *(True for _ in cotangents)),
        f"vjp of {subject}",
    )


def directions(subject: Subject, active: Activity) -> list[np.ndarray]:
    """A random tangent for each active argument."""
    rng = np.random.default_rng(zlib.crc32(subject.title.encode()))
    return [direction(rng, a) for a, is_on in zip(subject.arguments, active, strict=True) if is_on]


def direction(rng: np.random.Generator, value: np.ndarray) -> np.ndarray:
    """A random array like `value`."""
    drawn = rng.standard_normal(value.shape)
    if value.dtype in COMPLEX:
        drawn = drawn + 1j * rng.standard_normal(value.shape)
    return np.asarray(drawn).astype(value.dtype)


# -- comparisons ---------------------------------------------------------------------------------------

STEP: Final = 1e-5
TOLERANCE: Final = {"rtol": 2e-6, "atol": 2e-7}


def compare_with_differences(subject: Subject) -> None:
    """The pushforward of `subject` against central differences along its tangents."""
    if not any(subject.active):
        return
    pushed, has_tangent = pushforward(subject)
    outputs = pushed.at(pushed.arguments)
    count = len(subject.result_types)
    tangents = iter(outputs[count:])
    moves = iter(pushed.arguments[len(subject.arguments) :])
    move = [next(moves) if on else None for on in subject.active]
    ahead, behind = (
        subject.at([a if m is None else a + s * m for a, m in zip(subject.arguments, move, strict=True)])
        for s in (STEP, -STEP)
    )
    same = subject.at(subject.arguments)
    for k, (plain, result) in enumerate(zip(same, outputs[:count], strict=True)):
        np.testing.assert_array_equal(result, plain, f"result {k} of {pushed}")
    for k, (has, may) in enumerate(zip(has_tangent, subject.active_results, strict=True)):
        if not may:
            assert not has, f"result {k} of {pushed} has a tangent but is no float"
            continue
        measured = (ahead[k] - behind[k]) / (2 * STEP)
        actual = next(tangents) if has else np.zeros_like(measured)
        np.testing.assert_allclose(actual, measured, err_msg=f"result {k} of {pushed}", **TOLERANCE)


def compare_modes(subject: Subject, rtol: float = 1e-9) -> None:
    """The dot identity: cotangents paired with pushed tangents are pulled cotangents paired with tangents."""
    if not any(subject.active) or not any(subject.active_results):
        return
    pushed, has_tangent = pushforward(subject)
    pulled = pullback(subject)
    outputs = pushed.at(pushed.arguments)[len(subject.result_types) :]
    count = len(subject.arguments)
    tangents, cotangents = pushed.arguments[count:], pulled.arguments[count:]
    flags = [h for h, may in zip(has_tangent, subject.active_results, strict=True) if may]
    seen = [c for c, has in zip(cotangents, flags, strict=True) if has]
    left, size = _pairing(seen, outputs)
    right, _ = _pairing(pulled.at(pulled.arguments), tangents)
    np.testing.assert_allclose(right, left, rtol=rtol, atol=rtol * size, err_msg=f"dot identity of {subject}")


def _pairing(left: Sequence[np.ndarray], right: Sequence[np.ndarray]) -> tuple[float, float]:
    """The real part of the sum of products, and the sum of their moduli: what cancels is noise."""
    assert [a.shape for a in left] == [b.shape for b in right]
    products = [
        np.asarray(a).astype(np.complex128) * np.asarray(b).astype(np.complex128)
        for a, b in zip(left, right, strict=True)
    ]
    return sum(float(p.real.sum()) for p in products), sum(float(np.abs(p).sum()) for p in products)


def types_of(subject: Subject) -> list[ValueType]:
    """The types of all values in the function of a subject."""
    codec = Codec(subject.module.context)
    operations, _ = split_body(function(subject.module, subject.symbol))
    return [codec.read_type(r.type) for o in operations for r in o.results]


def array_dtype(type_: ValueType) -> np.dtype | None:
    return type_.dtype if isinstance(type_, TensorType) else None
