"""Passes are left out where a module has none of their ops, and share what they ask of all ops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.dialects.dialect import OPS
from adze.dialects.op import DIALECT
from adze.passes.analysis.shared import counts, shared
from adze.passes.base import Pass
from adze.passes.pipeline import PIPELINE, run_pipeline

OF_ADZE = {f"{DIALECT}.{op.name}" for op in OPS}


def module() -> Any:
    return adze.trace(lambda x: anp.sin(x) * 2, np.ones(3, np.float32)).program.module


class Looks(Pass):
    """Counts ops as a pass does that shares."""

    name = "looks"

    def __init__(self, changes: bool | None = False) -> None:
        self.changes = changes
        self.seen: Any = None

    def run(self, module: Any) -> bool | None:
        self.seen = shared(counts, module)
        return self.changes


class Never(Pass):
    name = "never"

    def run(self, module: Any) -> bool:
        raise AssertionError("it was not to run")


class NeedsLoops(Never):
    needs = ("adze.scan", "adze.while")


class NeedsSines(Never):
    needs = ("adze.scan", "adze.sin")


def test_a_pass_without_its_ops_is_left_out() -> None:
    run_pipeline(module(), [NeedsLoops()])
    with pytest.raises(AssertionError, match="not to run"):
        run_pipeline(module(), [NeedsSines()])


@pytest.mark.parametrize("step", PIPELINE, ids=lambda step: step.name)
def test_the_ops_that_passes_need_exist(step: Pass) -> None:
    stated = {name for name in step.needs if name.startswith(f"{DIALECT}.")}
    assert stated <= OF_ADZE


@pytest.mark.parametrize("changes", [True, None])
def test_what_is_shared_is_forgotten_after_a_change(changes: bool | None) -> None:
    first, second, third = Looks(False), Looks(changes), Looks(False)
    run_pipeline(module(), [first, second, third])
    assert first.seen is second.seen
    assert third.seen is not first.seen
    assert third.seen == first.seen


def test_nothing_is_shared_outside_of_a_pipeline_or_with_another_module() -> None:
    one, other = module(), module()
    assert shared(counts, one) is not shared(counts, one)

    class LooksElsewhere(Looks):
        def run(self, module: Any) -> bool | None:
            assert shared(counts, other) is not shared(counts, other)
            return super().run(module)

    step = LooksElsewhere()
    run_pipeline(one, [step])
    assert step.seen["adze.sin"] == 1
