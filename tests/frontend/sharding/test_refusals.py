"""What `shard_map` refuses, on ranks local and of threads: what was wrong, seen and expected, and where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze.frontend.errors import ArgumentError, ArgumentTypeError, AxisNameError, ShardingError
from adze.sharding import NamedSharding
from adze.sharding import PartitionSpec as P

from .four_devices import ADZE
from .programs_of_ranks import V


def loop(f: Callable[[Any], Any]) -> Any:
    return ADZE.ranks(lambda x: adze.while_loop(lambda x: xp.max(x) < 3, f, x), P("d"), P("d"))(V + 2)


DIVIDED: Final = P("d")


def ranks(f: Any = lambda x: x, ins: Any = DIVIDED, out: Any = DIVIDED, **options: Any) -> Any:
    return ADZE.ranks(f, ins, out, **options)


REFUSALS: Final[dict[str, tuple[Callable[[], Any], type[Exception], list[str]]]] = {
    "no mesh": (
        lambda: adze.shard_map(lambda x: x, in_specs=P(), out_specs=P())(V),
        ShardingError,
        ["shard_map has no mesh: it was given none, and none is in force", "adze.set_mesh(mesh)"],
    ),
    "no function": (
        lambda: ranks(3)(V),
        ArgumentTypeError,
        ["shard_map expects a function and a Mesh, got int and Mesh"],
    ),
    "no such axis name": (
        lambda: ranks(axis_names={"e"})(V),
        ShardingError,
        ["axis_names is {'e'}, expected a set of axes of the mesh {'d': 4}"],
    ),
    "a string of axis names": (
        lambda: ranks(axis_names="d")(V),
        ShardingError,
        ["axis_names is 'd', expected"],
    ),
    "a spec with an axis that the function does not know": (
        lambda: ADZE.grid(lambda x: x, P("a"), P("b"), axis_names={"a"})(V),
        ShardingError,
        [
            "out_specs P('b',) names 'b', which is not among axis_names ['a']",
            "add 'b' to axis_names",
        ],
    ),
    "a name outside": (
        lambda: adze.lax.psum(V, "d"),
        AxisNameError,
        ["axis name 'd' is not bound here (bound: none)"],
    ),
    "another name": (
        lambda: ranks(lambda x: adze.lax.psum(x, "e"))(V),
        AxisNameError,
        ["axis name 'e' is not bound here (bound: 'd')"],
    ),
    "a name that the function does not know": (
        lambda: ADZE.grid(lambda x: adze.lax.psum(x, "b"), P("a"), P("a"), axis_names={"a"})(V),
        AxisNameError,
        ["axis name 'b' is not bound here (bound: 'a')"],
    ),
    "too long a spec": (
        lambda: ranks(ins=P(None, "d"))(V),
        ShardingError,
        ["argument 'x': P(None, 'd') has 2 entries for an array of rank 1"],
    ),
    "too long a spec of a result": (
        lambda: ranks(lambda x: xp.sum(x))(V),
        ShardingError,
        ["out_specs P('d',) for a result of rank 0"],
    ),
    "too long a spec of a result, unchecked": (
        lambda: ranks(lambda x: xp.sum(x), check_vma=False)(V),
        ShardingError,
        ["out_specs P('d',) for a result of rank 0"],
    ),
    "parts that differ in size": (
        lambda: ranks()(V[:6]),
        ShardingError,
        [
            "argument 'x': dimension 0 has 6 elements, which the 4 ranks along 'd' cannot share",
            "pad the array",
        ],
    ),
    "a dynamic size": (
        lambda: adze.trace(ranks(), adze.ShapeDtype(("n",), np.float32)),
        ShardingError,
        [
            "argument 'x': dimension 0 has the dynamic size n, expected static sizes",
            "state the size as a number",
        ],
    ),
    "a dynamic size of what is not divided": (
        lambda: adze.trace(ranks(), adze.ShapeDtype((8, "n"), np.float32)),
        ShardingError,
        ["argument 'x': dimension 1 has the dynamic size n, expected static sizes"],
    ),
    "a dynamic size of a jitted function": (
        lambda: adze.jit(
            lambda x: x * 2, in_shardings=NamedSharding(adze.make_mesh((4,), ("d",)), P("d"))
        ).trace(adze.ShapeDtype(("n",), np.float32)),
        ShardingError,
        ["jit: in_shardings: dimension 0 has the dynamic size n, expected static sizes"],
    ),
    "more results than specs": (
        lambda: ranks(lambda x: (x, x), out=(P("d"),))(V),
        ShardingError,
        ["out_specs (P('d',),) is no prefix of (*, *)"],
    ),
    "another key": (
        lambda: ranks(ins=({"a": P("d")},))({"b": V}),
        ShardingError,
        ["in_specs {'a': P('d',)} is no prefix of {'b': *}"],
    ),
    "a result that varies": (
        lambda: ranks(lambda x: {"sum": xp.sum(x)}, out=P())(V),
        ShardingError,
        ["result['sum'] of", "is the same along 'd', but it may vary along it", "lax.psum(x, 'd')"],
    ),
    "a gathered result": (
        lambda: ranks(lambda x: adze.lax.all_gather(x, "d"), out=P())(V),
        ShardingError,
        ["is the same along 'd', but it may vary along it"],
    ),
    "a part that ranks cannot share": (
        lambda: ranks(lambda x: adze.lax.psum_scatter(x, "d", tiled=True))(V),
        ArgumentError,
        ["psum_scatter: axis 0 has 2 elements, which 4 elements of axis 'd' cannot share"],
    ),
    "an exchange that ranks cannot share": (
        lambda: ranks(lambda x: adze.lax.all_to_all(x, "d", 0, 0, tiled=True))(V),
        ArgumentError,
        ["all_to_all: axis 0 has 2 elements, expected a multiple of 4, the size of axis 'd'"],
    ),
    "a message to nobody": (
        lambda: ranks(lambda x: adze.lax.ppermute(x, "d", [(0, 4)]))(V),
        ArgumentError,
        ["ppermute"],
    ),
    "two messages to one": (
        lambda: ranks(lambda x: adze.lax.ppermute(x, "d", [(0, 1), (2, 1)]))(V),
        ArgumentError,
        ["ppermute"],
    ),
    "a collective in a loop of each rank": (
        lambda: loop(lambda x: x * adze.lax.pmean(x, "d")),
        ShardingError,
        ["a collective over 'd' in while_loop, whose predicate varies over it", "lax.pmax(p, axis)"],
    ),
    "a gather of an unknown axis": (
        lambda: ranks(lambda x: adze.lax.all_gather(x, "d", axis=3))(V),
        ArgumentError,
        ["all_gather: axis 3 is out of range for f32[2]"],
    ),
}


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("where", ["local", "threads"])
def test_refusals(refusal: str, where: str) -> None:
    """What was wrong, what was seen and expected, and the user's line."""
    run, kind, texts = REFUSALS[refusal]

    def refused() -> str:
        with pytest.raises(kind) as caught:
            run()
        return str(caught.value)

    for message in [refused()] if where == "local" else adze.distributed.run(refused, 4)[:1]:
        for text in texts:
            assert text in message
        assert Path(__file__).name in message or "four_devices.py" in message
