"""Every op of the table compiles for NVIDIA GPUs."""

from __future__ import annotations

import pytest

from adze.runtime.targets import parse_target

from ..dialects.ops.test_ops import NAMES, quick_instances
from .coverage import TOGETHER, refused

pytestmark = pytest.mark.gpu

CUDA = parse_target("cuda:sm_80")


def check_none_is_refused(name: str) -> None:
    # Each case of a host call is a program of its own: they all name their function call_0.
    together = 1 if name in ("host_call", "host_effect") else TOGETHER
    assert refused(quick_instances(name), CUDA, together) == {}


@pytest.mark.parametrize("name", ["host_call", "is_finite"])
def test_ops_compile_for_cuda(name: str) -> None:
    check_none_is_refused(name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_every_op_compiles_for_cuda(name: str) -> None:
    check_none_is_refused(name)
