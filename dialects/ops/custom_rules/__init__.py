"""Ops by which a program states its own derivative or batching rule."""
