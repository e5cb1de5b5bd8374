"""Targets, compiling, devices, arrays, calling, the compile cache and artifacts.

The only folder that knows IREE's compile API and its runtime. Importing it does nothing: the compiler is
loaded by the first compile, the runtime by the first device.
"""
