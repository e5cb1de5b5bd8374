"""Every op of the table compiles for NVIDIA GPUs, but for those that a GPU cannot run: which, and why."""

from __future__ import annotations

import pytest

from adze.runtime.targets import parse_target

from ..dialects.ops.test_ops import NAMES, quick_instances
from .coverage import refused

CUDA = parse_target("cuda:sm_80")
REFUSED = {
    "host_call": "cannot call Python functions",
    "host_effect": "cannot call Python functions",
}


def check_refusals(name: str) -> None:
    reasons = refused(quick_instances(name), CUDA)
    assert bool(reasons) == (name in REFUSED), reasons
    assert all(REFUSED[name] in reason for reason in reasons.values()), reasons


@pytest.mark.parametrize("name", ["host_call", "is_finite"])
def test_what_is_refused_is_named(name: str) -> None:
    check_refusals(name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_every_op_compiles_for_cuda(name: str) -> None:
    check_refusals(name)
