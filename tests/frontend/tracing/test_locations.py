"""The user's own line: the innermost frame outside adze and the libraries it is called through."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import pytest

import adze
from adze.frontend.tracing.locations import located, user_location, user_location_text
from adze.frontend.tracing.trace import definition


def here() -> int:
    """The line of the caller."""
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return frame.f_back.f_lineno


def test_the_users_line_is_the_callers() -> None:
    assert user_location() == (__file__, here())
    assert user_location_text() == f"{__file__}:{here()}"


@pytest.mark.parametrize(
    "file",
    [
        "/x/site-packages/typer/main.py",
        "/x/site-packages/click/core.py",
        "/x/dist-packages/numpy/core.py",
        "/x/bin/adze",
        "<frozen runpy>",
    ],
)
def test_frames_of_libraries_and_of_the_command_line_are_skipped(file: str) -> None:
    names: dict[str, Any] = {"user_location": user_location}
    exec(compile("found = user_location()", file, "exec"), names)
    assert names["found"] == (__file__, here() - 1)


def test_equal_code_of_the_user_and_of_a_library_is_told_apart() -> None:
    files = ["/x/site-packages/numpy/equal.py", "/x/mine/equal.py", "/x/site-packages/click/equal.py"]
    codes = [compile("found = user_location()  # equal", file, "exec") for file in files]
    assert codes[0] == codes[1]
    found = []
    for code in codes:
        names: dict[str, Any] = {"user_location": user_location}
        exec(code, names)
        found.append(names["found"])
    assert found[0] == found[2] == (__file__, here() - 2)
    assert found[1] == ("/x/mine/equal.py", 1)


def test_calls_through_numpy_count_as_the_users() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.exp(x))

    text = adze.trace(f, np.ones(2)).mlir(locations=True)
    assert f'"{__file__}":{f.__code__.co_firstlineno + 1}:' in text and "numpy/" not in text


def test_errors_of_lower_layers_get_a_line_once() -> None:
    with pytest.raises(adze.AdzeError) as caught, located():
        raise adze.AdzeError("broken", hint="mend it")
    assert str(caught.value) == f"broken\n  at {__file__}:{here() - 2}\n  hint: mend it"
    with pytest.raises(adze.AdzeError) as caught, located():
        raise adze.AdzeError("broken", where="elsewhere:3")
    assert str(caught.value) == "broken\n  at elsewhere:3"


class Model:
    def __call__(self, x: Any) -> Any:
        return x

    def method(self, x: Any) -> Any:
        return x


@functools.wraps(Model.method)
def wrapper(*args: Any) -> Any:
    """Stands for a decorator."""


@pytest.mark.parametrize(
    ("function", "owner"),
    [
        (Model.method, Model.method),
        (Model().method, Model.method),
        (Model(), Model.__call__),
        (functools.partial(Model.method, None), Model.method),
        (functools.partial(functools.partial(Model.method)), Model.method),
        (wrapper, Model.method),
    ],
    ids=["function", "method", "object", "partial", "partial of partial", "wrapped"],
)
def test_a_function_is_defined_where_its_body_is(function: Any, owner: Any) -> None:
    assert definition(function) == (__file__, owner.__code__.co_firstlineno)


def test_functions_without_python_code_have_no_definition() -> None:
    assert definition(len) is None and definition(np.sin) is None
