"""Which cases of the table of ops a target compiles, all dtypes, static and dynamic.

Input: the name of an op and of a target. Output: each case that is refused, with the reason. Idea: all cases
of an op are compiled as one function; only where that is refused is it halved until the cases are known.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

from adze.dialects.errors import AdzeError
from adze.passes.pipeline import LOWER, for_target, run_pipeline
from adze.passes.registry import PASSES
from adze.runtime.compile.compiler import CompileOptions
from adze.runtime.compile.strategy import Facts, compile_program
from adze.runtime.targets import Target

from ..dialects.ops.cases import Instance
from ..dialects.ops.programs import Function, JoinedCases, ModuleOfCases

TOGETHER = 24
"""So many cases are compiled at once: a kernel each, and a refusal is to be searched for among them."""


def refused(instances: Sequence[Instance], target: Target, together: int = TOGETHER) -> dict[str, str]:
    """The cases that do not compile for `target`, by name, with the reason."""
    functions = list({f.name: f for f in ModuleOfCases.of(instances).functions}.values())
    found: dict[str, str] = {}
    for start in range(0, len(functions), together):
        found |= _refused(functions[start : start + together], target)
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
    """Why the functions do not compile together in any form, None where they do."""
    facts = Facts(has_dependent_reductions=False, has_complex_numbers=False, is_static=True, is_on_gpu=True)

    def produce(passes: tuple[str, ...], options: CompileOptions) -> bytes:
        module = JoinedCases.of(functions).module
        steps = tuple(known() for name in passes for known in PASSES if known.name == name)
        run_pipeline(module, (*for_target(LOWER, target), *steps), check=False)
        data = io.BytesIO()
        module.operation.write_bytecode(data)
        return data.getvalue()

    try:
        compile_program(produce, facts, target, CompileOptions())
    except AdzeError as error:
        return error.message.splitlines()[0]
    return None
