"""What the text of a PTX module says of its kernels.

Input: PTX. Output: for each kernel the instructions that decide its speed, counted in the text: once each,
however often a loop repeats them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from .counts import KernelCounts

_ENTRY: Final = re.compile(
    r"^\.visible \.entry ([\w$.]+)\([^)]*\)(?P<directives>.*?)^\{(?P<body>.*?)^\}", re.M | re.S
)
_INSTRUCTION: Final = re.compile(r"^\s+(?:@!?%p\d+\s+)?([a-z][\w.:]*)[\s;]", re.M)
_TARGET: Final = re.compile(r"^\.target (\w+)", re.M)
_SHARED: Final = re.compile(
    r"^\.shared .*?\.(?P<type>[bsuf])(?P<bits>\d+) (?P<name>[\w$.]+)(?:\[(?P<count>\d+)\])?;", re.M
)
_STACK: Final = re.compile(r"\.local .*?\.b8\s+[\w$]+\[(\d+)\];")
_THREADS: Final = re.compile(r"\.(?:maxntid|reqntid) ([\d, ]+)")


def ptx_counts(ptx: str, dynamic_shared: dict[str, int]) -> list[KernelCounts]:
    """The counts of each kernel of a module; `dynamic_shared` are the bytes that it is launched with."""
    target = _TARGET.search(ptx)
    name = target[1] if target else "unknown"
    return [_kernel(found, name, ptx, dynamic_shared.get(found[1], 0)) for found in _ENTRY.finditer(ptx)]


def _kernel(found: re.Match[str], target: str, ptx: str, dynamic_shared: int) -> KernelCounts:
    body = found["body"]
    names = Counter(_INSTRUCTION.findall(body))
    threads = _THREADS.search(found["directives"])
    return KernelCounts(
        name=found[1],
        code="ptx",
        target=target,
        threads=tuple(int(n) for n in threads[1].split(",")) if threads else (),
        shared_bytes=_shared_bytes(body, ptx) + dynamic_shared,
        stack_bytes=sum(int(n) for n in _STACK.findall(body)),
        matrix_products=_count(names, r"(mma\.sync|wmma\.mma|wgmma\.mma_async)"),
        fused_multiply_adds=_count(names, r"fma\."),
        loads=_count(names, r"ld\.global"),
        wide_loads=_count(names, r"ld\.global.*\.v[248]"),
        stores=_count(names, r"st\.global"),
        wide_stores=_count(names, r"st\.global.*\.v[248]"),
        async_copies=_count(names, r"cp\.async"),
        matrix_loads=_count(names, r"(ldmatrix|wmma\.load)"),
        barriers=_count(names, r"bar(rier)?\."),
        instructions=sum(names.values()),
    )


def _count(names: Counter[str], pattern: str) -> int:
    return sum(count for name, count in names.items() if re.match(pattern, name))


def _shared_bytes(body: str, ptx: str) -> int:
    """The bytes of the shared arrays of the module that the body names."""
    return sum(
        int(found["bits"]) // 8 * int(found["count"] or 1)
        for found in _SHARED.finditer(ptx)
        if re.search(rf"{re.escape(found['name'])}(?![\w$.])", body)
    )
