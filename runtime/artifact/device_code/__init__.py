"""The GPU code inside of a compiled module, and what can be counted in it without a GPU."""
