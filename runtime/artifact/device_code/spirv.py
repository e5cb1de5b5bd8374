"""What the words of a SPIR-V module say of its kernels.

Input: the bytes of a module. Output: for each entry point the instructions that decide its speed, counted as
in PTX. Idea: an instruction begins with its length and its number; the numbers used here are those of the
SPIR-V specification, 1.6, and of SPV_KHR_cooperative_matrix.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import field
from math import prod
from typing import Final

from ....dialects.dataclass import dataclass
from ...errors import ArtifactError
from .counts import KernelCounts

_MAGIC: Final = 0x07230203
# Opcodes.
_EXT_INST, _ENTRY_POINT, _EXECUTION_MODE = 12, 15, 16
_TYPE_INT, _TYPE_FLOAT, _TYPE_VECTOR, _TYPE_ARRAY, _TYPE_STRUCT, _TYPE_POINTER = 21, 22, 23, 28, 30, 32
_CONSTANT, _FUNCTION, _FUNCTION_END, _VARIABLE = 43, 54, 56, 59
_LOAD, _STORE, _BARRIER, _COOPERATIVE_PRODUCT, _COOPERATIVE_LOAD = 61, 62, 224, 4459, 4457
_CHAINS: Final = (65, 66)
_PHI: Final = 245
_ARITHMETIC: Final = (_PHI, *range(126, 140), *range(194, 201))  # of integers, and of bits
_POINTERS: Final = (_VARIABLE, *_CHAINS, 67, 70, 124, 117)  # results that may be pointers: chains, casts
# Operands.
_LOCAL_SIZE, _FMA, _WORKGROUP, _FUNCTION_CLASS, _BUFFERS = 17, 50, 4, 7, (12, 5349)


@dataclass(slots=True)
class _Module:
    """What the instructions so far declared."""

    version: str
    entries: dict[int, str] = field(default_factory=dict)
    threads: dict[int, tuple[int, ...]] = field(default_factory=dict)
    constants: dict[int, int] = field(default_factory=dict)
    bytes_of: dict[int, int] = field(default_factory=dict)
    vectors: set[int] = field(default_factory=set)
    pointers: dict[int, tuple[int, int]] = field(default_factory=dict)
    type_of: dict[int, int] = field(default_factory=dict)
    shared: dict[int, int] = field(default_factory=dict)
    bodies: dict[int, list[tuple[int, Sequence[int]]]] = field(default_factory=dict)


def spirv_counts(code: bytes) -> list[KernelCounts]:
    """The counts of each entry point of a module. Raises `ArtifactError` where the bytes are none."""
    module = _read(code)
    return [_kernel(module, function, name) for function, name in module.entries.items()]


def unawaited_kernels(code: bytes) -> list[str]:
    """The kernels whose threads load from the memory of their workgroup what other ones store there, and that
    wait for none of them. Raises `ArtifactError` where the bytes are no module.
    """
    module = _read(code)
    found = []
    for function, name in module.entries.items():
        body = module.bodies.get(function, [])
        is_alone = prod(module.threads.get(function, ())) <= 1
        if not is_alone and all(opcode != _BARRIER for opcode, _ in body) and _loads_of_others(module, body):
            found.append(name)
    return found


def _loads_of_others(module: _Module, body: Sequence[tuple[int, Sequence[int]]]) -> bool:
    """Whether a workgroup's memory is loaded from by indices that no store to it has."""
    numbers = _Numbers({o[1]: (opcode, o[2:]) for opcode, o in body if opcode in _ARITHMETIC})
    chains = {o[1]: o[2:] for opcode, o in body if opcode in _CHAINS and o[2] in module.shared}
    places: dict[int, Hashable] = {variable: variable for variable in module.shared}
    for pointer, (variable, *indices) in chains.items():
        places[pointer] = (variable, *[numbers.of(index) for index in indices])
    stored = {places[o[0]] for opcode, o in body if opcode == _STORE and o[0] in places}
    return any(opcode == _LOAD and o[2] in places and places[o[2]] not in stored for opcode, o in body)


@dataclass(slots=True)
class _Numbers:
    """Values by number: those that are computed equally have one, such as equal counters of two loops.

    `definitions` are opcode and operands of what is computed.
    """

    definitions: dict[int, tuple[int, Sequence[int]]]
    known: dict[Hashable, int] = field(default_factory=dict)
    seen: dict[tuple[int, tuple[int, ...]], int] = field(default_factory=dict)

    def of(self, value: int, within: tuple[int, ...] = ()) -> int:
        """The number of a value; `within` are the counters of the loops that it is computed for."""
        key = value, within
        if key not in self.seen:
            self.seen[key] = self.known.setdefault(self._form(value, within), len(self.known))
        return self.seen[key]

    def _form(self, value: int, within: tuple[int, ...]) -> Hashable:
        if value in within:
            return "counter", within.index(value)
        if value not in self.definitions:
            return "value", value
        opcode, operands = self.definitions[value]
        if opcode == _PHI:
            operands, within = operands[::2], (*within, value)
        return (opcode, *[self.of(operand, within) for operand in operands])


def instructions_of(code: bytes) -> Iterator[tuple[int, Sequence[int]]]:
    """The number and the operands of each instruction. Raises `ArtifactError` where the bytes are none."""
    if len(code) < 20 or len(code) % 4 or struct.unpack_from("<I", code)[0] != _MAGIC:
        raise ArtifactError(f"{len(code)} bytes that are to be SPIR-V do not begin with its header")
    words = struct.unpack(f"<{len(code) // 4}I", code)
    place = 5
    while place < len(words):
        length = words[place] >> 16
        if not length or place + length > len(words):
            raise ArtifactError(f"SPIR-V of {len(words)} words has an instruction of {length} at {place}")
        yield words[place] & 0xFFFF, words[place + 1 : place + length]
        place += length


def _read(code: bytes) -> _Module:
    instructions = list(instructions_of(code))
    version = struct.unpack_from("<I", code, 4)[0]
    module = _Module(f"spirv{version >> 16 & 255}.{version >> 8 & 255}")
    body: list[tuple[int, Sequence[int]]] | None = None
    for opcode, operands in instructions:
        if opcode == _FUNCTION:
            body = module.bodies.setdefault(operands[1], [])
        elif opcode == _FUNCTION_END:
            body = None
        elif body is not None:
            body.append((opcode, operands))
        else:
            _declare(module, opcode, operands)
        if opcode in _POINTERS:
            module.type_of[operands[1]] = operands[0]
    return module


def _declare(module: _Module, opcode: int, operands: Sequence[int]) -> None:
    """Take note of what an instruction outside of functions declares."""
    if opcode == _ENTRY_POINT:
        module.entries[operands[1]] = _text(operands[2:])
    elif opcode == _EXECUTION_MODE and operands[1] == _LOCAL_SIZE:
        module.threads[operands[0]] = tuple(operands[2:5])
    elif opcode in (_TYPE_INT, _TYPE_FLOAT):
        module.bytes_of[operands[0]] = operands[1] // 8
    elif opcode == _TYPE_VECTOR:
        module.vectors.add(operands[0])
        module.bytes_of[operands[0]] = module.bytes_of.get(operands[1], 0) * operands[2]
    elif opcode == _CONSTANT:
        module.constants[operands[1]] = operands[2]
    elif opcode == _TYPE_ARRAY:
        count = module.constants.get(operands[2], 0)
        module.bytes_of[operands[0]] = module.bytes_of.get(operands[1], 0) * count
    elif opcode == _TYPE_STRUCT:
        module.bytes_of[operands[0]] = sum(module.bytes_of.get(member, 0) for member in operands[1:])
    elif opcode == _TYPE_POINTER:
        module.pointers[operands[0]] = operands[1], operands[2]
    elif opcode == _VARIABLE and operands[2] == _WORKGROUP:
        module.shared[operands[1]] = module.bytes_of.get(module.pointers[operands[0]][1], 0)


def _kernel(module: _Module, function: int, name: str) -> KernelCounts:
    body = module.bodies.get(function, [])
    numbers = [opcode for opcode, _ in body]
    used = {operand for _, operands in body for operand in operands}
    loads = [_is_wide(module, operands[2]) for opcode, operands in body if opcode == _LOAD]
    stores = [_is_wide(module, operands[0]) for opcode, operands in body if opcode == _STORE]
    own = [operands for opcode, operands in body if opcode == _VARIABLE and operands[2] == _FUNCTION_CLASS]
    return KernelCounts(
        name=name,
        code="spirv",
        target=module.version,
        threads=module.threads.get(function, ()),
        shared_bytes=sum(size for variable, size in module.shared.items() if variable in used),
        stack_bytes=sum(module.bytes_of.get(module.pointers[operands[0]][1], 0) for operands in own),
        matrix_products=numbers.count(_COOPERATIVE_PRODUCT),
        fused_multiply_adds=sum(opcode == _EXT_INST and operands[3] == _FMA for opcode, operands in body),
        loads=sum(wide is not None for wide in loads),
        wide_loads=loads.count(True),
        stores=sum(wide is not None for wide in stores),
        wide_stores=stores.count(True),
        async_copies=0,
        matrix_loads=numbers.count(_COOPERATIVE_LOAD),
        barriers=numbers.count(_BARRIER),
        instructions=len(body),
    )


def _is_wide(module: _Module, pointer: int) -> bool | None:
    """Whether the pointer is to a vector; None where it is not to a buffer."""
    storage, pointee = module.pointers.get(module.type_of.get(pointer, 0), (0, 0))
    return pointee in module.vectors if storage in _BUFFERS else None


def _text(words: Sequence[int]) -> str:
    """A string of SPIR-V, which ends with a zero byte."""
    return struct.pack(f"<{len(words)}I", *words).split(b"\0")[0].decode("utf-8", errors="replace")
