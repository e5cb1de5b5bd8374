"""Every row of the table of op cases, batched: the result is the one of a Python loop over slices.

Each array operand alone and all together, with static and dynamic sizes of the batch and of the rest; a batch
of a batch; derivatives of a batched function and batches of derivatives.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cache

import numpy as np
import pytest

from adze.dialects.dialect import BY_NAME, OPS
from adze.dialects.op import NO_BATCH
from adze.dialects.ops.collectives.mesh_axes import MeshAxisOp
from adze.dialects.ops.collectives.named_axes import Collective
from adze.dialects.types import BOOL, INEXACT
from adze.passes.analysis.evaluate import evaluate
from adze.passes.analysis.verify import verify
from adze.passes.engines import Engines
from adze.passes.ir.construction import Activity

from ...op_cases import BY_OP
from ...selection import some
from .cases import Array, Instance, T, instances
from .derivative_checks import (
    FLOAT64,
    IRREVERSIBLE,
    LARGEST,
    Subject,
    draw,
    pullback,
    smooth_instances,
    subject_of,
)

BATCH = 3
CHOSEN = tuple(map(np.dtype, (np.float64, np.float32, np.int32, np.complex64, np.bool_)))
"""The dtypes of a case that are batched: the first two of these that it has."""
NAMES = [
    op.name
    for op in OPS
    if op.batch is not NO_BATCH
    and op.name in BY_OP
    and not op.name.startswith("size_")
    # Over an axis of its own a collective is no loop: tests/frontend/test_collectives.py, sharding/.
    and not issubclass(op, (Collective, MeshAxisOp))
]
for_each_op = pytest.mark.parametrize("name", NAMES)


@cache
def instances_of(name: str) -> tuple[Instance, ...]:
    """A case once for its first dtypes, static and dynamic."""
    results: dict[tuple[int, bool], list[Instance]] = {}
    everything = [i for i in instances(BY_OP[name]) if is_batchable(i)]
    for instance in sorted(everything, key=lambda i: CHOSEN.index(i.dtype) if i.dtype in CHOSEN else 9):
        same = results.setdefault((id(instance.case), instance.dynamic), [])
        if len(same) < (1 if instance.dynamic else 2):
            same.append(instance)
    return tuple(itertools.chain.from_iterable(results.values()))


def is_batchable(instance: Instance) -> bool:
    operands = [o for o in instance.case.operands if isinstance(o, Array)]
    return bool(operands) and all(int(np.prod(o.shape)) <= LARGEST for o in operands)


def skip_undefined(name: str) -> None:
    rule = BY_NAME[name].batch
    if hasattr(rule, "reason"):
        pytest.skip(f"{name}: {rule.reason}")


def masks(instance: Instance) -> list[Activity]:
    """Each array operand alone, then all."""
    count = len([o for o in instance.case.operands if isinstance(o, Array)])
    alone = [tuple(i == chosen for i in range(count)) for chosen in range(count)]
    return [*alone, (True,) * count] if count > 1 else alone


def padded(mask: Activity, subject: Subject) -> Activity:
    """`mask` for the arguments of a function: the carrier of dynamic sizes is never batched."""
    return (*mask, *(False,) * (len(subject.arguments) - len(mask)))


def batches(actual: Iterable[Instance], thorough: bool) -> Iterator[tuple[Instance, Subject, Activity]]:
    """What to batch: all, or each case, dtype, kind of sizes and set of operands once."""
    pairs = [(instance, mask) for instance in actual for mask in masks(instance)]

    def factors(pair: tuple[Instance, Activity]) -> tuple[Hashable, ...]:
        instance, mask = pair
        return id(instance.case), instance.dtype, instance.dynamic, mask

    for instance, mask in some(pairs, factors, thorough):
        subject = subject_of(instance)
        yield instance, subject, padded(mask, subject)


def slices(instance: Instance, subject: Subject, count: int) -> list[tuple[np.ndarray, ...]]:
    """Arguments for each element of a batch."""
    rows = []
    for k in range(count):
        rng = np.random.default_rng(zlib.crc32(f"batch {instance} {k}".encode()))
        drawn = [a for a in redrawn(instance, rng) if isinstance(a, np.ndarray)]
        rows.append((*drawn, *subject.arguments[len(drawn) :]))
    return rows


def redrawn(instance: Instance, rng: np.random.Generator) -> Sequence[np.ndarray | int]:
    if instance.dtype is not None and instance.dtype in INEXACT and instance.row.op != "sort":
        return draw(instance.row, instance.case, rng, instance.dtype)
    return [
        o.values(rng, instance.dtype if o.dtype is T else o.dtype) if isinstance(o, Array) else o.value  # type: ignore[arg-type]
        for o in instance.case.operands
    ]


def batched_arguments(rows: Sequence[Sequence[np.ndarray]], mask: Activity) -> list[np.ndarray]:
    return [np.stack([r[i] for r in rows]) if on else rows[0][i] for i, on in enumerate(mask)]


def loop(subject: Subject, rows: Sequence[Sequence[np.ndarray]], mask: Activity) -> list[list[np.ndarray]]:
    """The results for each element of the batch."""
    return [subject.at([r[i] if on else rows[0][i] for i, on in enumerate(mask)]) for r in rows]


def compare(
    expected: Sequence[Sequence[np.ndarray]], actual: Sequence[np.ndarray], flags: Activity, what: str
) -> None:
    for k, is_batched in enumerate(flags):
        want = np.stack([e[k] for e in expected]) if is_batched else expected[0][k]
        assert actual[k].dtype == want.dtype, what
        if want.dtype in INEXACT:
            wide = np.complex128 if want.dtype.kind == "c" else np.float64
            eps = 64 * float(np.finfo(want.dtype).eps) if want.dtype.kind in "fc" else 0.1
            np.testing.assert_allclose(
                actual[k].astype(wide), want.astype(wide), rtol=eps, atol=eps, err_msg=what
            )
        else:
            np.testing.assert_array_equal(actual[k], want, what)
        if not is_batched:
            assert all(np.array_equal(e[k], want, equal_nan=want.dtype.kind == "f") for e in expected), what


def check(instance: Instance, subject: Subject, mask: Activity, dynamic: bool) -> None:
    rows = slices(instance, subject, BATCH)
    made = Engines(subject.module).batcher(None if dynamic else BATCH).batch(subject.symbol, mask)
    verify(subject.module)
    arguments = batched_arguments(rows, mask)
    results = evaluate(subject.module, made.symbol, [BATCH, *arguments] if dynamic else arguments)
    what = f"{subject}, batched {mask}, {'dynamic' if dynamic else 'static'} batch"
    compare(loop(subject, rows, mask), [np.asarray(f) for f in results], made.batched_results, what)


@for_each_op
def test_batch_is_a_loop(name: str, thorough: bool) -> None:
    skip_undefined(name)
    assert instances_of(name), f"no case of {name} can be batched"
    for instance, subject, mask in batches(instances_of(name), thorough):
        check(instance, subject, mask, dynamic=False)


@for_each_op
def test_dynamic_batch_is_a_loop(name: str, thorough: bool) -> None:
    skip_undefined(name)
    first = {(id(i.case), i.dynamic): i for i in reversed(instances_of(name))}
    for instance, subject, mask in batches(reversed(first.values()), thorough):
        check(instance, subject, mask, dynamic=True)


@for_each_op
def test_batch_of_a_batch_is_a_loop_of_loops(name: str, thorough: bool) -> None:
    """The outer batch over all, the inner one over each operand alone, and the other way round."""
    skip_undefined(name)
    first = {id(i.case): i for i in reversed(instances_of(name)) if not i.dynamic}
    rows = [(i, inner, outer) for i in first.values() for inner, outer in pairs_of_masks(i)]
    for instance, inner, outer in some(rows, lambda row: (row[1], row[2]), thorough):
        subject = subject_of(instance)
        check_twice(instance, subject, padded(inner, subject), padded(outer, subject))


def pairs_of_masks(instance: Instance) -> list[tuple[Activity, Activity]]:
    *single, everything = masks(instance)
    pairs = [*((m, everything) for m in single), *((everything, m) for m in single)]
    return pairs or [(everything, everything)]


def check_twice(instance: Instance, subject: Subject, inner: Activity, outer: Activity) -> None:
    rows = slices(instance, subject, 2 * BATCH)
    first = Engines(subject.module).batcher(BATCH).batch(subject.symbol, inner)
    second = Engines(subject.module).batcher(2).batch(first.symbol, outer)
    verify(subject.module)
    groups = [batched_arguments(rows[:BATCH], inner), batched_arguments(rows[BATCH:], inner)]
    arguments = batched_arguments(groups, outer)
    results = evaluate(subject.module, second.symbol, arguments)
    between = Subject(subject.module, first.symbol, tuple(groups[0]), subject.active, f"batch of {subject}")
    what = f"{subject}, batched {inner} inside {outer}"
    compare(loop(between, groups, outer), [np.asarray(f) for f in results], second.batched_results, what)


DIFFERENTIABLE = [
    name
    for name in NAMES
    if not hasattr(BY_NAME[name].jvp, "reason")
    and name not in IRREVERSIBLE
    and any(smooth_instances(BY_OP[name], [FLOAT64]))
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_batch_of_pullback_is_pullback_of_batch(name: str, thorough: bool) -> None:
    """Both are the loop of pullbacks; cotangents of operands that are shared are summed over the batch."""
    skip_undefined(name)
    static = [i for i in smooth_instances(BY_OP[name], [FLOAT64]) if not i.dynamic]
    usable = [row for row in batches(static, thorough) if any(row[1].active_results)]
    for instance, subject, mask in some(usable, lambda row: row[2], thorough):
        check_pullbacks(instance, subject, mask)


def check_pullbacks(instance: Instance, subject: Subject, mask: Activity) -> None:
    module, rows = subject.module, slices(instance, subject, BATCH)
    pulled = pullback(subject)
    cotangents = pulled.arguments[len(subject.arguments) :]
    rng = np.random.default_rng(7)
    given = [np.stack([c * rng.uniform(0.5, 2) for _ in range(BATCH)]).astype(c.dtype) for c in cotangents]
    expected = [
        pulled.at([*(r[i] if on else rows[0][i] for i, on in enumerate(mask)), *(g[k] for g in given)])
        for k, r in enumerate(rows)
    ]
    arguments = batched_arguments(rows, mask)
    batcher = Engines(module).batcher(BATCH)
    mapped = batcher.batch(pulled.symbol, (*mask, *(True for _ in given)), all_results=True)
    verify(module)
    each = [np.asarray(r) for r in evaluate(module, mapped.symbol, [*arguments, *given])]
    compare(expected, each, mapped.batched_results, f"batch of the pullback of {subject}, batched {mask}")
    whole = Engines(module).batcher(BATCH).batch(subject.symbol, mask, all_results=True)
    batched = Subject(module, whole.symbol, tuple(arguments), subject.active, f"batch of {subject}")
    back = pullback(batched)
    result = back.at([*arguments, *given])
    active = [on for on, is_active in zip(mask, subject.active, strict=True) if is_active]
    for k, is_batched in enumerate(active):
        want = np.stack([e[k] for e in expected]) if is_batched else sum(e[k] for e in expected)
        tolerance = 1e-9 if result[k].dtype in (FLOAT64, np.complex128) else 1e-2
        np.testing.assert_allclose(
            result[k], want, rtol=tolerance, atol=tolerance, err_msg=f"{back} batched {mask}, {k}"
        )


def test_booleans_and_floats_are_batched() -> None:
    dtypes = {i.dtype for name in NAMES for i in instances_of(name)}
    assert {BOOL, FLOAT64} <= dtypes
