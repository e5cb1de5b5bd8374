"""Which cases of the table of ops a target compiles, all dtypes, static and dynamic.

Input: the name of an op and of a target. Output: each case that is refused, with the reason. Idea: all cases
of an op are compiled as one function; only where that is refused is it halved until the cases are known.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence

import numpy as np

from adze.dialects.errors import AdzeError
from adze.dialects.types import TensorType
from adze.passes.pipeline import LOWER, for_target, run_pipeline
from adze.runtime.compile.compiler import compile_bytecode
from adze.runtime.targets import Target

from ..dialects.ops.cases import Instance
from ..dialects.ops.programs import Function, JoinedCases, ModuleOfCases

TOGETHER = 24
"""So many cases are compiled at once: a kernel each, and a refusal is to be searched for among them."""
PLACE = re.compile(r"%[\w#]+|loc\(.*?\)|\b\d+x[\dx]*\w+\b|'?tensor<.*?>'?")


def dtypes_of(instance: Instance) -> set[str]:
    """The dtypes of operands and results."""
    values = [*instance.arguments, *(v for v in instance.attributes.values() if isinstance(v, np.dtype))]
    return {str(v if isinstance(v, np.dtype) else np.asarray(v).dtype) for v in values}


def refused(instances: Sequence[Instance], target: Target) -> dict[str, str]:
    """The cases that do not compile for `target`, by name, with the reason."""
    functions = list({f.name: f for f in ModuleOfCases.of(instances).functions}.values())
    found: dict[str, str] = {}
    for start in range(0, len(functions), TOGETHER):
        found |= _refused(functions[start : start + TOGETHER], target)
    return found


def _refused(functions: Sequence[Function], target: Target) -> dict[str, str]:
    reason = _reason(functions, target)
    if reason is None:
        return {}
    if len(functions) == 1:
        return {str(functions[0].instance): reason}
    half = len(functions) // 2
    found = _refused(functions[:half], target) | _refused(functions[half:], target)
    return found or {" + ".join(str(f.instance) for f in functions): reason}


def _reason(functions: Sequence[Function], target: Target) -> str | None:
    """Why the functions do not compile together, None where they do."""
    module = JoinedCases.of(functions).module
    try:
        run_pipeline(module, for_target(LOWER, target), check=False)
        data = io.BytesIO()
        module.operation.write_bytecode(data)
        compile_bytecode(data.getvalue(), target)
    except AdzeError as error:
        return error.message.splitlines()[0]
    return None


def types_of(functions: Iterable[Function]) -> set[str]:
    """The dtypes of all arguments and results."""
    types = [t for f in functions for t in (*f.input_types, *f.output_types)]
    return {str(t.dtype) for t in types if isinstance(t, TensorType)}
