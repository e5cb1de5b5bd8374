"""Rotations in space."""
