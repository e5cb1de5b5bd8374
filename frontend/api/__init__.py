"""adze: ahead-of-time compilation of differentiable array programs.

`adze.jit` compiles a Python function, `adze.trace` shows its IR, `adze.load` runs a saved program.
Array functions are in `adze.numpy`, primitives in `adze.lax`, layers in `adze.nn`. Names are imported
when first used, so that `import adze` costs next to nothing and loading an artifact loads no compiler.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .frontend.tracing import operators as _operators

if TYPE_CHECKING:
    from . import custom_batching as custom_batching
    from . import debug as debug
    from . import lax as lax
    from . import nn as nn
    from . import numpy as numpy
    from . import optim as optim
    from . import random as random
    from . import scipy as scipy
    from . import tree as tree
    from .dialects.errors import AdzeError as AdzeError
    from .frontend.control.associative_scan import associative_scan as associative_scan
    from .frontend.control.branches import cond as cond
    from .frontend.control.branches import switch as switch
    from .frontend.control.scans import map as map
    from .frontend.control.scans import scan as scan
    from .frontend.control.while_loops import fori_loop as fori_loop
    from .frontend.control.while_loops import while_loop as while_loop
    from .frontend.staging.artifacts import LoadedProgram as LoadedProgram
    from .frontend.staging.artifacts import load as load
    from .frontend.staging.jit import eval_shape as eval_shape
    from .frontend.staging.jit import explain_retrace as explain_retrace
    from .frontend.staging.jit import jit as jit
    from .frontend.staging.jit import trace as trace
    from .frontend.staging.placement import device_put as device_put
    from .frontend.staging.placement import devices as devices
    from .frontend.tracing.array import Array as Array
    from .frontend.tracing.specs import ShapeDtype as ShapeDtype
    from .frontend.transforms.checkpoints import checkpoint as checkpoint
    from .frontend.transforms.checkpoints import checkpoint_name as checkpoint_name
    from .frontend.transforms.checkpoints import checkpoint_policies as checkpoint_policies
    from .frontend.transforms.checkpoints import remat as remat
    from .frontend.transforms.checkpoints import stop_gradient as stop_gradient
    from .frontend.transforms.closure_convert import closure_convert as closure_convert
    from .frontend.transforms.closure_convert import custom_gradient as custom_gradient
    from .frontend.transforms.custom_derivatives import custom_jvp as custom_jvp
    from .frontend.transforms.custom_derivatives import custom_vjp as custom_vjp
    from .frontend.transforms.differentiation import grad as grad
    from .frontend.transforms.differentiation import jvp as jvp
    from .frontend.transforms.differentiation import linear_transpose as linear_transpose
    from .frontend.transforms.differentiation import linearize as linearize
    from .frontend.transforms.differentiation import value_and_grad as value_and_grad
    from .frontend.transforms.differentiation import vjp as vjp
    from .frontend.transforms.jacobians import check_grads as check_grads
    from .frontend.transforms.jacobians import hessian as hessian
    from .frontend.transforms.jacobians import hvp as hvp
    from .frontend.transforms.jacobians import jacfwd as jacfwd
    from .frontend.transforms.jacobians import jacobian as jacobian
    from .frontend.transforms.jacobians import jacrev as jacrev
    from .frontend.transforms.vmap import vmap as vmap

_WHERE = {
    "AdzeError": ".dialects.errors",
    "Array": ".frontend.tracing.array",
    "LoadedProgram": ".frontend.staging.artifacts",
    "ShapeDtype": ".frontend.tracing.specs",
    "eval_shape": ".frontend.staging.jit",
    "explain_retrace": ".frontend.staging.jit",
    "jit": ".frontend.staging.jit",
    "load": ".frontend.staging.artifacts",
    "device_put": ".frontend.staging.placement",
    "devices": ".frontend.staging.placement",
    "associative_scan": ".frontend.control.associative_scan",
    "cond": ".frontend.control.branches",
    "fori_loop": ".frontend.control.while_loops",
    "map": ".frontend.control.scans",
    "scan": ".frontend.control.scans",
    "switch": ".frontend.control.branches",
    "while_loop": ".frontend.control.while_loops",
    "trace": ".frontend.staging.jit",
    "grad": ".frontend.transforms.differentiation",
    "jvp": ".frontend.transforms.differentiation",
    "linear_transpose": ".frontend.transforms.differentiation",
    "linearize": ".frontend.transforms.differentiation",
    "value_and_grad": ".frontend.transforms.differentiation",
    "vjp": ".frontend.transforms.differentiation",
    "vmap": ".frontend.transforms.vmap",
    "check_grads": ".frontend.transforms.jacobians",
    "hessian": ".frontend.transforms.jacobians",
    "hvp": ".frontend.transforms.jacobians",
    "jacfwd": ".frontend.transforms.jacobians",
    "jacobian": ".frontend.transforms.jacobians",
    "jacrev": ".frontend.transforms.jacobians",
    "checkpoint": ".frontend.transforms.checkpoints",
    "checkpoint_name": ".frontend.transforms.checkpoints",
    "checkpoint_policies": ".frontend.transforms.checkpoints",
    "closure_convert": ".frontend.transforms.closure_convert",
    "custom_gradient": ".frontend.transforms.closure_convert",
    "custom_jvp": ".frontend.transforms.custom_derivatives",
    "custom_vjp": ".frontend.transforms.custom_derivatives",
    "remat": ".frontend.transforms.checkpoints",
    "stop_gradient": ".frontend.transforms.checkpoints",
}
_MODULES = ("custom_batching", "debug", "lax", "nn", "numpy", "optim", "random", "scipy", "tree")

__all__ = [*_WHERE, *_MODULES]


def _array_functions() -> Mapping[str, Callable[..., Any]]:
    """What the operators and methods of arrays are; Python imports this file before any other of adze."""
    from .frontend.library.operators import TABLE

    return {**TABLE, "array_namespace": lambda: importlib.import_module(".numpy", __name__)}


_operators.register(_array_functions)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("adze-compiler")
    if name not in _WHERE:
        raise AttributeError(f"module 'adze' has no attribute {name!r}")
    value = getattr(importlib.import_module(_WHERE[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
