"""`debug.print` in both forms, and `debug.log`: what is written, in and out of `jit`."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import adze
from adze.frontend.errors import ArgumentError

ONES = np.ones(2, np.float32)


@pytest.mark.parametrize("stage", [lambda f: f, adze.jit])
def test_options_come_first_or_with_the_format(stage: Any, capfd: pytest.CaptureFixture[str]) -> None:
    def show(x: Any) -> Any:
        adze.debug.print("x = {}", x)
        adze.debug.print(ordered=True)("y = {y}", y=x + 1)
        adze.debug.print("plain")
        return x

    stage(show)(ONES)
    assert capfd.readouterr().out == "x = [1. 1.]\ny = [2. 2.]\nplain\n"


def test_arguments_without_a_field(capfd: pytest.CaptureFixture[str]) -> None:
    for args, kwargs, named in (((ONES,), {}, "0"), ((), {"y": 1}, "y")):
        with pytest.raises(ArgumentError, match=f"the format 'x' does not fit .* no field for {named}"):
            adze.debug.print("x", *args, **kwargs)
    adze.debug.print("x", ONES, 3, skip_format_check=True)
    assert capfd.readouterr().out == "x [1. 1.] 3\n"


def test_log_writes_to_the_logger(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "adze"):
        adze.jit(lambda x: (adze.debug.log("x = {}", x), x)[1])(ONES)
        adze.debug.log()("y = {y}", y=2)
    assert [record.getMessage() for record in caplog.records] == ["x = [1. 1.]", "y = 2"]
    assert {record.levelname for record in caplog.records} == {"INFO"}
