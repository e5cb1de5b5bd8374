"""IREE's compiler, the compile cache, and the checks of what it makes."""
