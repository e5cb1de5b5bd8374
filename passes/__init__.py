"""The engines, each an MLIR pass over adze IR, and the ordered pipeline that runs them."""
