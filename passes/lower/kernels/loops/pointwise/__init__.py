"""Loops that compute each element for itself: vectors of elements, each with the whole loop in registers."""
