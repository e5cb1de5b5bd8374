"""Inlining, simplification and dead-result elimination."""
