"""Devices, arrays on them, and programs that run."""
