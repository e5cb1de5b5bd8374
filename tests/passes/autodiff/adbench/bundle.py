"""Bundle adjustment: how far cameras see points from where they were observed (ADBench).

A camera has eleven numbers: a rotation vector, its centre, the focal length, the principal point and two
coefficients of radial distortion. The Jacobian is sparse: each residual knows one camera, point and weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .problem import Library, Problem


def rotated(xp: Any, rotation: Any, x: Any) -> Any:
    """Rodrigues' formula; at rotation 0 its limit, without a division by 0 in either direction."""
    square = xp.sum(rotation * rotation)
    is_zero = square == 0
    angle = xp.sqrt(xp.where(is_zero, 1.0, square))
    axis = rotation / angle
    cosine, sine = xp.cos(angle), xp.sin(angle)
    turned = x * cosine + xp.cross(axis, x) * sine + axis * (xp.sum(axis * x) * (1 - cosine))
    return xp.where(is_zero, x + xp.cross(rotation, x), turned)


def projected(xp: Any, camera: Any, point: Any) -> Any:
    """Where a camera sees a point."""
    seen = rotated(xp, camera[:3], point - camera[3:6])
    flat = seen[:2] / seen[2]
    radius = xp.sum(flat * flat)
    distortion = 1 + camera[9] * radius + camera[10] * radius * radius
    return flat * distortion * camera[6] + camera[7:9]


def reprojection(library: Library, camera: Any, point: Any, weight: Any, feature: Any) -> Any:
    """The residual of one observation: two numbers."""
    return weight * (projected(library.xp, camera, point) - feature)


def residuals(library: Library, cameras: Any, points: Any, weights: Any, features: Any, observed: Any) -> Any:
    """All residuals: of the observations (camera, point), and of the weights, which should be near 1."""
    errors = library.module.vmap(lambda *parts: reprojection(library, *parts))(
        cameras[observed[:, 0]], points[observed[:, 1]], weights, features
    )
    return library.xp.concatenate([library.xp.ravel(errors), 1 - weights * weights])


def problem() -> Problem:
    rng = np.random.default_rng(1)
    cameras, points, observations = 3, 5, 8
    return Problem(
        "bundle adjustment",
        residuals,
        (
            np.concatenate(
                [
                    0.3 * rng.standard_normal((cameras, 3)),
                    rng.standard_normal((cameras, 3)),
                    rng.uniform(1, 2, (cameras, 1)),
                    0.1 * rng.standard_normal((cameras, 4)),
                ],
                axis=1,
            ),
            rng.standard_normal((points, 3)) + np.array([0, 0, 6]),
            rng.uniform(0.5, 1.5, observations),
            rng.standard_normal((observations, 2)),
            np.stack([rng.integers(0, cameras, observations), rng.integers(0, points, observations)], axis=1),
        ),
        active=3,
    )
