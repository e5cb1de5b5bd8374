"""The model of how training scales: what docs/distributed.md shows of it, and the collectives it counts."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import scaling_model

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(find_spec("jaxlib") is None, reason="Shardy is in jaxlib, of the extra shard"),
]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "distributed.md"


@pytest.mark.parametrize("ranks", [8, pytest.param(1024, marks=pytest.mark.thorough)])
def test_the_page_shows_what_the_script_computes(ranks: int) -> None:
    rows = scaling_model.rows((ranks,), scaling_model.FLOPS, scaling_model.MEMORY)
    assert set(scaling_model.markdown(rows)) <= set(PAGE.read_text().splitlines())


def test_data_parallel_training_sends_each_gradient_once() -> None:
    step = scaling_model.step_of(scaling_model.DIVISIONS["data"], 8)
    weights = 4 * scaling_model.LAYERS * 12 * scaling_model.WIDTH**2
    assert step.sent == 2 * weights * 7 // 8
    assert {each.kind for each in step.exchanges} == {"all_reduce"}
