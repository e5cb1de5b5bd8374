"""The dialect is registered with the bindings once a process, also by threads that ask at once."""

from concurrent.futures import ThreadPoolExecutor

from adze.dialects.registration import registered_dialect


def test_the_dialect_is_registered_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        dialects = set(pool.map(lambda _: registered_dialect(), range(32)))
    (dialect,) = dialects
    assert dialect.DIALECT_NAMESPACE == "adze"
