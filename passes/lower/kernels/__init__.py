"""Kernels of our own: functions of memref, vector and scf code, embedded in the module that IREE compiles."""
