"""The op classes, one file a family; `dialect.py` lists them all."""
