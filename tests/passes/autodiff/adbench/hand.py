"""Hand tracking: the distance of measured points from a skinned hand model (ADBench).

26 numbers pose the hand: global rotation and translation, four angles a finger. Bones turn about their
joints along a tree, vertices follow them by linear blend skinning, and each measured point corresponds to a
place on a triangle with two barycentric coordinates of its own. The model here is a random hand with the
tree and the angles of the published one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .bundle import rotated
from .problem import Library, Problem

FINGERS, JOINTS = 5, 4
PARENTS: Final = (
    -1,
    *(0 if joint == 0 else finger * JOINTS + joint for finger in range(5) for joint in range(4)),
)
"""The bone each bone hangs on: a wrist, and five fingers of four bones."""


@dataclass(frozen=True)
class Model:
    """A hand at rest."""

    relatives: np.ndarray  # [bones, 4, 4], from a bone to its parent
    inverses: np.ndarray  # [bones, 4, 4], from the hand to a bone at rest
    vertices: np.ndarray  # [4, vertices], homogeneous
    weights: np.ndarray  # [bones, vertices]
    triangles: np.ndarray  # [triangles, 3]


def euler(xp: Any, angles: Any) -> Any:
    """The rotation matrix of three angles, as a homogeneous one."""
    (a, b, c), (x, y, z) = (f(angles) for f in (xp.cos, xp.sin))
    one, zero = xp.ones_like(a), xp.zeros_like(a)
    rows = [
        [b * c, x * y * c - a * z, a * y * c + x * z, zero],
        [b * z, x * y * z + a * c, a * y * z - x * c, zero],
        [-y, x * b, a * b, zero],
        [zero, zero, zero, one],
    ]
    return xp.stack([xp.stack(row) for row in rows])


def bone_angles(xp: Any, pose: Any) -> list[Any]:
    """Three angles a bone: fingers bend and spread at their root and bend at the two joints after it."""
    zero = xp.zeros_like(pose[0])
    angles = [xp.stack([zero, zero, zero])]
    for finger in range(FINGERS):
        bend, spread, second, third = (pose[6 + 4 * finger + k] for k in range(4))
        angles += [
            xp.stack([zero, zero, zero]),
            xp.stack([bend, spread, zero]),
            xp.stack([second, zero, zero]),
            xp.stack([third, zero, zero]),
        ]
    return angles


def skinned(library: Library, model: Model, pose: Any) -> Any:
    """The vertices [vertices, 3] of the posed hand."""
    xp = library.xp
    absolutes: list[Any] = []
    for parent, relative, angles in zip(PARENTS, model.relatives, bone_angles(xp, pose), strict=True):
        turned = xp.matmul(relative, euler(xp, angles))
        absolutes.append(turned if parent < 0 else xp.matmul(absolutes[parent], turned))
    transforms = xp.matmul(xp.stack(absolutes), model.inverses)
    moved = xp.einsum("bij,jv->bvi", transforms[:, :3], model.vertices)
    placed = xp.sum(moved * model.weights[:, :, None], axis=0)
    turn = library.module.vmap(lambda x: rotated(xp, pose[:3], x))
    return turn(placed) + pose[3:6]


def distances(library: Library, model: Model, pose: Any, places: Any, points: Any, hit: np.ndarray) -> Any:
    """Measured points minus places on the triangles that they hit."""
    vertices = skinned(library, model, pose)
    corners = model.triangles[hit]
    u, v = places[:, 0:1], places[:, 1:2]
    on_hand = (
        u * vertices[corners[:, 0]] + v * vertices[corners[:, 1]] + (1 - u - v) * vertices[corners[:, 2]]
    )
    return points - on_hand


def random_model(rng: np.random.Generator, vertices: int, triangles: int) -> Model:
    bones = len(PARENTS)
    relatives = np.tile(np.eye(4), (bones, 1, 1))
    relatives[:, :3, 3] = 0.5 * rng.standard_normal((bones, 3))
    absolutes: list[np.ndarray] = []
    for parent, relative in zip(PARENTS, relatives, strict=True):
        absolutes.append(relative if parent < 0 else absolutes[parent] @ relative)
    weights = rng.uniform(0, 1, (bones, vertices)) ** 8
    return Model(
        relatives,
        np.linalg.inv(np.stack(absolutes)),
        np.concatenate([rng.standard_normal((3, vertices)), np.ones((1, vertices))]),
        weights / weights.sum(axis=0),
        rng.integers(0, vertices, (triangles, 3)),
    )


def problem() -> Problem:
    rng = np.random.default_rng(3)
    model = random_model(rng, vertices=12, triangles=9)
    hit = rng.integers(0, 9, 7)
    return Problem(
        "hand tracking",
        lambda library, pose, places, points: distances(library, model, pose, places, points, hit),
        (0.4 * rng.standard_normal(26), rng.uniform(0, 0.5, (7, 2)), rng.standard_normal((7, 3))),
        active=2,
    )
