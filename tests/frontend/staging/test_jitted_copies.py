"""Jitted functions that are copied, pickled and sent to other processes."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze

cloudpickle: Any = pytest.importorskip("cloudpickle")


@adze.jit
def doubled(x: Any) -> Any:
    return x * 2


def power(x: Any, n: int) -> Any:
    return x**n


class Layer:
    def __init__(self) -> None:
        self.weight = np.float32([1, 2])
        self.apply = adze.jit(lambda x: x * 3)

    @adze.jit
    @staticmethod
    def halved(x: Any) -> Any:
        return x / 2


X = np.float32([1, 3])


def test_a_copy_of_a_jitted_function_is_itself() -> None:
    assert copy.copy(doubled) is doubled and copy.deepcopy(doubled) is doubled
    layer = Layer()
    twin = copy.deepcopy(layer)
    assert twin.apply is layer.apply and twin.weight is not layer.weight
    assert twin.apply(X).tolist() == [3, 9]


@pytest.mark.parametrize("library", [pickle, cloudpickle], ids=lambda library: library.__name__)
def test_a_jitted_function_that_its_module_has_is_pickled_by_name(library: Any) -> None:
    for known in (doubled, Layer.halved):
        assert pickle.loads(library.dumps(known)) is known


def test_another_one_is_pickled_with_its_options() -> None:
    again = pickle.loads(pickle.dumps(adze.jit(power, static_argnums=1)))
    assert again(X, 3).tolist() == [1, 27]
    donating = pickle.loads(pickle.dumps(adze.jit(power, static_argnames="n", donate_argnums=0)))
    array = adze.device_put(X)
    assert donating(array, n=2).tolist() == [1, 9] and array.is_deleted()
    with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
        pickle.dumps(adze.jit(lambda x: x + 1))
    assert pickle.loads(cloudpickle.dumps(adze.jit(lambda x: x + 1)))(X).tolist() == [2, 4]


def test_cloudpickle_sends_what_a_script_defines_to_another_process() -> None:
    script = """
        import subprocess, sys
        import adze, cloudpickle

        @adze.jit
        def tripled(x):
            return x * 3

        def work(x):
            return tripled(x) + 1

        code = "import pickle, sys; print(pickle.load(sys.stdin.buffer)(2.0))"
        subprocess.run([sys.executable, "-c", code], input=cloudpickle.dumps(work), check=True)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "7.0", done.stderr


@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_processes_of_multiprocessing_get_what_a_script_defines(tmp_path: Path, start: str) -> None:
    """They have the script themselves, so a name is enough."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import multiprocessing, pickle
            import adze

            @adze.jit
            def tripled(x):
                return x * 3

            if __name__ == "__main__":
                assert pickle.loads(pickle.dumps(tripled)) is tripled
                with multiprocessing.get_context({start!r}).Pool(1) as pool:
                    print(*pool.map(tripled, [1.0, 2.0]))
            """
        )
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "3.0 6.0\n"), done.stderr
