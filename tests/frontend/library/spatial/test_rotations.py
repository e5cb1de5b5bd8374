"""Rotations are SciPy's, traced and batched, with slopes where a rotation moves nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.scipy.spatial.transform import Rotation, Slerp

scipy = pytest.importorskip("scipy.spatial.transform")
QUATS = np.random.default_rng(0).normal(size=(6, 4))
OURS, THEIRS = Rotation.from_quat(QUATS), scipy.Rotation.from_quat(QUATS)
VECTORS = np.random.default_rng(1).normal(size=(6, 3))


def same(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-9, atol=1e-9)


def test_forms() -> None:
    same(OURS.as_matrix(), THEIRS.as_matrix())
    same(OURS.as_rotvec(degrees=True), THEIRS.as_rotvec(degrees=True))
    same(OURS.as_mrp(), THEIRS.as_mrp())
    same(OURS.as_quat(canonical=True, scalar_first=True), THEIRS.as_quat(canonical=True, scalar_first=True))
    same(OURS.magnitude(), THEIRS.magnitude())
    same(OURS.inv().as_matrix(), THEIRS.inv().as_matrix())
    same((OURS * OURS.inv()[::-1]).as_matrix(), (THEIRS * THEIRS.inv()[::-1]).as_matrix())
    same(OURS.apply(VECTORS), THEIRS.apply(VECTORS))
    same(OURS[2].apply(VECTORS, inverse=True), THEIRS[2].apply(VECTORS, inverse=True))
    same(OURS.mean(np.arange(6.0)).as_matrix(), THEIRS.mean(np.arange(6.0)).as_matrix())
    assert len(OURS) == 6 and OURS[0].single and not OURS.single
    assert len(Rotation.concatenate([OURS, OURS[:1]])) == 7
    assert Rotation.identity(2).as_rotvec().tolist() == [[0, 0, 0]] * 2


def test_forms_are_read_again() -> None:
    matrix = THEIRS.as_matrix()
    axes = np.eye(3)[[1, 2, 0]]
    for read in (
        Rotation.from_matrix(np.concatenate([matrix, [axes, np.diag([1.0, -1, -1])]]))[:6],
        Rotation.from_rotvec(THEIRS.as_rotvec()),
        Rotation.from_rotvec(THEIRS.as_rotvec(degrees=True), degrees=True),
        Rotation.from_mrp(THEIRS.as_mrp()),
    ):
        same(read.as_matrix(), matrix)
    for turned in (axes, np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])):
        same(Rotation.from_matrix(turned).as_matrix(), turned)


@pytest.mark.parametrize("seq", ["xyz", "XYZ", "zxz", "ZYZ", "yzx", "ZXY"])
def test_euler_angles(seq: str) -> None:
    same(OURS.as_euler(seq), THEIRS.as_euler(seq))
    angles = np.float64([[10, 20, 30], [-80, 45, 170]])
    ours = adze.jit(lambda a: Rotation.from_euler(seq, a, degrees=True))(angles)
    same(ours.as_matrix(), scipy.Rotation.from_euler(seq, angles, degrees=True).as_matrix())
    locked = np.float64([0.3, 0.0 if seq[0] == seq[2] else np.pi / 2, 0.4])
    again = Rotation.from_euler(seq, Rotation.from_euler(seq, locked).as_euler(seq))
    same(again.as_matrix(), Rotation.from_euler(seq, locked).as_matrix())


def test_one_angle() -> None:
    same(
        Rotation.from_euler("z", np.float64(90), degrees=True).as_matrix(), [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    )


def test_interpolation() -> None:
    times, wanted = np.float64([0, 1, 2, 4, 5, 6]), np.float64([0, 0.3, 1, 3.9, 6])
    ours = adze.jit(lambda t: Slerp.init(times, OURS)(t))(wanted)
    same(ours.as_matrix(), scipy.Slerp(times, THEIRS)(wanted).as_matrix())
    assert Slerp.init(times, OURS)(0.5).single


def test_slopes_at_no_rotation() -> None:
    turn = adze.jacfwd(lambda v: Rotation.from_rotvec(v).apply(np.float64([1, 2, 3])))(np.zeros(3))
    same(turn, [[0, 3, -2], [-3, 0, 1], [2, -1, 0]])
    same(adze.jacrev(lambda v: Rotation.from_rotvec(v).as_rotvec())(np.zeros(3)), np.eye(3))


def test_random_rotations_are_proper() -> None:
    drawn = Rotation.random(adze.random.key(0), 500).as_matrix()
    np.testing.assert_allclose(anp.linalg.det(drawn), 1.0, rtol=1e-5)
    assert np.abs(np.asarray(drawn).mean(0)).max() < 0.1
    assert Rotation.random(adze.random.key(0)).single


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Rotation.from_euler("xx", [1.0, 2.0]), "no two alike in a row"),
        (lambda: Rotation.from_euler("xY", [1.0, 2.0]), "letters of 'xyz' or of 'XYZ'"),
        (lambda: Rotation.from_euler("xyz", [1.0]), "does not hold an angle for each of 'xyz'"),
        (lambda: OURS.as_euler("xy"), "expected 3 letters"),
        (lambda: len(OURS[0]), "a single Rotation has no length"),
        (lambda: OURS[0][0], "a single Rotation has no elements"),
        (lambda: Slerp.init([0.0, 1.0], OURS), "does not hold a time for each of 6"),
        (lambda: Slerp.init([0.0], OURS[:1]), "at least two rotations"),
        (lambda: OURS.mean([1.0]), "does not hold a weight for each of 6"),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(adze.AdzeError, match=message):
        call()
