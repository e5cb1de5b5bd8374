"""Operators of arrays come from one table of the library, whichever module a process imports first."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

import adze.numpy as anp
from adze.frontend.errors import OutOfRangeError
from adze.frontend.library.operators import TABLE
from adze.frontend.tracing import operators

from ...selection import quick_first


def test_the_table_has_the_functions_that_the_spine_calls_and_no_others() -> None:
    for module in ("staging.lowered", "transforms.checkpoints", "control.known_loops"):
        importlib.import_module(f"adze.frontend.{module}")  # they call functions that the package root adds
    of_the_root = {"array_namespace", "sharding_of", "shards_of", "laid_out", "stablehlo_text"}
    of_the_root |= {
        "has_function",
        "name_saved_values",
        "device_of_jax",
        "lying_as",
        "compiled_loop",
        "jitted_function",
    }
    assert {*TABLE, *of_the_root} == operators.NAMES


def test_the_namespace_of_an_array_is_the_public_one() -> None:
    assert anp.ones(2).__array_namespace__() is anp


FIRST = {
    "an array": """
        from adze.frontend.tracing.array import Array
        assert (Array(np.ones(2)) + 1).sum() == 4
    """,
    "jit": """
        import adze
        assert float(adze.jit(lambda x: (x * x)[0])(np.float32([3.0]))) == 9
    """,
    "an engine": """
        from adze.frontend.transforms.differentiation import grad
        assert grad(lambda x: x * x)(3.0) == 6
    """,
    "a pickled array": """
        import pickle
        array = pickle.loads(PICKLE)
        assert (-array)[0] == -1
    """,
    "several threads": """
        import threading
        from concurrent.futures import ThreadPoolExecutor
        from adze.frontend.tracing.array import Array
        barrier = threading.Barrier(4)

        def work(number):
            barrier.wait(timeout=60)
            return (Array(np.ones(2)) * number).sum()

        with ThreadPoolExecutor(4) as pool:
            assert list(map(float, pool.map(work, range(4)))) == [0, 2, 4, 6]
    """,
    "a namespace": """
        from adze.frontend.tracing.array import Array
        assert Array(np.eye(2)).__array_namespace__().linalg.det(np.eye(2)) == 1
    """,
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("first", quick_first(list(FIRST), 3))
def test_operators_work_in_a_process_that_begins_with(first: str) -> None:
    begin = f"import numpy as np\nPICKLE = {pickle.dumps(anp.ones(2))!r}\n"
    code = begin + textwrap.dedent(FIRST[first])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_importing_adze_imports_no_array() -> None:
    code = (
        "import adze, sys; print([m for m in sys.modules if m in ('numpy', 'adze.frontend.tracing.array')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    ("dtype", "held", "refused"),
    [
        ("int32", [2**31 - 1, -(2**31), 0], [2**31, -(2**31) - 1]),
        ("int64", [2**63 - 1, -(2**63)], [2**63, -(2**63) - 1]),
        ("uint8", [255, 0], [256, -1]),
        ("float32", [2**53 + 1, 2**24 + 1, 3.4028234e38, -0.0, 1e-46, np.nan, -np.inf], [3.5e38, 2**1100]),
        ("float64", [2**53 + 1, 2**63 + 1, 1.7e308, 5e-324, np.inf], [2**1100]),
    ],
)
def test_numbers_beside_arrays_are_held_or_refused(dtype: str, held: list[Any], refused: list[Any]) -> None:
    for shape in ((2,), (0, 3), ()):
        x = anp.zeros(shape, dtype)
        for number in held:
            result, wanted = np.asarray(anp.maximum(x, number)), np.maximum(np.zeros(shape, dtype), number)
            assert result.dtype == dtype and np.array_equal(result, wanted.astype(dtype), equal_nan=True)
            negative = np.signbit(np.asarray(anp.where(anp.ones(shape, bool), number, x)))
            assert np.all(negative == np.signbit(float(number))) or dtype == "uint8"
        for number in refused:
            with pytest.raises(OutOfRangeError, match=f"is out of range for {dtype}"):
                x + number


def test_objects_that_answer_operators_themselves_are_asked_each_time() -> None:
    class Own:
        def __radd__(self, other: Any) -> str:
            return "own"

    x = anp.ones(2)
    for _ in range(2):
        assert x + Own() == "own"
        assert x == pytest.approx([1.0, 1.0])
        with pytest.raises(TypeError):
            x + None
        assert (x + 1j).dtype == np.complex64


def test_numpy_asks_arrays_for_attributes_that_they_have_not() -> None:
    x = anp.ones(2)
    for name in ("__array_interface__", "__array_struct__"):
        with pytest.raises(AttributeError, match=f"'Array' object has no attribute '{name}'"):
            getattr(x, name)
