"""A dumped stage goes on to what `jit` compiles: from the dump of every pass to the same text.

No compile by IREE is needed: what is compared is the module that IREE would get.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze import ShapeDtype, nn
from adze import numpy as anp
from adze.frontend.tracing.interpreter import ops
from adze.passes.ir.parsing import parse_module
from adze.passes.pipeline import PIPELINE, between, run_pipeline

Function = Callable[..., Any]


def layer(x: Any, w: Any) -> Any:
    return anp.tanh(x @ w) * 1 + 0


def normalised(x: Any) -> Any:
    centred = x - anp.mean(x, axis=-1, keepdims=True)
    return centred / anp.sqrt(anp.mean(centred**2, axis=-1, keepdims=True) + 1e-5)


def summed(function: Function) -> Function:
    return lambda *arguments: anp.sum(function(*arguments) ** 2)


def scanned(x: Any, rows: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        carry = anp.sin(carry) * row
        return carry, (carry, carry + row)

    return adze.lax.scan(step, x, rows)


def scanned_sum(x: Any, rows: Any) -> Any:
    return anp.sum(scanned(x, rows)[1][0])


def halved(x: Any) -> Any:
    return adze.lax.while_loop(lambda v: anp.max(v[0]) > 1, lambda v: (v[0] / 2, v[1] + 1, v[2]), (x, 0, x))


def branched(flag: Any, x: Any) -> Any:
    return adze.lax.cond(flag, lambda v: anp.sort(v), lambda v: v[::-1] * 2, x)


def pairwise(x: Any) -> Any:
    s = anp.sum(x, axis=1)
    return s[:, None] + s[None, :]


def updated(x: Any, places: Any, values: Any) -> Any:
    return x.at[places].add(values), x.at[places].max(values), x[places]


def unsigned(x: Any, y: Any) -> Any:
    return x + y * 3, anp.right_shift(x, 2), x.astype(np.float32), anp.max(x)


def rotated(x: Any, angle: Any) -> Any:
    turn = np.complex64(0.5 + 2j)
    return anp.sum(x * turn + anp.exp(angle), axis=0), anp.abs(x), anp.full((3, 4), turn) + x


def spectrum(x: Any) -> Any:
    return anp.abs(anp.fft.fft(x))


def constants(x: Any) -> Any:
    weird = np.array([np.nan, -np.inf, -0.0, 5e-324, 0.1])
    return x + weird, anp.asarray(np.arange(300, dtype=np.float32) / 7) * 2, anp.asarray(np.arange(9) > 4)


def drawn(key: Any) -> Any:
    return adze.random.normal(key, (5, 3)), adze.random.permutation(key, 7)


def printed(x: Any) -> Any:
    ops.print(x, format="x is {}")
    return x * 2


def joined(x: Any, y: Any) -> Any:
    return anp.concatenate([x, y * 2], axis=0), x.T @ x, anp.cumsum(y, axis=0)


def convolved(x: Any, w: Any) -> Any:
    return nn.relu(adze.lax.conv_general_dilated(x, w, (1, 1), "SAME"))


def bands(x: Any) -> Any:
    return anp.sum(normalised(x) * x, axis=0), anp.max(x, axis=0), anp.sum(x * x, axis=1)


def spec(*shape: int | str, dtype: Any = np.float32) -> ShapeDtype:
    return ShapeDtype(shape, dtype)


PROGRAMS: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "layer": (layer, (spec(8, 30), spec(30, 4))),
    "gradient of a layer": (adze.grad(summed(layer), (0, 1)), (spec(8, 30), spec(30, 4))),
    "dynamic layer": (layer, (spec("n", 30), spec(30, 4))),
    "large product": (lambda x, w: anp.exp(x @ w), (spec(64, 64), spec(64, 64))),
    "gradient of a normalisation": (adze.grad(summed(normalised)), (spec(6, 50, dtype=np.float64),)),
    "large reductions": (bands, (spec(256, 512),)),
    "scan": (scanned, (spec(3), spec(7, 3))),
    "gradient of a scan": (adze.grad(scanned_sum), (spec(3), spec("n", 3))),
    "while loop": (halved, (spec(4),)),
    "dynamic while loop": (halved, (spec("n"),)),
    "branches": (branched, (spec(dtype=np.bool_), spec("n"))),
    "batched branches": (adze.vmap(branched, (0, 0)), (spec(5, dtype=np.bool_), spec(5, 6))),
    "two index maps": (pairwise, (spec(6, 8),)),
    "updates": (updated, (spec(9), spec(4, dtype=np.int32), spec(4))),
    "unsigned integers": (unsigned, (spec(6, dtype=np.uint8), spec(6, dtype=np.uint8))),
    "complex numbers": (rotated, (spec(3, 4, dtype=np.complex64), spec(dtype=np.complex64))),
    "spectrum": (spectrum, (spec(16),)),
    "constants": (constants, (spec(5, dtype=np.float64),)),
    "half precision": (lambda x, w: normalised(x @ w), (spec(8, 8, dtype="bfloat16"),) * 2),
    "random numbers": (drawn, (spec(2, dtype=np.uint32),)),
    "effects": (printed, (spec(4),)),
    "joined arrays": (joined, (spec("n", 4), spec("n", 4))),
    "convolution": (convolved, (spec(2, 3, 8, 8), spec(4, 3, 3, 3))),
}


def dumped(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, nans: bool = False
) -> tuple[list[Path], str]:
    """The dumps of a program, and the text of the module that IREE gets."""
    function, arguments = PROGRAMS[name]
    monkeypatch.setenv("ADZE_DUMP_DIR", str(folder))
    with adze.debug.nans(nans):
        lowered = adze.trace(function, *arguments).lower()
    (place,) = folder.iterdir()
    return sorted(place.iterdir()), lowered.canonical().decode()


def test_dumps_are_the_traced_program_and_what_each_pass_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, _ = dumped("layer", tmp_path, monkeypatch)
    names = ["traced", *(step.name for step in PIPELINE)]
    assert [file.name for file in files] == [f"{n:02}-{name}.mlir" for n, name in enumerate(names)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_dump_goes_on_to_the_same_module(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, expected = dumped(name, tmp_path, monkeypatch)
    assert len(files) == len(PIPELINE) + 1
    for file in files:
        assert_goes_on(file, expected)


@pytest.mark.thorough
def test_dumps_with_checks_for_nan_go_on_to_the_same_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, expected = dumped("gradient of a scan", tmp_path, monkeypatch, nans=True)
    assert "NaN in the" in expected
    for file in files:
        assert_goes_on(file, expected)


def assert_goes_on(file: Path, expected: str) -> None:
    """Run the rest of the pipeline over a dump, as `adze opt --start-after` does."""
    stage = file.stem.partition("-")[2]
    module = parse_module(file.read_text(), file.name, file)
    run_pipeline(module, between(None if stage == "traced" else stage, None))
    result = module.operation.get_asm(enable_debug_info=False, large_elements_limit=None)
    assert str(result) == expected, f"from the dump after {stage}"
