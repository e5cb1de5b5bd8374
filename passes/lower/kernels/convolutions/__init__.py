"""Convolutions by a kernel of our own, with the elementwise ops that follow them."""
