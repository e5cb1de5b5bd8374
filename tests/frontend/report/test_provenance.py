"""Locations as MLIR prints them: the user's lines and the transforms, whatever is fused, named or called."""

import pytest

from adze.frontend.report.provenance import NOWHERE, Locations, Provenance, without_locations

FOUR = (("model.py", 4),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"model.py":4:1', Provenance(FOUR)),
        ('"model.py":4:1 to 5:2', Provenance(FOUR)),
        ('"model.py":4:1 to :9', Provenance(FOUR)),
        ("unknown", NOWHERE),
        ('"<unknown>":0:1', NOWHERE),
        ('"name"("model.py":4:1)', Provenance(FOUR)),
        ('"name"', NOWHERE),
        ('fused<"linearize">["model.py":4:1]', Provenance(FOUR, ("linearize",))),
        (
            'fused<"transpose">[fused<"linearize">["model.py":4:1]]',
            Provenance(FOUR, ("transpose", "linearize")),
        ),
        ('fused["a.py":1:1, "b.py":2:2]', Provenance((("a.py", 1), ("b.py", 2)))),
        ('fused["a.py":1:1, fused<"jvp">["a.py":1:1]]', Provenance((("a.py", 1),), ("jvp",))),
        ('callsite("model.py":4:1 at "model.py":9:1)', Provenance(FOUR)),
        ('callsite(unknown at "model.py":4:1)', Provenance(FOUR)),
        (
            'callsite(callsite(unknown at unknown) at fused<"batch">["model.py":4:1])',
            Provenance(FOUR, ("batch",)),
        ),
        ('"a, b) at \\"c.py":3:1', Provenance((('a, b) at "c.py', 3),))),
        ('"\\C3\\A9.py":3:1', Provenance((("é.py", 3),))),
        ("#loc", NOWHERE),
        ("#loc7", Provenance(FOUR, ("transpose",))),
        ("", NOWHERE),
        ("nonsense(", NOWHERE),
    ],
)
def test_texts_of_locations(text: str, expected: Provenance) -> None:
    lines = ["#loc = loc(unknown)", '#loc1 = loc("model.py":4:1)', 'module { // #loc9 = loc("x.py":1:1)']
    assert Locations([*lines, '#loc7 = loc(fused<"transpose">[#loc1])']).of(text) == expected


def test_an_alias_of_itself_is_nowhere() -> None:
    assert Locations(["#a = loc(#b)", "#b = loc(#a)"]).of("#a") == NOWHERE


@pytest.mark.parametrize(
    ("line", "plain", "location"),
    [
        ("  %0 = f() loc(#loc1)", "  %0 = f()", "#loc1"),
        ("^bb0(%a: f32 loc(#loc1), %b: f32 loc(unknown)):", "^bb0(%a: f32, %b: f32):", "unknown"),
        ('  x loc("a)(\\"b":1:2) {', "  x {", '"a)(\\"b":1:2'),
        ("  return", "  return", None),
        ("  broken loc(", "  broken", ""),
    ],
)
def test_locations_are_taken_off_lines(line: str, plain: str, location: str | None) -> None:
    assert without_locations(line) == (plain, location)


def test_only_ops_of_a_backward_pass_are_backward() -> None:
    assert Provenance(FOUR, ("transpose", "linearize")).is_backward
    assert not Provenance(FOUR, ("linearize",)).is_backward and not NOWHERE.is_backward
