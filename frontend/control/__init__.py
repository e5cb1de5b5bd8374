"""Branches and loops over traced values: cond, switch, while_loop, fori_loop, scan, associative_scan."""
