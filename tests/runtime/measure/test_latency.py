"""Latencies: the quantiles of what was timed, calls in turn, and the ratio of two programs."""

import itertools

import numpy as np

from adze.runtime.measure.latency import Comparison, Latency, compare, measure


def test_quantiles_are_times_that_occurred() -> None:
    latency = Latency(np.arange(1, 101) * 1_000_000)
    assert (latency.quantile(0), latency.quantile(0.5), latency.quantile(1)) == (0.001, 0.051, 0.1)
    assert latency.quantile(0.99) == 0.1
    assert latency.calls == 100 and abs(latency.mean - 0.0505) < 1e-12
    assert abs(latency.throughput * latency.mean - 1) < 1e-12
    told = latency.to_json()
    assert told["p90"] == 0.091 and told["calls"] == 100


def test_programs_are_called_in_turn_as_often_as_asked() -> None:
    order: list[str] = []
    latencies = measure([lambda: order.append("a"), lambda: order.append("b")], 60, calls=2500)
    assert [latency.calls for latency in latencies] == [2500, 2500]
    timed = order[order.index("b") :]
    changes = sum(left != right for left, right in itertools.pairwise(timed))
    assert changes >= 4  # neither ran to its end before the other began


def test_at_least_ten_calls_are_timed() -> None:
    assert measure([lambda: sum(range(200_000))], 1e-9)[0].calls >= 10


def test_one_call_is_enough_where_it_is_asked_for() -> None:
    assert measure([lambda: None], 60, calls=1)[0].calls == 1


def test_a_slower_program_has_a_larger_ratio() -> None:
    _, comparison = compare(lambda: sum(range(1000)), lambda: sum(range(50_000)), 60, calls=50)
    assert comparison.median > 3 and len(comparison.ratios) >= 10


def test_the_comparison_tells_its_spread() -> None:
    comparison = Comparison(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert comparison.to_json() == {"ratio": 3.0, "middle_half": [2.0, 4.0], "rounds": 5}
