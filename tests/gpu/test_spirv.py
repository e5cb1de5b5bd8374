"""The SPIR-V of programs for Vulkan is valid, but for what the list of known messages allows."""

from __future__ import annotations

import pytest

import adze

from .programs import PROGRAMS
from .spirv_val import ABSENT, complaints, message_of, validator

pytestmark = pytest.mark.gpu

needs_validator = pytest.mark.skipif(validator() is None, reason=ABSENT)


@pytest.mark.thorough
@needs_validator
@pytest.mark.parametrize("target", ["vulkan:lavapipe", "vulkan:ampere", "vulkan:rdna3"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_spirv_of_a_program_is_valid(name: str, target: str) -> None:
    program = PROGRAMS[name]
    module = adze.trace(program.function, *program.specs).lower(target).compile().vmfb
    assert not complaints(module)


@pytest.mark.thorough
@needs_validator
def test_damaged_code_is_noticed() -> None:
    assert message_of(b"\x03\x02\x23\x07" + bytes(16)) is not None
