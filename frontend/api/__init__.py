"""adze: ahead-of-time compilation of differentiable array programs.

`adze.jit` compiles a Python function, `adze.trace` shows its IR, `adze.load` runs a saved program.
Array functions are in `adze.numpy`, primitives in `adze.lax`, layers in `adze.nn`. Names are imported
when first used, so that `import adze` costs next to nothing and loading an artifact loads no compiler.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import debug as debug
    from . import lax as lax
    from . import nn as nn
    from . import numpy as numpy
    from . import optim as optim
    from . import random as random
    from . import scipy as scipy
    from . import tree as tree
    from .dialects.errors import AdzeError as AdzeError
    from .frontend.array import Array as Array
    from .frontend.artifacts import LoadedProgram as LoadedProgram
    from .frontend.artifacts import load as load
    from .frontend.batching import vmap as vmap
    from .frontend.checkpoints import checkpoint as checkpoint
    from .frontend.checkpoints import checkpoint_name as checkpoint_name
    from .frontend.checkpoints import checkpoint_policies as checkpoint_policies
    from .frontend.checkpoints import stop_gradient as stop_gradient
    from .frontend.control_flow import associative_scan as associative_scan
    from .frontend.control_flow import cond as cond
    from .frontend.control_flow import fori_loop as fori_loop
    from .frontend.control_flow import map as map
    from .frontend.control_flow import scan as scan
    from .frontend.control_flow import switch as switch
    from .frontend.control_flow import while_loop as while_loop
    from .frontend.custom_derivatives import custom_jvp as custom_jvp
    from .frontend.custom_derivatives import custom_vjp as custom_vjp
    from .frontend.differentiation import grad as grad
    from .frontend.differentiation import jvp as jvp
    from .frontend.differentiation import linear_transpose as linear_transpose
    from .frontend.differentiation import linearize as linearize
    from .frontend.differentiation import value_and_grad as value_and_grad
    from .frontend.differentiation import vjp as vjp
    from .frontend.jacobians import check_grads as check_grads
    from .frontend.jacobians import hessian as hessian
    from .frontend.jacobians import hvp as hvp
    from .frontend.jacobians import jacfwd as jacfwd
    from .frontend.jacobians import jacobian as jacobian
    from .frontend.jacobians import jacrev as jacrev
    from .frontend.jit import explain_retrace as explain_retrace
    from .frontend.jit import jit as jit
    from .frontend.jit import trace as trace
    from .frontend.placement import device_put as device_put
    from .frontend.placement import devices as devices
    from .frontend.specs import ShapeDtype as ShapeDtype

_WHERE = {
    "AdzeError": ".dialects.errors",
    "Array": ".frontend.array",
    "LoadedProgram": ".frontend.artifacts",
    "ShapeDtype": ".frontend.specs",
    "explain_retrace": ".frontend.jit",
    "jit": ".frontend.jit",
    "load": ".frontend.artifacts",
    "device_put": ".frontend.placement",
    "devices": ".frontend.placement",
    "associative_scan": ".frontend.control_flow",
    "cond": ".frontend.control_flow",
    "fori_loop": ".frontend.control_flow",
    "map": ".frontend.control_flow",
    "scan": ".frontend.control_flow",
    "switch": ".frontend.control_flow",
    "while_loop": ".frontend.control_flow",
    "trace": ".frontend.jit",
    "grad": ".frontend.differentiation",
    "jvp": ".frontend.differentiation",
    "linear_transpose": ".frontend.differentiation",
    "linearize": ".frontend.differentiation",
    "value_and_grad": ".frontend.differentiation",
    "vjp": ".frontend.differentiation",
    "vmap": ".frontend.batching",
    "check_grads": ".frontend.jacobians",
    "hessian": ".frontend.jacobians",
    "hvp": ".frontend.jacobians",
    "jacfwd": ".frontend.jacobians",
    "jacobian": ".frontend.jacobians",
    "jacrev": ".frontend.jacobians",
    "checkpoint": ".frontend.checkpoints",
    "checkpoint_name": ".frontend.checkpoints",
    "checkpoint_policies": ".frontend.checkpoints",
    "custom_jvp": ".frontend.custom_derivatives",
    "custom_vjp": ".frontend.custom_derivatives",
    "stop_gradient": ".frontend.checkpoints",
}
_MODULES = ("debug", "lax", "nn", "numpy", "optim", "random", "scipy", "tree")

__all__ = [*_WHERE, *_MODULES]


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
