"""Batching, and predication of the effects of elements that did not ask for them."""
