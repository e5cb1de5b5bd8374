"""Modules and functions of adze IR as the passes see them: reading, making, printing."""
