"""Ops that rearrange elements without computing on them."""
