"""Pictures of how arrays lie on ranks."""

from __future__ import annotations

import numpy as np
import pytest

import adze
from adze import debug
from adze.sharding import NamedSharding
from adze.sharding import PartitionSpec as P


def picture(capsys: pytest.CaptureFixture[str], spec: P, shape: tuple[int, ...]) -> list[str]:
    mesh = adze.make_mesh((4, 2), ("X", "Y"))
    array = adze.device_put(np.zeros(shape, np.float32), NamedSharding(mesh, spec))
    debug.visualize_array_sharding(array)
    return [line for line in capsys.readouterr().out.splitlines() if "CPU" in line]


def test_a_cell_for_each_part_names_its_ranks(capsys: pytest.CaptureFixture[str]) -> None:
    assert picture(capsys, P("X", "Y"), (8, 8)) == [
        "│ CPU 0 │ CPU 1 │",
        "│ CPU 2 │ CPU 3 │",
        "│ CPU 4 │ CPU 5 │",
        "│ CPU 6 │ CPU 7 │",
    ]
    assert picture(capsys, P("X"), (8,)) == ["│CPU 0,1│CPU 2,3│CPU 4,5│CPU 6,7│"]
    assert picture(capsys, P(None, "Y"), (8, 8)) == ["│CPU 0,2,4,6│CPU 1,3,5,7│"]
    assert picture(capsys, P(), (4, 4)) == ["│CPU 0,1,2,3,4,5,6,7│"]
    debug.visualize_array_sharding(adze.numpy.ones(3))
    assert "│ CPU 0 │" in capsys.readouterr().out


def test_other_shapes_are_refused_and_what_is_known_is_passed_on() -> None:
    mesh = adze.make_mesh((2,), ("X",))
    place = NamedSharding(mesh, P("X"))
    with pytest.raises(ValueError, match="arrays of 1 and 2 dimensions"):
        debug.visualize_sharding((2, 2, 2), place)
    seen: list[object] = []
    debug.inspect_array_sharding(adze.device_put(np.ones(2), place), callback=seen.append)
    assert seen == [place]
