"""Kernels for GPUs that would copy complex numbers to the memory of their workgroup.

Input: a program as far as IREE's phase `executable-configurations`, in which its kernels have tiles. Output:
the same program, in which no transpose asks for such a copy: it reads where its operand lies.

Symptom: the compiler dies of a wrong address (SIGSEGV): the tiles of the copy are counted in bits of an
    element.
Seen in: IREE 3.13, for CUDA and ROCm.
Smallest: `x.T` of c64[32,32]; 32 must divide both sizes.
Goes when: `tests/gpu/test_complex_transposes.py::test_iree_still_dies` fails.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, Final

_PROMOTES: Final = b"promote_operands"
_CONFIGURATION: Final = "lowering_config"
_PROMOTION: Final = re.compile(r"promote_operands = \[([^\]]*)\](?:, )?")


def without_promoted_complex(program: bytes) -> bytes:
    """`program`, bytecode of the phase, without the copies; the very object where there are none."""
    if _PROMOTES not in program:
        return program
    from ....dialects.mlir import ir, new_context

    with new_context(foreign_ops=False) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        found = [operation for operation in _configured(module.operation) if _copies_complex(ir, operation)]
        if not found:
            return program
        for operation in found:
            text = _PROMOTION.sub("", str(operation.attributes[_CONFIGURATION]))
            operation.attributes[_CONFIGURATION] = ir.Attribute.parse(text)
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _configured(operation: Any) -> Iterator[Any]:
    """The ops within that have tiles."""
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                if _CONFIGURATION in inner.attributes:
                    yield inner
                else:
                    yield from _configured(inner)


def _copies_complex(ir: Any, operation: Any) -> bool:
    """Whether the tiles of an op ask for a copy of an operand that has complex elements."""
    found = _PROMOTION.search(str(operation.attributes[_CONFIGURATION]))
    numbers = [int(number) for number in found[1].split(",") if number.strip()] if found else []
    types = [operation.operands[number].type for number in numbers]
    return any(isinstance(each.element_type, ir.ComplexType) for each in types)
