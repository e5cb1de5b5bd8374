"""Sums of products: matrix products and convolutions."""
