"""The bindings load no Python modules of dialects that adze has no use for, and others get them whole."""

from __future__ import annotations

import subprocess
import sys

_COMPILED = """
import sys
import numpy as np
import adze
def f(x, w):
    return adze.lax.fori_loop(0, 3, lambda i, y: adze.numpy.tanh(y @ w), x).sum(axis=0)
adze.trace(f, np.ones((40, 50), np.float32), np.ones((50, 50), np.float32)).lower().compile(cache=False)
names = [f"iree.compiler.dialects.{name}" for name in ("hal", "linalg", "llvm", "stream", "vm")]
assert not [name for name in names if name in sys.modules], sorted(sys.modules)
"""
_IMPORTED_LATER = """
from iree.compiler.dialects import hal, linalg, llvm, stream, vm
from iree.compiler import ir
assert callable(linalg.matmul) and callable(linalg.fill)
with ir.Context():
    module = ir.Module.parse("util.func @f(%x: !hal.buffer_view) -> !hal.buffer { "
        "%0 = hal.buffer_view.buffer<%x : !hal.buffer_view> : !hal.buffer util.return %0 : !hal.buffer }")
    (operation, _) = module.body.operations[0].regions[0].blocks[0].operations
    assert isinstance(operation, hal.BufferViewBufferOp), operation
"""
_IMPORTED_BEFORE = """
from iree.compiler.dialects import hal, linalg
import iree.compiler.dialects
from adze.dialects import mlir
mlir.load()
assert iree.compiler.dialects.linalg is linalg and callable(linalg.matmul)
assert hal.ExecutableOp.OPERATION_NAME == "hal.executable"
"""


def test_a_compile_imports_no_classes_of_dialects_that_it_does_without() -> None:
    _run(_COMPILED)


def test_whoever_imports_them_later_has_their_classes() -> None:
    _run(_COMPILED + _IMPORTED_LATER)


def test_whoever_imported_them_before_keeps_them() -> None:
    _run(_IMPORTED_BEFORE)


def _run(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
