"""Rotations in three dimensions, and the shortest way from each to the next: `scipy.spatial.transform`.

Input: angles, vectors, matrices or quaternions `(x, y, z, w)` along the last axes. Output: a `Rotation`,
whose only leaf is the quaternions. Idea: everything is elementwise over the axes in front; axes of Euler
angles are letters, which are known while tracing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...tracing.default_dtypes import floating
from .. import numpy as xp
from ..linalg.eigh import eigh
from ..numpy.arguments import argument_error, float_value, shape_error, type_error
from ..numpy.arithmetic import root_of_squares
from ..numpy.promotion import type_text
from ..random.inverse_transforms import normal

SMALL = 1e-3  # angles, up to which series replace quotients by them


class Rotation(NamedTuple):
    """Rotations as unit quaternions `[..., 4]`, of which the last component is the real one."""

    quat: Any

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
        """Several arrays of rotations as one."""
        return cls(xp.concatenate([r.quat for r in rotations]))

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> Rotation:
        """Rotations about the axes `seq` one after the other: fixed ones (`xyz`) or turned ones (`XYZ`)."""
        axes, is_intrinsic = _axes_of(seq, (1, 2, 3))
        value = xp.atleast_1d(_radians(angles, degrees))
        if value.shape[-1] != len(axes):
            raise shape_error(f"from_euler: {type_text(value)} does not hold an angle for each of {seq!r}")
        result = _about(axes[0], value[..., 0])
        for number, axis in enumerate(axes[1:], 1):
            other = _about(axis, value[..., number])
            result = _product(result, other) if is_intrinsic else _product(other, result)
        return cls(result)

    @classmethod
    def from_matrix(cls, matrix: Any) -> Rotation:
        """The rotations of orthogonal matrices `[..., 3, 3]`."""
        m = float_value(matrix)
        rows = [[m[..., i, j] for j in range(3)] for i in range(3)]
        trace = rows[0][0] + rows[1][1] + rows[2][2]
        candidates = [*(_quaternion_from(rows, trace, i) for i in range(3)), _from_trace(rows, trace)]
        sizes = xp.stack([rows[0][0], rows[1][1], rows[2][2], trace], axis=-1)
        choice = xp.expand_dims(xp.argmax(sizes, axis=-1), -1)
        quat = candidates[3]
        for number in range(3):
            quat = xp.where(choice == number, candidates[number], quat)
        return cls.from_quat(quat)

    @classmethod
    def from_mrp(cls, mrp: Any) -> Rotation:
        """The rotations of modified Rodrigues parameters: axes times tangents of a quarter of the angles."""
        value = float_value(mrp)
        size = xp.sum(value * value, axis=-1, keepdims=True) + 1
        return cls(xp.concatenate([2 * value, 2 - size], axis=-1) / size)

    @classmethod
    def from_quat(cls, quat: Any) -> Rotation:
        """The rotations of quaternions of any length above 0."""
        value = float_value(quat)
        return cls(value / _length(value))

    @classmethod
    def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> Rotation:
        """The rotations about the vectors `[..., 3]` by their lengths."""
        value = _radians(rotvec, degrees)
        angle = _length(value)
        square = angle * angle
        is_small = angle <= SMALL
        safe = xp.where(is_small, 1.0, angle)
        series = 0.5 - square / 48 + square * square / 3840
        scale = xp.where(is_small, series, xp.sin(safe / 2) / safe)
        return cls(xp.concatenate([scale * value, xp.cos(angle / 2)], axis=-1))

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = None) -> Rotation:
        """The rotation that moves nothing, or an array of `num` of them."""
        kind = floating() if dtype in (None, float) else dtype
        quat = xp.asarray([0.0, 0.0, 0.0, 1.0], dtype=kind)
        return cls(quat if num is None else xp.broadcast_to(quat, (num, 4)))

    @classmethod
    def random(cls, random_key: Any, num: int | None = None) -> Rotation:
        """Uniformly distributed rotations: one, or an array of `num`."""
        return cls.from_quat(normal(random_key, (4,) if num is None else (num, 4)))

    def __getitem__(self, indexer: Any) -> Rotation:
        if self.single:
            raise type_error("a single Rotation has no elements")
        return Rotation(self.quat[indexer])

    def __len__(self) -> int:
        if self.single:
            raise type_error("a single Rotation has no length")
        return int(self.quat.shape[0])

    def __mul__(self, other: Rotation) -> Rotation:  # type: ignore[override]
        """The rotations `other`, and these after them."""
        return Rotation.from_quat(_product(self.quat, other.quat))

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        """The vectors `[..., 3]`, rotated, or rotated back."""
        matrix = self.as_matrix()
        matrix = xp.matrix_transpose(matrix) if inverse else matrix
        return xp.matmul(matrix, xp.expand_dims(xp.asarray(vectors), -1))[..., 0]

    def as_euler(self, seq: str, degrees: bool = False) -> Any:
        """Three angles about the axes `seq`; where they are not unique, the first or the last one is 0."""
        axes, is_intrinsic = _axes_of(seq, (3,))
        angles = xp.stack(_euler_angles(self.quat, axes, not is_intrinsic), axis=-1)
        angles = (angles + np.pi) % (2 * np.pi) - np.pi
        return xp.rad2deg(angles) if degrees else angles

    def as_matrix(self) -> Any:
        """Orthogonal matrices `[..., 3, 3]`."""
        x, y, z, w = _components(self.quat)
        rows = [
            [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), y * y - x * x - z * z + w * w, 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), z * z - x * x - y * y + w * w],
        ]
        return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)

    def as_mrp(self) -> Any:
        """Modified Rodrigues parameters of length at most 1."""
        sign = xp.where(self.quat[..., 3:] < 0, -1.0, 1.0)
        return sign * self.quat[..., :3] / (1.0 + sign * self.quat[..., 3:])

    def as_rotvec(self, degrees: bool = False) -> Any:
        """Axes times angles from 0 to pi."""
        quat = xp.where(self.quat[..., 3:] < 0, -self.quat, self.quat)
        angle = 2.0 * xp.arctan2(_length(quat[..., :3]), quat[..., 3:])
        square = angle * angle
        is_small = angle <= SMALL
        safe = xp.where(is_small, 1.0, angle)
        series = 2 + square / 12 + 7 * square * square / 2880
        vector = xp.where(is_small, series, safe / xp.sin(safe / 2)) * quat[..., :3]
        return xp.rad2deg(vector) if degrees else vector

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Any:
        """Quaternions; of their two signs the `canonical` one, by which the real component is positive."""
        quat = self.quat
        if canonical:
            x, y, z, w = _components(quat)
            leading = xp.where(w != 0, w, xp.where(x != 0, x, xp.where(y != 0, y, z)))
            quat = xp.where(xp.expand_dims(leading, -1) < 0, -quat, quat)
        return xp.roll(quat, 1, axis=-1) if scalar_first else quat

    def inv(self) -> Rotation:
        """The rotations back."""
        return Rotation(self.quat * xp.asarray([-1, -1, -1, 1], dtype=self.quat.dtype))

    def magnitude(self) -> Any:
        """The angles, from 0 to pi."""
        return (2.0 * xp.arctan2(_length(self.quat[..., :3]), xp.abs(self.quat[..., 3:])))[..., 0]

    def mean(self, weights: Any = None) -> Rotation:
        """The rotation whose matrix is nearest to all, on (weighted) average of the squares."""
        count = len(self)
        mass = (
            xp.ones(count, self.quat.dtype) if weights is None else xp.asarray(weights, dtype=self.quat.dtype)
        )
        if mass.shape != (count,):
            raise shape_error(f"mean: {type_text(mass)} does not hold a weight for each of {count} rotations")
        _, vectors = eigh(xp.matmul(mass * self.quat.T, self.quat))
        return Rotation(vectors[:, -1])

    @property
    def single(self) -> bool:
        """Whether this is one rotation, and no array of them."""
        return bool(self.quat.ndim == 1)


class Slerp(NamedTuple):
    """Rotations on the way through given ones, at a constant speed from each to the next."""

    times: Any
    timedelta: Any
    rotations: Rotation
    rotvecs: Any

    @classmethod
    def init(cls, times: Any, rotations: Rotation) -> Slerp:
        """The way through at least two rotations at ascending times."""
        if not isinstance(rotations, Rotation):
            raise type_error(f"Slerp.init: expected a Rotation, got {type(rotations).__name__}")
        if rotations.single or len(rotations) < 2:
            raise shape_error("Slerp.init: expected at least two rotations")
        moments = xp.asarray(times, dtype=rotations.quat.dtype)
        if moments.shape != (len(rotations),):
            raise shape_error(
                f"Slerp.init: {type_text(moments)} does not hold a time for each of {len(rotations)}"
            )
        before, after = Rotation(rotations.quat[:-1]), Rotation(rotations.quat[1:])
        return cls(moments, xp.diff(moments), before, (before.inv() * after).as_rotvec())

    def __call__(self, times: Any) -> Rotation:
        """The rotations at `times`, a vector or one number."""
        wanted = xp.asarray(times, dtype=self.times.dtype)
        if wanted.ndim > 1:
            raise shape_error(f"Slerp: the times {type_text(wanted)} are no vector")
        moments = xp.atleast_1d(wanted)
        place = xp.clip(xp.searchsorted(self.times, moments) - 1, 0, self.timedelta.shape[0] - 1)
        share = (moments - self.times[place]) / self.timedelta[place]
        turned = Rotation.from_rotvec(self.rotvecs[place] * share[:, None])
        result = self.rotations[place] * turned
        return result[0] if wanted.ndim == 0 else result


def _axes_of(seq: str, counts: Sequence[int]) -> tuple[list[int], bool]:
    """The axes that letters name, and whether these are those of the body, which turn."""
    is_intrinsic = all(c in "XYZ" for c in seq)
    is_known = is_intrinsic or all(c in "xyz" for c in seq)
    if len(seq) not in counts or not is_known or any(a == b for a, b in pairwise(seq)):
        raise argument_error(
            f"axes are {seq!r}, expected {' or '.join(map(str, counts))} letters of 'xyz' or of 'XYZ', "
            "no two alike in a row"
        )
    return ["xyz".index(c) for c in seq.lower()], is_intrinsic


def _radians(angles: Any, degrees: bool) -> Any:
    value = float_value(angles)
    return xp.deg2rad(value) if degrees else value


def _length(vectors: Any) -> Any:
    """The lengths along the last axis, which is kept; their slope at 0 is 0."""
    return root_of_squares(xp.sum(vectors * vectors, axis=-1, keepdims=True))


def _components(quat: Any) -> list[Any]:
    return [quat[..., i] for i in range(4)]


def _about(axis: int, angle: Any) -> Any:
    """The quaternion of a rotation about an axis of coordinates."""
    zero = xp.zeros_like(angle)
    parts = [xp.sin(angle / 2) if i == axis else zero for i in range(3)]
    return xp.stack([*parts, xp.cos(angle / 2)], axis=-1)


def _product(p: Any, q: Any) -> Any:
    """The quaternion of the rotation `p` after `q`."""
    (px, py, pz, pw), (qx, qy, qz, qw) = _components(p), _components(q)
    return xp.stack(
        [
            pw * qx + qw * px + py * qz - pz * qy,
            pw * qy + qw * py + pz * qx - px * qz,
            pw * qz + qw * pz + px * qy - py * qx,
            pw * qw - px * qx - py * qy - pz * qz,
        ],
        axis=-1,
    )


def _quaternion_from(rows: list[list[Any]], trace: Any, i: int) -> Any:
    """The quaternion of a matrix, up to its length, where component `i` is not small."""
    j, k = (i + 1) % 3, (i + 2) % 3
    parts: list[Any] = [None] * 4
    parts[i] = 1 - trace + 2 * rows[i][i]
    parts[j] = rows[j][i] + rows[i][j]
    parts[k] = rows[k][i] + rows[i][k]
    parts[3] = rows[k][j] - rows[j][k]
    return xp.stack(parts, axis=-1)


def _from_trace(rows: list[list[Any]], trace: Any) -> Any:
    """The quaternion of a matrix, up to its length, where the real component is not small."""
    parts = [rows[2][1] - rows[1][2], rows[0][2] - rows[2][0], rows[1][0] - rows[0][1], 1 + trace]
    return xp.stack(parts, axis=-1)


def _euler_angles(quat: Any, axes: list[int], is_extrinsic: bool) -> list[Any]:
    """Angles by the method of Bernardes and Viollet 2022, Quaternion to Euler angles conversion."""
    i, j, k = axes if is_extrinsic else axes[::-1]
    first, third = (0, 2) if is_extrinsic else (2, 0)
    is_symmetric = i == k
    k = 3 - i - j if is_symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    q = _components(quat)
    a, b, c, d = q[3], q[i], q[j], q[k] * sign
    if not is_symmetric:
        a, b, c, d = a - q[j], b + d, c + q[3], d - q[i]
    middle = 2 * xp.arctan2(xp.hypot(c, d), xp.hypot(a, b))
    half_sum, half_difference = xp.arctan2(b, a), xp.arctan2(d, c)
    at_start, at_end = xp.abs(middle) <= 1e-7, xp.abs(middle - np.pi) <= 1e-7
    turn = 2 * half_difference * (-1 if is_extrinsic else 1)
    zero = xp.zeros_like(middle)
    angles = [xp.where(at_start, 2 * half_sum, xp.where(at_end, turn, zero)), middle, zero]
    is_unique = ~(at_start | at_end)
    angles[first] = xp.where(is_unique, half_sum - half_difference, angles[first])
    angles[third] = xp.where(is_unique, half_sum + half_difference, angles[third])
    if not is_symmetric:
        angles[third] = angles[third] * sign
        angles[1] = angles[1] - np.pi / 2
    return angles
