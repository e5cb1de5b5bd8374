"""Special functions: of the primitives alone, by series and continued fractions, by sums."""
