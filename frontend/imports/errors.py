"""Errors of programs that come from other frameworks."""

from __future__ import annotations

from ..errors import ArgumentError, UnsupportedError


class ModelError(ArgumentError):
    """A file or an object is no model of its format, or a damaged one; or it states what cannot be."""


class ModelUnsupportedError(ModelError, UnsupportedError):
    """A model is well formed, and has something that adze has not."""
