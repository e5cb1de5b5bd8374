"""Ops that refer to functions: calls, branches, loops, scans, and their backward passes."""
