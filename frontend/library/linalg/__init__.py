"""Linear algebra: factorizations, solvers and what is made of them, as compositions of adze's own ops.

Every factorization is a loop or a recursion over blocks of static size, so that it traces, compiles, maps and
differentiates like any other function; leading axes of the arguments are batches throughout. Outside a trace
the same algorithm runs op by op. Derivatives are closed formulas, given as custom rules.
"""
