"""The one door to the MLIR Python bindings that ship inside the IREE compiler wheel.

Other modules write `from ..dialects import mlir` and use `mlir.ir`, `mlir.linalg`, `mlir.rewrite`, ...
The bindings take a third of a second to import, so each is loaded when it is first named: evaluating
eagerly or loading an artifact never pays for a compiler.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

from .forks import let_forks_wait
from .interrupts import deferred_interrupts

if TYPE_CHECKING:
    from iree.compiler import ir as ir
    from iree.compiler import passmanager as passmanager
    from iree.compiler import rewrite as rewrite
    from iree.compiler.dialects import arith as arith
    from iree.compiler.dialects import cf as cf
    from iree.compiler.dialects import complex as complex
    from iree.compiler.dialects import flow as flow
    from iree.compiler.dialects import func as func
    from iree.compiler.dialects import math as math
    from iree.compiler.dialects import memref as memref
    from iree.compiler.dialects import scf as scf
    from iree.compiler.dialects import tensor as tensor
    from iree.compiler.dialects import util as util
    from iree.compiler.dialects import vector as vector

_CORE = ("ir", "passmanager", "rewrite")
_DIALECTS = (
    "arith",
    "cf",
    "complex",
    "flow",
    "func",
    "linalg",
    "math",
    "memref",
    "scf",
    "tensor",
    "util",
    "vector",
)

_LOWERED = (
    "affine",
    "arith",
    "bufferization",
    "cf",
    "complex",
    "flow",
    "func",
    "hal",
    "iree_codegen",
    "iree_cpu",
    "iree_encoding",
    "iree_linalg_ext",
    "iree_tensor_ext",
    "linalg",
    "math",
    "memref",
    "scf",
    "stream",
    "tensor",
    "ub",
    "util",
    "vector",
)


_PACKAGE = "iree.compiler.dialects"
_EXTENSIONS = {"extension": "_mlir", "structured": "_mlirDialectsLinalg"}
"""What is not Python: `extension` registers dialects, `structured` knows the named ops of linalg."""
_WITHOUT_CLASSES = ("hal", "linalg", "llvm", "stream", "vm")
"""Dialects whose Python modules take 190 ms to import in all, for classes of ops that nothing here uses."""


def __getattr__(name: str) -> Any:
    # The bindings look for a Python module of every dialect they meet, at each op again when there is none
    # (measured: 30 us an op): this is adze's, empty, since its ops are declared in `ops/`.
    sys.modules.setdefault(f"{_PACKAGE}.adze", types.ModuleType(f"{_PACKAGE}.adze"))
    let_forks_wait()
    with deferred_interrupts():
        module = _imported(name)
    globals()[name] = module
    return module


def _imported(name: str) -> Any:
    """The module of the bindings that is called `name` here."""
    if name == "ir":
        module = importlib.import_module("iree.compiler.ir")
        _do_without_classes()
    elif name in _CORE:
        module = importlib.import_module(f"iree.compiler.{name}")
    elif name == "linalg":  # its classes, without the functions of its package, which takes 80 ms to import
        module = importlib.import_module(f"{_PACKAGE}._linalg_ops_gen")
    elif name in _DIALECTS:
        module = importlib.import_module(f"iree.compiler.dialects.{name}")
    elif name in _EXTENSIONS:
        module = importlib.import_module(f"iree.compiler._mlir_libs.{_EXTENSIONS[name]}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return module


def _do_without_classes() -> None:
    """Let the bindings know that some dialects need no import, which they do when they meet an op of one.

    They look whether a module is there and remember that it was, so one that is empty is there meanwhile.
    Who imports the real one, before or later, has its classes.
    """
    known = importlib.import_module("iree.compiler._mlir_libs._mlir").globals
    for name in _WITHOUT_CLASSES:
        path = f"{_PACKAGE}.{name}"
        if path in sys.modules:
            continue
        sys.modules[path] = types.ModuleType(path)
        try:
            known._check_dialect_module_loaded(name)
        finally:
            del sys.modules[path]


def new_context(*, foreign_ops: bool = True, is_light: bool = False) -> Any:
    """A context of MLIR; `foreign_ops` lets it hold ops of dialects that are not loaded, adze's among them.

    Loading all dialects of IREE takes 15 ms, more than tracing a small function does. A light context has
    `func`, and what a text or bytecode that is parsed in it names: enough for adze's own ops. Building ops of
    other dialects in it would crash the process before `load_dialects`, which the pipeline calls.

    It uses no threads: all contexts of a process share one pool, which a forked child does not have (printing
    a module, which verifies it, waits for ever there). Modules of adze are too small to gain from threads.
    """
    context = __getattr__("ir").Context(load_on_create_dialects=["func"] if is_light else None)
    context.enable_multithreading(False)
    context.allow_unregistered_dialects = foreign_ops
    return context


def load() -> None:
    """Import all of the bindings."""
    for name in (*_CORE, *_DIALECTS, *_EXTENSIONS):
        if name not in globals():
            __getattr__(name)


def load_dialects(context: Any) -> None:
    """Load the dialects that the lowering builds ops and attributes of into a light context.

    All of IREE's would take 13 ms in each compile, these take 2. Passes and texts load what they need.
    """
    for name in _LOWERED:
        context.get_dialect_descriptor(name)


def load_dialect(name: str) -> None:
    """Load a dialect into the context of the ambient insertion point before an op of it is made by name.

    An op that was made before its dialect was loaded has the name of an unregistered one, which loading the
    dialect frees: passes did so later, and processes that compiled for CUDA ended, or had other ops.
    """
    __getattr__("ir").Context.current.get_dialect_descriptor(name)


def is_loaded() -> bool:
    """Whether the bindings have been imported in this process."""
    return "ir" in globals()
