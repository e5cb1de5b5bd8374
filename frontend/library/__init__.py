"""Compositions of ops under the names that users know; nothing below imports it."""
