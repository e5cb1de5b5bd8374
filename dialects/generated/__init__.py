"""Generated from the declarations by `python -m adze.dialects.generate`; do not edit."""
