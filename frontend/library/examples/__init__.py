"""What JAX calls example libraries: layers as pairs of functions, optimizers as triples."""
