"""The op rooms, one file a family. `dialect.py` lists them all."""
