"""What ranks send in programs that are divided by their shardings: no more than XLA's do.

XLA's collectives are those of JAX's compiled programs on four devices, counted with the bytes that a device
sends by the ring algorithms, as `passes/partition/traffic.py` does; the numbers are frozen beside this file.
"""

from __future__ import annotations

import math
import re
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import adze
from adze.passes.partition.combine import CombineCollectives
from adze.passes.partition.divide import divide
from adze.passes.partition.layouts import Grid
from adze.passes.partition.traffic import Exchange, bytes_sent, exchanges
from adze.passes.pipeline import OPTIMIZE, run_pipeline
from adze.sharding import PartitionSpec

from ...oracles import Frozen
from .divided_programs import PROGRAMS
from .four_devices import ADZE, Library, values_of_jax, write_values

GRID: Final = Grid((2, 2), ("data", "model"))


def arguments(name: str) -> list[np.ndarray]:
    def array(shape: Any) -> np.ndarray:
        if shape == "rows":
            return np.arange(16, dtype=np.int32)
        return np.ones(shape, np.float32)

    return [array(shape) for shape in PROGRAMS[name][1]]


def of_adze(name: str) -> list[Exchange]:
    """The collectives of a call of the program of one rank."""
    function, _, specs = PROGRAMS[name]
    args = arguments(name)
    program = adze.trace(partial(function, ADZE), *args).program
    run_pipeline(program.module, OPTIMIZE)
    stated = []
    for spec, x in zip(specs, args, strict=True):
        entries = PartitionSpec(*spec, *[None] * (x.ndim - len(spec))).axes()
        stated.append(tuple(entries))
    divide(program.module, program.symbol, GRID, stated, [None] * len(program.result_types))
    CombineCollectives().run(program.module)
    return exchanges(program.module, program.symbol)


_COLLECTIVE: Final = re.compile(
    r" = (.*?) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\((.*)"
)
_ARRAY: Final = re.compile(r"([a-z]+[0-9]*)\[([0-9,]*)\]")
_BYTES: Final = {"f32": 4, "s32": 4, "u32": 4, "pred": 1}


def ranks_of(rest: str) -> int:
    """How many devices exchange arrays, in one of three notations."""
    if listed := re.search(r"replica_groups=\{\{([0-9,]*)\}", rest):
        return len(listed.group(1).split(","))
    if iota := re.search(r"replica_groups=\[(\d+),(\d+)\]<=", rest):
        return int(iota.group(2))
    if mesh := re.search(r"replica_groups=mesh\[([^\]]*)\][^{]*\{([^}]*)\}", rest):
        sizes = dict(each.split("=") for each in mesh.group(1).split(","))
        return math.prod(int(sizes[axis]) for axis in mesh.group(2).split(","))
    assert "source_target_pairs=" in rest, rest
    return 1


def of_xla(text: str) -> list[tuple[str, int]]:
    """The collectives in the text of a compiled program, and what a device sends."""
    found = []
    for types, kind, rest in _COLLECTIVE.findall(text):
        p = ranks_of(rest)
        n = sum(
            _BYTES[dtype] * math.prod(int(k) for k in shape.split(",") if k)
            for dtype, shape in _ARRAY.findall(re.sub(r"/\*.*?\*/", "", types))
        )
        sent = {
            "all-reduce": 2 * n * (p - 1) // p,
            "all-gather": n * (p - 1) // p,
            "reduce-scatter": n * (p - 1),
            "all-to-all": n * (p - 1) // p,
            "collective-permute": n,
        }
        found.append((kind, sent[kind]))
    return found


def value(name: str, m: Library) -> Any:
    """The number of XLA's collectives, and the bytes that a device sends."""
    jax = m.transforms
    function, _, specs = PROGRAMS[name]
    mesh = m.make_mesh((2, 2), ("data", "model"))
    lie = tuple(jax.NamedSharding(mesh, m.P(*spec)) for spec in specs)
    compiled = jax.jit(partial(function, m), in_shardings=lie).lower(*arguments(name)).compile()
    found = of_xla(compiled.as_text())
    return np.int64([len(found), sum(sent for _, sent in found)])


ORACLE: Final = Frozen(
    Path(__file__).with_name("traffic_of_xla.npz"),
    {name: partial(lambda name: values_of_jax(__name__)[name], name) for name in PROGRAMS},
)


MORE: Final = {
    # Shardy reshards an operand by a gather where XLA exchanges it: rows of the hidden layer become columns.
    "fully sharded, gradient": 12288,
    # Shardy adds up the products; XLA gathers the operand that is smaller than the result.
    "one divided operand": 2048,
}
"""Bytes that a rank sends more than with XLA, and why."""


@pytest.mark.oracle
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_ranks_send_no_more_than_with_xla(name: str) -> None:
    found = of_adze(name)
    count, sent = ORACLE[name][0].tolist()
    listed = "\n".join(map(str, found))
    assert bytes_sent(found) <= sent + MORE.get(name, 0), listed
    # There the chosen score is needed, and sent, before the sum of the exponentials is there.
    assert len(found) <= count + (name == "cross entropy, divided words"), listed


def test_rows_of_a_divided_table_are_added_up() -> None:
    """Each rank takes those that it has: what is sent are the rows, not the table."""
    (sent,) = of_adze("embedding, divided rows")
    assert (sent.kind, str(sent.operand), sent.axis) == ("all_reduce", "f32[16,32]", "model")


def test_what_blocks_of_a_transformer_send() -> None:
    """Forwards two sums a block and backwards two, of which XLA's sends three arrays where one is enough."""
    found = of_adze("two blocks, gradient")
    rows = [each for each in found if each.axis == "model"]
    assert [str(each.operand) for each in rows] == ["f32[4,16,32]"] * 8
    assert len(found) == 9


@pytest.mark.oracle
@pytest.mark.thorough
def test_the_frozen_numbers_are_those_of_xla() -> None:
    for name in PROGRAMS:
        ORACLE.check_fresh(name)


if __name__ == "__main__":
    write_values(sorted(PROGRAMS), value)
